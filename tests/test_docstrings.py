"""Users who ask `help`, an editor or an API reference learn from every public name what it takes, gives and does.

Docstrings are numpydoc's. Parameters must be those of the signature, in its order and with its defaults; what a
function returns must be told; every public name has an example, which is run.
"""

import doctest
import importlib
import inspect
import re
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import anyboost as ab

# The rooms, and what of them users type where a room does not list it in `__all__`.
ROOMS: dict[str, tuple[str, ...] | None] = {
    "anyboost": None,
    "anyboost.bounds": (
        *("gamma", "gradient_bound", "average_gap", "computable", "plan_repeated", "RepeatedPlan"),
        *(f"theorem_{number}" for number in range(3, 8)),
    ),
    "anyboost.certificates": ("Witness", "edge", "floor"),
    "anyboost.dask": None,
    "anyboost.datasets": (
        *("Dataset", "names", "load", "require"),
        *("read_letor", "read_letor_fold", "letor_folds"),
    ),
    "anyboost.descent": (
        *("Descent", "Naive", "Repeated", "Residual", "Shrinking", "Hull"),
        *("Step", "get"),
    ),
    "anyboost.ensemble": ("Ensemble",),
    "anyboost.estimators": None,
    "anyboost.explain.explanation": ("Explanation",),
    "anyboost.export": None,
    "anyboost.explain.shapes": ("Shape", "Shapes"),
    "anyboost.files": None,
    "anyboost.losses": None,
    "anyboost.metrics": ("Metric", "ndcg", "average_precision", "disagreement", "concordance", "get"),
    "anyboost.mirror": None,
    "anyboost.mirror.regret": ("Combination", "Regret", "regret", "best_switching", "best_combination"),
    "anyboost.online": None,
    "anyboost.planning": None,
    "anyboost.plot": None,
    "anyboost.report": None,
    "anyboost.space": ("Binned", "Space"),
    "anyboost.steps": ("Constant", "InverseSqrt", "InverseT", "FrankWolfe", "LineSearch", "get", "size"),
    "anyboost.validation": ("CrossValidation", "cv"),
    "anyboost.weak": None,
}
# A loss's own formula, which `RowwiseLoss` explains: it is compiled, and called by nobody.
FORMULAS = ("row", "row_curvatures")
# What the kernels of streams ask of a learner, which `CompiledLearner` explains.
ASKED = ("arrays", "grown", "named", "reset", "settings", "shapes")
PRIVATE = "_|({})$|set_.*_request$".format("|".join(FORMULAS + ASKED))  # the last are scikit-learn's

SECTIONS = (
    *("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"),
    *("See Also", "Notes", "References", "Examples"),
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Item(NamedTuple):
    """A name, what it stands for, and for a method the class it is of."""

    name: str
    value: Any
    owner: type | None = None

    @property
    def doc(self) -> str:
        if self.owner is None:
            return inspect.getdoc(self.value) or ""
        name = self.name.rpartition(".")[2]
        told = (getattr(cls, name).__doc__ for cls in self.owner.__mro__ if name in vars(cls))
        return inspect.cleandoc(next(filter(None, told), ""))  # an override is told by what it overrides

    @property
    def signature(self) -> inspect.Signature:
        if self.owner is not None:
            given = inspect.signature(self.value)
            unbound = not inspect.ismethod(self.value)  # and none is static but formulas
            return given.replace(parameters=list(given.parameters.values())[unbound:])
        if is_described(self.value):
            return inspect.Signature()
        return inspect.signature(self.value)


def is_described(value: Any) -> bool:
    """Whether this is a class that nobody calls: an exception, or a protocol to follow."""
    return inspect.isclass(value) and (
        issubclass(value, Exception) or getattr(value, "_is_protocol", False) is True
    )


def public() -> Iterator[Item]:
    seen = set()
    for room, names in ROOMS.items():
        module = importlib.import_module(room)
        for name in module.__all__ if names is None else names:
            value, full = getattr(module, name), f"{room}.{name}"
            if name == "__version__" or inspect.ismodule(value):
                continue
            if id(value) not in seen:
                seen.add(id(value))
                yield Item(full, value)


def members_of(item: Item) -> Iterator[tuple[str, Any]]:
    """What a class has of this library's, by its public names."""
    for name in dir(item.value):
        owner = next((cls for cls in item.value.__mro__ if name in vars(cls)), object)
        if not re.match(PRIVATE, name) and owner.__module__.startswith("anyboost"):
            yield name, getattr(item.value, name)


def methods_of(item: Item) -> Iterator[Item]:
    for name, found in members_of(item):
        if inspect.isfunction(found) or inspect.ismethod(found):
            yield Item(f"{item.name}.{name}", found, item.value)


def properties_of(item: Item) -> Iterator[Item]:
    for name, found in members_of(item):
        if isinstance(found, property | cached_property):
            yield Item(f"{item.name}.{name}", found, item.value)


def sections(doc: str) -> dict[str, list[str]]:
    """The lines of each section, and under "" those before the first."""
    found: dict[str, list[str]] = {"": []}
    current, lines = "", doc.split("\n")
    for number, line in enumerate(lines):
        ruled = number + 1 < len(lines) and re.fullmatch("-{3,}", lines[number + 1])
        if ruled:
            assert line in SECTIONS, f"{line!r} is no section of numpydoc"
            assert line not in found, f"there are two sections {line}"
            assert len(lines[number + 1]) == len(line), f"the rule under {line} is not as long as it"
            current = line
            found[current] = []
        elif not (current and not found[current] and re.fullmatch("-{3,}", line)):
            found[current].append(line)
    order = [SECTIONS.index(name) for name in found if name]
    assert order == sorted(order), f"sections are not in numpydoc's order: {list(found)[1:]}"
    return found


class Entry(NamedTuple):
    names: list[str]
    type: str
    default: str | None


def entries(lines: list[str]) -> list[Entry]:
    found = []
    for line in lines:
        if not line or line.startswith(" "):
            continue
        names, colon, words = line.partition(" : ")
        assert colon, f"{line!r} has no type: write `name : type`"
        kind, given, default = re.match(r"(.*?)(, default (.*))?$", words).groups()  # type: ignore[union-attr]
        assert kind, f"{line!r} has no type"
        found.append(Entry(names.split(", "), kind, default if given else None))
    return found


def written(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def problems(item: Item) -> list[str]:
    """What is wrong with a docstring."""
    doc = item.doc
    if not doc:
        return ["it has no docstring"]
    try:
        found = sections(doc)
        told = entries(found.get("Parameters", []))
        attributes = entries(found.get("Attributes", []))
    except AssertionError as wrong:
        return [str(wrong).split("\n")[0]]
    out = []
    summary = doc.split("\n\n")[0]
    if "\n" in summary or not summary.endswith("."):
        out.append("its summary is not one line that ends with a full stop")
    signature = item.signature
    wanted = {
        {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + name: parameter
        for name, parameter in signature.parameters.items()
        if not name.startswith("_")
    }
    names = [name for entry in told for name in entry.names]
    fields = [name for entry in attributes for name in entry.names]
    if not told and inspect.isclass(item.value) and set(wanted) <= set(fields):
        return out  # a record: its fields are what it has
    if names != list(wanted):
        out.append(f"it documents the parameters {names}, and takes {list(wanted)}")
        return out
    for entry in told:
        for name in entry.names:
            default = wanted[name].default
            if default is inspect.Parameter.empty:
                if entry.default is not None:
                    out.append(f"{name} has no default, and {entry.default} is documented")
            elif entry.default is None:
                out.append(f"the default of {name}, {written(default)}, is not documented")
            elif _plain(default) and entry.default != written(default):
                out.append(f"the default of {name} is {written(default)}, and {entry.default} is documented")
    if not inspect.isclass(item.value):
        returns = signature.return_annotation not in (None, "None", inspect.Signature.empty)
        if returns and not {"Returns", "Yields"} & set(found):
            out.append("it does not say what it returns")
        if not returns and "Returns" in found:
            out.append("it says what it returns, and its signature does not")
    return out


def _plain(default: Any) -> bool:
    return default is None or isinstance(default, bool | int | float | str | tuple)


def right(width: float, height: float = 1.0) -> float:
    """An area.

    Parameters
    ----------
    width : float
        Of the rectangle.
    height : float, default 1.0
        Of the rectangle.

    Returns
    -------
    float
        Their product.
    """
    return width * height


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("height : float, default 1.0\n    Of the rectangle.\n", "", "documents the parameters ['width']"),
        ("height :", "length :", "['width', 'length'], and takes ['width', 'height']"),
        ("width : float", "width : float, default 2.0", "width has no default"),
        ("default 1.0", "default 2.0", "the default of height is 1.0, and 2.0 is documented"),
        (", default 1.0", "", "the default of height, 1.0, is not documented"),
        ("width : float", "width", "has no type"),
        ("Returns\n-------\nfloat\n    Their product.", "", "does not say what it returns"),
        ("An area.", "An area", "summary"),
        ("Parameters", "Arguments", "is no section of numpydoc"),
    ],
)
def test_a_wrong_docstring_is_found(was, wrong, said):
    assert problems(Item("right", right)) == []
    doc = inspect.getdoc(right)
    assert was in doc
    bad = types.FunctionType(right.__code__, globals(), argdefs=right.__defaults__)
    bad.__annotations__, bad.__doc__ = right.__annotations__, doc.replace(was, wrong)
    assert said in "; ".join(problems(Item("bad", bad)))


PUBLIC = list(public())
CLASSES = [item for item in PUBLIC if inspect.isclass(item.value)]


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.name)
def test_a_public_name_documents_what_it_takes_and_gives(item):
    wrong = problems(item)
    if "Examples" not in sections(item.doc) or ">>>" not in item.doc:
        wrong.append("it has no example")
    assert not wrong, f"{item.name}: {'; '.join(wrong)}"


@pytest.mark.parametrize("item", CLASSES, ids=lambda item: item.name)
def test_public_methods_document_what_they_take_and_give(item):
    wrong = {method.name: found for method in methods_of(item) if (found := problems(method))}
    wrong |= {found.name: "no docstring" for found in properties_of(item) if not found.doc}
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


TABLE, LABELS = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
FITS: dict[str, Callable[[], Any]] = {
    "BoostingRegressor": lambda: ab.BoostingRegressor("cox", max_iter=1).fit(
        pd.DataFrame(TABLE, columns=["a", "b"]), LABELS + 1.0
    ),
    "BoostingClassifier": lambda: ab.BoostingClassifier(max_iter=1).fit(TABLE, LABELS),
    "BoostingRanker": lambda: ab.BoostingRanker(max_iter=1).fit(TABLE, LABELS, qid=np.arange(12) // 4),
    "MaxMarginPlanner": lambda: ab.MaxMarginPlanner("stump", max_iter=1).fit(
        [np.zeros((2, 3, 1))], [[[0, 0], [0, 1], [0, 2]]]
    ),
    "MirrorAveragingRegressor": lambda: ab.MirrorAveragingRegressor().fit(TABLE, LABELS),
    "MirrorAveragingClassifier": lambda: ab.MirrorAveragingClassifier().fit(TABLE, LABELS),
    "MirrorAverager": lambda: ab.mirror.MirrorAverager().partial_fit(TABLE, LABELS),
    "StumpAverager": lambda: ab.mirror.StumpAverager().partial_fit(TABLE, LABELS),
    "Tracker": lambda: ab.mirror.Tracker().partial_fit(TABLE, LABELS),
}
# Where X has names, where there are models, and where `init` is an estimator
SOMETIMES = {"feature_names_in_", "models_", "init_"}


@pytest.mark.parametrize("name", FITS)
def test_fitted_attributes_are_documented(name):
    model = FITS[name]()
    has = {attribute for attribute in dir(model) if re.fullmatch("[a-z].*[^_]_", attribute)}
    lines = sections(inspect.getdoc(type(model)) or "")["Attributes"]
    told = {attribute for entry in entries(lines) for attribute in entry.names}
    assert has <= told, f"not documented: {has - told}"
    assert told <= has | SOMETIMES, f"documented, and not there: {told - has}"


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.name)
def test_examples_give_what_they_show(item, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for those that write files
    finder = doctest.DocTestFinder(recurse=True, exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    told: list[str] = []
    for test in finder.find(item.value, item.name, module=False, globs={}):
        runner.run(test, out=told.append)
    assert not told, "".join(told)
