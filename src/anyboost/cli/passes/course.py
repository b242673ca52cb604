"""The course of a stream: its loss and the weights of its experts by time, in so few points that a figure shows all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.experiments import style
from anyboost.plot import figures

MOST = 256  # points; then every second one goes


@dataclass
class Course:
    """Points at every so many examples: how many there were, their weight and loss in sum, and the experts' weights."""

    every: int = 1
    experts: list[str] = field(default_factory=list)
    points: list[list[float]] = field(default_factory=list)

    def left(self, rows: int) -> int:
        """How many examples until the next point, after so many."""
        return self.every - rows % self.every

    def note(self, rows: int, weight: float, loss: float, experts: dict[str, float]) -> None:
        """Add a point, if it is time for one."""
        if rows % self.every:
            return
        if not self.experts:
            self.experts = list(experts)
        self.points.append([rows, weight, loss, *(experts.get(name, 0.0) for name in self.experts)])
        if len(self.points) > MOST:
            self.every *= 2
            self.points = [point for point in self.points if point[0] % self.every == 0]

    def as_dict(self) -> dict[str, Any]:
        """For the model file."""
        return asdict(self)

    def losses(self) -> tuple[list[float], list[float], list[float]]:
        """Of each point: how many examples, the mean loss of those since the point before, and of all so far."""
        rows, recent, mean = [], [], []
        before = [0.0, 0.0, 0.0]
        for point in self.points:
            if point[1] > before[1]:
                rows.append(point[0])
                recent.append((point[2] - before[2]) / (point[1] - before[1]))
                mean.append(point[2] / point[1])
            before = point
        return rows, recent, mean

    def draw(self, path: Path, title: str) -> None:
        """Write the figure: above the loss by time, below who had the say."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 5.5 if self.experts else 3.2), layout="constrained")
        axes = figure.subplots(2 if self.experts else 1, sharex=True, squeeze=False)[:, 0]
        rows, recent, mean = self.losses()
        axes[0].plot(rows, recent, color=figures.SKY, linewidth=1.0, label="lately")
        axes[0].plot(rows, mean, color=figures.BLACK, label="all so far")
        axes[0].set_ylabel("loss before learning")
        axes[0].legend(frameon=False)
        axes[0].set_title(title, loc="left")
        if self.experts:
            self._draw_weights(axes[1])
        axes[-1].set_xlabel("examples")
        style.save(figure, path)

    def _draw_weights(self, ax: Any) -> None:
        table = np.array(self.points)
        stack(ax, table[:, 0], table[:, 3:], self.experts)
        ax.set_ylim(0.0, 1.0)
        ax.set_ylabel("weight in the average")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True)


def heaviest(weights: np.ndarray) -> np.ndarray:
    """The columns of weights by time, those of most weight first."""
    return np.argsort(-np.abs(weights).mean(axis=0), kind="stable")


def stack(axes: Any, times: np.ndarray, weights: np.ndarray, names: list[str]) -> None:
    """Weights by time, one above the other: the heaviest in colors of their own, all others together."""
    order = heaviest(weights)
    shown, rest = order[: len(figures.AREAS)], order[len(figures.AREAS) :]
    parts, labels = [weights[:, j] for j in shown], [names[j] for j in shown]
    if len(rest):
        parts.append(weights[:, rest].sum(axis=1))
        labels.append(f"{len(rest)} others")
    axes.stackplot(times, parts, labels=labels, colors=(*figures.AREAS, figures.REST), linewidth=0)
