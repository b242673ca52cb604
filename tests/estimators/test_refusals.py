"""A hundred bad parameters and bad tables: each is refused with one sentence, and the estimator stays as it was."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12.0)
SIGNS = np.where(Y > 5, 1, 0)
THREE = np.arange(12) % 3
QID = np.arange(12) // 4
FRAME = pd.DataFrame(X, columns=["a", "b"])


def with_value(array, index, value):
    changed = np.array(array, dtype=float)
    changed[index] = value
    return changed


# What is wrong -> (parameters, arguments of fit, words of the sentence)
REGRESSOR = {
    "learning rate of zero": ({"learning_rate": 0.0}, {}, "learning_rate must be positive, got 0.0"),
    "negative learning rate": ({"learning_rate": -0.1}, {}, "learning_rate must be positive"),
    "learning rate in words": ({"learning_rate": "fast"}, {}, "learning_rate must be a number or .auto., got 'fast'"),
    "learning rate without end": ({"learning_rate": np.inf}, {}, "learning_rate must be finite"),
    "negative rounds": ({"max_iter": -1}, {}, "max_iter must be at least 0, got -1"),
    "half a round": ({"max_iter": 2.5}, {}, "max_iter must be a whole number, got 2.5"),
    "rounds of True": ({"max_iter": True}, {}, "max_iter must be a whole number, got True"),
    "one leaf": ({"max_leaf_nodes": 1}, {}, "max_leaf_nodes must be at least 2, got 1"),
    "leaves in words": ({"max_leaf_nodes": "many"}, {}, "max_leaf_nodes must be a whole number"),
    "no depth": ({"max_depth": 0}, {}, "max_depth must be at least 1, got 0"),
    "negative leaf weight": ({"min_leaf_weight": -1}, {}, "min_leaf_weight must not be negative, got -1"),
    "leaf weight of NaN": ({"min_leaf_weight": np.nan}, {}, "min_leaf_weight must be finite"),
    "negative penalty": ({"l2_regularization": -0.5}, {}, "l2_regularization must not be negative"),
    "no columns to look at": ({"max_features": 0.0}, {}, "max_features must be above 0 and at most 1"),
    "too many columns to look at": ({"max_features": 1.5}, {}, "max_features must be above 0 and at most 1"),
    "columns in words": ({"max_features": "sqrt"}, {}, "max_features must be a number or .auto., got 'sqrt'"),
    "no rows to look at": ({"subsample": 0}, {}, "subsample must be above 0 and at most 1, got 0"),
    "one bin": ({"max_bins": 1}, {}, "max_bins must be between 2 and 255, got 1"),
    "too many bins": ({"max_bins": 256}, {}, "max_bins must be between 2 and 255, got 256"),
    "outputs misspelt": ({"outputs": "joined"}, {}, "outputs must be 'auto' or 'joint' or 'each', got 'joined'"),
    "leaf misspelt": ({"leaf": "median"}, {}, "leaf must be 'auto' or 'mean' or 'exact' or 'linear', got 'median'"),
    "linear and monotone": (
        {"leaf": "linear", "monotonic_cst": [1, 0, 0]}, {}, 'monotonic_cst cannot be kept by leaf="linear"'
    ),
    "memory above one": ({"memory": 1.5}, {}, "memory must be between 0 and at most 1, got 1.5"),
    "memory in words": ({"memory": "long"}, {}, "memory must be a number or .auto., got 'long'"),
    "unknown loss": ({"loss": "zzz"}, {}, "loss 'zzz' is not known: use one of .*squared"),
    "misspelt loss": ({"loss": "absolut"}, {}, "loss 'absolut' is not known: use 'absolute'"),
    "a loss of classes by another name": ({"loss": "log_loss"}, {}, "loss 'log_loss' .* BoostingClassifier"),
    "a level of no quantile": ({"quantile": 0.9}, {}, "quantile is the level of loss='quantile', and loss is 'auto'"),
    "two levels": ({"loss": "quantile:0.8", "quantile": 0.9}, {}, "and loss is 'quantile:0.8': use that loss, or leave quantile out"),
    "a level above all": ({"loss": "quantile", "quantile": 1.0}, {}, "quantile must be strictly between 0 and 1, got 1.0"),
    "loss of another kind": ({"loss": 3}, {}, "loss must be a name or a loss, got 3"),
    "a loss's class": ({"loss": ab.losses.Huber}, {}, r"loss must be a loss, got the class Huber: write Huber\(\)"),
    "a parameter outside": ({"loss": "quantile:1.5"}, {}, "tau must be strictly between 0 and 1, got 1.5"),
    "a loss of classes": ({"loss": "logistic"}, {}, "loss logistic is one of classes.*use BoostingClassifier"),
    "a loss of many classes": ({"loss": "softmax"}, {}, "loss softmax is one of classes"),
    "unknown learner": ({"learner": "forest"}, {}, "learner 'forest' is not known"),
    "learner of another kind": ({"learner": 7}, {}, "learner must be a weak learner or its name, got 7"),
    "leaves beside a learner": (
        {"learner": "stump", "max_leaf_nodes": 8},
        {},
        "max_leaf_nodes is part of the learner where learner is given: set it there",
    ),
    "unknown descent": ({"descent": "newton"}, {}, "descent 'newton' is not known"),
    "rate beside a descent": (
        {"descent": "residual", "learning_rate": 0.3},
        {},
        "learning_rate is part of the descent where descent is given",
    ),
    "memory beside a descent": ({"descent": "naive", "memory": 0.5}, {}, "memory is part of the descent"),
    "init in words": ({"init": "zero"}, {}, "init must be a number, got 'zero'"),
    "init row by row": ({"init": Y}, {}, r"init must be None, a number or an estimator.*offset="),
    "random thresholds in words": ({"random_thresholds": "yes"}, {}, "random_thresholds must be True, False or .auto."),
    "random thresholds by number": ({"random_thresholds": 3}, {}, "random_thresholds must be True, False or .auto., got 3"),
    "unknown preset": ({"preset": "best"}, {}, "preset 'best' is not known|preset must be"),
    "patience in words": ({"n_iter_no_change": "long"}, {}, "n_iter_no_change must be a number or .auto."),
    "warm start in words": ({"warm_start": "yes"}, {}, "warm_start must be True or False, got 'yes'"),
    "stopping in words": ({"early_stopping": "yes"}, {}, "early_stopping must be True, False or \"auto\", got 'yes'"),
    "unknown scoring": ({"scoring": "rmse"}, {}, "scoring 'rmse' is not known: use .*loss"),
    "scoring of another kind": ({"scoring": 5}, {}, "scoring must be a name, a function .* got 5"),
    "no scoring": ({"scoring": []}, {}, "scoring is an empty list"),
    "scoring twice": ({"scoring": ["loss", "loss"]}, {}, "scoring names .* hold one twice"),
    "scoring at no rank": ({"scoring": "ndcg@ten"}, {}, "scoring 'ndcg@ten' has no whole number after the @"),
    "all rows held out": ({"validation_fraction": 1.0}, {}, "validation_fraction must be strictly between 0 and 1"),
    "no patience": ({"n_iter_no_change": 0}, {}, "n_iter_no_change must be at least 1, got 0"),
    "negative tolerance": ({"tol": -1e-3}, {}, "tol must not be negative"),
    "callbacks of another kind": ({"callbacks": 3}, {}, "callbacks must be a list of functions"),
    "a callback of another kind": ({"callbacks": ["print"]}, {}, "callbacks must hold functions of .* got 'print'"),
    "verbose in words": ({"verbose": "very"}, {}, "verbose must be a whole number, got 'very'"),
    "no jobs": ({"n_jobs": 0}, {}, "n_jobs must not be 0: use None for all cores"),
    "half a job": ({"n_jobs": 0.5}, {}, "n_jobs must be a whole number, got 0.5"),
    "negative seed": ({"random_state": -3}, {}, "random_state must be at least 0, got -3"),
    "seed in words": ({"random_state": "lucky"}, {}, "'lucky' cannot be used to seed"),
    "categories in words": ({"categorical_features": "all"}, {"X": FRAME}, "categorical_features must be .from_dtype., got 'all'"),
    "a column that is not": ({"categorical_features": [5]}, {}, "categorical_features holds column 5, but X has columns 0 to 1"),
    "a name that is not": ({"categorical_features": ["c"]}, {"X": FRAME}, "categorical_features names the column 'c', which X does not have"),
    "a name without names": ({"categorical_features": ["a"]}, {}, "categorical_features names the column 'a', but X has no column names"),
    "a short mask": ({"categorical_features": [True]}, {}, "categorical_features is a mask of 1 columns, but X has 2"),
    "half a column": ({"categorical_features": [0.5]}, {}, "categorical_features must hold column numbers or names, got 0.5"),
    "categories as a mapping": ({"categorical_features": {"a": 1}}, {"X": FRAME}, "categorical_features must be a list of column"),
    "a short constraint": ({"monotonic_cst": [1]}, {}, "monotonic_cst must have one of -1, 0, 1 for each of the 2 columns"),
    "a constraint of two": ({"monotonic_cst": [2, 0]}, {}, "monotonic_cst must hold -1, 0 or 1, got 2 for column 0"),
    "a constraint in words": ({"monotonic_cst": "up"}, {}, "monotonic_cst must be a list, got 'up'"),
    "a constraint on no column": ({"monotonic_cst": {"c": 1}}, {"X": FRAME}, "monotonic_cst names the column 'c'"),
    "interactions misspelt": ({"interaction_cst": "pairs"}, {}, "interaction_cst must be 'no_interactions' or 'pairwise'"),
    "interactions of nobody": ({"interaction_cst": [[]]}, {}, "interaction_cst holds an empty set of columns"),
    "interactions of no column": ({"interaction_cst": [[0, 9]]}, {}, "interaction_cst holds column 9, but X has columns 0 to 1"),
    "interactions not in sets": ({"interaction_cst": [0, 1]}, {}, r"interaction_cst must be a list of sets of columns, got \[0, 1\]"),
    "no rows": ({}, {"X": np.empty((0, 2)), "y": []}, "0 sample"),
    "no columns": ({}, {"X": np.empty((12, 0))}, "0 feature"),
    "a table of one dimension": ({}, {"X": Y}, "Expected 2D array, got 1D array"),
    "a table of three": ({}, {"X": np.zeros((12, 2, 2))}, "dim 3"),
    "words in an array": ({}, {"X": np.array([["a", "b"]] * 12)}, "X must hold numbers, got the word 'a' at row 0, column 0: turn it into numbers, name its column in categorical_features, or pass a data frame"),
    "a word among numbers": ({}, {"X": np.array([[1.0, "low"]] * 12, dtype=object)}, "got the word 'low' at row 0, column 1"),
    "words in a set": ({}, {"valid": (np.array([["1", "b"]] * 12), Y)}, "valid X must hold numbers, got the word 'b'"),
    "complex numbers": ({}, {"X": X + 1j}, "Complex data not supported"),
    "words without leave": ({"categorical_features": None}, {"X": FRAME.astype({"a": str})}, "column 'a' of X holds words: name it in categorical_features"),
    "words that are not named": ({"categorical_features": ["b"]}, {"X": FRAME.astype({"a": str})}, "column 'a' of X holds words"),
    "dates": ({}, {"X": FRAME.assign(b=[datetime.datetime(2026, 1, 1)] * 12)}, "column 'b' of X holds Datetime.*: turn it into numbers"),
    "lists in a column": ({}, {"X": pl.DataFrame({"a": [[1]] * 12, "b": Y})}, "column 'a' of X holds List"),
    "things in a column": ({}, {"X": FRAME.assign(b=[{}] * 12)}, "column 'b' of X holds"),
    "a mapping": ({}, {"X": {"a": Y}}, "X is a mapping: make a data frame of it"),
    "a name twice": ({}, {"X": pd.DataFrame(X, columns=["a", "a"])}, "X has two columns or more of the name 'a': rename or drop them"),
    "a lazy frame": ({}, {"X": pl.DataFrame({"a": Y}).lazy()}, "X is a lazy frame: collect it first"),
    "NaN in y": ({}, {"y": with_value(Y, 3, np.nan)}, "y must be finite, got nan at row 3"),
    "infinity in y": ({}, {"y": with_value(Y, 2, np.inf)}, "y must be finite, got inf at row 2"),
    "words in y": ({}, {"y": list("abcdefghijkl")}, "y must hold numbers, got the word 'a' at row 0: .* BoostingClassifier"),
    "a category with a constraint": ({"monotonic_cst": {"a": 1}}, {"X": FRAME.astype({"a": str})}, "monotonic_cst is 1 for the column 'a', which holds categories.*: use 0 there"),
    "a numbered category with a constraint": ({"monotonic_cst": [0, -1], "categorical_features": [1]}, {}, "monotonic_cst is -1 for the column 1, which holds categories"),
    "a binned table": ({}, {"X": ab.Binned(X)}, "X is an ab.Binned, which ab.boost takes: give an estimator the table itself"),
    "a binned set": ({}, {"valid": (ab.Binned(X), Y)}, "valid X is an ab.Binned"),
    "times and events": ({"loss": "cox"}, {"y": np.c_[Y + 1, SIGNS]}, r"y must be one number a row for the loss cox, .* np.where\(event, time, -time\)"),
    "times and events in records": ({"loss": "cox"}, {"y": np.array([(True, 2.0)] * 12, dtype=[("event", bool), ("time", float)])}, r"np.where\(event, time, -time\)"),
    "no y": ({}, {"y": None}, "requires y to be passed, but the target y is None"),
    "a short y": ({}, {"y": Y[:5]}, "y must have one value for each of the 12 rows of X, got 5"),
    "one number as y": ({}, {"y": 3.0}, "y must have one value a row, got 3.0"),
    "negative counts": ({"loss": "poisson"}, {"y": Y - 1}, "y must be 0 or larger for the loss poisson, got -1 at row 0"),
    "no counts": ({"loss": "poisson"}, {"y": np.zeros(12)}, "y is 0 in every row, which the loss poisson has no best constant for: give at least one"),
    "no amounts": ({"loss": "tweedie:1.3"}, {"y": np.zeros(12)}, "y is 0 in every row, which the loss tweedie"),
    "no counts of weight": ({"loss": "poisson"}, {"sample_weight": np.eye(12)[0]}, "y is 0 in every row"),
    "no counts on an offset": ({"loss": "poisson"}, {"y": np.zeros(12), "offset": Y}, "y is 0 in every row"),
    "negative weight": ({}, {"sample_weight": with_value(np.ones(12), 1, -1)}, "sample_weight must not be negative, got -1.0 at row 1"),
    "zero weights": ({}, {"sample_weight": np.zeros(12)}, "sample_weight is zero for every row"),
    "short weights": ({}, {"sample_weight": np.ones(4)}, "sample_weight must have one weight a row, got 4 weights for 12 rows"),
    "groups without use": ({}, {"groups": QID}, "groups were given, but the loss squared does not use them"),
    "no groups": ({"loss": ab.losses.WorstGroup(ab.losses.Squared())}, {}, "groups must be given for the loss worst_group"),
    "short groups": ({"loss": ab.losses.WorstGroup(ab.losses.Squared())}, {"groups": QID[:3]}, "groups must have one label for each of the 12 rows"),
    "short offset": ({}, {"offset": Y[:3]}, r"offset must have one score a row, got shape \(3,\) for 12 rows"),
    "NaN in the offset": ({}, {"offset": with_value(Y, 1, np.nan)}, "offset must be finite, got nan at row 1"),
    "wide offset": ({}, {"offset": np.c_[Y, Y]}, r"offset must have shape \(12,\), got \(12, 2\)"),
    "X_val alone": ({}, {"X_val": X}, "X_val and y_val must be given together"),
    "weights of no set": ({}, {"sample_weight_val": Y}, "X_val must be given"),
    "a set that is no pair": ({}, {"valid": X}, r"valid must be \(X, y\)"),
    "a set misnamed": ({}, {"valid": {"late": {"X": X, "target": Y}}}, "valid 'late': needs .X. and .y. and may have sample_weight, groups, offset"),
    "sets without names": ({}, {"valid": {1: (X, Y)}}, "valid must name its sets by words, got 1"),
    "no sets": ({}, {"valid": {}}, "valid is empty"),
    "a set named twice": ({}, {"X_val": X, "y_val": Y, "valid": (X, Y)}, "valid has a set 'valid', which X_val is called already"),
    "a set with other columns": ({}, {"valid": (X[:, :1], Y)}, "valid X must have the 2 columns of X, got 1"),
    "a set with a short y": ({}, {"valid": (X, Y[:4])}, "valid y must have one value for each of the 12 rows of X, got 4"),
    "a set without offset": ({}, {"offset": Y, "valid": (X, Y)}, "offset must be given for the training rows and the validation set 'valid', or for none"),
    "an offset for a set alone": ({}, {"valid": {"late": {"X": X, "y": Y, "offset": Y}}}, "offset must be given for the training rows and the validation set 'late'"),
    "a score without weights": ({"scoring": lambda model, X, y: 1.0}, {"X_val": X, "y_val": Y, "sample_weight_val": Y}, "scoring .lambda. takes no sample_weight"),
    "a set with NaN in y": ({}, {"valid": (X, with_value(Y, 0, np.nan))}, "validation set 'valid': y must be finite"),
    "one row to stop by": ({"early_stopping": True}, {"X": X[:1], "y": Y[:1]}, "early_stopping needs two rows or more to split"),
    "a run that is none": ({}, {"resume": "run.safetensors"}, "resume must be a Run, e.g. anyboost.load.path., got str"),
}  # fmt: skip
CLASSIFIER = {
    "one class": ({}, {"y": np.zeros(12)}, "y has one class only, .*0.0.*: give rows of at least two classes"),
    "one class of weight": ({}, {"sample_weight": SIGNS}, "y has one class only"),
    "numbers as classes": ({}, {"y": Y + 0.5}, "Unknown label type: continuous"),
    "NaN as a class": ({}, {"y": with_value(SIGNS, 2, np.nan)}, "y must be finite, got nan at row 2"),
    "a missing class": ({}, {"y": ["ill", None] * 6}, "y mixes labels of the types NoneType, str: use one, and drop missing ones"),
    "two columns of classes": ({}, {"y": np.c_[SIGNS, SIGNS]}, "y should be a 1d array"),
    "a loss of two for three": ({"loss": "hinge"}, {"y": THREE}, "loss hinge is for two classes, and y has 3: use softmax or multiclass_hinge"),
    "a loss of numbers": ({"loss": "absolute"}, {}, "loss absolute is one of numbers: use logistic"),
    "a loss of counts": ({"loss": "poisson"}, {}, "loss poisson is not one of classes"),
    "a loss of quantiles": ({"loss": "multi_quantile:0.1,0.9"}, {}, "loss .* is not one of classes"),
    "class weights in words": ({"class_weight": "even"}, {}, "class_weight must be 'balanced', got 'even'"),
    "class weights as a list": ({"class_weight": [1, 2]}, {}, "class_weight must be a mapping, .balanced. or None"),
    "the weight of no class": ({"class_weight": {7: 1.0}}, {}, "class_weight has the class 7, which y has not"),
    "a class of no weight": ({"class_weight": {1: 0.0}}, {}, "class_weight of 1 must be positive, got 0.0"),
    "a new class to watch": ({}, {"valid": (X, THREE)}, "validation set 'valid': y has the class 2, which the training rows have not"),
    "a wide offset": ({}, {"offset": np.zeros((12, 2))}, r"offset must have shape \(12,\)"),
}  # fmt: skip
RANKER = {
    "a loss of another library": ({"loss": "lambdarank"}, {}, "loss 'lambdarank' is not here: use 'rank_logistic' or 'rank_hinge'"),
    "another loss of another library": ({"loss": "rank:ndcg"}, {}, "loss 'rank:ndcg' is not here: use 'rank_logistic'"),
    "a third loss of another library": ({"loss": "YetiRank"}, {}, "loss 'YetiRank' is not here: use 'rank_logistic'"),
    "a loss that does not rank": ({"loss": "squared"}, {}, "loss squared does not rank rows of a query: use .rank_logistic."),
    "short queries": ({}, {"qid": QID[:3]}, "qid must have one label for each of the 12 rows"),
    "nothing to rank": ({}, {"y": np.zeros(12)}, "y has no two rows of different grade in one query"),
    "one query to split": ({"early_stopping": True}, {"qid": np.zeros(12)}, "early_stopping needs two queries or more to split"),
    "no queries": ({}, {"qid": None}, r"qid must be given to fit a ranking: pass fit\(X, y, qid=...\), .* set_fit_request"),
    "no queries of a set": ({}, {"valid": {"late": (X, Y)}}, "valid 'late': qid must be given to fit a ranking: add it to the validation set"),
    "groups for a set": ({}, {"valid": {"late": {"X": X, "y": Y, "groups": QID}}}, "valid 'late': needs .* may have sample_weight, qid, offset"),
    "nothing to rank in a set": ({}, {"valid": {"late": {"X": X, "y": np.zeros(12), "qid": QID}}}, "validation set 'late': y has no two rows of different grade"),
    "queries of no set": ({}, {"qid_val": QID}, "X_val must be given"),
}  # fmt: skip
CASES = (
    [(BoostingRegressor, name, *case) for name, case in REGRESSOR.items()]
    + [(BoostingClassifier, name, *case) for name, case in CLASSIFIER.items()]
    + [(BoostingRanker, name, *case) for name, case in RANKER.items()]
)
GOOD = {
    BoostingRegressor: {"X": X, "y": Y},
    BoostingClassifier: {"X": X, "y": SIGNS},
    BoostingRanker: {"X": X, "y": Y, "qid": QID},
}


def test_there_are_a_hundred_of_them():
    assert len(CASES) >= 100


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize(("kind", "given", "arguments", "words"), [case[:1] + case[2:] for case in CASES], ids=[case[1] for case in CASES])  # fmt: skip
def test_refused_with_a_sentence_before_any_work(kind, given, arguments, words):
    rounds = []
    parameters = {"max_iter": 2, "callbacks": [lambda step, run: rounds.append(step)], **given}
    model = kind(**parameters)
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        model.fit(**{**GOOD[kind], **arguments})
    assert rounds == []
    assert not hasattr(model, "ensemble_")
    assert not [name for name in vars(model) if name.endswith("_")], "a failed fit left something behind"
    sentence = str(raised.value)
    ours = "\n" not in sentence
    assert ours or "Expected 2D" in sentence or "Unknown label" in sentence or "y to be passed" in sentence
    assert len(sentence) < 400


def test_a_failed_fit_leaves_the_earlier_one():
    model = BoostingRegressor(max_iter=3).fit(FRAME, Y)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(ValueError, match="y must be finite"):
        model.fit(np.ones((12, 5)), with_value(Y, 0, np.nan))
    assert {name: id(value) for name, value in vars(model).items()} == before
    assert model.predict(FRAME).shape == (12,)


def test_sparse_tables_are_refused_in_a_sentence():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        BoostingRegressor().fit(csr_array(X), Y)


PREDICTIONS = {
    "a binned table": (ab.Binned(X), {}, "X is an ab.Binned, which ab.boost takes"),
    "another number of columns": (X[:, :1], {}, "X has 1 features, but BoostingRegressor is expecting 2"),
    "one dimension": (X[0], {}, "Expected 2D array"),
    "a short offset": (X, {"offset": Y[:3]}, r"offset must be a number or scores of shape \(12,\)"),
}


@pytest.mark.parametrize("case", PREDICTIONS)
def test_predictions_refuse_what_does_not_fit(case):
    table, given, words = PREDICTIONS[case]
    model = BoostingRegressor(max_iter=2).fit(X, Y)
    with pytest.raises((ValueError, TypeError), match=words):
        model.predict(table, **given)


def test_a_ranking_is_not_scored_without_its_queries():
    """All rows as one query is another score: a cross-validation that forgot `qid` would choose by it."""
    ranker = BoostingRanker(max_iter=2).fit(X, Y, QID)
    with pytest.raises(ValueError, match=r"qid must be given to score a ranking: .* set_score_request"):
        ranker.score(X, Y)
    assert ranker.score(X, Y, QID) == ab.metrics.ndcg(Y, ranker.predict(X), QID)
    one = np.zeros(12)
    sets = {"one": {"X": X, "y": Y, "qid": one}, "three": {"X": X, "y": Y, "qid": QID}}
    alone = BoostingRanker(max_iter=2, scoring=None).fit(X, Y, one, valid=sets)
    found = {name: scores["score"][-1] for name, scores in alone.validation_scores_.items()}
    assert found["one"] == alone.score(X, Y, one)
    assert found["three"] == alone.score(X, Y, QID)


def test_methods_of_another_loss_say_which_one_they_need():
    model = BoostingRegressor(max_iter=2).fit(X, Y)
    with pytest.raises(TypeError, match="predict_interval needs quantiles, and the loss is squared"):
        model.predict_interval(X)
    with pytest.raises(TypeError, match="predict_survival needs hazards, and the loss is squared"):
        model.predict_survival(X)
    quantiles = BoostingRegressor("multi_quantile:0.1,0.9", max_iter=2).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"coverage 0.9 takes 19 rows or more to calibrate by, and this model has 12"
    ):
        quantiles.predict_interval(X, coverage=0.9)
    hinge = BoostingClassifier("hinge", max_iter=2).fit(X, SIGNS)
    for name in ("predict_proba", "predict_log_proba", "staged_predict_proba"):
        assert not hasattr(hinge, name)
        with pytest.raises(
            AttributeError, match=f"{name} needs .* loss hinge .*'logistic', or calibration='temperature'"
        ):
            getattr(hinge, name)
    assert not hasattr(BoostingClassifier("hinge"), "predict_proba")
    assert hasattr(BoostingClassifier(), "predict_proba")
    linear = BoostingRegressor(learner="dictionary", max_iter=2).fit(X, Y)
    with pytest.raises(TypeError, match="apply needs trees"):
        linear.apply(X)
