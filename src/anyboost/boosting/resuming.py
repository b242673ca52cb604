"""Going on with an earlier run: from the scores of its rows or, where these lie elsewhere now, from its trees.

A run that keeps its trees is brought back by a replay: its rounds are run again, with trees that are known and not
grown. Scores, what is left over of gradients, and certificates come out as they were, to the bit, wherever rows lie.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anyboost.boosting.run import Run
from anyboost.certificates import Evidence
from anyboost.descent import Step
from anyboost.trees.parts import alone
from anyboost.watching import Watch

OTHER_DATA = "resume was run on other data: pass the X, y, sample_weight and groups of that run"


def without_rows(run: Run) -> Run:
    """The run without its sample, and without what it keeps of each row: what is the same wherever rows lie."""
    state, k = run.state, run.ensemble.outputs
    nothing = np.empty((0,) if k == 1 else (0, k))
    old, evidence = state.evidence, Evidence(nothing.shape, state.evidence.light)
    for name in ("rounds", "witnesses", "weight", "intercept", "last_intercept"):
        setattr(evidence, name, getattr(old, name))
    fresh = old.latest is not None and old.latest[0] == old.rounds
    evidence.latest = old.latest if fresh else (old.rounds, [])  # without rows, nothing more can be proved
    state = replace(
        state,
        start=nothing,
        scores=nothing,
        residual=nothing,
        evidence=evidence,
        gradient=None,
        curvature=None,
    )
    watch = run.watch
    if watch is not None:
        none = np.empty((0, k))
        watch = Watch(None, None, none, none, watch.losses, watch.name, watch.rounds)
    return replace(run, space=None, functional=None, state=state, watch=watch)


def by_trees(run: Run) -> bool:
    """Whether a run is to be replayed; a sentence where it has nothing to go on from."""
    if len(run.state.scores) and alone():
        return False
    if run.trees is None:
        raise ValueError(
            'resume keeps scores of rows in one place: go on with it there, or write it by Checkpoint(keep="trees")'
        )
    return True


def admit_replay(run: Run, n_features: int, offset_given: bool) -> None:
    """Refuse a sample that the run's trees cannot have been grown on."""
    if n_features != run.ensemble.n_features:
        raise ValueError(OTHER_DATA)
    if offset_given != run.ensemble.needs_offset:
        again = "given again" if run.ensemble.needs_offset else "left out, or be a number"
        raise ValueError(f"start must be {again}, as in the run to resume")


def replay(run: Run, earlier: Run, progress: Iterator[Step]) -> None:
    """Bring a run to where an earlier one ended, by the rounds that it lacks."""
    if len(run.steps) < len(earlier.steps):
        while len(run.steps) < len(earlier.steps):
            run.steps.append(next(progress))
        _check_replayed(run, earlier)
        run.steps = earlier.steps[:]


def _check_replayed(run: Run, earlier: Run) -> None:
    """Refuse data on which the rounds of an earlier run do not come out as they were."""
    same = [step.loss for step in run.steps] == [step.loss for step in earlier.steps]
    if not same or run.ensemble.added != earlier.ensemble.added or run.start_loss != earlier.start_loss:
        raise ValueError(OTHER_DATA)
    if run.watch is None or earlier.watch is None:
        return
    if not np.array_equal(run.watch.losses, earlier.watch.losses, equal_nan=True):
        raise ValueError("valid is not the set that the run to resume watched: pass that one")
