"""One page of all experiments: figures beside the papers' claims, in a single HTML file that needs nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from anyboost import saving
from anyboost._version import __version__
from anyboost.experiments import frame
from anyboost.report.page import filled

MARKS = {"reproduced": "✓", "partly": "◐", "not reproduced": "✗"}
READABLE = 59  # screen pixels an inch of a figure needs at least; a narrower screen scrolls it
HEAVY = 1_500_000  # bytes: above, the picture is shown as PNG


class Picture(NamedTuple):
    """A figure as a data address, and its size in inches."""

    address: str
    width: float
    height: float

    @property
    def least(self) -> int:
        """The width in pixels under which its text could not be read."""
        return round(self.width * READABLE)


def write(path: Path, names: Iterable[str], quick: bool, folder: Path, missed: Mapping[str, str]) -> None:
    """The page of these experiments, from the records and figures in `folder`; `missed` says why some are not there."""
    records = {name: frame.found(name, folder) for name in names if name not in missed}
    pictures = {name: picture(folder / name) for name in records}
    saving.write(path, build(list(names), records, pictures, missed, quick).encode())


def build(
    names: list[str],
    records: Mapping[str, Any],
    pictures: Mapping[str, Picture],
    missed: Mapping[str, str],
    quick: bool,
) -> str:
    """The page as text."""
    verdicts = [claim["verdict"] for record in records.values() for claim in record["claims"]]
    return filled(
        "anyboost.experiments",
        names=names,
        records=records,
        pictures=pictures,
        missed=missed,
        quick=quick,
        marks=MARKS,
        counts={verdict: verdicts.count(verdict) for verdict in MARKS},
        titles={name: frame.named(name).TITLE for name in names},
        tables={name: table(frame.named(name).table(record["results"])) for name, record in records.items()},
        facts={name: facts(record) for name, record in records.items()},
        version=__version__,
    )


def picture(stem: Path) -> Picture:
    """A figure that `frame.run` has saved; as SVG, unless that is much heavier than its PNG."""
    drawn = stem.with_suffix(".svg").read_bytes()
    width, height = (
        float(size) / 72 for size in re.findall(rb'(?:width|height)="([\d.]+)pt"', drawn[:2000])[:2]
    )
    kind, blob = "svg+xml", drawn
    if len(drawn) > HEAVY:
        kind, blob = "png", stem.with_suffix(".png").read_bytes()
    return Picture(f"data:image/{kind};base64,{base64.b64encode(blob).decode()}", width, height)


def table(lines: list[str]) -> Any:
    """Markdown as HTML; what is in its cells cannot be HTML itself."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render("\n".join(lines)))


def facts(record: Mapping[str, Any]) -> str:
    """What the results were measured with."""
    said = f"anyboost {record['version']}"
    machine = record.get("machine")
    if not machine:
        return said
    versions = ", ".join(f"{package} {version}" for package, version in machine["versions"].items())
    return f"{said}, Python {machine['python']}, {versions}; {machine['cpu']}, {machine['cores']} cores"
