"""`boost`: data in, a Run out: check, begin, loop."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anyboost import checks, keywords, losses, notices, weak
from anyboost import descent as descents
from anyboost.boosting import resuming
from anyboost.boosting.asked import Method, options_of, seed_of, watched_set
from anyboost.boosting.beginning import admit_resumed, begin, go_on, keep_trees, monitor_of
from anyboost.boosting.run import Callback, Run
from anyboost.descent import Descent, Step, descend
from anyboost.draws import Units
from anyboost.losses import Loss
from anyboost.samples import Sample, Sampling, with_own
from anyboost.watching import Monitor
from anyboost.weak import Learner

ROUNDING = 1e-9  # a loss above that at the start by less is as good as the start


@keywords.explained
def boost(
    X: Any,
    y: Any = None,
    loss: str | Loss | None = None,
    learner: str | Learner | None = None,
    descent: str | Descent | None = None,
    rounds: int = 100,
    *,
    start: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    valid: tuple[Any, Any] | Mapping[str, Any] | Monitor | None = None,
    patience: int | None = None,
    callbacks: Sequence[Callback] = (),
    resume: Run | None = None,
    row_fraction: float | None = None,
    feature_fraction: float | None = None,
    max_bins: int | None = None,
    categorical: Any = None,
    curvature: bool | str = "auto",
    record: str | None = None,
    n_threads: int | None = None,
    random_state: int | None = None,
) -> Run:
    """Fit a sum of weak hypotheses to a convex loss by restricted gradient descent.

    Parameters
    ----------
    X : array_like (n, d), sparse matrix or Binned
        A table of numbers, NaN where missing. An `ab.Binned` table is binned once, to fit many; a sparse matrix is for
        learners that take one, as linear functions and nets do.
    y : array_like (n,) or (n, k) or None, default None
        Targets, one row each; None for those of a `Binned` from files, which brings weights and groups too.
    loss : str, Loss or None, default None
        A loss of `anyboost.losses` or its name ("absolute", "quantile:0.9"); None is squared. "huber" without a number
        takes its delta from y: the 0.9 quantile of |y - median|.
    learner : str, Learner, estimator or None, default None
        A learner of `anyboost.weak` or its name ("stump", "tree:31", "linear"), or a scikit-learn regressor or
        classifier; None is a stump.
    descent : str, Descent or None, default None
        A descent of `anyboost.descent` or its name; None is residual. One without a step takes one that suits the loss:
        `run.descent` says which.
    rounds : int, default 100
        How many rounds the run has in all, those of `resume` included.
    start : float, array_like or None, default None
        None for the loss's best constant, a number, or an array of scores. An array is an offset: `predict` leaves it
        out unless passed `offset=`.
    sample_weight : array_like (n,) or None, default None
        The measure: weight 2 is the row twice, weight 0 the row deleted.
    groups : array_like (n,) or None, default None
        One label a row, for losses that use them.
    valid : tuple, mapping, Monitor or None, default None
        A set to watch: `(X, y)`, or a mapping with "X", "y" and any of "sample_weight", "groups", "start". (Estimators
        give a `Monitor`, for several sets and other measures than the loss.)
    patience : int or None, default None
        Stop after this many rounds without a lower validation loss; the best model is `run.best`.
    callbacks : sequence of callables, default ()
        Called as `callback(step, run)` after each round; a true answer stops the run.
    resume : Run or None, default None
        An earlier run on the same data, or its file's, to continue; loss, learner and descent are its own.
    row_fraction : float or None, default None
        The share of rows each projection is fitted on; None is 1. Rows are drawn by what they hold, not by their place:
        a row of whole weight m as m rows, each by itself.
    feature_fraction : float or None, default None
        The share of columns each projection is fitted on; None is 1.
    max_bins : int or None, default None
        Most bins a column, 2 to 255; None is 255.
    categorical : array_like or None, default None
        Columns that hold categories, as numbers or as a mask: codes 0, 1, 2, ..., NaN where missing.
    curvature : bool or str, default "auto"
        True to project in the metric of the loss's curvature, as Newton's method does, False not to; "auto" is what the
        descent says, and False where that says "auto" too.
    record : str or None, default None
        "full", which None is, or "light": norms, edges and coefficients of the steps are then None, and the floor is
        looser. The model is the same, and rounds are quicker.
    n_threads : int or None, default None
        None for all cores. The model does not depend on it.
    random_state : int or None, default None
        Seed for the sampling, and for learners that draw random numbers; None is 0, so that the same call gives the
        same model.

    Returns
    -------
    Run
        The model (`ensemble`), a record of each round (`steps`), and its certificate (`floor`, `gap`).

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 5.0]
    >>> run = ab.boost(X, y, loss="absolute", learner="stump", rounds=50)
    >>> run.steps[-1].loss < run.start_loss
    True
    >>> run.ensemble.predict([[2.5]]).shape
    (1,)
    """
    method = Method.check(loss, learner, descent, curvature, resume)
    checks.count(rounds, "rounds", least=0)
    n_threads = checks.workers(n_threads)
    sparse = weak.takes(method.learner).sparse
    y, sample_weight, groups = with_own(X, y, sample_weight, groups)
    sample = Sample.check("", method.loss, X, y, sample_weight, groups, start, sparse=sparse)
    if resume is None and loss is not None:
        method = method._replace(loss=losses.suited(loss, sample.y, sample.weights))
    sizes = {"row_fraction": row_fraction, "feature_fraction": feature_fraction, "max_bins": max_bins}
    options = options_of(resume, X, sample.X.shape[1], **sizes, categorical=categorical, record=record)
    method.admit(sample, options)
    seed = seed_of(random_state, resume)
    watched = watched_set(method, valid, patience, sample)

    if resume is None:
        run = begin(method, sample, seed, options, n_threads)
    else:
        admit_resumed(resume, rounds, watched)
        run = go_on(resume, sample, options, n_threads)
    keep_trees(run, resume, callbacks)
    monitor = monitor_of(run, watched, patience, n_threads)

    progress = _rounds(run, sample, monitor)
    if resume is not None:
        resuming.replay(run, resume, progress)
    while len(run.steps) < rounds:
        step = next(progress)
        run.steps.append(step)
        stops = [callback(step, run) for callback in callbacks]
        if any(stops) or (monitor is not None and monitor.patience.over):
            break
    _warn_if_above_start(run)
    return run


def _rounds(run: Run, sample: Sample, monitor: Monitor | None) -> Iterator[Step]:
    """The rounds, followed by the monitor; a run that keeps its trees takes those of each, and none of callbacks."""
    assert run.space is not None
    progress, journal = _descend(run, sample), run.space.rows.journal
    while True:
        place = 0 if journal is None else journal.place
        step = next(progress)
        if run.trees is not None and journal is not None:
            run.trees += journal.since(place)
        yield step if monitor is None else step._replace(valid_loss=monitor.follow(run.ensemble))


def _descend(run: Run, sample: Sample) -> Iterator[Step]:
    """The rounds of a run, each projection on its share of the sample."""
    assert run.space is not None
    assert run.functional is not None
    options, space, units = run.options, run.space, None
    if options.row_fraction < 1.0:
        offset = run.state.start if run.ensemble.needs_offset else None
        row = (sample.X, sample.y, sample.weights, sample.groups, offset)
        units = Units(run.seed, *row, space.n_threads, space.rows)
    draws = weak.declared(run.learner, "draws")
    sampling = Sampling(space, units, options.row_fraction, options.feature_fraction, run.seed, draws)
    return descend(run.functional, run.learner, space, run.descent, run.state, sampling)


def _warn_if_above_start(run: Run) -> None:
    loss, start = run.state.loss, run.start_loss
    if loss - start > ROUNDING * max(abs(loss), abs(start)):
        smaller = "a smaller radius" if isinstance(run.descent, descents.Hull) else "smaller steps"
        notices.warn(
            f"the loss ended at {loss:.6g}, above the {start:.6g} it started at: take {smaller}, or other rounds",
            stacklevel=4,  # the caller of `boost`, behind what explains its keywords
        )
