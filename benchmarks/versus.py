"""This checkout against another one of the same project: our own works of `speed`, `online` and `combine`, in turns.

    python -m benchmarks.versus ../before

Each measurement has a process of its own, with the package of one checkout or the other; the work is the same code for
both, of public names only. A table says whether the new median lies inside the range of the old repeats: by seconds of
all processors, since a machine is seldom idle, or `--by clock`.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import processes
from benchmarks.timing import Seconds, timed

OURS = "anyboost"
TURNS = 5
STREAM_ROWS, STREAM_ROWS_QUICK = 500_000, 20_000


# What is measured: each is called in its own process and returns seconds by name ----------------------------------


def fits(name: str, quick: bool) -> dict[str, Seconds]:
    """A task of `speed`: the fit with binning, all rows' predictions, and those of single rows."""
    from benchmarks import peers, speed

    task = (speed.QUICK if quick else speed.FULL)[name]
    X, y = speed.data(task)
    peers.anyboost(X[:2000], y[:2000], task.work._replace(rounds=2)).predict(X[:10])
    found = {}

    def fit() -> None:
        found["model"] = peers.anyboost(X, y, task.work)

    took = {"fit": timed(fit)}
    predict = found["model"].predict
    rows = [X[i][None, :].copy() for i in range(200)]
    for row in (X, *rows[:2]):  # finds its kernels, and joins the trees
        predict(row)
    return took | {
        "predict": timed(lambda: predict(X)),
        "one row": timed(lambda: [predict(row) for _ in range(20) for row in rows]),
    }


def passes(name: str, quick: bool) -> dict[str, Seconds]:
    """A learner of `online`: one pass over a dense stream."""
    from benchmarks import online

    return {"pass": online.SPEED[name](STREAM_ROWS_QUICK if quick else STREAM_ROWS)}


def sparse_passes(_: str, quick: bool) -> dict[str, Seconds]:
    """Twenty linear learners over sparse rows, and their answers."""
    from scipy import sparse

    from anyboost.online import LinearLearner, SpanBooster

    random = np.random.default_rng(0)
    X = sparse.random_array((5000 if quick else 100_000, 1000), density=0.01, format="csr", rng=random)
    y = random.normal(size=X.shape[0])
    SpanBooster(LinearLearner(), 20).partial_fit(X[:100], y[:100]).predict(X[:100])
    booster = SpanBooster(LinearLearner(), 20)
    return {
        "pass": timed(lambda: booster.partial_fit(X, y)),
        "predict": timed(lambda: booster.predict(X)),
    }


def averages(_: str, quick: bool) -> dict[str, Seconds]:
    """Fifty experts of `combine`."""
    from benchmarks import combine

    combine.ours(*combine.pool(100))
    H, y = combine.pool(20_000 if quick else 200_000)
    return {"pass": timed(lambda: combine.ours(H, y))}


def stump_averages(schedule: str, quick: bool) -> dict[str, Seconds]:
    """Stumps by the hundred thousand of `combine`."""
    from anyboost.mirror import StumpAverager
    from benchmarks import combine

    _, X, y = combine.housing()
    rows = min(len(y), 2000) if quick or schedule == "anytime" else len(y)
    X, y = X[:rows], y[:rows]
    schedule = f"known_horizon:{rows}" if schedule == "known_horizon" else schedule
    StumpAverager("squared", 5.0, schedule).start(X[:50]).partial_fit(X[:2], y[:2])
    model = StumpAverager("squared", 5.0, schedule, label_bound=3.0).start(X)
    return {"pass": timed(lambda: model.predict_then_fit(X, y))}


class Case(NamedTuple):
    """A measurement by name."""

    measure: Callable[[str, bool], dict[str, Seconds]]
    name: str


def cases() -> dict[str, Case]:
    from benchmarks import online, speed

    found = {f"speed: {name}": Case(fits, name) for name in speed.FULL}
    found |= {
        f"online: {name.removeprefix(OURS + ', ')}": Case(passes, name)
        for name in online.SPEED
        if name.startswith(OURS)
    }
    found["online: 20 normalised, sparse rows"] = Case(sparse_passes, "")
    found["combine: 50 experts"] = Case(averages, "")
    for schedule in ("doubling", "known_horizon", "anytime"):
        found[f"combine: stumps, {schedule}"] = Case(stump_averages, schedule)
    return found


# Turns ----------------------------------------------------------------------------------------------------------------


def race(
    before: Path,
    turns: int,
    quick: bool,
    by: str = "processors",
    only: str = "",
    say: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Old and new take turns, and who is first changes with each."""
    say(
        "| work | new / old, clock (range) | new / old, processors (range) | old repeats over their median | inside |"
    )
    say("|---|---|---|---|---|")
    packages = {"old": before / "src", "new": processes.ROOT / "src"}
    results: dict[str, Any] = {}
    for case in cases():
        if only not in case:
            continue
        found: dict[str, list[dict[str, list[float]]]] = {which: [] for which in packages}
        for turn in range(turns):
            for which in sorted(packages, reverse=bool(turn % 2)):
                one = _in_own_process(packages[which], case, quick)
                if one is None:
                    say(f"| {case} | failed with the {which} package | | | |")
                    break
                found[which].append(one)
        if len(found["old"]) == len(found["new"]) == turns:
            results[case] = found
            for line in lines(case, found, Seconds._fields.index(by)):
                say(line)
    return results


def _in_own_process(package: Path, case: str, quick: bool) -> dict[str, Any] | None:
    path = os.pathsep.join([str(package), str(processes.ROOT)])
    return processes.in_own_process("versus", "--one", case, str(int(quick)), limit=900, PYTHONPATH=path)


def lines(case: str, found: dict[str, list[dict[str, list[float]]]], by: int) -> list[str]:
    """Of a case; what is inside the range is told by that one of the `Seconds`."""
    shown = []
    for part in found["old"][0]:
        old, new = (np.array([one[part] for one in found[which]]) for which in ("old", "new"))
        clock, processors = (new / old).T
        old, new, middle = old[:, by], np.median(new[:, by]), np.median(old[:, by])
        verdict = "yes" if old.min() <= new <= old.max() else "faster" if new < middle else "**slower**"
        shown.append(
            f"| {case}, {part} | {_figures(clock)} | {_figures(processors)} "
            f"| {old.min() / middle:.2f} to {old.max() / middle:.2f} | {verdict} |"
        )
    return shown


def _figures(ratios: np.ndarray) -> str:
    return f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        case = cases()[sys.argv[2]]
        print(json.dumps(case.measure(case.name, sys.argv[3] == "1")))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="the folder of the other checkout")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--quick", action="store_true", help="little work: a look, not a result")
    parser.add_argument("--by", choices=Seconds._fields, default="processors")
    parser.add_argument("--only", default="", help="works whose name has this in it")
    parser.add_argument("--out", type=Path, help="a JSON file for all seconds")
    given = parser.parse_args()
    results = race(
        given.before.resolve(),
        given.turns,
        given.quick,
        given.by,
        given.only,
        lambda text: print(text, flush=True),
    )
    if given.out is not None:
        given.out.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
