"""Test losses of everyone's defaults: `anyboost bench accuracy`, or `python -m benchmarks.accuracy`.

The protocol is docs/accuracy.md. A line of the file is a fit; a run goes on where an earlier one stopped. With
`--report FILE`, the tables of what is there.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anyboost import datasets, metrics
from benchmarks import accuracy_libraries, accuracy_search, accuracy_sets
from benchmarks.accuracy_libraries import CLASSES, LIBRARIES, Absent, first_line
from benchmarks.accuracy_sets import RANKING, ROWS, SEARCHED, TUNING, Problem, Table

OUT = Path("accuracy.jsonl")
QUICK_ROWS = 1000
_LEAST_PROBABILITY = 1e-15


class Comparison(NamedTuple):
    """What to run; names of sets and libraries, all of them where none is given."""

    out: Path = OUT
    sets: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    seeds: int = 3
    rows: int = ROWS
    threads: int = 1
    judge: bool = False
    validate: bool = False
    tuned: bool = False

    def checked(self) -> "Comparison":
        """With every name filled in, and pairs that the protocol forbids refused."""
        if self.judge and (self.validate or self.tuned):
            raise ValueError(
                "the judging sets judge defaults only: give --judge without --validate and --tuned"
            )
        if self.validate and self.tuned:
            raise ValueError("--tuned validates by itself: give it without --validate")
        if self.judge:
            known: tuple[str, ...] = tuple(accuracy_sets.judging())
        else:
            known = SEARCHED if self.tuned else TUNING
        named = tuple(f"{accuracy_sets.JUDGE}/{name}" if self.judge else name for name in self.sets)
        refuse_unknown("--sets", named, known)
        refuse_unknown("--libraries", self.libraries, tuple(LIBRARIES))
        rows = min(self.rows, accuracy_sets.SEARCHED_ROWS) if self.tuned else self.rows
        return self._replace(sets=named or known, libraries=self.libraries or tuple(LIBRARIES), rows=rows)


def quick(plan: Comparison) -> Comparison:
    """A look: few rows, one seed, four sets unless others are named."""
    some = () if plan.judge else SEARCHED[:1] if plan.tuned else accuracy_sets.QUICK
    return plan._replace(sets=plan.sets or some, seeds=1, rows=min(plan.rows, QUICK_ROWS))


def refuse_unknown(option: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{option} {name!r} is not known; use {', '.join(known)}")


class Fit(NamedTuple):
    """One line to be: what tells it from all others."""

    set: str
    seed: int
    fit: str
    library: str
    part: str
    mode: str
    rows: int
    threads: int


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; a last one that a kill cut short is left out."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines


def _done(lines: list[dict[str, Any]]) -> set[Fit]:
    return {Fit(*(line[field] for field in Fit._fields)) for line in lines if "absent" not in line}


def race(plan: Comparison, say: Callable[[str], Any] = print) -> None:
    """Run what the file does not have yet, a line a fit."""
    plan = plan.checked()
    if not plan.judge:
        datasets.require(plan.sets)
    plan.out.parent.mkdir(parents=True, exist_ok=True)
    lines = read(plan.out)
    whole_lines(plan.out)
    done, versions = _done(lines), _versions(plan, lines, say)
    under_way = plan.out.with_suffix(".under_way")
    died = json.loads(under_way.read_text()) if under_way.exists() else None
    for fit, task in _fits(plan):
        if fit.library not in versions or fit in done or accuracy_libraries.absence(fit.library, fit.fit):
            continue
        under_way.write_text(json.dumps(fit))
        try:
            found = _apart(fit) if list(fit) == died else measure(fit)
        finally:
            under_way.unlink(missing_ok=True)
        line = {**fit._asdict(), "task": task, "version": versions[fit.library], **found}
        append(plan.out, line)
        say(_said(line))


def _fits(plan: Comparison) -> Iterator[tuple[Fit, str]]:
    """Seed by seed, so that a run cut short has all sets; libraries take turns."""
    part = "validation" if plan.validate else "test"
    mode = "tuned" if plan.tuned else "defaults"
    tasks: dict[str, str] = {}
    for seed in range(max(plan.seeds, accuracy_sets.FOLDS)):
        for name in plan.sets:
            task = tasks.get(name) or tasks.setdefault(name, accuracy_sets.task_of(accuracy_sets.load(name)))
            if seed not in accuracy_sets.seeds_of(task, plan.seeds):
                continue
            kinds = accuracy_libraries.fits_of(task)[:1] if plan.tuned else accuracy_libraries.fits_of(task)
            for kind in kinds:
                for library in plan.libraries:
                    yield Fit(name, seed, kind, library, part, mode, plan.rows, plan.threads), task


def _versions(plan: Comparison, lines: list[dict[str, Any]], say: Callable[[str], Any]) -> dict[str, str]:
    """Of the libraries that are there; a line for each that is absent, in whole or for some fit."""
    found: dict[str, str] = {}
    said = {(line["library"], line["fit"]) for line in lines if "absent" in line}
    kinds = dict.fromkeys(kind for task in accuracy_sets.TASKS for kind in accuracy_libraries.fits_of(task))
    for name in plan.libraries:
        try:
            found[name] = accuracy_libraries.installed(name)
            reasons = {kind: accuracy_libraries.absence(name, kind) for kind in kinds}
        except Absent as reason:
            reasons = {"all": str(reason)}
        for kind, why in reasons.items():
            if why is not None and (name, kind) not in said:
                append(plan.out, {"library": name, "fit": kind, "absent": why})
                say(f"{name}, {kind}: absent, {why}")
    return found


def measure(fit: Fit) -> dict[str, Any]:
    """Losses, seconds and rounds, or why it failed."""
    try:
        return _tuned(fit) if fit.mode == "tuned" else _with_defaults(fit)
    except Exception as error:  # whatever a peer raises is its result
        return {"failed": first_line(error)}


def _apart(fit: Fit) -> dict[str, Any]:
    """In a process of its own, as this fit was under way when an earlier run ended without a word."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(measure, fit).result()
        except BrokenProcessPool:
            return {"failed": "its process died, twice"}


def _with_defaults(fit: Fit) -> dict[str, Any]:
    problem = accuracy_sets.problem(fit.set, fit.seed, fit.rows, held_out=fit.part == "validation")
    return _fitted(fit, problem, {})


def _tuned(fit: Fit) -> dict[str, Any]:
    """Candidates on the validation part; the best of them once on the test part."""
    held_out = accuracy_sets.problem(fit.set, fit.seed, fit.rows, held_out=True)
    tried = accuracy_search.candidates(fit.library, fit.set, fit.seed)
    search = accuracy_search.search(tried, lambda chosen: _first(_fitted(fit, held_out, chosen)["losses"]))
    found = _fitted(fit, accuracy_sets.problem(fit.set, fit.seed, fit.rows), search.chosen)
    return found | {
        "seconds": round(found["seconds"] + search.seconds, 6),
        "cpu_seconds": round(found["cpu_seconds"] + search.cpu_seconds, 6),
        "chosen": search.chosen,
        "validation_losses": [value if np.isfinite(value) else None for value in search.losses],
        **({"refused": search.refused} if search.refused else {}),
    }


def _fitted(fit: Fit, problem: Problem, chosen: dict[str, Any]) -> dict[str, Any]:
    fitted = accuracy_libraries.learn(fit.library, problem, fit.fit, fit.threads, chosen)
    return {
        "losses": losses(fit.fit, problem.test, fitted.predicted),
        "seconds": round(fitted.seconds, 6),
        "cpu_seconds": round(fitted.cpu_seconds, 6),
        "rounds": fitted.rounds,
        "train_rows": len(problem.train.y),
        "test_rows": len(problem.test.y),
    }


def _first(found: dict[str, float]) -> float:
    return next(iter(found.values()))


def losses(fit: str, test: Table, predicted: np.ndarray) -> dict[str, float]:
    """What counts of predictions for a fit, the loss that the fit is chosen by first."""
    y = test.y
    if fit == CLASSES:
        clipped = np.clip(predicted, _LEAST_PROBABILITY, 1)
        clipped /= clipped.sum(axis=1, keepdims=True)
        log_loss = -np.log(clipped[np.arange(len(y)), y]).mean()
        return _finite({"log loss": log_loss, "error": np.mean(predicted.argmax(axis=1) != y)})
    scores = predicted.reshape(-1)
    if fit == RANKING:
        ndcg = metrics.ndcg(y, scores, test.qid, k=10)
        return _finite({"1 - NDCG@10": 1 - ndcg, "disagreement": metrics.disagreement(y, scores, test.qid)})
    gap = y - scores
    if fit == "squared":
        return _finite({"RMSE": np.sqrt(np.mean(gap**2))})
    if fit == "absolute":
        return _finite({"MAE": np.mean(np.abs(gap))})
    level = float(fit.partition(":")[2])
    return _finite({f"pinball {level}": np.mean(np.maximum(level * gap, (level - 1) * gap))})


def _finite(found: dict[str, Any]) -> dict[str, float]:
    for name, value in found.items():
        if not np.isfinite(value):
            raise ValueError(f"{name} is {value}")
    return {name: float(value) for name, value in found.items()}


def whole_lines(path: Path) -> None:
    """End a last line that was cut short, so that the next one starts anew."""
    if path.exists() and (text := path.read_bytes()) and not text.endswith(b"\n"):
        path.write_bytes(text + b"\n")


def append(path: Path, line: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _said(line: dict[str, Any]) -> str:
    start = f"{line['set']}, seed {line['seed']}, {line['fit']}, {line['library']}"
    return said(start, line, "{cpu_seconds:.2f} s of processors, {rounds} rounds")


def said(start: str, line: dict[str, Any], cost: str) -> str:
    """A line for people: its losses and what they cost, or why it failed."""
    if "failed" in line:
        return f"{start}: failed, {line['failed']}"
    values = ", ".join(f"{name} {value:.5g}" for name, value in line["losses"].items())
    return f"{start}: {values}, {cost.format(**line)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the file of lines, added to")
    parser.add_argument("--sets", default="", help="names, with commas between")
    parser.add_argument("--libraries", default="", help="names, with commas between")
    parser.add_argument("--seeds", type=int, default=Comparison().seeds)
    parser.add_argument("--rows", type=int, default=Comparison().rows, help="the most rows to train on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--judge", action="store_true", help="the judging sets")
    parser.add_argument("--validate", action="store_true", help="leave the test parts alone")
    parser.add_argument("--tuned", action="store_true", help="each library after a random search")
    parser.add_argument("--quick", action="store_true", help="few rows and sets: a look, not a result")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only write the tables of this file")
    parser.add_argument(
        "--figure", type=Path, help="with --report: a critical-difference figure (.svg or .png)"
    )
    given = parser.parse_args()
    if given.report is not None:
        from benchmarks import accuracy_report

        lines = read(given.report)
        print(accuracy_report.page(lines))
        if given.figure is not None:
            accuracy_report.figure(lines, given.figure)
        return
    names = Comparison._fields
    chosen = {name: value for name, value in vars(given).items() if name in names}
    plan = Comparison(**chosen | {name: words(chosen[name]) for name in ("sets", "libraries")})
    try:
        race(quick(plan) if given.quick else plan, say=lambda text: print(text, flush=True))
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))


def words(text: str) -> tuple[str, ...]:
    """Names with commas between."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


if __name__ == "__main__":
    main()
