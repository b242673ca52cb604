"""Where a run stands before its next round: at the start, or where the run to resume ended."""

import math
from copy import deepcopy
from dataclasses import replace

import numpy as np

from anyboost.boosting.asked import Method
from anyboost.boosting.run import Options, Run
from anyboost.certificates import Evidence
from anyboost.descent import State
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional
from anyboost.samples import Sample
from anyboost.space import Space
from anyboost.watching import Monitor, Patience, Watch


def begin(method: Method, sample: Sample, seed: int, options: Options, n_threads: int) -> Run:
    space = _space(sample, options, n_threads)
    functional = method.loss.on(sample.y, space, sample.groups)
    offset_given = isinstance(sample.start, np.ndarray)
    if sample.start is None:
        constant = np.atleast_1d(functional.best_constant())
    else:
        constant = np.full(sample.outputs, 0.0 if offset_given else sample.start)
    start = sample.scores(constant)
    start_loss = functional.value(start)
    if not math.isfinite(start_loss):
        raise ValueError(f"start gives a loss of {start_loss}; use another start")
    state = State(
        start,
        start,
        np.zeros(start.shape),  # not written to where nothing is carried over
        start_loss,
        start_loss,
        Ensemble(constant, sample.X.shape[1], offset_given),
        Evidence(start.shape, options.record == "light"),
    )
    return Run(
        method.loss,
        method.learner,
        method.descent.with_step(method.loss, functional, space, start, method.learner.exact_leaves),
        seed,
        start_loss,
        space,
        functional,
        state,
        options=options,
        infimum=functional.infimum,
    )


def go_on(resume: Run, rounds: int, sample: Sample, watched: Sample | Monitor | None, n_threads: int) -> Run:
    space = _space(sample, resume.options, n_threads)
    functional = resume.loss.on(sample.y, space, sample.groups)
    done = len(resume.steps)
    if rounds < done:
        raise ValueError(
            f"rounds counts from the first one: the run to resume has {done}, got rounds={rounds}"
        )
    if isinstance(watched, Sample) != (resume.watch is not None):
        raise ValueError("valid must be given again, or left out again, as in the run to resume")
    state = replace(
        resume.state,
        ensemble=resume.ensemble.copy(),
        evidence=deepcopy(resume.state.evidence),
        geometry=resume.state.geometry[:],
    )
    if not fits(state, space, functional):
        raise ValueError("resume was run on other data: pass the X, y, sample_weight and groups of that run")
    return replace(
        resume,
        space=space,
        functional=functional,
        state=state,
        steps=resume.steps[:],
        infimum=functional.infimum,
    )


def _space(sample: Sample, options: Options, n_threads: int) -> Space:
    return Space(
        sample.X,
        sample.weights,
        max_bins=options.max_bins,
        n_threads=n_threads,
        bins=sample.bins,
        categorical=options.categorical,
    )


def fits(state: State, space: Space, functional: Functional) -> bool:
    """Whether a state can belong to this data: its loss, to the bit, and its model's scores on some rows."""
    if len(state.scores) != space.n or space.X.shape[1] != state.ensemble.n_features:
        return False
    if functional.value(state.scores) != state.loss:
        return False
    some = np.unique(np.linspace(0, space.n - 1, 50).astype(int))
    offset = state.start[some] if state.ensemble.needs_offset else None
    predicted = state.ensemble.predict(space.X[some], offset)
    return bool(np.allclose(predicted, state.scores[some], rtol=1e-6, atol=1e-6))


def monitor_of(
    run: Run, watched: Sample | Monitor | None, patience: int | None, n_threads: int
) -> Monitor | None:
    """What follows the run; in one that is resumed, from where its watch stood."""
    if not isinstance(watched, Sample):
        return watched
    space = Space(watched.X, watched.weights, n_threads=n_threads)
    functional = run.loss.on(watched.y, space, watched.groups, outputs=watched.outputs)
    offset = watched.start if isinstance(watched.start, np.ndarray) else None
    watch = Watch(functional, watched.X, offset)
    watch.follow(run.ensemble, n_threads)
    if run.watch is not None:
        watch.go_on_from(run.watch)
    run.watch = watch
    return Monitor([watch], n_threads, Patience(patience).see(-loss for loss in watch.losses))
