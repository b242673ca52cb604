"""`boost` on a cluster: the Run of `ab.boost`, found where the partitions are."""

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from distributed import Client

from anyboost import boosting, checks, keywords, weak
from anyboost.boosting import Run, asked, resuming
from anyboost.dask import fits
from anyboost.dask.collections import Partition, joined, partitions
from anyboost.dask.reports import Audience
from anyboost.dask.workers import Sets, Surroundings
from anyboost.samples import valid_parts
from anyboost.trees.parts import as_others

TIMEOUT = 300.0  # seconds without a sign of life


def boost(
    client: Client | None,
    X: Any,
    y: Any,
    loss: Any = None,
    learner: Any = None,
    descent: Any = None,
    rounds: int = 100,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    start: Any = None,
    valid: Any = None,
    callbacks: Sequence[boosting.Callback] = (),
    resume: Run | None = None,
    timeout: float = TIMEOUT,
    **options: Any,
) -> Run:
    """Fit as `ab.boost` does, on the workers that hold the partitions: the same model, bit for bit.

    Parameters
    ----------
    client : Client or None
        The cluster's; None for the current one.
    X : dask DataFrame, dask Array or list of delayed parts
        A table of numbers, NaN where missing.
    y : the same kind as X
        Targets, partitioned like X.
    loss : str, Loss or None, default None
        As for `ab.boost`.
    learner : str, Learner or None, default None
        A tree or a stump, or its name.
    descent : str, Descent or None, default None
        As for `ab.boost`.
    rounds : int, default 100
        How many rounds the run has.
    sample_weight : the same kind as X or None, default None
        Weights of the rows.
    groups : the same kind as X or None, default None
        One label a row, for losses that use them. Rows of a group may lie in several partitions.
    start : float, the same kind as X or None, default None
        As for `ab.boost`.
    valid : tuple, mapping or None, default None
        A set to watch, as for `ab.boost`, of dask collections; partitioned as it may be.
    callbacks : sequence of callables, default ()
        Called at the client as `callback(step, run)` after each round, which then waits for them; a true answer stops
        the fit. The run is that of the round, without what it keeps of each row. `ab.Checkpoint` is one.
    resume : Run or None, default None
        An earlier run on the same data, or its file's, to continue, on any number of workers: one of a cluster, or one
        of `ab.boost` that keeps its trees, `ab.Checkpoint(keep="trees")`.
    timeout : float, default 300.0
        Seconds to wait for a worker that gives no sign, and for the next partition to be in memory.
    **options : Any
        The others of `ab.boost`: `patience`, `row_fraction`, `feature_fraction`, `max_bins`, `categorical`,
        `curvature`, `record`, `n_threads` (of each worker; None: as many as Dask gives it) and `random_state`.

    Returns
    -------
    Run
        As of `ab.boost`, without what it keeps of each row: `scores` is empty. It can be resumed, here and in one
        place.

    Examples
    --------
    >>> import anyboost as ab
    >>> import dask.array as da
    >>> from distributed import Client
    >>> client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    >>> X = da.random.default_rng(0).random((1000, 3), chunks=(250, 3))
    >>> run = ab.dask.boost(client, X, X[:, 0] + X[:, 1], learner="tree:8", rounds=5)
    >>> run.steps[-1].loss < run.start_loss
    True
    >>> client.close()
    """
    client = fits.client_of(client)
    admit(learner)
    options["resume"] = admit_resumed(resume)
    method = {"loss": loss, "learner": learner, "descent": descent, "rounds": rounds}
    _refuse_slips(method | options, valid is not None)
    checks.positive(timeout, "timeout")
    given = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups}
    if start is not None and np.ndim(start) == 0 and not hasattr(start, "to_delayed"):
        options["start"] = start
    else:
        given["start"] = start
    sets = {"train": partitions(given, "")}
    if valid is not None:
        watched = valid_parts(valid, "valid ", ("sample_weight", "groups", "start"))
        sets["valid"] = partitions(watched, "valid ")
    held = fits.hold(client, sets, timeout)
    audience = Audience(callbacks) if callbacks else None
    return fits.run(client, partial(_boost, held.empty, method | options), held, timeout, audience)


def _refuse_slips(given: Mapping[str, Any], watches: bool) -> None:
    """Say what is wrong with options before partitions are computed; the workers look at them with their rows again."""
    known = inspect.signature(boosting.boost).parameters
    for name in given:
        if name not in known:
            raise TypeError(keywords.refusal(name, "boost", known))
    resume, curvature = given["resume"], given.get("curvature")
    method = (given["loss"], given["learner"], given["descent"])
    boosting.Method.check(*method, "auto" if curvature is None else curvature, resume)
    checks.count(given["rounds"], "rounds", least=0)
    checks.workers(given.get("n_threads"))
    sizes: dict[str, Any] = {name: given.get(name) for name in boosting.Options._fields}
    sizes["categorical"] = None  # how many columns there are is not known yet
    asked.options_of(resume, None, 0, **sizes)
    asked.seed_of(given.get("random_state"), resume)
    asked.check_patience(given.get("patience"), watches)


def admit(learner: Any) -> None:
    """Refuse learners that have to see all rows."""
    found = weak.get("stump" if learner is None else learner)
    if not isinstance(found, weak.Tree):
        raise ValueError(
            f"learner {type(found).__name__} needs all rows in one place, and these lie on several workers: use a tree "
            "or a stump, or ab.boost"
        )


def admit_resumed(run: Any) -> Run | None:
    """What of a run goes to the workers; those that cannot be resumed there are refused."""
    if run is None:
        return None
    if not isinstance(run, Run):
        raise TypeError(f"resume must be a Run, e.g. anyboost.load(path), got {type(run).__name__}")
    found = resuming.without_rows(run)
    resuming.by_trees(found)
    return found


def _boost(
    empty: Mapping[str, Partition], options: Mapping[str, Any], sets: Sets, here: Surroundings
) -> Run | None:
    """The work of one member."""
    rows = {}
    for name, parts in sets.items():
        what = "valid " if name == "valid" else ""
        rows[name] = _as_numbers(joined(parts, empty[name], what), what)
    given = dict(rows["train"])
    options = {"n_threads": here.n_threads} | {
        name: value for name, value in options.items() if value is not None
    }
    run = boosting.boost(
        given.pop("X"), given.pop("y"), valid=rows.get("valid"), callbacks=here.callbacks, **given, **options
    )
    run.witnesses  # noqa: B018 - needs the rows of all
    return resuming.without_rows(run) if here.place == 0 else None


def _as_numbers(rows: Partition, what: str) -> Partition:
    """Rows as all members have them."""
    found = {name: np.asarray(values) for name, values in rows.items()}
    found["X"] = as_others(checks.table(found["X"], f"{what}X"), f"{what}X")
    return found
