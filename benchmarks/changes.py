"""Studies of changes to the defaults: a line a fit, and their table of losses and times over those as they are."""

import argparse
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

AS_IT_IS = "as it is"


class Line(NamedTuple):
    """A fit, and what came of it."""

    set: str
    seed: int
    fit: str
    family: str
    change: str
    loss: float
    seconds: float
    rounds: int


def read(path: Path) -> list[Line]:
    if not path.exists():
        return []
    return [Line(**json.loads(text)) for text in path.read_text().splitlines()]


def done(path: Path) -> set[tuple[Any, ...]]:
    """Sets, seeds, fits and changes that the file has."""
    return {(*line[:3], line.change) for line in read(path)}


def note(path: Path, line: Line) -> None:
    """Add a line to the file, and say so."""
    with path.open("a") as file:
        file.write(json.dumps(line._asdict()) + "\n")
    print(f"{line.set} {line.seed} {line.family}, {line.change}: {line.loss:.5g}", flush=True)


def report(lines: list[Line], families: Iterable[str], changes: Iterable[str]) -> str:
    """For each change and kind of fit: loss, on how many sets it is less, and time; means over sets."""
    at = {(*line[:3], line.change): line for line in lines}
    shown = [family for family in families if any(line.family == family for line in lines)]
    rows = ["| | " + " | ".join(shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for change in changes:
        cells = [_cell(at, family, change) for family in shown]
        rows.append(f"| {change} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(at: dict[Any, Line], family: str, change: str) -> str:
    logs: dict[str, list[tuple[float, float]]] = {}
    for line in at.values():
        plain = at.get((*line[:3], AS_IT_IS))
        if (line.family, line.change) == (family, change) and plain is not None:
            ratio = math.log(line.loss / plain.loss), math.log(line.seconds / plain.seconds)
            logs.setdefault(line.set, []).append(ratio)
    if not logs:
        return ""
    means = [tuple(sum(part) / len(found) for part in zip(*found, strict=True)) for found in logs.values()]
    loss, time = (math.exp(sum(part) / len(means)) for part in zip(*means, strict=True))
    return f"{loss:.3f} ({sum(mean[0] < 0 for mean in means)}/{len(means)}), time {time:.2f}"


def options(description: str | None, out: str, sets: str) -> argparse.ArgumentParser:
    """What every such study is asked."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--report", type=Path, help="only write the table of this file")
    parser.add_argument("--sets", default=sets)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--quick", action="store_true", help="one set, one seed, few rows")
    return parser
