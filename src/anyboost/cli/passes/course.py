"""The course of a stream: its loss and the weights of its experts by time, in so few points that a figure shows all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MOST = 256  # points; then every second one goes
SHOWN = 8  # experts that have a color of their own, those with the most weight


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
        axes[0].plot(rows, recent, color="#9ecae1", linewidth=1.0, label="lately")
        axes[0].plot(rows, mean, color="#000000", label="all so far")
        axes[0].set_ylabel("loss before learning")
        axes[0].legend(frameon=False)
        axes[0].set_title(title, loc="left")
        if self.experts:
            self._draw_weights(axes[1])
        axes[-1].set_xlabel("examples")
        figure.savefig(path, dpi=150)

    def _draw_weights(self, ax: Any) -> None:
        places = sorted(
            range(len(self.experts)), key=lambda place: -sum(point[3 + place] for point in self.points)
        )
        heights = [[point[3 + place] for point in self.points] for place in places[:SHOWN]]
        labels = [self.experts[place] for place in places[:SHOWN]]
        if len(places) > SHOWN:
            heights.append([sum(point[3 + place] for place in places[SHOWN:]) for point in self.points])
            labels.append("others")
        colors = [
            "#0072B2",
            "#D55E00",
            "#009E73",
            "#CC79A7",
            "#E69F00",
            "#56B4E9",
            "#F0E442",
            "#000000",
            "#999999",
        ]
        ax.stackplot([point[0] for point in self.points], heights, labels=labels, colors=colors)
        ax.set_ylim(0.0, 1.0)
        ax.set_ylabel("weight in the average")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True)
