"""What a run must be for a theorem to speak of it."""

from typing import Any

import numpy as np

from anyboost import checks
from anyboost.bounds.trace import Trace, admit_recorded, etas, rounds_of
from anyboost.checks import Floats

_CLOSE = 1e-9  # relative: recorded steps against the schedule of a theorem
PRESETS: dict[str, tuple[float, int | None]] = {  # memory, projections (None: t in round t)
    "Naive": (0.0, 1),
    "Repeated": (0.0, None),
    "Residual": (1.0, 1),
}


def admit_preset(
    run: Trace, theorem: str, preset: str, schedule: str, scale: float, searched: bool = False
) -> None:
    """Refuse other descents and steps; an exact line search does at least as well as a fixed step."""
    admit_projected(run, theorem)
    descent = run.descent
    wanted = f"{preset}({schedule}({scale:.6g}))"
    if 0 < descent.memory < 1:
        raise ValueError(
            f"{theorem} is about {wanted}; a memory strictly between 0 and 1, here {descent.memory:g}, has "
            "no theorem: use run.floor, which certifies any run"
        )
    single = descent.tolerance is None or descent.projections == 1
    if not single or (descent.memory, descent.projections) != PRESETS[preset]:
        raise ValueError(f"{theorem} is about {wanted}, but the run used {descent}")
    if not (searched and hasattr(descent.step, "search") and descent.step.scale == 1):
        admit_schedule(run, theorem, schedule, scale)


def admit_schedule(run: Trace, theorem: str, schedule: str, scale: float) -> None:
    power = {"Constant": 0.0, "InverseSqrt": 0.5, "InverseT": 1.0}[schedule]
    if not np.allclose(etas(run), scale / rounds_of(run) ** power, rtol=_CLOSE, atol=0):
        raise ValueError(
            f"{theorem} needs the step {schedule}({scale:.6g}), but the run used {run.descent.step}"
        )


def admit_projected(run: Trace, theorem: str) -> None:
    """Refuse directions that are not sums of exact ray projections in L2(P)."""
    admit_recorded(run)
    if run.descent.curved:
        raise ValueError(
            f"{theorem} is about projections in L2(P), and this run projected in the metric of its loss's curvature: "
            "use curvature=False, or run.floor, which certifies any run"
        )
    if run.descent.atom_size is not None:
        raise ValueError(f"{theorem} is about projections, but the run used {run.descent}: use Naive")
    if run.descent.proximal:
        raise ValueError(
            f"{theorem} is about gradients at f, and this run took them elsewhere: use proximal=False"
        )
    if run.learner.exact_leaves:
        raise ValueError(f'{theorem} is about projections, and leaf="exact" steps past them: use leaf="mean"')


def strong_convexity(run: Trace, theorem: str) -> float:
    strong = float(run.loss.strong_convexity)
    if strong <= 0:
        raise ValueError(
            f"{theorem} needs a strongly convex loss, but {run.loss} is not: add a multiple of Squared(), or "
            "use a bound that takes a distance"
        )
    return strong


def distances(distance: Any, rounds: int) -> Floats:
    values = checks.numbers(distance, "distance")
    if values.shape not in ((1,), (rounds,)) or not np.all((values >= 0) & (values < np.inf)):
        raise ValueError(
            f"distance must be a number >= 0, or one for each of the {rounds} rounds, got {distance!r}"
        )
    return values
