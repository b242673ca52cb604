"""What a model was made with, as JSON and back: losses, learners, descents and steps.

What a user wrote (the functions of a `pointwise` loss, a step schedule) is not stored: only its name is. It
comes back as a stand-in that says so when training asks for it, or as what `load` is given in its place.
"""

from dataclasses import dataclass
from typing import Any, NoReturn

from anyboost import descent as descents
from anyboost import losses, steps, weak
from anyboost.descent import Descent
from anyboost.files.codec import Codec, plain
from anyboost.files.fields import Fault, Fields, items, make, optional, real, refuse, text
from anyboost.losses import Loss, RowwiseLoss, Sum, links
from anyboost.losses.combine import CoupledSum, add

DEEPEST = 4  # a loss in a loss in a loss
MOST_TERMS = 1000
LINKS = {name.lower(): link for name, link in vars(links).items() if isinstance(link, links.Link)}


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

    @property
    def link_(self) -> links.Link:  # type: ignore[override]
        return self._refuse() if self.shown is None else self.shown

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(
            f"the functions of the loss {self.title!r} are not in its model file: pass it to load(path, loss=...)"
        )

    check = on = values = subgradients = _refuse


@dataclass(frozen=True)
class AbsentStep:
    """A step schedule that is not in the file it came from."""

    title: str

    def __call__(self, t: int) -> float:
        raise ValueError(
            f"the step {self.title!r} is not in its model file: pass the descent to load(path, descent=...)"
        )


class _Losses(Codec):
    """Also sums of losses, and those of the user's own by name and link; at a depth, losses in a loss."""

    def __init__(self, depth: int = 0) -> None:
        super().__init__("loss", *losses.LISTED)
        self.depth = depth
        if depth <= DEEPEST:
            self.inner["loss"] = _Losses(depth + 1)

    def encode(self, loss: Any) -> dict[str, Any]:
        try:
            entry = self._encoded(loss)
            if self.decode(entry) == loss:
                return entry
        except (ValueError, Fault):
            pass  # one of the user's, or put together in a way that no function of the library does
        return {"yours": _title(loss), "link": _link_name(loss)}

    def _encoded(self, loss: Any) -> dict[str, Any]:
        if type(loss) not in (Sum, CoupledSum):
            return super().encode(loss)
        inner = self.inner["loss"]
        return {"class": "Sum", "terms": [[plain(factor), inner.encode(term)] for factor, term in loss.terms]}

    def decode(self, entry: Any) -> Loss:
        refuse(self.depth > DEEPEST, "its loss is nested too deeply")
        found = Fields(entry, self.what)
        if self.depth == 0 and found.has("yours"):
            return _absent_loss(found)
        if found.take("class", text) != "Sum":
            return super().decode(entry)
        terms = found.take("terms", items(MOST_TERMS, self._term))
        found.done()
        refuse(not terms, "its loss is a sum of nothing")
        return make(add, {"terms": terms})

    def _term(self, term: Any, name: str) -> tuple[float, Loss]:
        if not isinstance(term, list) or len(term) != 2 or real(term[0], name) <= 0:
            raise Fault("its loss has a term that is not a positive number times a loss")
        return term[0], self.inner["loss"].decode(term[1])


class _Steps(Codec):
    """Also None, where the loss is to decide, and the user's own by name."""

    def encode(self, step: Any) -> dict[str, Any] | None:
        if step is None or self.knows(step):
            return None if step is None else super().encode(step)
        title = step.title if isinstance(step, AbsentStep) else getattr(step, "__name__", type(step).__name__)
        return {"yours": str(title)}

    def decode(self, entry: Any) -> Any:
        if entry is None or not Fields(entry, self.what).has("yours"):
            return None if entry is None else super().decode(entry)
        return AbsentStep(Fields(entry, self.what).take_all(yours=text)["yours"])


class _Learners(Codec):
    """Those that hold what the user wrote are refused, with what to use instead."""

    def encode(self, learner: Any) -> dict[str, Any]:
        refused = None
        if isinstance(learner, weak.Estimator) or hasattr(learner, "get_params"):
            refused = "an estimator of yours", "use a learner of anyboost.weak, e.g. Linear()"
        elif getattr(learner, "functions", None) is not None:
            refused = "a Dictionary of functions", "give their values as columns of X to Dictionary()"
        elif getattr(learner, "estimator", None) is not None:
            refused = "a Classifier with an estimator", "use Classifier() or a tree instead"
        if refused is not None:
            raise ValueError(f"learner is {refused[0]}, which cannot be saved: {refused[1]}")
        return super().encode(learner)


LOSSES = _Losses()
STEPS = _Steps("step", steps.Constant, steps.InverseSqrt, steps.InverseT, steps.FrankWolfe, steps.LineSearch)
DESCENTS = Codec("descent", Descent, *descents.PRESETS.values(), step=STEPS)
LEARNERS = _Learners(
    "learner", weak.Stump, weak.Tree, weak.Linear, weak.Net, weak.Dictionary, weak.Classifier
)


def loss_of(stored: Loss, given: Any) -> Loss:
    """The loss of a file, a stand-in for one of the user's, or what `load` was given for it."""
    return stored if given is None else _agreed(LOSSES, stored, losses.get(given))


def descent_of(stored: Descent, given: Any) -> Descent:
    """The descent of a file, or what `load` was given for it."""
    return stored if given is None else _agreed(DESCENTS, stored, descents.get(given))


def _agreed(codec: Codec, stored: Any, given: Any) -> Any:
    entry, other = codec.encode(stored), codec.encode(given)
    if entry != other:
        raise ValueError(f"{codec.what} must be that of the file, {spell(entry)}, got {spell(other)}")
    return given


def _title(loss: Any) -> str:
    """A name that is the same in another process: without the addresses of functions."""
    if isinstance(loss, Sum | CoupledSum):
        return " + ".join(f"{factor!r}*{_title(term)}" for factor, term in loss.terms)
    if isinstance(loss, losses.CVaR):
        return f"cvar({_title(loss.loss)}, {loss.alpha!r})"
    return f"worst_group({_title(loss.loss)})" if isinstance(loss, losses.WorstGroup) else str(loss)


def _link_name(loss: Any) -> str | None:
    """The name of the loss's link, or None where it is the user's own."""
    if isinstance(loss, CoupledSum):
        return _link_name(loss.terms[0][1])
    if not isinstance(loss, RowwiseLoss):
        return _link_name(loss.loss) if isinstance(getattr(loss, "loss", None), Loss) else None
    link = loss.shown if isinstance(loss, AbsentLoss) else loss.link_
    return next((name for name, known in LINKS.items() if known == link), None)


def _absent_loss(found: Fields) -> Loss:
    title, link = found.take_all(yours=text, link=optional(text)).values()
    refuse(link is not None and link not in LINKS, "its loss has a link that this version does not know")
    return AbsentLoss(title, None if link is None else LINKS[link])


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
