"""Losses, learners, descents and steps as JSON and back: a list of known classes, and their parameters.

What a user wrote (the functions of a `pointwise` loss, a step schedule) is not stored: only its name is. It
comes back as a stand-in that says so when training asks for it, or as what `load` is given in its place.
"""

from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np

from anyboost import descent as descents
from anyboost import losses, steps, weak
from anyboost.checks import Floats
from anyboost.descent import Descent
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, real
from anyboost.losses import Loss, RowwiseLoss, Sum, links
from anyboost.losses.base import Array, Functional, Measure
from anyboost.losses.combine import CoupledSum, add

Table = dict[str, tuple[type, tuple[str, ...]]]
DEEPEST = 4  # a loss in a loss in a loss
MOST_TERMS = 1000
MOST_ITEMS = 2**20


def _table(*classes: type) -> Table:
    return {cls.__name__: (cls, tuple(field.name for field in fields(cls))) for cls in classes}


LOSSES: Table = _table(*losses.LISTED)
LEARNERS: Table = {
    "Stump": (weak.Stump, ("leaf",)),
    "Tree": (weak.Tree, tuple(field.name for field in fields(weak.Tree))),
    "Linear": (weak.Linear, ("penalty", "standardize")),
    "Net": (weak.Net, ("hidden", "penalty", "max_iter")),
    "Dictionary": (weak.Dictionary, ()),
    "Classifier": (weak.Classifier, ("both_signs",)),
}
DESCENTS: Table = {
    "Descent": (Descent, ("step", "memory", "projections", "tolerance", "curvature")),
    "Naive": (descents.Naive, ("step", "curvature")),
    "Repeated": (descents.Repeated, ("step", "projections", "tolerance", "curvature")),
    "Residual": (descents.Residual, ("step", "memory", "curvature")),
    "Shrinking": (descents.Shrinking, ("step", "shrinks", "unit")),
    "Hull": (descents.Hull, ("radius",)),
}
STEPS = _table(steps.Constant, steps.InverseSqrt, steps.InverseT, steps.FrankWolfe, steps.LineSearch)
# Fields that a file has only where they differ from the default: older files have none
LATER = (
    "growth",
    "min_leaf_weight",
    "l2",
    "monotone",
    "interactions",
    "outputs",
    "node_features",
    "standardize",
    "unit",
    "curvature",
)
TEXTS = ("leaf", "growth", "outputs")
LISTS = ("monotone", "interactions")
FLAGS = ("both_signs", "shrinks", "standardize", "curvature")
LINKS = {
    "identity": links.IDENTITY,
    "log": links.LOG,
    "sorted": links.SORTED,
    "sign": links.SIGN,
    "sign_logistic": links.SIGN_LOGISTIC,
    "sign_half_logistic": links.SIGN_HALF_LOGISTIC,
    "sign_clipped": links.SIGN_CLIPPED,
    "largest": links.LARGEST,
    "largest_softmax": links.LARGEST_SOFTMAX,
}


@dataclass(frozen=True)
class AbsentLoss(RowwiseLoss):
    """A loss whose functions are not in the file it came from."""

    title: str
    shown: links.Link | None
    advice = "pass it to load(path, loss=...) instead"

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.title

    def __str__(self) -> str:
        return self.title

    def __repr__(self) -> str:
        return f"AbsentLoss({self.title!r})"

    def check(self, y: Any) -> Array:
        self._refuse()

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        self._refuse()

    def values(self, scores: Floats, y: Array) -> Floats:
        self._refuse()

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        self._refuse()

    def link(self, scores: Any) -> Array:
        return self._shown().predict(np.asarray(scores, dtype=np.float64))

    def probabilities(self, scores: Any) -> Floats:
        if self._shown().probabilities is None:
            raise TypeError(f"the loss {self.name} gives no probabilities")
        return self._shown().probabilities(np.asarray(scores, dtype=np.float64))  # type: ignore[misc]

    def _shown(self) -> links.Link:
        return self._refuse() if self.shown is None else self.shown

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"the functions of the loss {self.title!r} are not in its model file: pass it to load(path, loss=...)"
        )


@dataclass(frozen=True)
class AbsentStep:
    """A step schedule that is not in the file it came from."""

    title: str

    def __call__(self, t: int) -> float:
        raise ValueError(
            f"the step {self.title!r} is not in its model file: pass the descent to load(path, descent=...)"
        )


def encode_loss(loss: Loss) -> dict[str, Any]:
    """A loss by class and parameters; one of the user's by name and link."""
    known = _known(loss)
    return {"yours": _title(loss), "link": _link_name(loss)} if known is None else known


def _title(loss: Any) -> str:
    """A name that is the same in another process: without the addresses of functions."""
    if isinstance(loss, Sum | CoupledSum):
        return " + ".join(f"{factor!r}*{_title(term)}" for factor, term in loss.terms)
    if isinstance(loss, losses.CVaR):
        return f"cvar({_title(loss.loss)}, {loss.alpha!r})"
    return f"worst_group({_title(loss.loss)})" if isinstance(loss, losses.WorstGroup) else str(loss)


def _known(loss: Any) -> dict[str, Any] | None:
    if type(loss) in (Sum, CoupledSum):
        terms = [[_plain(factor), _known(term)] for factor, term in loss.terms]
        found: dict[str, Any] | None = {"class": "Sum", "terms": terms}
        if any(term is None for _, term in terms):
            return None
    elif LOSSES.get(type(loss).__name__, (None,))[0] is type(loss):
        names = LOSSES[type(loss).__name__][1]
        found = {"class": type(loss).__name__} | {name: _plain(getattr(loss, name)) for name in names}
        if found.get("loss", 0) is None:
            return None
    else:
        return None
    try:
        return found if decode_loss(found) == loss else None
    except Fault:  # put together in a way that no function of the library does
        return None


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, Loss):
        return _known(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _link_name(loss: Any) -> str | None:
    """The name of the loss's link, or None where it is the user's own."""
    if isinstance(loss, AbsentLoss):
        link = loss.shown
    elif isinstance(loss, RowwiseLoss):
        link = loss.link_
    elif isinstance(loss, CoupledSum):
        return _link_name(loss.terms[0][1])
    else:
        return _link_name(loss.loss) if isinstance(getattr(loss, "loss", None), Loss) else None
    return next((name for name, known in LINKS.items() if known == link), None)


def decode_loss(entry: Any, depth: int = 0) -> Loss:
    """The loss an entry describes; a stand-in for one of the user's."""
    if depth > DEEPEST:
        raise Fault("its loss is nested too deeply")
    found = Fields(entry, "loss")
    if depth == 0 and found.has("yours"):
        return _absent_loss(found)
    name = found.text("class")
    if name == "Sum":
        terms = [_term(term, depth) for term in found.items("terms", MOST_TERMS)]
        found.done()
        if not terms:
            raise Fault("its loss is a sum of nothing")
        return _make(add, {"terms": terms})
    made = _look_up(LOSSES, name, "loss")
    values: dict[str, Any] = {}
    for parameter in made[1]:
        if parameter == "loss":
            values["loss"] = decode_loss(found.take("loss"), depth + 1)
        elif parameter == "taus":
            values["taus"] = tuple(real(tau, "taus") for tau in found.items("taus", MOST_TERMS))
        else:
            values[parameter] = _number(found, parameter)
    found.done()
    return _make(made[0], values)


def _absent_loss(found: Fields) -> Loss:
    title, link = found.text("yours"), found.take("link")
    found.done()
    if link is not None and (not isinstance(link, str) or link not in LINKS):
        raise Fault("its loss has a link that this version does not know")
    return AbsentLoss(title, None if link is None else LINKS[link])


def _term(term: Any, depth: int) -> tuple[float, Loss]:
    if not isinstance(term, list) or len(term) != 2 or real(term[0], "terms") <= 0:
        raise Fault("its loss has a term that is not a positive number times a loss")
    return term[0], decode_loss(term[1], depth + 1)


def encode_learner(learner: Any) -> dict[str, Any]:
    """A learner by class and parameters; a sentence for one that cannot be stored."""
    if isinstance(learner, weak.Estimator) or hasattr(learner, "get_params"):
        raise ValueError(
            "learner is an estimator of yours, which cannot be saved: use a learner of anyboost.weak, e.g. Linear()"
        )
    made = LEARNERS.get(type(learner).__name__)
    if made is None or made[0] is not type(learner):
        raise ValueError(f"learner {learner!r} cannot be saved: only those of anyboost.weak can")
    if getattr(learner, "functions", None) is not None:
        raise ValueError(
            "learner is a Dictionary of functions, which cannot be saved: "
            "give their values as columns of X to Dictionary() instead"
        )
    if getattr(learner, "estimator", None) is not None:
        raise ValueError(
            "learner is a Classifier with an estimator, which cannot be saved: use Classifier() or a tree instead"
        )
    return _by_class(learner, made[1])


def decode_learner(entry: Any) -> Any:
    return _decode(entry, LEARNERS, "learner")


def encode_descent(descent: Descent) -> dict[str, Any]:
    """A descent by class and parameters; a step of the user's by name."""
    made = DESCENTS.get(type(descent).__name__)
    if made is None or made[0] is not type(descent):
        raise ValueError(f"descent {descent!r} cannot be saved: only those of anyboost.descent can")
    return _by_class(descent, made[1])


def decode_descent(entry: Any) -> Descent:
    return _decode(entry, DESCENTS, "descent")


def encode_step(step: Any) -> dict[str, Any] | None:
    """A step by class and parameters, one of the user's by name; None where the loss is to decide."""
    if step is None:
        return None
    made = STEPS.get(type(step).__name__)
    if made is not None and made[0] is type(step):
        return _by_class(step, made[1])
    title = step.title if isinstance(step, AbsentStep) else getattr(step, "__name__", type(step).__name__)
    return {"yours": str(title)}


def decode_step(entry: Any) -> Any:
    if entry is None:
        return None
    found = Fields(entry, "step")
    if not found.has("yours"):
        return _decode(entry, STEPS, "step")
    title = found.text("yours")
    found.done()
    return AbsentStep(title)


def is_yours(entry: dict[str, Any]) -> bool:
    """Whether an entry for a loss or a descent stands for something that is not in the file."""
    return "yours" in entry or "yours" in (entry.get("step") or {})


def spell(entry: Any) -> str:
    """An entry for a loss, learner or descent as one would write it; for people, whatever the entry is."""
    if isinstance(entry, list):
        return "[" + ", ".join(spell(part) for part in entry) + "]"
    if not isinstance(entry, dict):
        return ascii(entry)
    if "yours" in entry:
        return f"{entry['yours']} (your own)"
    inside = ", ".join(f"{name}={spell(value)}" for name, value in entry.items() if name != "class")
    return f"{entry.get('class')}({inside})"


def _by_class(thing: Any, names: tuple[str, ...]) -> dict[str, Any]:
    values = {name: getattr(thing, name) for name in names}
    return {"class": type(thing).__name__} | {
        name: encode_step(value) if name == "step" else _plain(value)
        for name, value in values.items()
        if name not in LATER or value != _default(thing, name)
    }


def _default(thing: Any, name: str) -> Any:
    return next(field.default for field in fields(thing) if field.name == name)


def _decode(entry: Any, table: Table, what: str) -> Any:
    found = Fields(entry, what)
    cls, names = _look_up(table, found.text("class"), what)
    values: dict[str, Any] = {}
    for name in names:
        if name in LATER and not found.has(name):
            continue
        if name == "step":
            values[name] = decode_step(found.take(name))
        elif name in FLAGS:
            values[name] = found.flag(name)
        elif name in TEXTS:
            values[name] = found.text(name)
        elif name in LISTS:
            values[name] = found.items(name, MOST_ITEMS)
        else:
            values[name] = _number(found, name)
    found.done()
    return _make(cls, values)


def _number(found: Fields, name: str) -> Any:
    """A number as it stands, int or float, or None; the class itself checks what it may be."""
    value = found.take(name)
    if value is not None:
        real(value, name)
    return value


def _look_up(table: Table, name: str, what: str) -> tuple[type, tuple[str, ...]]:
    if name not in table:
        raise Fault(f"its {what} is {name!a}, which this version does not know")
    return table[name]


def _make(cls: Any, values: dict[str, Any]) -> Any:
    try:
        return cls(**values)
    except (ValueError, TypeError, OverflowError) as error:
        raise Fault(f"its header says {error}") from None
