"""Who follows docs/architecture.md into the code finds every name that it tells."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "anyboost"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def read():
    """What each module has and each class, by its last name; a class also has what its bases have."""
    modules, classes, bases = defaultdict(set), defaultdict(set), defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not parts:
            continue
        tree, name = ast.parse(path.read_text(encoding="utf-8")), parts[-1]
        for statement in tree.body:
            modules[name] |= named(statement)
            if isinstance(statement, ast.ClassDef):
                bases[statement.name] |= {base.id for base in statement.bases if isinstance(base, ast.Name)}
                for inner in statement.body:
                    classes[statement.name] |= named(inner)
        if len(parts) > 1:
            modules[parts[-2]].add(name)
    for name in classes:
        above, waiting = set(), [name]
        while waiting:
            new = bases.get(waiting.pop(), set()) - above
            above |= new
            waiting += new
        classes[name] |= set().union(*(classes.get(base, set()) for base in above))
    return modules, classes


def named(statement):
    """The names that a statement at the top of a module or a class brings in."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {each.asname or each.name for each in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


MODULES, CLASSES = read()
KNOWN = MODULES | CLASSES
NAMES = {name for names in KNOWN.values() for name in names} | KNOWN.keys()
ROOMS = sorted({path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.glob("*/*.py")})
TOLD = sorted({re.sub(r"\(.*", "", told) for told in re.findall(r"`([A-Za-z_][^`\s]*(?:\([^`]*\))?)`", PAGE)})


def test_the_page_names_what_it_tells():
    assert len(TOLD) > 100
    assert "splitting.choose_cut" in TOLD
    assert "admit_nothing" not in NAMES


@pytest.mark.parametrize("told", TOLD)
def test_every_name_of_the_page_exists(told):
    first, *rest = told.split(".")
    assert first in NAMES, f"there is no {first}"
    for name in rest:
        assert name in MODULES.get(first, set()) | CLASSES.get(first, set()), f"{first} has no {name}"
        first = name


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_line(room):
    assert re.search(rf"^\|.*`{room}`.*\|", PAGE, flags=re.MULTILINE), f"{room} has no line in the table"
