"""The lines of the stream benchmark as tables: `python -m benchmarks.streams --report FILE`."""

from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import gmean

from benchmarks.accuracy_report import table
from benchmarks.stream_learners import FOREST, LEARNERS, LINEAR, OURS, SECOND, THEIR_LINEAR, US
from benchmarks.stream_sets import CHOOSING, JUDGING

PARTS = {"Judging streams": JUDGING, "Choosing streams": CHOOSING}
MEASURES = ("log loss", "error", "RMSE", "MAE", "log loss, floor 0.01")
FIRST = ("log loss", "RMSE")  # what learners lower
NEAR = 1.01

Lines = list[dict[str, Any]]
Found = dict[str, dict[str, dict[str, Any]]]  # by stream, then by learner


def page(lines: Lines) -> str:
    """Markdown: a section for each part and number of rows that the file has."""
    sections = []
    for rows, group in groupby(sorted(lines, key=lambda line: line["rows"]), key=lambda line: line["rows"]):
        own = list(group)
        for title, streams in PARTS.items():
            found: Found = {name: {} for name in streams}
            for line in own:
                if line["stream"] in streams:
                    found[line["stream"]][line["learner"]] = line
            found = {name: by_learner for name, by_learner in found.items() if by_learner}
            if found:
                sections.append(_section(f"{title}, at most {rows:,} rows each", found))
    return "\n\n".join(sections) + "\n"


def _section(title: str, found: Found) -> str:
    parts = [f"### {title}", _verdicts(found), _against_best(found), _against_each(found), _costs(found)]
    return "\n\n".join(filter(None, [*parts, _losses(found), _failed(found)]))


def value(line: dict[str, Any] | None, measure: str) -> float | None:
    """A loss of a line; None where it has none."""
    return line["losses"].get(measure) if line is not None and "losses" in line else None


def best_other(by_learner: dict[str, dict[str, Any]], measure: str) -> tuple[str, float] | None:
    """The least loss of all others, and whose it is."""
    others = {
        name: loss
        for name, line in by_learner.items()
        if name not in OURS and (loss := value(line, measure)) is not None
    }
    return min(others.items(), key=lambda item: item[1]) if others else None


def ratios(found: Found, measure: str) -> dict[str, float]:
    """Our loss over the best other's, by stream."""
    told = {}
    for stream, by_learner in found.items():
        own, other = value(by_learner.get(US), measure), best_other(by_learner, measure)
        if own is not None and other is not None:
            told[stream] = own / other[1]
    return told


def over(found: Found, peer: str, measure: str, own: str = US) -> list[float]:
    """A peer's loss over ours, on the streams that both have; or its seconds."""
    told = []
    for by_learner in found.values():
        both = [by_learner.get(name) for name in (peer, own)]
        if measure == "seconds":
            values = [line["cpu_seconds"] if line and "losses" in line else None for line in both]
        else:
            values = [value(line, measure) for line in both]
        if values[0] is not None and values[1] is not None:
            told.append(values[0] / values[1])
    return told


def _verdicts(found: Found) -> str:
    said = []
    for kind, measures in (("log loss or RMSE", FIRST), ("error or MAE", ("error", "MAE"))):
        both = [ratio for measure in measures for ratio in ratios(found, measure).values()]
        if both:
            near = sum(ratio <= NEAR for ratio in both)
            said.append(
                f"- {kind}: at most 1 % above the best of all others on {near} of {len(both)} streams "
                f"({100 * near / len(both):.0f} %), below it on {sum(ratio < 1 for ratio in both)}; "
                f"geometric mean of our loss over the best other's {gmean(both):.3f}"
            )
    for measure in MEASURES:
        if told := over(found, FOREST, measure):
            said.append(f"- {measure} over that of {FOREST}: geometric mean {1 / gmean(told):.3f}")
    for name in (US, SECOND):
        seconds = [
            by_learner[FOREST]["cpu_seconds"] / by_learner[name]["cpu_seconds"]
            for by_learner in found.values()
            if all("losses" in by_learner.get(one, {}) for one in (FOREST, name))
        ]
        if seconds:
            said.append(
                f"- speed of {name} over that of {FOREST}: geometric mean {gmean(seconds):.1f}, "
                f"from {min(seconds):.1f} to {max(seconds):.1f}"
            )
    said += filter(None, (_linear(found, peer) for peer in THEIR_LINEAR))
    return "\n".join(said)


def _linear(found: Found, peer: str) -> str:
    """How one linear booster stands, without a team around it."""
    told = 1 / np.array([ratio for measure in FIRST for ratio in over(found, peer, measure, LINEAR)])
    if not len(told):
        return ""
    return (
        f'- {LINEAR} (`learner="linear"`), log loss or RMSE over that of {peer}: geometric mean {gmean(told):.3f}, '
        f"median {np.median(told):.3f}; at most 1 % above it on {np.sum(told <= NEAR)} of {len(told)} streams"
    )


def _against_best(found: Found) -> str:
    """Stream by stream; rows where we lose included."""
    rows = []
    for stream, by_learner in found.items():
        for measure in MEASURES[:4]:
            own, other = value(by_learner.get(US), measure), best_other(by_learner, measure)
            if own is not None and other is not None:
                ratio = own / other[1]
                mark = "" if ratio <= NEAR else "**"
                rows.append(
                    [stream, measure, f"{own:.4g}", f"{other[1]:.4g}", other[0], f"{mark}{ratio:.3f}{mark}"]
                )
    head = ["stream", "measure", "anyboost", "best other", "who", "ours / best (bold: over 1.01)"]
    return table(head, rows) if rows else ""


def _against_each(found: Found) -> str:
    """Geometric means over the streams that both have; the median beside it, as one that ran away owns a mean."""
    rows = []
    for peer in (name for name in LEARNERS if name not in OURS):
        cells = []
        for measure in (*MEASURES, "seconds"):
            told = over(found, peer, measure)
            shown = f"{gmean(told):.3g} ({np.median(told):.3g})" if told else ""
            cells.append(shown)
        streams = max(len(over(found, peer, measure)) for measure in FIRST)
        if streams:
            count = sum(len(over(found, peer, measure)) for measure in FIRST)
            rows.append([peer, str(count), *cells])
    head = ["theirs / ours, geometric mean (median)", "streams", *MEASURES, "seconds of processors"]
    return table(head, rows) if rows else ""


def _costs(found: Found) -> str:
    """Seconds of processors and MiB that learning added, over all streams."""
    rows = []
    for name in LEARNERS:
        lines = [by_learner[name] for by_learner in found.values() if "losses" in by_learner.get(name, {})]
        if lines:
            rate = sum(line["learnt"] for line in lines) / sum(line["cpu_seconds"] for line in lines)
            memory = [line["mebibytes"] for line in lines]
            rows.append(
                [name, lines[0]["version"], f"{rate:,.0f}", f"{np.median(memory):.0f}", f"{max(memory):.0f}"]
            )
    return table(["learner", "version", "rows a second", "MiB, median", "MiB, most"], rows)


def _losses(found: Found) -> str:
    """Everyone's losses, the lowest of a row in bold."""
    there = [name for name in LEARNERS if any(name in by_learner for by_learner in found.values())]
    shown = [name for name in there if name != SECOND]
    rows = []
    for stream, by_learner in found.items():
        for measure in MEASURES:
            values = {name: value(by_learner.get(name), measure) for name in shown}
            known = [loss for loss in values.values() if loss is not None]
            if known:
                cells = [_cell(loss, loss == min(known)) for loss in values.values()]
                rows.append([stream, measure, *cells])
    return table(["stream", "measure", *shown], rows)


def _cell(loss: float | None, bold: bool) -> str:
    if loss is None:
        return ""
    return f"**{loss:.4g}**" if bold else f"{loss:.4g}"


def _failed(found: Found) -> str:
    said = [
        f"- {name}, {stream}: {line['failed']}"
        for stream, by_learner in found.items()
        for name, line in by_learner.items()
        if "failed" in line
    ]
    return "\n".join(["Failed:", "", *said]) if said else ""
