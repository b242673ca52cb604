"""The boosting estimators on a cluster: fitted where the partitions are, to the estimators of all rows in one place.

A fit on the workers is that of the estimator itself, within a circle (`anyboost.trees.parts`).
"""

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from distributed import Client
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost import descent as descents
from anyboost.boosting import Run
from anyboost.dask import fits
from anyboost.dask.boosting import TIMEOUT, admit, admit_resumed
from anyboost.dask.collections import Partition, is_spread, joined, partitions
from anyboost.dask.reports import Audience
from anyboost.dask.workers import Sets, Surroundings
from anyboost.estimators import (
    BoostingClassifier,
    BoostingRanker,
    BoostingRegressor,
    measures,
    parameters,
    reading,
)
from anyboost.estimators.callbacks import Rounds, with_callbacks
from anyboost.estimators.progress import Progress, print_line
from anyboost.estimators.sets import named_sets
from anyboost.fitted import from_one_fit, put_in_place
from anyboost.samples import valid_parts
from anyboost.tables.frames import frame_of, to_frame

T = TypeVar("T")
_TRAIN = "train"
_HOOKS = ("on_fit_task_begin", "on_fit_task_end")  # of scikit-learn's callbacks
_OWN = ("client", "timeout")  # parameters that the local estimator has not
_TOLD = """client : Client or None, default None
    The cluster's; None for the current one. It is dropped when the estimator is pickled.
timeout : float, default 300.0
    Seconds to wait for a worker that gives no sign, and for the next partition to be in memory."""


class OnCluster(BaseEstimator):
    """What estimators on a cluster have beside the local ones: a part to inherit."""

    local: ClassVar[Any]  # the estimator of rows in one place
    client: Client | None
    timeout: float
    _skl_callbacks: list[Any]  # what `set_callbacks` of scikit-learn keeps, where it was called

    if TYPE_CHECKING:  # `_on_cluster` makes it

        def __init__(
            self, *args: Any, client: Client | None = None, timeout: float = TIMEOUT, **given: Any
        ) -> None: ...

    def _fit_on_cluster(self, given: Mapping[str, Any]) -> Self:
        """Fit to what the `fit` of the local estimator is given, in dask collections."""
        self._refuse()
        client = fits.client_of(self.client)
        resume = admit_resumed(given.get("resume"))
        groups = self.local._groups_name
        rows = ("X", "y", "sample_weight", groups, "offset")
        more = {"qid": given.get("qid_val")} if groups == "qid" else {}
        watched = named_sets(
            *(given.get(name) for name in ("X_val", "y_val", "sample_weight_val", "valid")), **more
        )
        reading.check_queries(self, given.get(groups))
        sets = {_TRAIN: partitions({name: given.get(name) for name in rows}, "")}
        for name, parts in watched.items():
            own = valid_parts(parts, f"valid {name!r}: ", ("sample_weight", groups, "offset"))
            reading.check_queries(self, own.get(groups), f"valid {name!r}: ")
            sets[f"valid {name}"] = partitions(own, f"valid {name!r}: ")
        held = fits.hold(client, sets, self.timeout)
        local = self._as_local().set_params(callbacks=None)  # they stay here
        work = partial(_fit, local, held.empty, tuple(watched), resume)
        told = self._told_rounds(given, resume)
        fitted = fits.run(client, work, held, self.timeout, self._audience(told))
        known = self.get_params(deep=False)
        put_in_place(self, {name: value for name, value in vars(fitted).items() if name not in known})
        told.end(fitted)
        return self

    def _told_rounds(self, given: Mapping[str, Any], resume: Run | None) -> Rounds:
        """scikit-learn's callbacks, told at the client that the fit begins."""
        rounds = None
        if not isinstance(self.max_iter, str):
            rounds = max(self.max_iter - (0 if resume is None else len(resume.steps)), 0)
        weights = given.get("sample_weight")
        metadata = {} if weights is None else {"sample_weight": weights}
        arguments = {"X": given["X"], "y": given.get("y"), "metadata": metadata}
        return Rounds(self, rounds, arguments, lambda _: None)

    def _audience(self, told: Rounds) -> Audience | None:
        """Who hears of rounds at the client."""
        callbacks = list(self.callbacks or ())
        if told.heard:
            callbacks.append(told)
        if self.verbose:
            lines = Progress(print_line, int(self.verbose) if self.verbose > 1 else None)
            lines.plan(None if isinstance(self.max_iter, str) else int(self.max_iter), 0)
            callbacks.append(lines)
        return Audience(callbacks) if callbacks else None

    def _refuse(self) -> None:
        """Say, before any work, what a fit on a cluster cannot do."""
        parameters.check(self)
        checks.positive(self.timeout, "timeout")
        what = "cannot be used by fits on a cluster"
        if self.warm_start:
            raise ValueError(f"warm_start {what}: leave it out")
        if hasattr(self.init, "fit"):
            raise ValueError(f"init as an estimator {what}: give its scores as offset")
        if any(not isinstance(part, str) for _, part in measures.check_scoring(self.scoring)):
            raise ValueError(f'scoring other than "loss" {what}: use "loss"')
        for callback in getattr(self, "_skl_callbacks", ()):
            asked = (inspect.signature(getattr(callback, name)).parameters for name in _HOOKS)
            if any("fitted_estimator" in names for names in asked):
                raise ValueError(
                    f"the callback {type(callback).__name__} asks for the estimator that each round has fitted, and "
                    f"{what}: "
                    "give X_val and y_val, and see validation_scores_"
                )
        admit(self.learner or "stump")
        descents.get(self.descent or "residual")
        automatic = "logistic" if issubclass(self.local, BoostingClassifier) else "squared"
        parameters.find_loss(parameters.quantile_loss(self.loss, getattr(self, "quantile", None)), automatic)

    def _as_local(self) -> Any:
        return self.local(
            **{name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        )

    @from_one_fit
    def to_local(self) -> Any:
        """The fitted estimator for data in memory, without a cluster.

        Returns
        -------
        BoostingRegressor, BoostingClassifier or BoostingRanker
            With the same parameters and the same model.
        """
        check_is_fitted(self)
        found = self._as_local()
        known = self.get_params(deep=False)
        found.__dict__.update({name: value for name, value in vars(self).items() if name not in known})
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        given = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        found = type(self)(
            **{name: clone(value, safe=False) for name, value in given.items()}, client=self.client
        )
        if hasattr(self, "_skl_callbacks"):
            found._skl_callbacks = self._skl_callbacks  # shared, as scikit-learn's own clones have them
        return found


def _fit(
    local: Any,
    empty: Mapping[str, Partition],
    watched: tuple[str, ...],
    resume: Run | None,
    sets: Sets,
    here: Surroundings,
) -> Any:
    """The work of one member."""
    what = {_TRAIN: ""} | {f"valid {name}": f"valid {name!r}: " for name in watched}
    rows = {name: joined(parts, empty[name], what[name]) for name, parts in sets.items()}
    train = rows[_TRAIN]
    threads = here.n_threads if local.n_jobs is None else local.n_jobs
    local = clone(local).set_params(n_jobs=threads, callbacks=list(here.callbacks), verbose=0)
    valid = {name: rows[f"valid {name}"] for name in watched} or None
    fitted = local.fit(**train, valid=valid, resume=resume)
    return fitted if here.place == 0 else None


def _on_cluster(local: Any) -> Callable[[type[T]], type[T]]:
    """Give a class the parameters, the docstring and the methods of the local estimator."""

    def dress(cls: type[T]) -> type[T]:
        own = inspect.signature(local.__init__)
        kind = inspect.Parameter.KEYWORD_ONLY
        more = [
            inspect.Parameter("client", kind, default=None, annotation=Client | None),
            inspect.Parameter("timeout", kind, default=TIMEOUT, annotation=float),
        ]

        @wraps(local.__init__)
        def __init__(
            self: Any, *args: Any, client: Client | None = None, timeout: float = TIMEOUT, **given: Any
        ) -> None:
            local.__init__(self, *args, **given)
            self.client, self.timeout = client, timeout

        told = own.replace(parameters=[*own.parameters.values(), *more])
        setattr(__init__, "__signature__", told)  # noqa: B010 - what scikit-learn asks for parameters

        @with_callbacks
        @wraps(local.fit)
        def fit(self: Any, X: Any, y: Any, *args: Any, **given: Any) -> Any:
            bound = inspect.signature(local.fit).bind(self, X, y, *args, **given).arguments
            return self._fit_on_cluster({name: value for name, value in bound.items() if name != "self"})

        for name, value in {"__init__": __init__, "fit": fit, "local": local}.items():
            setattr(cls, name, value)
        for name in ("predict", "predict_proba", "decision_function", "apply"):
            if hasattr(local, name):
                setattr(cls, name, _lazy(local, name))
        cls.__doc__ = _told(cls, local)
        return cls

    return dress


def _lazy(local: Any, name: str) -> Any:
    """A method of rows that answers for partitions when they are computed."""
    method = getattr(local, name)

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **given: Any) -> Any:
        if not is_spread(X):
            return method(self, X, *args, **given)
        if args or given:
            raise ValueError(f"{name} of partitions takes X alone: predict parts in memory with to_local()")
        return _by_partition(self.to_local(), name, X)

    return call


def _by_partition(model: Any, name: str, X: Any) -> Any:
    """What a method of the model says of each partition, of the kind that X is: a series or frame, or an array."""
    if hasattr(X, "chunks"):
        like = _answer(model, name, np.zeros((1, X.shape[1])))
        whole = X.rechunk({1: -1})
        if like.ndim == 1:
            return whole.map_blocks(partial(_answer, model, name), drop_axis=1, dtype=like.dtype)
        chunks = (whole.chunks[0], (like.shape[1],))
        return whole.map_blocks(partial(_answer, model, name), chunks=chunks, dtype=like.dtype)
    if hasattr(X, "map_partitions"):
        meta = _answer(model, name, X._meta)
        return X.map_partitions(partial(_answer, model, name), meta=meta)
    from dask.delayed import delayed

    return [delayed(partial(_answer, model, name))(part) for part in X]


def _answer(model: Any, name: str, part: Any) -> Any:
    found = getattr(model, name)(part) if len(part) else _nothing(model, name, part)
    if not hasattr(part, "index") or not hasattr(part, "iloc"):
        return found
    import pandas

    if found.ndim == 1:
        return pandas.Series(found, index=part.index, name=name)
    labels = model.classes_ if name == "predict_proba" else range(found.shape[1])
    return pandas.DataFrame(found, index=part.index, columns=[str(label) for label in labels])


def _nothing(model: Any, name: str, part: Any) -> np.ndarray:
    """The answer for no rows, of the kind of that for some."""
    # A missing word, where the model knows words, is none of a number, and the other way round.
    cells = [None if number in model._columns.levels else np.nan for number in range(model.n_features_in_)]
    frame = frame_of(part)
    if frame is None:
        return getattr(model, name)(np.array([cells]))[:0]
    known = dict(zip(getattr(model, "feature_names_in_", frame.columns), cells, strict=False))
    row: dict[str, Any] = {label: [known.get(label)] for label in frame.columns}
    return getattr(model, name)(to_frame(row, part, name))[:0]


def _told(cls: type, local: Any) -> str:
    """The docstring of the local estimator, with the head of this class, and its client and example."""
    rest = inspect.cleandoc(local.__doc__ or "").partition("Parameters\n----------\n")[2]
    told, _, attributes = rest.partition("\nAttributes\n----------\n")
    attributes = attributes.partition("\nExamples\n--------\n")[0]
    own, _, example = inspect.cleandoc(cls.__doc__ or "").partition("\nExamples\n--------\n")
    parts = [
        own.strip(),
        f"Parameters\n----------\n{told.rstrip()}\n{_TOLD}",
        f"Attributes\n----------\n{attributes.rstrip()}",
        f"Examples\n--------\n{example.rstrip()}",
    ]
    return "\n\n".join(parts) + "\n"


@_on_cluster(BoostingRegressor)
class DaskBoostingRegressor(OnCluster, BoostingRegressor):
    """`BoostingRegressor` for dask collections: the same model, bit for bit, and rows stay on their workers.

    Examples
    --------
    >>> import anyboost as ab
    >>> import dask.array as da
    >>> from distributed import Client
    >>> client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    >>> X = da.random.default_rng(0).random((1000, 3), chunks=(250, 3))
    >>> model = ab.dask.DaskBoostingRegressor(max_iter=10).fit(X, X[:, 0] + X[:, 1])
    >>> model.predict(X)
    dask.array<_answer, shape=(1000,), dtype=float64, chunksize=(250,), chunktype=numpy.ndarray>
    >>> model.to_local()
    BoostingRegressor(max_iter=10)
    >>> client.close()
    """


@_on_cluster(BoostingClassifier)
class DaskBoostingClassifier(OnCluster, BoostingClassifier):
    """`BoostingClassifier` for dask collections: the same model, bit for bit, and rows stay on their workers.

    Examples
    --------
    >>> import anyboost as ab
    >>> import dask.array as da
    >>> from distributed import Client
    >>> client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    >>> X = da.random.default_rng(0).random((1000, 3), chunks=(250, 3))
    >>> model = ab.dask.DaskBoostingClassifier(max_iter=10).fit(X, X[:, 0] > 0.5)
    >>> model.predict_proba(X).shape
    (1000, 2)
    >>> client.close()
    """


@_on_cluster(BoostingRanker)
class DaskBoostingRanker(OnCluster, BoostingRanker):
    """`BoostingRanker` for dask collections: the same model, bit for bit. Partitions may tear queries.

    Examples
    --------
    >>> import anyboost as ab
    >>> import dask.array as da
    >>> from distributed import Client
    >>> client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    >>> X = da.random.default_rng(0).random((1000, 3), chunks=(250, 3))
    >>> query = da.arange(1000, chunks=250) // 10
    >>> model = ab.dask.DaskBoostingRanker(max_iter=10).fit(X, X[:, 0] > 0.5, qid=query)
    >>> model.predict(X).shape
    (1000,)
    >>> client.close()
    """
