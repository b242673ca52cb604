"""What other libraries call our arguments, so that a keyword from LightGBM, XGBoost or CatBoost is answered with ours.

`explained` is put on a function, which keeps its signature: only the refusal of an unknown keyword changes.
"""

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Ours(NamedTuple):
    """What to use in the estimators, and in `boost`; or to "leave it out", and why."""

    estimators: str
    boost: str


# Names of others, and of ours that belong in the other of the two places.
TABLE = {
    "n_estimators iterations num_boost_round num_iterations num_round num_trees n_iter rounds max_iter": Ours(
        "max_iter", "rounds"
    ),
    "eta shrinkage shrinkage_rate learning_rate": Ours(
        "learning_rate", "descent=ab.descent.Residual(step=ab.steps.Constant(rate))"
    ),
    "objective loss_function application": Ours("loss", "loss"),
    "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes": Ours(
        "max_leaf_nodes", "learner=ab.weak.Tree(leaves)"
    ),
    "depth max_depth": Ours("max_depth", "learner=ab.weak.Tree(max_depth=depth)"),
    "min_child_samples min_data_in_leaf min_samples_leaf min_child_weight min_leaf_weight": Ours(
        "min_leaf_weight", "learner=ab.weak.Tree(min_leaf_weight=weight)"
    ),
    "reg_lambda lambda_l2 l2_leaf_reg l2_regularization": Ours(
        "l2_regularization", "learner=ab.weak.Tree(l2=penalty)"
    ),
    "reg_alpha lambda_l1": Ours(
        "l2_regularization, there is no l1 penalty",
        "learner=ab.weak.Tree(l2=penalty), there is no l1 penalty",
    ),
    "gamma min_split_gain min_gain_to_split min_split_loss": Ours(
        "min_leaf_weight, there is no least gain",
        "learner=ab.weak.Tree(min_leaf_weight=weight), there is no least gain",
    ),
    "grow_policy": Ours(
        "max_leaf_nodes, the best leaf is always first; max_leaf_nodes=None with max_depth grows by depth alone",
        'learner=ab.weak.Tree(growth="leaf" or "depth")',
    ),
    "extra_trees random_strength random_thresholds": Ours(
        "random_thresholds", "learner=ab.weak.Tree(node_thresholds=1)"
    ),
    "linear_tree": Ours('leaf="linear"', 'learner=ab.weak.Tree(leaf="linear")'),
    "one_hot_max_size max_cat_to_onehot": Ours(*2 * ("leave it out, a cut sends any set of levels left",)),
    "multi_strategy": Ours(
        'outputs, "joint" for a tree with a vector in each leaf, "each" for a tree an output',
        'learner=ab.weak.Tree(outputs="joint" or "each")',
    ),
    "booster": Ours('learner, a tree unless it is "linear" or another', "learner, such as ab.weak.Linear()"),
    "colsample_bytree colsample_bylevel colsample_bynode rsm feature_fraction feature_fraction_bynode "
    "max_features": Ours("max_features, the share of columns each node may be cut along", "feature_fraction"),
    "bagging_fraction row_fraction subsample": Ours("subsample", "row_fraction"),
    "bootstrap_type": Ours(
        "subsample, for rows are drawn and not reweighted",
        "row_fraction, for rows are drawn and not reweighted",
    ),
    "bagging_freq subsample_freq": Ours(
        "subsample, which is drawn anew for each tree", "row_fraction, which is drawn anew for each tree"
    ),
    "max_bin border_count": Ours("max_bins", "max_bins"),
    "cat_features categorical_feature categorical categorical_features": Ours(
        "categorical_features", "categorical"
    ),
    "enable_categorical": Ours(
        "categorical_features, or leave it out where the types of a data frame say which", "categorical"
    ),
    "monotone_constraints monotonic_constraints monotonic_cst": Ours(
        "monotonic_cst", "learner=ab.weak.Tree(monotone=signs)"
    ),
    "interaction_constraints interaction_cst": Ours(
        "interaction_cst", "learner=ab.weak.Tree(interactions=sets)"
    ),
    "scale_pos_weight class_weights auto_class_weights is_unbalance class_weight": Ours(
        "class_weight of BoostingClassifier, or sample_weight in fit", "sample_weight"
    ),
    "early_stopping_rounds early_stopping_round od_wait patience n_iter_no_change early_stopping": Ours(
        "early_stopping=True and n_iter_no_change", "patience"
    ),
    "eval_metric metric scoring": Ours("scoring", "callbacks, functions of (step, run)"),
    "num_threads num_thread nthread nthreads thread_count n_threads n_jobs": Ours("n_jobs", "n_threads"),
    "seed random_seed": Ours("random_state", "random_state"),
    "verbosity verbose_eval logging_level silent verbose": Ours(
        "verbose", "callbacks, functions of (step, run)"
    ),
    "base_score boost_from_average start init": Ours("init", "start"),
    "init_model xgb_model warm_start": Ours("warm_start, or resume in fit", "resume"),
    "eval_set valid_sets evals X_val y_val": Ours("X_val and y_val in fit, or valid", "valid"),
    "eval_sample_weight sample_weight_eval_set sample_weight_val": Ours(
        "sample_weight_val in fit", 'valid with its "sample_weight"'
    ),
    "group group_id qid groups": Ours(
        "qid in BoostingRanker.fit (groups in others), one label a row: np.repeat(np.arange(len(sizes)), sizes)",
        "groups, one label a row",
    ),
    "eval_group eval_qid qid_val": Ours(
        "qid_val in BoostingRanker.fit, one label a row", 'valid with its "groups"'
    ),
    "init_score base_margin baseline offset": Ours("offset in fit", "start"),
    "eval_init_score base_margin_eval_set": Ours('valid in fit, with its "offset"', 'valid with its "start"'),
    "weight weights": Ours("sample_weight in fit", "sample_weight"),
    "posterior_sampling": Ours(
        "predict_interval(X, coverage), of a loss of quantiles or with conformal",
        'loss="multi_quantile:0.05,0.95"',
    ),
    "pred_contrib pred_contribs": Ours("shap_values(X)", "shap_values(X) of an estimator"),
    "pred_interactions": Ours("shap_interaction_values(X)", "shap_interaction_values(X) of an estimator"),
    "pred_leaf": Ours("apply(X)", "apply(X) of an estimator"),
    "output_margin raw_score prediction_type": Ours(
        "decision_function(X) of BoostingClassifier; in others explanation(X) has the raw scores",
        "decision_function(X) of BoostingClassifier",
    ),
    "crossing non_crossing noncrossing alpha quantile_alpha quantiles": Ours(
        'loss="quantile:0.9", or for several that never cross "multi_quantile:0.05,0.5,0.95"',
        'loss="quantile:0.9", or for several that never cross "multi_quantile:0.05,0.5,0.95"',
    ),
    "iteration_range num_iteration start_iteration ntree_limit ntree_end": Ours(
        "staged_predict(X)", "staged_predict(X) of an estimator"
    ),
}
_LEAVE = "leave it out"
OURS = {name: ours for names, ours in TABLE.items() for name in names.split()}

# What others call attributes and methods of a fitted model.
ATTRIBUTES = {
    name: ours
    for names, ours in {
        "best_iteration best_ntree_limit get_best_iteration": "best_iteration_, the number of rounds that it keeps",
        "best_score best_score_ get_best_score": "validation_score_[best_iteration_]",
        "evals_result evals_result_ get_evals_result": "validation_scores_",
        "n_estimators_ tree_count_ current_iteration num_trees": "n_iter_, or ensemble_.n_rounds for those it keeps",
        "feature_name_ feature_names_": "feature_names_in_",
        "feature_importance get_feature_importance get_score get_fscore": "feature_importances_, or importances(kind)",
        "booster_ get_booster": "ensemble_",
        "get_all_params": "dials_",
        "save_model": "ab.save(model, path)",
        "load_model": "ab.load(path)",
    }.items()
    for name in names.split()
}


def explained(function: Callable[P, R], answers: Mapping[str, Ours] = OURS) -> Callable[P, R]:
    """The function as it is, but that it answers a keyword it does not have with the one to use."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in known:
                kind = type(args[0]) if args and "self" in known else None
                raise TypeError(_sentence(name, function.__name__, known, kind, answers))
        return function(*args, **given)

    return call


def nearest(function: Callable[P, R]) -> Callable[P, R]:
    """As `explained`, with the nearest of its own keywords: what others call them are other things there."""
    return explained(function, {})


def _sentence(
    name: str, function: str, known: Collection[str], kind: type | None, answers: Mapping[str, Ours]
) -> str:
    """The sentence about a keyword that a function, or a method of such a kind of object, has not."""
    if kind is None:
        return refusal(name, function, known, answers)
    if function == "__init__":
        fit = getattr(kind, "fit", None)
        if name not in answers and fit is not None and name in inspect.signature(fit).parameters:
            return f"{kind.__name__} has no argument {name!r}: give it to fit, as fit(X, y, {name}=...)"
        return refusal(name, kind.__name__, known, answers)
    whole = inspect.signature(kind).parameters
    if name in whole:
        return f"{function} has no argument {name!r}: say it before, {kind.__name__}({name}=...)"
    if name not in answers:
        return refusal(name, function, known, answers)
    there = re.match(r"\w*", answers[name].estimators)
    before = there is not None and there[0] in whole
    return refusal(name, function, known, answers) + f", in {kind.__name__}(...)" * before


def refusal(name: str, who: str, known: Collection[str], answers: Mapping[str, Ours] = OURS) -> str:
    """The sentence about a keyword that `who`, which has the known ones, has not."""
    ours = answers.get(name)
    if ours is not None:
        advice = ours.boost if who == "boost" else ours.estimators
        return f"{who} has no argument {name!r}: {'' if advice.startswith(_LEAVE) else 'use '}{advice}"
    near = difflib.get_close_matches(name, known, 1)
    return f"{who} has no argument {name!r}: {f'use {near[0]}' if near else f'help({who}) lists what it has'}"


class Elsewhere:
    """An attribute that a class has not, and others have: who asks for it is told ours.

    A `__getattr__` would do the same, and make every attribute of a model slower.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, kind: type) -> Any:
        if model is None:  # tools look at all that a class has
            return self
        raise AttributeError(f"{kind.__name__} has no attribute {self.name!r}: use {ATTRIBUTES[self.name]}")


def answer_for(cls: type) -> None:
    """Have a class answer for attributes that models of other libraries have."""
    for name in ATTRIBUTES:
        setattr(cls, name, Elsewhere(name))


def shared(above: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the locals of an `__init__` that the class above has parameters for."""
    return {name: given[name] for name in _parameters(above)}


@functools.cache
def _parameters(above: type) -> tuple[str, ...]:
    return tuple(inspect.signature(above).parameters)
