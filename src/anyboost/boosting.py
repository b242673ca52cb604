"""`boost`: data in, a Run out. Everything is checked before any work starts."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks, keywords, losses, resuming, weak
from anyboost import descent as descents
from anyboost.backends import threads
from anyboost.certificates import UNKNOWN_NORM, Certificate, Evidence, Witness
from anyboost.descent import Descent, State, Step, descend
from anyboost.draws import Units
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional, Loss
from anyboost.samples import Sample, Sampling, check_valid, with_own
from anyboost.space import Binned, Space
from anyboost.trees.journal import Journal, Kept
from anyboost.watching import Monitor, Patience, Watch, best_round
from anyboost.weak import Learner

ROUNDING = 1e-9  # a loss above that at the start by less is as good as the start
Callback = Callable[[Step, "Run"], object]


class Options(NamedTuple):
    """What a projection sees of the sample, and what is recorded; a run keeps it, to be resumed with the same."""

    row_fraction: float = 1.0
    feature_fraction: float = 1.0
    max_bins: int = 255
    categorical: tuple[int, ...] = ()
    record: str = "full"

    @classmethod
    def check(cls, resume: "Run | None", X: Any, n_columns: int, **given: Any) -> "Options":
        """The options given, else those of the run to resume or of the bins, else the defaults."""
        if given["categorical"] is not None:
            given["categorical"] = checks.columns(given["categorical"], "categorical", n_columns)
        if isinstance(X, Binned):
            given |= {name: X.agree(name, given[name]) for name in ("max_bins", "categorical")}
        earlier = cls() if resume is None else resume.options
        for name, value in given.items():
            known = getattr(earlier, name)
            if resume is not None and value not in (None, known):
                raise _other(name, known, value)
        chosen = earlier._replace(**{name: value for name, value in given.items() if value is not None})
        checks.fraction(chosen.row_fraction, "row_fraction", zero=False)
        checks.fraction(chosen.feature_fraction, "feature_fraction", zero=False)
        checks.count(chosen.max_bins, "max_bins", least=2, most=255)
        checks.choice(chosen.record, "record", ("full", "light"))
        return chosen


@dataclass(eq=False)
class Run:
    """A descent on one sample: the model, its Steps, and what certifies it.

    `boost` makes it. One from a file has no `space` and no `functional`, for the sample is not stored;
    `boost(..., resume=run)` is given it again.

    Attributes
    ----------
    loss : Loss
        What was minimized.
    learner : Learner
        Whose hypotheses the model is a sum of.
    descent : Descent
        How it was found; its step is the one that was taken.
    seed : int
        Of what was drawn.
    start_loss : float
        The loss before the first round.
    space : Space or None
        The sample.
    functional : Functional or None
        The loss on the sample.
    state : State
        Where the descent stands.
    watch : Watch or None
        The validation set, and its losses from the start on.
    steps : list of Step
        One record a round.
    options : Options
        What projections see of the sample, and what is recorded.
    infimum : float
        What no scores have a smaller loss than on the sample; -inf where nothing is known.
    trees : list of Kept or None
        As they were grown, where a run keeps them: it can then be resumed wherever its rows lie.
    ensemble : Ensemble
        The model after the last round.
    best : Ensemble
        The model after `best_round`.
    best_round : int
        The round with the lowest validation loss, 0 being the start; without `valid` the last.
    scores : ndarray
        The model's scores on the training rows of positive weight.
    norm : float
        The size of the model: the sum of |c| max|h| over its terms.
    witnesses : list of Witness
        The proofs behind `floor`.
    certificate : Certificate
        What is proved of the model after the last round.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(1.0), rounds=1)
    >>> run.start_loss, run.steps[0].loss, run.norm
    (1.0, 0.0, 2.0)
    >>> run.gap()
    0.0
    """

    loss: Loss
    learner: Learner
    descent: Descent
    seed: int
    start_loss: float
    space: Space | None = field(repr=False)
    functional: Functional | None = field(repr=False)
    state: State = field(repr=False)
    watch: Watch | None = field(default=None, repr=False)
    steps: list[Step] = field(default_factory=list, repr=False)
    options: Options = field(default_factory=Options)
    infimum: float = -math.inf  # of the loss on the sample: what no scores are under
    trees: list[Kept] | None = field(default=None, repr=False)

    @property
    def ensemble(self) -> Ensemble:
        """The model after the last round."""
        return self.state.ensemble

    @property
    def scores(self) -> np.ndarray:
        """The model's scores on the training rows of positive weight."""
        return self.state.scores

    @property
    def best_round(self) -> int:
        """The round with the lowest validation loss, 0 being the start; without `valid` the last."""
        return len(self.steps) if self.watch is None else best_round(self.watch.losses)

    @property
    def best(self) -> Ensemble:
        """The model after `best_round`."""
        return self.ensemble.truncate(self.best_round)

    @property
    def witnesses(self) -> list[Witness]:
        """The proofs behind `floor`."""
        return self.prove()

    def prove(self, search: bool = True) -> list[Witness]:
        """The proofs behind `floor`.

        Parameters
        ----------
        search : bool, default True
            Whether to look for atoms that attain the bounds, which `floor_estimate` rests on.

        Returns
        -------
        list of Witness
            The proofs.
        """
        evidence, state = self.state.evidence, self.state
        stale = evidence.latest is None or evidence.latest[0] != state.round
        if evidence.light and stale and self.functional is not None and self.space is not None:
            # The gradient where the model is now; others that a light run has looked at are of rounds 1, 2, 4, ...
            gradient = self.functional.subgradient(state.scores)
            slope = self.space.inner(gradient, state.scores, less=state.start)
            evidence.see(state.round, state.loss, gradient, slope)
        return evidence.witnesses + evidence.current(lambda G: self._support(G, search))

    @property
    def norm(self) -> float:
        """How large the model is: the sum over its terms of `|c| max|h|` on the training rows, after shrinkage."""
        if math.isnan(self.state.norm):
            raise ValueError(UNKNOWN_NORM)
        return self.state.norm

    def floor(self, radius: float | None = None) -> float:
        """Certified: no start + sum c_m h_m with sum |c_m| <= radius, |h_m| <= 1, h_m in H, has a smaller loss.

        A floor is never under the infimum of the loss. That of a run with `record="light"` is looser: it rests on
        gradients of a few rounds, not on sums of all.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The floor, -inf where nothing is proved.
        """
        return self.certificate.floor(radius)

    def floor_estimate(self, radius: float | None = None) -> float:
        """The floor if a tree's greedy search found the extreme atom: an estimate, not a certificate.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The estimate.
        """
        return self.certificate.floor(radius, estimate=True)

    def gap(self, radius: float | None = None) -> float:
        """The model's loss minus the floor: at most this much could be gained within the radius.

        Never negative at the model's own `norm` or beyond. At a smaller radius, where the model itself does not lie, a
        negative gap says that no model within it is as good.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The gap.
        """
        return self.certificate.gap(radius)

    @property
    def certificate(self) -> Certificate:
        """What is proved of the model after the last round."""
        return Certificate(self.state.loss, self.state.norm, self.infimum, tuple(self.witnesses))

    def _support(self, G: np.ndarray, search: bool) -> tuple[float, float]:
        assert self.space is not None  # a run from a file brings its current witnesses
        return self.learner.support(self.space, G, search)


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
    n_threads = threads.available() if n_threads is None else checks.count(n_threads, "n_threads", least=1)
    sparse = weak.takes(method.learner).sparse
    y, sample_weight, groups = with_own(X, y, sample_weight, groups)
    sample = Sample.check("", method.loss, X, y, sample_weight, groups, start, sparse=sparse)
    if resume is None and loss is not None:
        method = method._replace(loss=losses.suited(loss, sample.y, sample.weights))
    sizes = {"row_fraction": row_fraction, "feature_fraction": feature_fraction, "max_bins": max_bins}
    options = Options.check(resume, X, sample.X.shape[1], **sizes, categorical=categorical, record=record)
    method.admit(sample, options)
    seed = _seed(random_state, resume)
    watched = _check_watched(method, valid, patience, sample)

    if resume is not None:
        _admit_resumed(resume, rounds, watched)
    known = 0  # rounds that are replayed
    if resume is None:
        run = _begin(method, sample, seed, options, n_threads)
    elif resuming.by_trees(resume):
        run, known = _begin_again(resume, sample, options, n_threads), len(resume.steps)
    else:
        run = _go_on(resume, sample, n_threads)
    _keep_trees(run, resume if known else None, callbacks)
    monitor = _monitor(run, watched, patience, n_threads)

    progress = _descend(run, sample)
    while len(run.steps) < rounds:
        step = _next(run, progress)
        if monitor is not None:
            step = step._replace(valid_loss=monitor.follow(run.ensemble))
        run.steps.append(step)
        if len(run.steps) <= known:
            if resume is not None and len(run.steps) == known:
                resuming.check_replayed(run, resume)
                run.steps = resume.steps[:]
            continue
        stops = [callback(step, run) for callback in callbacks]
        if any(stops) or (monitor is not None and monitor.patience.over):
            break
    _warn_if_above_start(run)
    return run


def _next(run: Run, progress: Iterator[Step]) -> Step:
    """The next round. What callbacks and certificates grow between rounds is no part of the run."""
    assert run.space is not None
    journal = run.space.rows.journal
    if run.trees is None or journal is None:
        return next(progress)
    place = journal.place
    step = next(progress)
    run.trees += journal.since(place)
    return step


def _keep_trees(run: Run, replayed: Run | None, callbacks: Sequence[Callback]) -> None:
    """Have the run keep its trees, where it is on a cluster, or anybody asks for them; and know those of a replay."""
    assert run.space is not None
    rows = run.space.rows
    asked = replayed is not None or any(getattr(callback, "keeps_trees", False) for callback in callbacks)
    if not isinstance(run.learner, weak.Tree) or (run.steps and run.trees is None):
        return
    if rows.journal is None and (asked or run.trees is not None):
        rows.journal = Journal()
    if rows.journal is not None:
        run.trees = [] if run.trees is None else run.trees
        if replayed is not None:
            rows.journal.expect(replayed.trees or ())


def _warn_if_above_start(run: Run) -> None:
    loss, start = run.state.loss, run.start_loss
    if loss - start > ROUNDING * max(abs(loss), abs(start)):
        smaller = "a smaller radius" if isinstance(run.descent, descents.Hull) else "smaller steps"
        warnings.warn(
            f"the loss ended at {loss:.6g}, above the {start:.6g} it started at: take {smaller}, or other rounds",
            UserWarning,
            stacklevel=4,  # the caller of `boost`, behind what explains its keywords
        )


class Method(NamedTuple):
    """What descends on what, along what."""

    loss: Loss
    learner: Learner
    descent: Descent

    @classmethod
    def check(cls, loss: Any, learner: Any, descent: Any, curvature: Any, resume: Any) -> "Method":
        """What is given, else that of the run to resume, else the defaults; pairs that cannot be are refused."""
        if resume is not None and not isinstance(resume, Run):
            raise TypeError(f"resume must be a Run that boost returned, got {type(resume).__name__}")
        method = cls(
            losses.get(_choice("loss", loss, resume, "squared")),
            weak.get(_choice("learner", learner, resume, "stump")),
            descents.get(_choice("descent", descent, resume, "residual")),
        )
        method = method._replace(descent=_with_curvature(method.descent, curvature, resume))
        weak.admit_atoms(method.learner, method.descent)
        weak.admit_curvature(method.learner, method.descent, method.loss)
        return method

    def admit(self, sample: Sample, options: Options) -> None:
        """Refuse a sample that the learner cannot be fitted to."""
        weak.admit_weights(self.learner, sample.weights)
        weak.admit(self.learner, sample.X, options.categorical, sample.outputs)
        checks.codes(sample.X, "X", options.categorical)


def _other(name: str, earlier: Any, given: Any, advice: str = "leave it out") -> ValueError:
    return ValueError(f"{name} is {earlier} in the run to resume, got {given}; {advice}")


def _choice(name: str, given: Any, resume: Run | None, default: str) -> Any:
    if resume is None:
        return default if given is None else given
    earlier = getattr(resume, name)
    if given is None:
        return earlier
    room = {"loss": losses, "learner": weak, "descent": descents}[name]
    if not room.stands_for(given, earlier):
        advice = getattr(earlier, "advice", "leave it out")
        raise _other(name, repr(earlier), repr(room.get(given)), advice)
    return earlier


def _with_curvature(descent: Descent, curvature: Any, resume: Run | None) -> Descent:
    """The descent with the curvature that is asked for; a run that is resumed keeps its own."""
    asked = descents.check_curvature(curvature)
    if asked == "auto":
        return descent
    if resume is not None and asked != descent.curved:
        raise _other("curvature", descent.curved, asked)
    if asked and descent.atom_size is not None:
        raise ValueError(
            f"descent {type(descent).__name__} steps along atoms in the flat metric: leave curvature out, or use "
            "naive, repeated or residual"
        )
    return descent.having(curvature=asked)


def _seed(random_state: int | None, resume: Run | None) -> int:
    if random_state is not None:
        checks.count(random_state, "random_state", least=0)
    if resume is None:
        return int(random_state or 0)
    if random_state not in (None, resume.seed):
        raise _other("random_state", resume.seed, random_state)
    return resume.seed


def _check_watched(
    method: Method, valid: Any, patience: int | None, sample: Sample
) -> Sample | Monitor | None:
    """The set to watch. Estimators give a monitor of their own, with several sets and measures."""
    if isinstance(valid, Monitor):
        return valid
    checked = check_valid(method.loss, valid, sample, weak.takes(method.learner).sparse)
    if checked is not None:
        weak.admit_values(method.learner, checked.X, "valid X")
    if patience is not None:
        checks.count(patience, "patience", least=1)
        if checked is None:
            raise ValueError("patience needs a set to watch: pass valid=(X, y), or leave patience out")
    return checked


def _space(sample: Sample, options: Options, n_threads: int) -> Space:
    return Space(
        sample.X,
        sample.weights,
        max_bins=options.max_bins,
        n_threads=n_threads,
        bins=sample.bins,
        categorical=options.categorical,
    )


def _begin(
    method: Method,
    sample: Sample,
    seed: int,
    options: Options,
    n_threads: int,
    constant: np.ndarray | None = None,
) -> Run:
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


def _admit_resumed(resume: Run, rounds: int, watched: Sample | Monitor | None) -> None:
    done = len(resume.steps)
    if rounds < done:
        raise ValueError(
            f"rounds counts from the first one: the run to resume has {done}, got rounds={rounds}"
        )
    if isinstance(watched, Sample) != (resume.watch is not None):
        raise ValueError("valid must be given again, or left out again, as in the run to resume")


def _begin_again(resume: Run, sample: Sample, options: Options, n_threads: int) -> Run:
    """A run that has come as far as the start of an earlier one."""
    resuming.admit_replay(resume, sample.X.shape[1], isinstance(sample.start, np.ndarray))
    method = Method(resume.loss, resume.learner, resume.descent)
    run = _begin(method, sample, resume.seed, options, n_threads, resume.ensemble.start)
    if run.start_loss != resume.start_loss:
        raise ValueError(resuming.OTHER_DATA)
    return run


def _go_on(resume: Run, sample: Sample, n_threads: int) -> Run:
    space = _space(sample, resume.options, n_threads)
    functional = resume.loss.on(sample.y, space, sample.groups)
    state = replace(
        resume.state,
        ensemble=resume.ensemble.copy(),
        evidence=deepcopy(resume.state.evidence),
        geometry=resume.state.geometry[:],
    )
    if not resuming.fits(state, space, functional):
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


def _monitor(
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
