"""How to make the model again: every parameter, what "auto" became, versions, and the call."""

import inspect
from typing import Any

from anyboost._version import __version__
from anyboost.boosting import Run
from anyboost.machine import machine
from anyboost.report.parts import Section
from anyboost.report.subject import Subject

PACKAGES = ("anyboost", "numpy", "scipy", "scikit-learn", "numba", "narwhals")
LONG = 200  # letters of a value


def parameters(subject: Subject) -> Section:
    """Every parameter: as given, and as the fit took it."""
    section = Section("Parameters")
    model = subject.model
    if isinstance(model, Run):
        rows = [
            [name, repr(getattr(model, name))] for name in ("loss", "learner", "descent", "seed", "options")
        ]
        section.add_table(["part", "value"], rows)
        return section
    dials = getattr(model, "dials_", {})
    given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    rows = []
    for name, value in given.items():
        taken = dials.get(name, getattr(model, f"{name}_", None) if name == "loss" else None)
        rows.append([name, _short(value), "" if taken is None or taken == value else _short(taken)])
    rows += [[name, "", _short(value)] for name, value in dials.items() if name not in given]
    section.say("As given, and, where that was left to the fit, as it was settled by the loss and the rows.")
    section.add_table(["parameter", "given", "taken"], rows)
    return section


def weights(subject: Subject) -> Section:
    """Of a model that combines others, or a stream's team: who has which weight."""
    section = Section("Weights")
    found = getattr(subject.model, "weights_", None)
    if found is None:
        return section
    if isinstance(found, dict):
        rows = [[name, float(value)] for name, value in found.items()]
        section.add_table(["expert", "weight"], rows)
        return section
    models = getattr(subject.model, "models_", None) or []
    names = [_short(model) for model in models]
    columns = found.reshape(-1, found.shape[-1])
    names = (
        names
        if len(names) == columns.shape[1]
        else [f"forecast {place}" for place in range(columns.shape[1])]
    )
    heads = ["weight"] if len(columns) == 1 else [f"weight, {label}" for label in subject.model.classes_]
    rows = [[f"{place}: {name}", *columns[:, place].tolist()] for place, name in enumerate(names)]
    section.add_table(["model", *heads], rows)
    return section


def versions(_subject: Subject) -> Section:
    """What this was made with."""
    found = machine(PACKAGES)
    found["versions"]["anyboost"] = __version__  # of the code that runs, installed or not
    rows = [["Python", found["python"]], *([name, version] for name, version in found["versions"].items())]
    section = Section("Versions")
    section.say(f"The report was made on {found['cpu']}, {found['cores']} cores.")
    section.add_table(["what", "version"], rows)
    return section


def reproduce(subject: Subject) -> Section:
    """The call that fits it again."""
    section = Section("How to reproduce it")
    model = subject.model
    if subject.command is not None:
        section.code = subject.command
        return section
    section.say("On the same rows and with the same versions, this gives the same model, bit for bit:")
    if isinstance(model, Run):
        call = f"{len(model.steps)}, random_state={model.seed}"
        section.code = (
            "import anyboost as ab\n\n"
            f"loss, learner = {model.loss!r}, {model.learner!r}  # names of ab.losses and ab.weak\n"
            f"descent = {model.descent!r}  # of ab.descent\n"
            f"run = ab.boost(X, y, loss, learner, descent, {call})"
        )
        return section
    given = _said(model)
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    section.code = f"import anyboost as ab\n\nmodel = ab.{type(model).__name__}({words})\nmodel.fit(X, y)"
    return section


def _said(model: Any) -> dict[str, Any]:
    """The parameters that are not the constructor's defaults."""
    defaults = {name: part.default for name, part in inspect.signature(type(model)).parameters.items()}
    found = model.get_params(deep=False)
    return {
        name: value for name, value in found.items() if name in defaults and not _same(value, defaults[name])
    }


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _short(value: Any) -> str:
    said = " ".join(repr(value).split())
    return said if len(said) <= LONG else f"{said[:LONG]} ..."
