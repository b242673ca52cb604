"""How long one row waits: `learn_one` and `predict_one` of the team, with refits inline and in the background.

`python -m benchmarks.stream_latency`. Times are those of the calling thread's processor, which a busy machine does not
stretch, and of the clock, where waiting for a late refit shows.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from anyboost.datasets import Dataset
from anyboost.machine import machine
from benchmarks import stream_learners, stream_sets
from benchmarks.accuracy_report import table

STREAMS = ("elec2", "adult", "abalone")
ROWS = 5000
CLOCKS: dict[str, Callable[[], float]] = {"processor": thread_time, "clock": perf_counter}
SHARES = {"p50": 50, "p99": 99, "most": 100}


def waits(data: Dataset, refit: str) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds of a call, by kind of call and of time: half of all calls are below p50, all but 1 % below p99."""
    rows, labels = stream_learners.words(data), stream_learners.labels_of(data).tolist()
    model: Any = stream_learners.our_model(data).set_params(refit=refit)
    taken: dict[str, list[list[float]]] = {"predict_one": [], "learn_one": []}
    for row, label in zip(rows, labels, strict=True):
        taken["predict_one"].append(_timed(model.predict_one, row))
        taken["learn_one"].append(_timed(model.learn_one, row, label))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, seconds in taken.items():
        columns = 1e6 * np.array(seconds).T
        found[name] = {
            kind: {share: float(np.percentile(column, level)) for share, level in SHARES.items()}
            for kind, column in zip(CLOCKS, columns, strict=True)
        }
    return found


def _timed(call: Callable[..., Any], *given: Any) -> list[float]:
    began = [clock() for clock in CLOCKS.values()]
    call(*given)
    return [clock() - start for clock, start in zip(CLOCKS.values(), began, strict=True)]


def page(results: dict[str, Any]) -> str:
    """A row for each stream, way of refitting and call."""
    rows = [
        [stream, refit, call, *(f"{by_time[kind][share]:,.0f}" for kind in CLOCKS for share in SHARES)]
        for stream, by_refit in results["waits"].items()
        for refit, by_call in by_refit.items()
        for call, by_time in by_call.items()
    ]
    head = [f"{kind}, {share}" for kind in CLOCKS for share in SHARES]
    return table(["stream", "refit", "call, microseconds", *head], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    given = parser.parse_args()
    found: dict[str, Any] = {}
    for stream in STREAMS:
        data = stream_sets.load(stream, given.rows)
        waits(data._replace(X=data.X[:600], y=data.y[:600]), "inline")  # finds the compiled code
        found[stream] = {refit: waits(data, refit) for refit in ("inline", "background")}
    results = {"rows": given.rows, "machine": machine(), "waits": found}
    print(page(results))
    if given.out is not None:
        given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
