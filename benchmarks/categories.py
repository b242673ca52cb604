"""Sets with categories: encodings, linear leaves and three peers: `python -m benchmarks.categories [--judge]`.

RMSE and log loss over those of our defaults, and time. Tuning sets: rows held out of the training part. Judging sets
that have columns of categories: their test parts, once; for defaults, ours and the peers', the lines of
docs/accuracy.jsonl stand. LightGBM has categories of its own with and without `linear_tree`. Needs ANYBOOST_DATA.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import accuracy_libraries, changes
from benchmarks.accuracy import losses
from benchmarks.accuracy_sets import REGRESSION, Problem, judging, load, problem
from benchmarks.changes import AS_IT_IS, Line

SETS = "adult,bank,ames,diamonds,nycflights13"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    AS_IT_IS: ("anyboost", {}),
    "subset": ("anyboost", {"categorical_encoding": "subset"}),
    "target": ("anyboost", {"categorical_encoding": "target"}),
    "linear leaves": ("anyboost", {"leaf": "linear"}),
    "LightGBM": ("LightGBM", {}),
    "LightGBM, linear_tree": ("LightGBM", {"linear_tree": True}),
    "CatBoost": ("CatBoost", {}),
    "ChimeraBoost": ("ChimeraBoost", {}),
}
KNOWN = Path("docs/accuracy.jsonl")


def line_of(
    way: str, name: str, seed: int, task: str, found: dict[str, float], rows: int, seconds: float
) -> Line:
    """A fit's line; log losses as docs/accuracy.md has them, (sum + 1/2) / (rows + 1)."""
    loss = next(iter(found.values()))
    loss = loss if "RMSE" in found else (loss * rows + 0.5) / (rows + 1)
    return Line(name, seed, task, task, way, loss, seconds, 0)


def measure(way: str, given: Problem) -> Line:
    library, chosen = WAYS[way]
    fit = "squared" if given.task == REGRESSION else accuracy_libraries.CLASSES
    fitted = accuracy_libraries.learn(library, given, fit, 1, chosen)
    found = losses(fit, given.test, fitted.predicted)
    return line_of(way, given.name, given.seed, given.task, found, len(given.test.y), fitted.cpu_seconds)


def known(sets: list[str]) -> Iterator[Line]:
    """Lines of the judged comparison: everyone's defaults."""
    libraries = {library: way for way, (library, chosen) in WAYS.items() if not chosen}
    for text in KNOWN.read_text().splitlines():
        line = json.loads(text)
        if line.get("set") in sets and line["library"] in libraries and line["fit"] in ("squared", "classes"):
            yield line_of(
                libraries[line["library"]],
                *(line[name] for name in ("set", "seed", "task", "losses", "test_rows", "cpu_seconds")),
            )


def with_categories() -> list[str]:
    """The judging sets that have columns of categories."""
    return [name for name in judging() if load(name).categorical.any()]


def main() -> None:
    parser = changes.options(__doc__, "categories.jsonl", SETS)
    parser.add_argument("--judge", action="store_true", help="the judging sets, once")
    given = parser.parse_args()
    path = given.report or given.out
    if given.report is None:
        sets = with_categories() if given.judge else given.sets.split(",")
        ways = list(WAYS)
        if given.judge:
            ways = [way for way, (_, chosen) in WAYS.items() if chosen]
            for line in known(sets):
                if (*line[:3], line.change) not in changes.done(path):
                    changes.note(path, line)
        for name in sets[: 1 if given.quick else None]:
            for seed in range(1 if given.quick else given.seeds):
                one = problem(name, seed, 500 if given.quick else given.rows, held_out=not given.judge)
                for way in ways:
                    if (name, seed, one.task, way) not in changes.done(path):
                        changes.note(path, measure(way, one))
    lines = changes.read(path)
    print(changes.report(lines, dict.fromkeys(line.family for line in lines), WAYS))


if __name__ == "__main__":
    main()
