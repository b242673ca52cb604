"""What every experiment shares: its cases one by one, taken up again where they stopped, and what comes of them.

An experiment is a module of this package. It names what it is about (`TITLE`, `SOURCE`), the `cases` to measure,
how to `measure` one, and what the results say: a Markdown `table`, a figure to `draw`, and its `claims`.
"""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

from anyboost import datasets
from anyboost._version import __version__
from anyboost.experiments import style
from anyboost.machine import machine
from anyboost.saving import write

NAMES = (  # in the order of the page that shows them all
    "planning",
    "ranking",
    "multiclass",
    "rates",
    "shrinking",
    "online",
    "averaging",
)
FORMATS = ("png", "svg")
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

Verdict = Literal["reproduced", "partly", "not reproduced"]
Tick = Callable[[float], None]  # takes the share of a case that is done
Show = Callable[[str, float, int], None]  # takes the case at work, the cases done (and a share), and all


class Claim(NamedTuple):
    """What a paper says, whether it came out here, and the number that decides it."""

    says: str
    verdict: Verdict
    because: str


def verdict(held: Sequence[bool]) -> Verdict:
    """That on a claim of several parts."""
    return "reproduced" if all(held) else "partly" if any(held) else "not reproduced"


def markdown(heading: str, rows: Iterable[Iterable[str]]) -> list[str]:
    """A table in Markdown: names with bars between them, and rows of cells."""
    names = heading.split(" | ")
    lines = ("| " + " | ".join(cells) + " |" for cells in (names, *rows))
    return [next(lines), "|" + "---|" * len(names), *lines]


def claim_line(claim: Claim) -> str:
    """A claim in Markdown, with its verdict and the sentences that decide it."""
    return f"- **{claim.verdict.capitalize()}**: {claim.says}. {claim.because}"


def summary_row(name: str, results: dict[str, Any]) -> str:
    """A row of the page of all experiments: what the paper says, our figure, and what came out."""
    experiment = named(name)
    verdicts = [claim.verdict for claim in experiment.claims(results)]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in get_args(Verdict) if one in verdicts)
    paper = f"[{name}]({name}.md). {experiment.SOURCE}. {experiment.SAYS}"
    ours = f"{experiment.outcome(results)} Of {len(verdicts)} claims: {counts}."
    return f"| {paper} | ![{experiment.TITLE}](../figures/{name}.png) | {ours} |"


class Experiment(Protocol):
    """A module of this package. Results are plain numbers, strings, lists and dicts, for they become JSON."""

    TITLE: str
    SOURCE: str  # the paper, and the figure or table of it
    SAYS: str  # what the paper says there, in a sentence or two
    SHOWS: str  # what the figure shows, for its caption and for readers who do not see it; TITLE where it is missing

    def cases(self, quick: bool) -> dict[str, Any]:
        """What to measure, by name; the same every time it is asked. Arguments are JSON too."""

    def needs(self, case: Any) -> str | None:
        """The data set that `datasets.load` has to find for a case, or None; left out where no case has one."""

    def measure(self, case: Any, tick: Tick) -> Any:
        """The results of one case. It depends on the case alone, so that a resumed run equals another."""

    def table(self, results: dict[str, Any]) -> list[str]:
        """Markdown: the figures that matter, by case."""

    def claims(self, results: dict[str, Any]) -> list[Claim]:
        """The paper's claims, decided by the results."""

    def outcome(self, results: dict[str, Any]) -> str:
        """What came out, in a sentence or two: to be read beside SAYS and the figure."""

    def draw(self, results: dict[str, Any]) -> Any:
        """A matplotlib Figure."""


def named(name: str) -> Experiment:
    """The experiment of that name."""
    return importlib.import_module(f"anyboost.experiments.{name}")


def run(name: str, quick: bool, output: Path, show: Show = lambda *_: None) -> dict[str, Any]:
    """Measure what is not measured yet; write NAME.json, NAME.md, NAME.png and NAME.svg in the folder `output`.

    Cases that are done are kept in NAME.part until all are. A run that was stopped goes on from there.
    """
    experiment = named(name)
    cases = experiment.cases(quick)
    output.mkdir(parents=True, exist_ok=True)
    kept = _kept(name, quick, output)
    for place, (label, case) in enumerate(cases.items()):
        if label in kept.results:
            continue

        def tick(share: float, place: int = place, label: str = label) -> None:
            show(label, place + share, len(cases))

        tick(0.0)
        with warnings.catch_warnings():
            # Where the papers' steps end is what an experiment reports.
            warnings.filterwarnings("ignore", "the loss ended at")
            kept.add(label, experiment.measure(case, tick))
    show("", len(cases), len(cases))
    record = _finish(name, quick, {label: kept.results[label] for label in cases}, machine(PACKAGES), output)
    kept.path.unlink(missing_ok=True)
    return record


def check_data(name: str, quick: bool, output: Path, fresh: bool) -> None:
    """A FileNotFoundError that names every data set which `run` would miss.

    fresh : whether all cases are to be measured, also those that the folder has results of.
    """
    experiment = named(name)
    done = {} if fresh else _finished(name, quick, output) or {"results": _kept(name, quick, output).results}
    cases = [case for label, case in experiment.cases(quick).items() if label not in done.get("results", {})]
    wanted = [experiment.needs(case) for case in cases] if hasattr(experiment, "needs") else []
    datasets.require(each for each in wanted if each is not None)


def _kept(name: str, quick: bool, output: Path) -> KeptResults:
    return KeptResults(output / f"{name}.part", [name, quick, __version__, named(name).cases(quick)])


def found(name: str, output: Path) -> dict[str, Any] | None:
    """The record of a run that was finished in the folder `output`, whatever its kind and version."""
    try:
        record = json.loads((output / f"{name}.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("experiment") == name else None


def reuse(name: str, quick: bool, output: Path) -> dict[str, Any] | None:
    """What `run` would measure, from a finished run of this version: tables, claims and figures are made again."""
    record = _finished(name, quick, output)
    return record and _finish(name, quick, record["results"], record.get("machine"), output)


def _finished(name: str, quick: bool, output: Path) -> dict[str, Any] | None:
    """The record of a run of this version, of the cases that there are."""
    record = found(name, output)
    if record is None or [record.get("version"), record.get("quick")] != [__version__, quick]:
        return None
    return record if list(record.get("results", ())) == list(named(name).cases(quick)) else None


def _finish(name: str, quick: bool, results: dict[str, Any], on: Any, output: Path) -> dict[str, Any]:
    """Say and draw what the results of all cases come to."""
    experiment = named(name)
    record = {
        "experiment": name,
        "title": experiment.TITLE,
        "source": experiment.SOURCE,
        "shows": getattr(experiment, "SHOWS", experiment.TITLE),
        "quick": quick,
        "version": __version__,
        "machine": on,
        "claims": [claim._asdict() for claim in experiment.claims(results)],
        "results": results,
    }
    write(output / f"{name}.md", ("\n".join(experiment.table(results)) + "\n").encode())
    _save(experiment.draw(results), output / name)
    write(output / f"{name}.json", _bytes(record))
    return record


def _save(figure: Any, stem: Path) -> None:
    """The figure in every format, the same bytes each time: without a date, with the same names inside."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": stem.name}):
        for ending in FORMATS:
            undated = {"Date": None} if ending == "svg" else None
            style.save(figure, stem.with_suffix(f".{ending}"), metadata=undated)


class KeptResults:
    """The results so far, in a file that says what they belong to."""

    def __init__(self, path: Path, belongs: Any) -> None:
        self.path = path
        self.belongs = _plain(belongs)
        try:
            found = json.loads(path.read_text())
        except (FileNotFoundError, ValueError):
            found = {}
        same = found.get("belongs") == self.belongs  # else it is of another version, or of a quick run
        self.results: dict[str, Any] = found["results"] if same else {}

    def add(self, label: str, result: Any) -> None:
        """Keep a result; the file has it, or is as it was, at every moment."""
        self.results[label] = _plain(result)
        write(self.path, _bytes({"belongs": self.belongs, "results": self.results}))


def _bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    """The value as it comes back from JSON, so that what was just measured equals what was kept."""
    return json.loads(_bytes(value))
