"""The lines of the accuracy benchmark as tables and a figure: `python -m benchmarks.accuracy --report FILE`."""

from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy_pooling import FAMILIES, US, critical_difference, mean_ranks, pooled

_APART = ("mode", "part", "rows", "threads")


def page(lines: list[dict[str, Any]]) -> str:
    """Markdown: a section for each way of running that the file has."""
    done = sorted((line for line in lines if "absent" not in line), key=_way)
    sections = [_section(way, list(group)) for way, group in groupby(done, key=_way)]
    return "\n\n".join([*sections, _absent(lines)]).rstrip() + "\n"


def _way(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[field] for field in _APART)


def _section(way: tuple[Any, ...], lines: list[dict[str, Any]]) -> str:
    mode, part, rows, threads = way
    names = sorted({line["set"] for line in lines})
    seeds = len({line["seed"] for line in lines if line["task"] != "ranking"})
    title = "After tuning" if mode == "tuned" else "Defaults"
    head = (
        f"{title}, scored on {part} parts: {len(names)} sets, {seeds} seed{'s' * (seeds != 1)}, "
        f"at most {rows:,} training rows, {threads} thread{'s' * (threads != 1)}. {_versions(lines)}."
    )
    return "\n\n".join(
        filter(None, [head, _summary(lines), _pooled(lines), _failed(lines), _each_set(lines)])
    )


def _versions(lines: list[dict[str, Any]]) -> str:
    found: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        found[line["library"]].add(line["version"])
    return ", ".join(f"{library} {' and '.join(sorted(seen))}" for library, seen in found.items())


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _peers(lines: list[dict[str, Any]]) -> list[str]:
    return [name for name in dict.fromkeys(line["library"] for line in lines) if name != US]


def _summary(lines: list[dict[str, Any]]) -> str:
    """Our loss over theirs, and our time over theirs, on one screen."""
    peers = _peers(lines)
    rows = []
    for family in FAMILIES:
        found = [pooled(lines, peer, family) for peer in peers]
        if any(found):
            rows.append([family, *(f"{one.ratio:.3f}, time {one.time:.2g}" if one else "" for one in found)])
    return table(["ours / theirs", *peers], rows) if rows else "Nothing to compare yet."


def _pooled(lines: list[dict[str, Any]]) -> str:
    """The same with intervals (none of a single number) and counts."""
    rows = []
    for family in FAMILIES:
        for peer in _peers(lines):
            if (found := pooled(lines, peer, family)) is not None:
                interval = f"{found.low:.3f} to {found.high:.3f}" if found.low < found.high else ""
                counts = f"{found.wins}, {found.losses}, {found.ties}"
                rows.append([family, peer, f"{found.ratio:.3f}", interval, counts, f"{found.time:.2g}"])
    head = ["loss", "peer", "ours / theirs", "95 %", "sets won, lost, tied", "our time / theirs"]
    return table(head, rows) if rows else ""


def _each_set(lines: list[dict[str, Any]]) -> str:
    """Mean losses over seeds, the lowest of a row in bold."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for loss, value in line.get("losses", {}).items():
            found[line["set"], loss][line["library"]].append(value)
    libraries = list(dict.fromkeys(line["library"] for line in lines))
    rows = []
    for (name, loss), values in found.items():
        means = {library: float(np.mean(values[library])) for library in libraries if library in values}
        least = min(means.values())
        shown = [_number(means[one], means[one] == least) if one in means else "" for one in libraries]
        rows.append([name, loss, *shown])
    return table(["set", "loss", *libraries], rows)


def _number(value: float, bold: bool) -> str:
    return f"**{value:.4g}**" if bold else f"{value:.4g}"


def _failed(lines: list[dict[str, Any]]) -> str:
    failed = [line for line in lines if "failed" in line]
    said = [
        f"- {line['library']}, {line['set']}, seed {line['seed']}, {line['fit']}: {line['failed']}"
        for line in failed
    ]
    return "\n".join(["Failed:", *said]) if said else ""


def _absent(lines: list[dict[str, Any]]) -> str:
    there = {(line["library"], line["fit"]) for line in lines if "absent" not in line}
    said = {
        (line["library"], line["fit"]): line["absent"]
        for line in lines
        if "absent" in line and (line["library"], line["fit"]) not in there
    }
    rows = [f"- {library}, {kind}: {why}" for (library, kind), why in said.items()]
    return "\n".join(["Absent:", *rows]) if rows else ""


def cliques(ranks: list[float], distance: float) -> list[tuple[int, int]]:
    """First and last of the longest runs of ascending ranks that lie within a distance."""
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(i for i, other in enumerate(ranks) if other - rank <= distance)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def figure(lines: list[dict[str, Any]], path: Path) -> None:
    """Mean ranks on a line, the best at the left; a bar joins libraries that may differ by chance."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ranks, number = mean_ranks([line for line in lines if line.get("mode") == "defaults"])
    order = sorted(ranks, key=lambda library: ranks[library])
    distance = critical_difference(len(order), number)
    runs = cliques([ranks[library] for library in order], distance)
    below = 0.3 * len(runs) + 0.2
    drawing, axes = plt.subplots(figsize=(7.5, 0.3 * (len(order) + below) + 0.8), layout="constrained")
    # The worst on top: its line is the shortest, so none runs through a name.
    for place, library in enumerate(reversed(order)):
        height = -below - place - 0.5
        axes.plot([ranks[library]] * 2, [0, height], color="0.6", linewidth=0.8)
        weight = "bold" if library == US else "normal"
        text = f"{library} {ranks[library]:.2f}"
        axes.text(ranks[library] + 0.06, height, text, va="center", weight=weight)
    for place, (first, last) in enumerate(runs):
        ends = [ranks[order[first]], ranks[order[last]]]
        axes.plot(ends, [-0.3 - 0.3 * place] * 2, color="tab:blue", linewidth=3, solid_capstyle="butt")
    axes.set(xlim=(1, len(order) + 0.9), ylim=(-len(order) - below, 0), yticks=[])
    axes.set_title(
        f"mean rank over {number} sets (RMSE, log loss); bars: within the critical difference, {distance:.2f}",
        fontsize=9,
    )
    axes.xaxis.tick_top()
    for side in ("left", "right", "bottom"):
        axes.spines[side].set_visible(False)
    drawing.savefig(path, dpi=150)
    plt.close(drawing)
