"""Runs on their way to the client: without the rows, and without what a run keeps of each."""

from dataclasses import replace

import numpy as np

from anyboost.boosting import Run
from anyboost.certificates import Evidence
from anyboost.watching import Watch


def without_rows(run: Run) -> Run:
    """The run without its sample, and without what it keeps of each row."""
    state, k = run.state, run.ensemble.outputs
    nothing = np.empty((0,) if k == 1 else (0, k))
    old, evidence = state.evidence, Evidence(nothing.shape, state.evidence.light)
    for name in ("rounds", "witnesses", "weight", "intercept", "last_intercept", "latest"):
        setattr(evidence, name, getattr(old, name))
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
