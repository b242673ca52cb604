"""A model as exporters read it: a start, trees with coefficients, a linear function, a link, columns, classes.

    f(x) = start + sum_m c_m tree_m(x) + weight x + constant

Whatever else a model may hold is refused here, in a sentence.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anyboost.boosting import Run
from anyboost.ensemble import Ensemble
from anyboost.estimators import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.estimators.encoding import Encoding
from anyboost.explain.calibration import Calibration
from anyboost.fitted import snapshot
from anyboost.losses import Loss, links
from anyboost.tables import Columns
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction
from anyboost.weak.linear import LinearFunction

INSTEAD = "use anyboost.save, or anyboost.export.to_json, which keep it"


class Term(NamedTuple):
    """A tree of the sum; one of one output adds to that `output`, one of all to all of them."""

    tree: TreeFunction
    coefficient: float
    output: int | None

    def values(self, output: int) -> np.ndarray:
        """What each leaf adds to an output, in the order of the leaves."""
        own = self.tree.value[self.tree.feature < 0]
        column: np.ndarray = own[:, 0 if self.output is not None else output]
        return self.coefficient * column


@dataclass(frozen=True, eq=False)
class ModelParts:
    """What an exporter needs of a model.

    `columns`, `encoding` and `names` are those of an estimator; a sum or a run takes a table of numbers as it is.
    """

    kind: str
    loss: str
    link: links.Link
    start: np.ndarray
    terms: list[Term]
    linear: LinearFunction | None
    columns: Columns
    encoding: Encoding
    names: list[str] | None
    classes: np.ndarray | None = None
    calibration: Calibration | None = None

    @property
    def outputs(self) -> int:
        return len(self.start)

    def refuse_slopes(self) -> None:
        """A sentence where leaves are linear: formats of trees have constants in leaves."""
        if any(term.tree.slopes is not None for term in self.terms):
            raise ValueError(
                "model cannot be exported: its trees have linear leaves, which no operator for trees has; fit it with "
                f'leaf="mean" or leaf="exact", or {INSTEAD}'
            )

    def size(self) -> np.ndarray:
        """|start| + sum over trees of the largest |c h|, an output each: what rounding is relative to."""
        total = np.abs(self.start)
        for term in self.terms:
            for output in range(self.outputs) if term.output is None else (term.output,):
                total[output] += np.abs(term.values(output)).max()
        return total


def parts_of(model: Any) -> ModelParts:
    """The parts of a fitted estimator, a run or a sum; a sentence for what has none."""
    if isinstance(model, Ensemble):
        return ModelParts("ensemble", "", links.IDENTITY, *_sum(model), *_bare(model))
    if isinstance(model, Run):
        ensemble = model.ensemble
        return ModelParts("run", str(model.loss), link_of(model.loss), *_sum(ensemble), *_bare(ensemble))
    for kind, cls in (
        ("regressor", BoostingRegressor),
        ("classifier", BoostingClassifier),
        ("ranker", BoostingRanker),
    ):
        if isinstance(model, cls):
            return _of_estimator(kind, model)
    raise TypeError(
        f"model must be a BoostingRegressor, BoostingClassifier, BoostingRanker, Run or Ensemble, got "
        f"{type(model).__name__}: {INSTEAD}"
    )


def _bare(ensemble: Ensemble) -> tuple[Columns, Encoding, None]:
    return Columns(ensemble.n_features), Encoding(ensemble.n_features), None


def _of_estimator(kind: str, model: Any) -> ModelParts:
    from sklearn.utils.validation import check_is_fitted

    model = snapshot(model)
    check_is_fitted(model)
    if getattr(model, "init_", None) is not None:
        raise ValueError(
            "model cannot be exported: it starts at the predictions of another estimator, its init; export that one "
            "beside a model that is fitted with offset=..., and add them up"
        )
    names = getattr(model, "feature_names_in_", None)
    return ModelParts(
        kind,
        str(model.loss_),
        links.IDENTITY if kind == "ranker" else link_of(model.loss_),
        *_sum(model.ensemble_),
        model._columns,
        model._encoding,
        None if names is None else [str(name) for name in names],
        getattr(model, "classes_", None),
        getattr(model, "calibration_", None),
    )


def _sum(ensemble: Ensemble) -> tuple[np.ndarray, list[Term], LinearFunction | None]:
    start, lines = ensemble.start.astype(np.float64), []
    terms: list[Term] = []
    trees: list[tuple[int | None, TreeFunction]]
    for hypothesis, coefficient in zip(ensemble.hypotheses, ensemble.coefficients.tolist(), strict=True):
        if isinstance(hypothesis, LinearFunction):
            lines.append((hypothesis, coefficient))
            continue
        if isinstance(hypothesis, TreeFunction):
            trees = [(None, hypothesis)]
        elif isinstance(hypothesis, EachFunction):
            trees = [*enumerate(hypothesis.trees)]
        else:
            raise ValueError(
                f"model cannot be exported: it is a sum of {type(hypothesis).__name__}, and trees, stumps and linear "
                f"functions can be; {INSTEAD}"
            )
        terms += [Term(tree, coefficient, output) for output, tree in trees]
    if not lines:
        return start, terms, None
    weight = np.sum([c * part.weight for part, c in lines], axis=0)
    return start, terms, LinearFunction(weight, np.sum([c * part.constant for part, c in lines], axis=0))


def link_of(loss: Loss) -> links.Link:
    """From raw scores to predictions; a sentence where that is a function of the user's own."""
    known = {link.predict for link in vars(links).values() if isinstance(link, links.Link)}
    with suppress(ValueError):  # the link of a loss whose functions are not in the file it came from
        if loss.link_.predict in known:
            return loss.link_
    raise ValueError(
        f"model cannot be exported: the link of its loss {loss} is a function of your own; export the sum, "
        "model.ensemble_ of an estimator, and apply the link to its scores"
    )
