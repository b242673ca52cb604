"""How the fit went: its losses, what ended it, the edge of its rounds, and what is proved of it."""

from typing import Any

import numpy as np

from anyboost import plot
from anyboost.boosting import Run
from anyboost.certificates import Certificate
from anyboost.plot import figures
from anyboost.report.parts import Section, down, number, up
from anyboost.report.subject import Subject
from anyboost.weak.functions import TreeFunction
from anyboost.weak.linear import LinearFunction

PARTS = (0.25, 0.5, 1.0, 2.0)  # of the norm that the sentence speaks of
HALVINGS = 20


def rounds(subject: Subject) -> Section:
    """Loss curves, and what was stopped and why."""
    section = Section("How the fit went")
    steps = subject.steps
    if not steps:
        return section
    section.say(stopped(subject.model, len(steps)))
    section.add_figure(lambda ax: plot.rounds(subject.model, ax), (6.0, 3.4), "Loss by round")
    seconds = sum(step.seconds for step in steps)
    start = start_loss(subject.model)
    section.add_table(
        ["rounds", "loss at the start", "loss after the last round", "seconds in rounds"],
        [[len(steps), start, float(steps[-1].loss), float(f"{seconds:.3g}")]],
    )
    edges = [(step.round, step.edge) for step in steps if step.edge is not None]
    if edges:
        section.add_figure(lambda ax: _edges(ax, edges), (6.0, 2.6), "Edge by round")
        section.say(
            "The edge of a round is the share of the gradient that the hypothesis taken could express, from 0 to 1: "
            f"its median is {number(float(np.median([edge for _, edge in edges])))}."
        )
    return section


def start_loss(model: Any) -> float:
    """The training loss before the first round."""
    return float(model.start_loss) if isinstance(model, Run) else float(-model.train_score_[0])


def stopped(model: Any, done: int) -> str:
    """Why there are as many rounds as there are."""
    if isinstance(model, Run):
        if model.watch is None:
            return f"The run had {done} rounds, as many as were asked for or as could lower the loss."
        return f"The run had {done} rounds; the validation loss was lowest after round {model.best_round}."
    dials, best = getattr(model, "dials_", {}), model.best_iteration_
    watched = len(model.validation_score_) > 0
    most, patience = dials.get("max_iter", done), dials.get("n_iter_no_change")
    if dials.get("early_stopping"):
        if done < most and done - best >= (patience or 0):
            return (
                f"The fit stopped after {done} rounds of at most {most}: the validation score had not been better for "
                f"{patience} rounds. The model is that of its best round, {best}."
            )
        return (
            f"The fit had all of its {done} rounds, and validation would not have ended it earlier. The model is that "
            f"of its best round, {best}."
        )
    if watched and model.early_stopping == model.max_iter == "auto":
        return (
            f"Rounds were found on rows held out, where the score was best after {done}: it had not been better for "
            f"{patience} more. The model was then fitted to all rows in as many rounds."
        )
    if done < most:
        return f"The fit ended after {done} rounds of {most}: no more could lower the loss, or a callback ended it."
    return f"The fit had all of its {done} rounds; nothing was to stop it earlier."


def _edges(ax: Any, edges: list[tuple[int, float]]) -> None:
    ax.plot(*zip(*edges, strict=True), color=figures.BLUE, linewidth=1.2)
    ax.set(xlabel="round", ylabel="edge", ylim=(0, 1.05))
    figures.whole(ax.xaxis)
    ax.spines[["top", "right"]].set_visible(False)


def certificate(subject: Subject) -> Section:
    """Floors and gaps: at the model's norm, or where nothing is proved there, at parts of it.

    Empty where nothing is proved, and for larger functions than stumps and linear ones, whose floors say little.
    """
    section = Section("How far from optimal")
    model = subject.model
    terms = subject.ensemble.hypotheses if subject.ensemble is not None else []
    if not terms or not all(_has_close_floor(term) for term in terms):
        return section
    try:
        norm = float(model.norm if isinstance(model, Run) else model.norm_)
        proofs = model.certificate if isinstance(model, Run) else model._proofs()
    except (AttributeError, ValueError):  # no norm, or no proofs, of such a model
        return section
    radius = _largest_proved(proofs, norm)
    if radius is None:
        return section
    spoken = f"The model has norm {number(norm)} and training loss {number(proofs.loss)}."
    if radius < norm:
        spoken += f" At that norm nothing is proved: a loss of {number(proofs.infimum)} is not ruled out."
    section.say(
        f"{spoken} Certified: on the training rows, no sum of functions like its own of norm {down(radius)} or less "
        f"has a loss under {down(proofs.floor(radius))}, whoever finds it."
    )
    proved = [part * radius for part in PARTS if proofs.floor(part * radius) > proofs.infimum]
    if any(proofs.gap(norm) < 0 for norm in proved):
        section.say("Where the gap is negative, no such sum of that norm is as good as the model.")
    rows = [_told(norm, proofs.floor(norm), proofs.gap(norm)) for norm in proved]
    section.add_table(["norm", "floor", "gap to the model's loss"], rows)
    return section


def _largest_proved(proofs: Certificate, norm: float) -> float | None:
    """The model's norm, halved until the floor says more than that the loss has a least value."""
    radii = (norm / 2.0**halvings for halvings in range(HALVINGS))
    return next((radius for radius in radii if proofs.floor(radius) > proofs.infimum), None)


def _told(norm: float, floor: float, gap: float) -> list[dict[str, Any]]:
    """Cells that are still proved as they are shown: norm and floor rounded down, the gap up."""
    cells = ((norm, down), (floor, down), (gap, up))
    return [{"shown": rounded(value), "by": value} for value, rounded in cells]


def _has_close_floor(term: Any) -> bool:
    if isinstance(term, TreeFunction):
        return bool(np.count_nonzero(np.asarray(term.feature) >= 0) <= 1)
    return isinstance(term, LinearFunction)
