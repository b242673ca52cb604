"""Streams, learnt row by row by everyone's defaults: `anyboost bench streams`, or `python -m benchmarks.streams`.

The protocol is docs/streams-benchmark.md. A line of the file is a learner on a stream, in a process and on a thread of
its own; a run goes on where an earlier one stopped. With `--report FILE`, the tables of what is there.
"""

import argparse
import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from anyboost.datasets import Dataset
from benchmarks import accuracy, processes, stream_learners, stream_sets
from benchmarks.accuracy import words
from benchmarks.accuracy_libraries import Absent, first_line
from benchmarks.stream_learners import LEARNERS, Answers
from benchmarks.stream_sets import CHOOSING, JUDGING, ROWS

OUT = Path("streams.jsonl")
QUICK_ROWS = 1000
QUICK = ("elec2", "abalone")
LIMIT = 7200.0  # seconds for one learner on one stream
FLOORS = {"log loss": 1e-6, "log loss, floor 0.01": 0.01}  # of the probability of the class that came
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Plan(NamedTuple):
    """What to run; names of streams and learners, all of them where none is given."""

    out: Path = OUT
    sets: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    rows: int = ROWS
    judge: bool = False

    def checked(self) -> "Plan":
        """With every name filled in."""
        known = tuple(JUDGING if self.judge else CHOOSING)
        accuracy.refuse_unknown("--sets", self.sets, known)
        accuracy.refuse_unknown("--libraries", self.libraries, tuple(LEARNERS))
        return self._replace(sets=self.sets or known, libraries=self.libraries or tuple(LEARNERS))


def quick(plan: Plan) -> Plan:
    """A look: few rows, two streams unless others are named."""
    some = () if plan.judge else QUICK
    return plan._replace(sets=plan.sets or some, rows=min(plan.rows, QUICK_ROWS))


class Turn(NamedTuple):
    """One line to be: what tells it from all others."""

    stream: str
    learner: str
    rows: int  # at most


def race(plan: Plan, say: Callable[[str], Any] = print) -> None:
    """Run what the file does not have yet: learner by learner, so that a run cut short has some on all streams."""
    plan = plan.checked()
    plan.out.parent.mkdir(parents=True, exist_ok=True)
    lines = accuracy.read(plan.out)
    accuracy.whole_lines(plan.out)
    done = {Turn(*(line[field] for field in Turn._fields)) for line in lines}
    for learner in plan.libraries:
        try:
            version = stream_learners.installed(learner)
        except Absent as reason:
            say(f"{learner}: left out, {reason}")
            continue
        for stream in plan.sets:
            turn = Turn(stream, learner, plan.rows)
            if turn in done:
                continue
            line = {**turn._asdict(), "version": version, **in_own_process(turn)}
            accuracy.append(plan.out, line)
            cost = "{cpu_seconds:.1f} s of processors, {mebibytes:.0f} MiB"
            say(accuracy.said(f"{stream}, {learner}", line, cost))


def in_own_process(turn: Turn) -> dict[str, Any]:
    found = processes.in_own_process(
        "streams", "--one", turn.stream, turn.learner, str(turn.rows), limit=LIMIT, **ONE_THREAD
    )
    return found or {"failed": f"it died, or took more than {LIMIT:g} s"}


def measure(turn: Turn) -> dict[str, Any]:
    """Losses of the answers, seconds and memory; or why it failed."""
    try:
        data = stream_sets.load(turn.stream, turn.rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work = LEARNERS[turn.learner].prepare(data)
            before, began, cpu_began = _memory(), perf_counter(), process_time()
            answers = work()
        return {
            "losses": losses(data, answers),
            "seconds": perf_counter() - began,
            "cpu_seconds": process_time() - cpu_began,
            "mebibytes": _memory() - before,
            "learnt": len(data.y),
        }
    except Exception as error:  # whatever a peer raises is its result
        return {"failed": first_line(error)}


def _memory() -> float:
    """The most that this process has held so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def losses(data: Dataset, answers: Answers) -> dict[str, float]:
    """Of answers given before each row was learnt. Log loss leaves out the row that brings a class: no one knew it."""
    if answers.chances is None or data.classes is None:
        gap = answers.told - data.y
        if not np.isfinite(gap).all():
            raise ValueError("answers are not finite")
        return {"MAE": float(np.mean(np.abs(gap))), "RMSE": float(np.sqrt(np.mean(gap**2)))}
    _, first = np.unique(data.y, return_index=True)
    chances = np.where(np.isnan(answers.chances), 1.0 / len(data.classes), answers.chances)
    chances = np.delete(chances, first)
    found = {"error": float(np.mean(answers.told != data.y))}
    for name, floor in FLOORS.items():
        found[name] = float(-np.mean(np.log(np.clip(chances, floor, 1.0))))
    return found


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        stream, learner, rows = sys.argv[2:]
        print("\n" + json.dumps(measure(Turn(stream, learner, int(rows)))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the file of lines, added to")
    parser.add_argument("--sets", default="", help="streams, with commas between")
    parser.add_argument("--libraries", default="", help="learners, with commas between")
    parser.add_argument("--rows", type=int, default=ROWS, help="the most rows of a stream")
    parser.add_argument("--judge", action="store_true", help="the judging streams")
    parser.add_argument("--quick", action="store_true", help="few rows and streams: a look, not a result")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only write the tables of this file")
    given = parser.parse_args()
    if given.report is not None:
        from benchmarks import stream_report

        print(stream_report.page(accuracy.read(given.report)))
        return
    plan = Plan(given.out, words(given.sets), words(given.libraries), given.rows, given.judge)
    try:
        race(quick(plan) if given.quick else plan, say=lambda text: print(text, flush=True))
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
