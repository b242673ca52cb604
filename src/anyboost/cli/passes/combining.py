"""The work behind `anyboost combine`: batches of a table through an averager, and what to tell about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.cli.passes.course import heaviest, stack
from anyboost.cli.passes.progressive import ProgressTable
from anyboost.cli.rows.cells import Batch, TableError
from anyboost.cli.rows.tables import read
from anyboost.experiments import style
from anyboost.losses import links
from anyboost.mirror import MirrorAverager, Simplex, Tracker
from anyboost.mirror.pool import log_odds
from anyboost.mirror.regret import expert_losses
from anyboost.mirror.regret import regret as regret_of
from anyboost.plot.figures import AREAS

_SPACING = 1.02  # from one recorded point of the figure to the next, in rows


class CombiningPass:
    """One pass over a table of forecasts."""

    def __init__(
        self,
        target: str,
        loss: str,
        rule: str,
        domain: str,
        probabilities: bool,
        ignored: tuple[str, ...],
        keep: bool,
    ) -> None:
        self.target, self.probabilities, self.ignored, self.keep = target, probabilities, ignored, keep
        if rule == "tracker":
            self.model: Any = Tracker(loss, domain)
        else:
            self.model = MirrorAverager(loss, domain=domain, schedule=rule, lipschitz="running")
        self.loss = self.model.loss
        if self.loss.vector:
            raise ValueError(f"--loss must be a loss of one score, got {self.loss}")
        self.two_classes = "-1" in self.loss.domain.words
        if probabilities and self.loss.link_ != links.SIGN_LOGISTIC:
            raise ValueError("--probabilities needs --loss logistic, under which log odds are combined")
        self.names: list[str] = []
        self.table = ProgressTable(own=[("best", "column")])
        self.kept: list[tuple[Floats, Floats, Floats]] = []
        self.sums = np.zeros(0)  # losses of every column, and on how many rows it was there
        self.counts = np.zeros(0)
        self.marks: list[int] = []
        self.path: list[Floats] = []

    def run(
        self, file: str, format: str | None, say: Callable[[str], None], separator: str | None = None
    ) -> None:
        """Read, forecast, learn, and print a line at each doubling; the heading once a row has been learned."""
        given: Any = {"separator": separator}
        given["wanted"] = lambda name: name == self.target or name not in self.ignored
        for batch in read(file, format, **given):
            forecasts, y = self._columns(batch, file)
            for rows in self.table.pieces(len(y)):
                self._learn(forecasts[rows], y[rows])
                if self.table.tally.rows == 1:
                    say(self.table.heading())
                if self.table.due:
                    say(self.table.line(self._best()))
        if self.table.tally.rows == 0:
            raise TableError(f"{file} has no rows under its heading")
        say("")

    def _columns(self, batch: Batch, file: str) -> tuple[Floats, Floats]:
        """Forecasts (n, M) and targets of a batch; all but the target and the ignored columns are forecasts."""
        y = batch.column(self.target, "--target", file)
        for name in self.ignored:
            batch.column(name, "--ignore", file)
        if not self.names:
            self.names = [name for name in batch.columns if name != self.target and name not in self.ignored]
            if not self.names:
                raise TableError("the table has no column of forecasts beside the target")
            self.sums, self.counts = np.zeros(len(self.names)), np.zeros(len(self.names))
        for name in (self.target, *self.names):
            if batch.columns[name].dtype == object:
                raise TableError(
                    f"column {name!r} holds text, and forecasts are numbers: add --ignore {name!r}"
                )
        y = y.astype(np.float64)
        if np.isnan(y).any():
            row = int(np.argmax(np.isnan(y)))
            raise TableError(f"{batch.where(row)}: the target is missing; fill it in or drop the row")
        H = np.column_stack([batch.columns[name] for name in self.names]).astype(np.float64)
        asleep = np.isnan(H).all(axis=1)
        if asleep.any():
            raise TableError(f"{batch.where(int(np.argmax(asleep)))}: no column has a forecast; drop the row")
        if self.two_classes:
            y = np.where(y == 0.0, -1.0, y)
        return self._scores(H, batch), y

    def _scores(self, H: Floats, batch: Batch) -> Floats:
        if not self.probabilities:
            return H
        outside = (H < 0) | (H > 1)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise TableError(
                f"{batch.where(row)}: column {self.names[column]!r} is {H[row, column]}, which is no probability"
            )
        pairs = np.stack([1.0 - H.ravel(), H.ravel()], axis=1)
        return np.where(np.isnan(H), np.nan, log_odds(np.nan_to_num(pairs)).reshape(H.shape))

    def _learn(self, H: Floats, y: Floats) -> None:
        """A piece, cut again where the figure wants a point."""
        begin, losses, last = 0, [], 0.0
        while begin < len(y):
            done = self.table.tally.rows + begin
            wanted = int(self.marks[-1] * _SPACING) + 1 if self.marks else 1
            end = min(len(y), begin + max(1, wanted - done))
            scores = self._take(H[begin:end], y[begin:end], done + end - begin)
            losses.append(self.loss.values(scores, y[begin:end]))
            last, begin = float(scores[-1]), end
        self.table.add(np.concatenate(losses), float(y[-1]), last, H.shape[1], labels=y)

    def _take(self, H: Floats, y: Floats, done: int) -> Floats:
        """Forecast, learn, and note what the columns lost; `done` rows have then been learned from."""
        scores: Floats = self.model.predict_then_fit(H, y)
        own = expert_losses(H, y, self.loss)
        self.sums += np.nansum(own, axis=0)
        self.counts += (~np.isnan(own)).sum(axis=0)
        if not self.marks or done > self.marks[-1] * _SPACING:
            self.marks.append(done)
            self.path.append(self.model.weights_)
        if self.keep:
            self.kept.append((scores, H, y))
        return scores

    def _best(self) -> float | None:
        """The mean loss of the best column so far, on the rows it was there."""
        return float(np.min(self.sums[self.counts > 0] / self.counts[self.counts > 0]))

    def results(self, switches: int | None) -> dict[str, Any]:
        """Everything as plain numbers; losses and regrets are means over rows."""
        rows = self.table.tally.rows
        found: dict[str, Any] = {
            "rows": rows,
            "loss": self.table.average,
            "columns": {
                name: total / count if count else None
                for name, total, count in zip(self.names, self.sums, self.counts, strict=True)
            },
            "weights": dict(zip(self.names, self.model.weights_.tolist(), strict=True)),
            "regret": {},
        }
        if switches is None:
            return found
        scores, H, y = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        exact = regret_of(scores, H, y, self.loss, self.model.domain, (switches,) if switches else ())
        found["regret"] = {f"the best column, {self.names[exact.best_expert]}": exact.single / rows}
        if not np.isnan(H).any():
            found["regret"]["the best fixed weights"] = exact.combination / rows
            found["regret"] |= {
                f"the best with {k} switches": value / rows for k, value in exact.switching.items()
            }
            found["best fixed weights"] = dict(
                zip(self.names, exact.combination_weights.tolist(), strict=True)
            )
            found["best fixed weights are within"] = exact.combination_gap / rows
        return found

    def draw(self, path: Path) -> None:
        """The weights over time: stacked where they add up to one, lines otherwise."""
        from matplotlib.figure import Figure

        weights = np.array([*self.path, self.model.weights_])
        marks = np.array([*self.marks, self.table.tally.rows])
        figure = Figure(figsize=(8.0, 4.5), layout="constrained")
        axes = figure.subplots()
        if isinstance(self.model.domain, Simplex):
            stack(axes, marks, weights, self.names)
            axes.set_ylim(0, self.model.domain.radius)
        else:
            for j, color in zip(heaviest(weights), AREAS, strict=False):
                axes.plot(marks, weights[:, j], label=self.names[j], color=color)
        axes.set_xlim(marks[0], max(marks[-1], marks[0] + 1))
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_ylabel("weight")
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False)
        style.save(figure, path)
