"""What users type stays: every public name, its parameters with their defaults, and what classes have.

`public_names.json` is a record, like the fingerprints: `python tests/test_public_names.py` writes it anew, in a commit
that adds names, or that takes one away and says so in the changelog. Names may be added at any time.
"""

import importlib
import inspect
import json
import re
import types
from pathlib import Path

import pytest

import anyboost as ab
from anyboost import keywords

FILE = Path(__file__).with_name("public_names.json")


def modules():
    """The package and its public subpackages, by the name that users type."""
    found = {"anyboost": ab}
    for name in ab.__all__:
        if isinstance(getattr(ab, name), types.ModuleType):
            found[f"anyboost.{name}"] = getattr(ab, name)
    return found


def names_of(module):
    """Those of `__all__`; without one, what the module itself defines and does not import."""
    own = getattr(module, "__all__", None)
    if own is None:
        own = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_")
            and f"{getattr(value, '__module__', '')}.".startswith(f"{module.__name__}.")
        ]
    return sorted(own)


def parameters_of(value):
    """Name and default of each parameter, as text; None for what is not called."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    # The address of a default that is an object differs from process to process.
    return {
        name: re.sub(r" at 0x[0-9a-f]+", "", repr(parameter.default))
        if parameter.default is not parameter.empty
        else "required"
        for name, parameter in signature.parameters.items()
    }


def described(value):
    """What of a public object users rely on."""
    if not inspect.isclass(value):
        return {"parameters": parameters_of(value)} if callable(value) else {}
    members = [
        name
        for name in dir(value)
        if not name.startswith("_")
        and name not in keywords.ATTRIBUTES  # names of other libraries, answered with ours
        and any(name in vars(cls) and cls.__module__.startswith("anyboost") for cls in inspect.getmro(value))
    ]
    return {"parameters": parameters_of(value), "members": sorted(members)}


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


def current():
    found = {}
    for path, module in modules().items():
        for name in names_of(module):
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType):
                found[f"{path}.{name}"] = described(value)
    return found


@pytest.mark.parametrize("path", recorded())
def test_a_public_name_stays(path):
    module, _, name = path.rpartition(".")
    if module == "anyboost.dask":
        pytest.importorskip("distributed", reason='clusters need pip install "anyboost[dask]"')
    was, now = recorded()[path], described(getattr(importlib.import_module(module), name))
    if was.get("parameters"):
        kept = {key: now["parameters"].get(key) for key in was["parameters"]}
        assert kept == was["parameters"]
    assert set(was.get("members", ())) <= set(now.get("members", ()))


def test_new_names_are_recorded():
    pytest.importorskip("distributed", reason='clusters need pip install "anyboost[dask]"')
    assert sorted(set(current()) - set(recorded())) == [], "run python tests/test_public_names.py"


if __name__ == "__main__":
    FILE.write_text(json.dumps(current(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
