"""`to_treelite`: sums of trees as treelite's models, whose servers and compilers then run them."""

from typing import Any

from anyboost.export.onnx_trees import codes_apart
from anyboost.export.parts import INSTEAD, ModelParts, Term, parts_of
from anyboost.losses import links


def to_treelite(model: Any) -> Any:
    """A model of trees or stumps as a treelite model, thresholds and leaves in float64.

    It takes the table as numbers: categories as the places of their levels among the sorted ones, NaN where missing.
    Its predictions are those of `predict`; of a classifier the probabilities, of two classes that of the second, or the
    raw scores where the loss gives none.

    Parameters
    ----------
    model : BoostingRegressor, BoostingClassifier, BoostingRanker, Run or Ensemble
        A fitted model.

    Returns
    -------
    treelite.Model
        The same sum.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> import treelite
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), [0.0, 1.0, 3.0]
    >>> model = ab.boost(X, y, rounds=5).ensemble
    >>> served = treelite.gtil.predict(ab.export.to_treelite(model), X)
    >>> np.allclose(served.ravel(), model.predict(X))
    True
    """
    from importlib.util import find_spec

    if find_spec("treelite") is None:
        raise ImportError('to_treelite needs treelite: pip install "anyboost[treelite]"')
    from treelite import model_builder as building

    parts = parts_of(model)
    _refuse(parts)
    several, classes = parts.outputs, parts.kind == "classifier" and parts.outputs > 1
    joint = any(term.output is None for term in parts.terms) and several > 1
    shape = (1, 1) if not joint else (1, several) if classes else (several, 1)
    outputs = [-1 if joint else term.output or 0 for term in parts.terms]
    zeros = [0] * len(outputs)
    builder = building.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=building.Metadata(
            num_feature=len(parts.encoding.sources),
            task_type=_task(parts),
            average_tree_output=False,
            num_target=1 if classes else several,
            num_class=[several] if classes else [1] * several,
            leaf_vector_shape=shape,
        ),
        tree_annotation=building.TreeAnnotation(
            num_tree=len(outputs),
            target_id=zeros if classes else outputs,
            class_id=outputs if classes else zeros,
        ),
        postprocessor=building.PostProcessorFunc(**_postprocessor(parts)),
        base_scores=parts.start.tolist(),
    )
    for term in parts.terms:
        _add(builder, term)
    return builder.commit()


def _refuse(parts: ModelParts) -> None:
    parts.refuse_slopes()
    what = None
    if parts.linear is not None:
        what = "a linear function, and treelite has trees only"
    elif parts.encoding.values:
        what = 'encoded categories, and treelite takes a table of numbers: use categorical_encoding="subset"'
    elif parts.calibration is not None:
        what = "a calibration, which treelite has no function for: export it without"
    elif parts.link.predict is links.increasing:
        what = "quantiles that are sorted, which treelite has no function for: export its ensemble_"
    elif not parts.terms:
        what = "no trees"
    if what is not None:
        raise ValueError(f"model cannot be exported to treelite: it has {what}; or {INSTEAD}")


def _task(parts: ModelParts) -> str:
    if parts.kind == "classifier":
        return "kBinaryClf" if parts.outputs == 1 else "kMultiClf"
    return "kLearningToRank" if parts.kind == "ranker" else "kRegressor"


def _postprocessor(parts: ModelParts) -> dict[str, Any]:
    if parts.kind != "classifier":
        return {"name": "exponential" if parts.link.predict is links.exponential else "identity"}
    chances = parts.link.probabilities
    if chances is links.softmax:
        return {"name": "softmax"}
    for link, scale in ((links.SIGN_LOGISTIC, 1.0), (links.SIGN_HALF_LOGISTIC, 2.0)):
        if chances is link.probabilities:
            return {"name": "sigmoid", "sigmoid_alpha": scale}
    return {"name": "identity_multiclass" if parts.outputs > 1 else "identity"}


def _add(builder: Any, term: Term) -> None:
    tree = term.tree
    builder.start_tree()
    for node in range(len(tree.feature)):
        builder.start_node(node)
        children = {"left_child_key": int(tree.left[node]), "right_child_key": int(tree.right[node])}
        if tree.feature[node] < 0:
            value = term.coefficient * tree.value[node]
            builder.leaf(float(value[0]) if len(value) == 1 else value.tolist())
        elif tree.category_set[node] < 0:
            builder.numerical_test(
                feature_id=int(tree.feature[node]),
                threshold=float(tree.threshold[node]),
                default_left=bool(tree.missing_left[node]),
                opname="<=",
                **children,
            )
        else:
            codes, missing_left = codes_apart(tree, node)
            builder.categorical_test(
                feature_id=int(tree.feature[node]),
                default_left=missing_left,
                category_list=codes.tolist(),
                category_list_right_child=missing_left,
                **children,
            )
        builder.end_node()
    builder.end_tree()
