"""A model into its file and out of it again.

What a kind of model stores is its own module here, with `pack` and `unpack`; the latter's keywords
are what `load` may be given that is not in the file. KINDS lists them.
"""

from importlib import import_module
from inspect import signature
from typing import Any

from anyboost import saving
from anyboost._version import __version__
from anyboost.files import container
from anyboost.files.container import FORMAT, Contents
from anyboost.files.fields import Fault, Fields, count, refuse, text
from anyboost.files.tensors import Packed, Tensors, entries
from anyboost.fitted import snapshot

# What is saved, by the class's full name, and the module here that packs it. Named as text, so that a file of one
# kind does not load the code of all.
KINDS = {
    "ensemble": ("anyboost.ensemble.Ensemble", "ensembles"),
    "run": ("anyboost.boosting.run.Run", "runs"),
    "averager": ("anyboost.mirror.averager.MirrorAverager", "averagers"),
    "tracker": ("anyboost.mirror.tracking.Tracker", "averagers"),
    "stump averager": ("anyboost.mirror.stumps.StumpAverager", "averagers"),
    "mirror estimator": ("anyboost.mirror.estimators.base.MirrorAveraging", "mirror_estimators"),
    "regressor": ("anyboost.estimators.regressor.BoostingRegressor", "estimators"),
    "classifier": ("anyboost.estimators.classifier.BoostingClassifier", "estimators"),
    "ranker": ("anyboost.estimators.ranker.BoostingRanker", "estimators"),
    "planner": ("anyboost.planning.estimator.MaxMarginPlanner", "planners"),
    "booster": ("anyboost.online.booster.OnlineBooster", "chains"),
    "online_model": ("anyboost.online.estimators.OnlineBoosting", "online_estimators"),
    "interval model": ("anyboost.online.intervals.AdaptiveIntervals", "adaptive_intervals"),
}
# What `load` may be given, and the kind of model that it is usually for
_GIVEN = {
    "loss": "belongs to a run",
    "descent": "belongs to a run",
    "models": "belong to an estimator of mirror averaging",
}


def save(model: Any, path: Any) -> None:
    """Write a model to one file. An old file at `path` stays whole until the new one is.

    An estimator of a cluster is written as the local one that it is. A user's own loss or step schedule is saved by
    name: the model can be used, and training continues once `load` is given them. A learner of the user's own
    functions or estimators cannot be saved.

    Parameters
    ----------
    model : estimator, Run, Ensemble, MirrorAverager, Tracker, StumpAverager, OnlineBooster or AdaptiveIntervals
        A model of this library.
    path : str or Path
        The file.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> ab.save(run, "run.anyboost")
    >>> len(ab.load("run.anyboost").steps)
    5
    """
    saving.check(path)
    saving.write(path, container.encode(*packed(model)))


def packed(model: Any) -> Packed:
    """What `save` would write of a model: the whole header, and the tensors.

    Parameters
    ----------
    model : Any
        A model that `save` takes.

    Returns
    -------
    tuple of (dict, dict)
        The header and the tensors, by name.

    Examples
    --------
    >>> import anyboost as ab
    >>> header, tensors = ab.files.packed(ab.boost([[0.0], [1.0]], [0.0, 1.0], rounds=1).ensemble)
    >>> header["kind"], tensors["added"].shape
    ('ensemble', (1,))
    """
    if hasattr(model, "to_local"):  # of a cluster, which is no part of a file
        model = model.to_local()
    model = snapshot(model)
    kind = _kind_of(model)
    head = entries(format=FORMAT, kind=kind, library=__version__)
    return head | _module(kind).pack(model).within("model")


def load(path: Any, loss: Any = None, descent: Any = None, models: Any = None) -> Any:
    """The model that `save` wrote. A file that is not one raises ModelFileError, whatever is in it.

    Parameters
    ----------
    path : str or Path
        The file.
    loss : Loss or None, default None
        The user's own loss that the run was made with; only needed to continue training.
    descent : Descent or None, default None
        The descent with a step of the user's own that the run was made with; only needed to continue training.
    models : list or None, default None
        The fitted models that a mirror averaging estimator combines, in their order.

    Returns
    -------
    Any
        A model of the kind that was saved.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> ab.save(ab.boost(X, y, rounds=5).ensemble, "sum.anyboost")
    >>> ab.load("sum.anyboost").predict(X).shape
    (3,)
    """
    saving.check_name(path)
    with container.naming(path):
        return unpacked(container.read(path), loss, descent, models)


def unpacked(contents: Contents, loss: Any, descent: Any, models: Any) -> Any:
    """The model of a header and tensors, wherever they were read; a Fault where they make none.

    Parameters
    ----------
    contents : Contents
        Header and tensors, which nobody has to believe yet.
    loss : Loss or None
        As `load` has it.
    descent : Descent or None
        As `load` has it.
    models : list or None
        As `load` has it.

    Returns
    -------
    Any
        A model of the kind that the header says.
    """
    tensors = Tensors(contents)
    kind, part = _opened(contents, tensors)
    unpack = _module(kind).unpack
    given = {"loss": loss, "descent": descent, "models": models}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() - signature(unpack).parameters:
        raise ValueError(f"{name} {_GIVEN[name]}, and the file holds {_a(kind)}: leave {name} out")
    model = unpack(part, **given)
    part.done()
    tensors.done()
    return model


def peek(path: Any) -> Contents:
    """What is inside a file, without its numbers: the header and where the tensors lie, the checksum being right.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Contents
        Header, tensors and size.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.save(ab.boost([[0.0], [1.0]], [0.0, 1.0], rounds=1), "run.anyboost")
    >>> ab.files.peek("run.anyboost").header["kind"]
    'run'
    """
    with container.naming(path):
        contents = container.read(path, keep=False)
        _opened(contents)
        return contents


def _opened(contents: Contents, tensors: Tensors | None = None) -> tuple[str, Fields]:
    """The kind of model and its part of a file; a Fault for a file of a newer version."""
    header = Fields(contents.header, "anyboost")
    version = header.take("format", count(1))
    if version > FORMAT:
        raise Fault(f"it has format {version} and this version reads up to {FORMAT}: update anyboost")
    kind, _, model = header.take_all(
        kind=text, library=text, model=lambda value, name: Fields(value, name, tensors)
    ).values()
    refuse(kind not in KINDS, f"it holds a {kind!a}, which this version does not know")
    return kind, model


def _kind_of(model: Any) -> str:
    names = [f"{cls.__module__}.{cls.__qualname__}" for cls in type(model).__mro__]
    for kind, (name, _) in KINDS.items():
        if name in names:
            return kind
    raise TypeError(
        f"model must be of a kind that has a file ({', '.join(KINDS)}), got {type(model).__name__}"
    )


def _module(kind: str) -> Any:
    return import_module(f"anyboost.files.{KINDS[kind][1]}")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind.replace('_', ' ')}"
