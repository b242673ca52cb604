"""Where a run stands before its next round: at the start, or where the run to resume ended."""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from anyboost.boosting import resuming
from anyboost.boosting.asked import Method
from anyboost.boosting.run import Callback, Options, Run
from anyboost.certificates import Evidence
from anyboost.descent import State
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional
from anyboost.samples import Sample
from anyboost.space import Space
from anyboost.trees.journal import Journal
from anyboost.watching import Monitor, Patience, Watch
from anyboost.weak import Tree


def begin(
    method: Method,
    sample: Sample,
    seed: int,
    options: Options,
    n_threads: int,
    constant: np.ndarray | None = None,
) -> Run:
    """A run before its first round; at a `constant` where one is known."""
    space = _space(sample, options, n_threads)
    functional = method.loss.on(sample.y, space, sample.groups)
    offset_given = isinstance(sample.start, np.ndarray)
    if constant is None and sample.start is None:
        constant = np.atleast_1d(functional.best_constant())
    elif constant is None:
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


def admit_resumed(resume: Run, rounds: int, watched: Sample | Monitor | None) -> None:
    done = len(resume.steps)
    if rounds < done:
        raise ValueError(
            f"rounds counts from the first one: the run to resume has {done}, got rounds={rounds}"
        )
    if isinstance(watched, Sample) != (resume.watch is not None):
        raise ValueError("valid must be given again, or left out again, as in the run to resume")


def go_on(resume: Run, sample: Sample, options: Options, n_threads: int) -> Run:
    """Where the run to resume ended; at its start, where its rounds are to be replayed."""
    if resuming.by_trees(resume):
        return _begin_again(resume, sample, options, n_threads)
    return _go_on(resume, sample, n_threads)


def _begin_again(resume: Run, sample: Sample, options: Options, n_threads: int) -> Run:
    resuming.admit_replay(resume, sample.X.shape[1], isinstance(sample.start, np.ndarray))
    method = Method(resume.loss, resume.learner, resume.descent)
    run = begin(method, sample, resume.seed, options, n_threads, resume.ensemble.start)
    if run.start_loss != resume.start_loss:
        raise ValueError(resuming.OTHER_DATA)
    return run


def keep_trees(run: Run, resume: Run | None, callbacks: Sequence[Callback]) -> None:
    """Have the run keep its trees, where it is on a cluster, or anybody asks for them; and know those of a replay."""
    assert run.space is not None
    rows = run.space.rows
    replayed = resume if resume is not None and len(run.steps) < len(resume.steps) else None
    asked = replayed is not None or any(getattr(callback, "keeps_trees", False) for callback in callbacks)
    if not isinstance(run.learner, Tree) or (run.steps and run.trees is None):
        return
    if rows.journal is None and (asked or run.trees is not None):
        rows.journal = Journal()
    if rows.journal is not None:
        run.trees = [] if run.trees is None else run.trees
        if replayed is not None:
            rows.journal.expect(replayed.trees or ())


def _go_on(resume: Run, sample: Sample, n_threads: int) -> Run:
    space = _space(sample, resume.options, n_threads)
    functional = resume.loss.on(sample.y, space, sample.groups)
    state = replace(
        resume.state,
        ensemble=resume.ensemble.copy(),
        evidence=deepcopy(resume.state.evidence),
        geometry=resume.state.geometry[:],
    )
    if not fits(state, space, functional):
        raise ValueError(resuming.OTHER_DATA)
    return replace(
        resume,
        space=space,
        functional=functional,
        state=state,
        steps=resume.steps[:],
        infimum=functional.infimum,
        trees=None if resume.trees is None else resume.trees[:],
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
