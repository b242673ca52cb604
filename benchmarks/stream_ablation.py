"""What each expert of the team is worth: each left out in turn, and each alone, on the choosing streams.

Experts do not know of each other, so one pass over a stream has the answers of all, and as many averages over some of
them run beside the team's own. `python -m benchmarks.stream_ablation`; with `--report FILE`, the tables.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import gmean

from anyboost.datasets import Dataset
from anyboost.streams.mixing import Averages
from anyboost.streams.mixture import Mixture
from benchmarks import accuracy, processes, stream_learners, stream_sets, streams
from benchmarks.accuracy_report import table
from benchmarks.stream_learners import Answers

OUT = Path("streams-ablation.jsonl")
ROWS = 20_000
ALL, STACK = "all", "the stack"


class SomeOfThem:
    """An average over some of the experts, and what it said."""

    def __init__(self, mixture: Mixture, places: list[int]) -> None:
        self.mixture, self.places = mixture, places
        self.told: list[np.ndarray] = []
        self.chances: list[np.ndarray] = []

    def learn(self, forecasts: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        said = self.mixture.learn(forecasts[:, self.places], y, weights)
        if said.ndim == 1:
            self.told.append(said)
        else:
            self.told.append(said.argmax(axis=1))
            self.chances.append(said[np.arange(len(y)), y.astype(int)])

    def answers(self) -> Answers:
        return Answers(np.concatenate(self.told), np.concatenate(self.chances) if self.chances else None)


class Watched(Mixture):
    """The average of a team that begins, with those over some of the experts beside it."""

    def __init__(self, before: Mixture) -> None:
        super().__init__(before.names, before.loss)
        everyone = range(len(before.names))
        chosen = {ALL: list(everyone)}
        chosen |= {f"without {before.names[j]}": [i for i in everyone if i != j] for j in everyone}
        chosen |= {f"{before.names[j]} alone": [j] for j in everyone}
        self.some = {
            name: SomeOfThem(Mixture([before.names[i] for i in places], before.loss), places)
            for name, places in chosen.items()
        }
        plain = self.some[f"without {STACK}"] = SomeOfThem(Mixture(before.names, before.loss), list(everyone))
        plain.mixture.parts = _averages_only(plain.mixture.parts)
        for expert in np.flatnonzero(before.state.joined).tolist():
            self.join(expert)

    def join(self, expert: int) -> None:
        super().join(expert)
        for some in self.some.values():
            if expert in some.places:
                some.mixture.join(some.places.index(expert))

    def leave(self, expert: int) -> None:
        super().leave(expert)
        for some in self.some.values():
            if expert in some.places:
                some.mixture.leave(some.places.index(expert))

    def learn(self, forecasts: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        for some in self.some.values():
            some.learn(forecasts, y, weights)
        return super().learn(forecasts, y, weights)


def _averages_only(parts: Averages) -> Averages:
    """Without the stack, whose prior is the last."""
    priors = np.append(parts.priors[:-1], 0.0)
    return parts._replace(priors=priors / priors.sum())


def ablate(data: Dataset) -> dict[str, dict[str, float]]:
    """Losses of the team, without each expert, and of each alone."""
    # Averages know classes by their order of coming.
    data = data if data.classes is None else data._replace(y=_by_coming(data.y))
    model = stream_learners.our_model(data)
    model._named()  # begins
    team = model._team()
    team.mixture = Watched(team.mixture)
    stream_learners.observe(model, data, stream_learners.frame(data))
    return {name: streams.losses(data, some.answers()) for name, some in team.mixture.some.items()}


def _by_coming(y: np.ndarray) -> np.ndarray:
    """Classes numbered as they come."""
    classes, first, codes = np.unique(y, return_index=True, return_inverse=True)
    place = np.empty(len(classes))
    place[np.argsort(first)] = np.arange(len(classes))
    return place[codes]


def page(lines: list[dict[str, Any]]) -> str:
    """Two tables: the team without an expert, and an expert alone, over the team."""
    names = list(dict.fromkeys(name for line in lines for name in line["losses"] if name != ALL))
    without = [name for name in names if name.startswith("without ")]
    alone = [name for name in names if name.endswith(" alone")]
    parts = [_table("loss without / loss of the team", without, lines), _table("alone / team", alone, lines)]
    return "\n\n".join(parts) + "\n"


def _table(title: str, names: list[str], lines: list[dict[str, Any]]) -> str:
    rows = []
    for name in names:
        told = [_ratio(line["losses"], name) for line in lines]
        known = [ratio for ratio in told if ratio is not None]
        cells = ["" if ratio is None else f"{ratio:.3f}" for ratio in told]
        rows.append([name, *cells, f"{gmean(known):.4f}"])
    return table([title, *(line["stream"] for line in lines), "geometric mean"], rows)


def _ratio(losses: dict[str, dict[str, float]], name: str) -> float | None:
    """Log loss or RMSE over the team's."""
    if name not in losses:
        return None
    measure = "RMSE" if "RMSE" in losses[ALL] else "log loss"
    return losses[name][measure] / losses[ALL][measure]


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print("\n" + json.dumps(ablate(stream_sets.load(sys.argv[2], int(sys.argv[3])))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the file of lines, added to")
    parser.add_argument("--rows", type=int, default=ROWS, help="the most rows of a stream")
    parser.add_argument("--report", type=Path, metavar="FILE", help="only write the tables of this file")
    given = parser.parse_args()
    if given.report is not None:
        print(page(accuracy.read(given.report)))
        return
    done = {line["stream"] for line in accuracy.read(given.out)}
    for stream in stream_sets.CHOOSING:
        if stream in done:
            continue
        one: Any = ("stream_ablation", "--one", stream, str(given.rows))
        found: Any = processes.in_own_process(*one, limit=streams.LIMIT, **streams.ONE_THREAD)
        print(stream, "failed" if found is None else found[ALL], flush=True)
        if found is not None:
            accuracy.append(given.out, {"stream": stream, "rows": given.rows, "losses": found})


if __name__ == "__main__":
    main()
