"""Model files that cannot hurt anyone: `save`, `load`, and checkpoints of a run.

A file is one safetensors file (see `container`) that holds numbers, names and nothing else: no pickle, no code.
What a kind of model stores is its own module here, with `pack` and `unpack`; KINDS lists them.
"""

from importlib import import_module
from typing import Any

from anyboost._version import __version__
from anyboost.files import container
from anyboost.files.checkpoint import Checkpoint
from anyboost.files.container import FORMAT, Contents, Fault, ModelFileError
from anyboost.files.fields import Fields, Tensors

__all__ = ["Checkpoint", "ModelFileError", "load", "peek", "save"]

# What is saved, by the class's full name, and the module that packs it. Named as text, so that a file of one kind
# does not load the code of all.
KINDS = {
    "ensemble": ("anyboost.ensemble.Ensemble", "anyboost.files.ensembles"),
    "run": ("anyboost.boosting.Run", "anyboost.files.runs"),
    "averager": ("anyboost.mirror.averager.MirrorAverager", "anyboost.files.mirror"),
    "tracker": ("anyboost.mirror.tracking.Tracker", "anyboost.files.mirror"),
    "stump averager": ("anyboost.mirror.stumps.StumpAverager", "anyboost.files.mirror"),
    "mirror estimator": ("anyboost.mirror.estimators._MirrorAveraging", "anyboost.files.mirror"),
    "regressor": ("anyboost.estimators.regressor.BoostingRegressor", "anyboost.files.estimators"),
    "classifier": ("anyboost.estimators.classifier.BoostingClassifier", "anyboost.files.estimators"),
    "ranker": ("anyboost.estimators.ranker.BoostingRanker", "anyboost.files.estimators"),
    "planner": ("anyboost.planning.estimator.MaxMarginPlanner", "anyboost.files.planners"),
    "booster": ("anyboost.online.booster.OnlineBooster", "anyboost.files.boosters"),
    "online_model": ("anyboost.online.estimators.OnlineBoosting", "anyboost.files.streams"),
}


def save(model: Any, path: Any) -> None:
    """Write a model to one file. An old file at `path` stays whole until the new one is.

    A user's own loss or step schedule is saved by name: the model can be used, and training continues once
    `load` is given them. A learner of the user's own functions or estimators cannot be saved.

    Parameters
    ----------
    model : estimator, Run, Ensemble, MirrorAverager, Tracker, StumpAverager or OnlineBooster
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
    kind = _kind_of(model)
    container.check(path)
    header, tensors = import_module(KINDS[kind][1]).pack(model)
    blob = container.encode(
        {"format": FORMAT, "kind": kind, "library": __version__, "model": header}, tensors
    )
    container.write(path, blob)


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
    with container.naming(path):
        contents = container.read(path)
        kind, header = _opened(contents)
        tensors = Tensors(contents)
        given = {"loss": loss, "descent": descent, "models": models}
        model = import_module(KINDS[kind][1]).unpack(header, tensors, given)
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


def _opened(contents: Contents) -> tuple[str, Fields]:
    """The kind of model and its header; a Fault for a file of a newer version."""
    header = Fields(contents.header, "anyboost")
    version = header.count("format", 1)
    if version > FORMAT:
        raise Fault(f"it has format {version} and this version reads up to {FORMAT}: update anyboost")
    kind, _ = header.text("kind"), header.text("library")
    model = header.fields("model")
    header.done()
    if kind not in KINDS:
        raise Fault(f"it holds a {kind!a}, which this version does not know")
    return kind, model


def _kind_of(model: Any) -> str:
    names = [f"{cls.__module__}.{cls.__qualname__}" for cls in type(model).__mro__]
    for kind, (name, _) in KINDS.items():
        if name in names:
            return kind
    raise TypeError(
        f"model must be of a kind that has a file ({', '.join(KINDS)}), got {type(model).__name__}"
    )
