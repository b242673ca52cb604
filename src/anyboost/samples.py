"""What `boost` is given, checked: samples with their weights, groups and starts, and what a projection sees of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.losses import Loss
from anyboost.space import Binned
from anyboost.trees.table import Bins


class Sample(NamedTuple):
    """A checked sample, rows of weight zero dropped. `start` is None, a number, or scores."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    start: float | np.ndarray | None
    outputs: int
    bins: Bins | None = None

    @classmethod
    def check(
        cls,
        prefix: str,
        loss: Loss,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        start: Any = None,
        outputs: int | None = None,
        sparse: bool = False,
    ) -> "Sample":
        binned = X if isinstance(X, Binned) else None
        table = checks.table(X, f"{prefix}X", sparse=sparse) if binned is None else binned.X
        targets = loss.check(y)
        n = table.shape[0]
        if len(targets) != n:
            raise ValueError(
                f"{prefix}y must have one value for each of the {n} rows of X, got {len(targets)}"
            )
        weights = (
            None
            if sample_weight is None
            else checks.sample_weight(sample_weight, n, f"{prefix}sample_weight")
        )
        labels = None if groups is None else checks.labels(groups, f"{prefix}groups", n)
        outputs = loss.outputs(targets) if outputs is None else outputs
        if start is not None:
            start = checks.scores(start, f"{prefix}start", n, outputs)
        if weights is not None and not weights.all():
            kept = weights > 0
            binned = None if binned is None else binned.take(kept)
            table, targets, weights = table[kept], targets[kept], weights[kept]
            labels = None if labels is None else labels[kept]
            start = start[kept] if isinstance(start, np.ndarray) else start
        return cls(table, targets, weights, labels, start, outputs, None if binned is None else binned.bins)

    def scores(self, constant: np.ndarray) -> np.ndarray:
        """f_0 on this sample: the offset where one is given, else the constant."""
        if isinstance(self.start, np.ndarray):
            return self.start
        scores = np.empty((self.X.shape[0], self.outputs))
        scores[:] = constant
        return scores[:, 0] if self.outputs == 1 else scores


def check_valid(loss: Loss, valid: Any, sample: Sample, sparse: bool = False) -> Sample | None:
    """A validation set that fits the sample, from what a user gave."""
    if valid is None:
        return None
    if not isinstance(valid, Mapping):
        if not (isinstance(valid, tuple | list) and len(valid) == 2):
            raise TypeError(
                'valid must be (X, y), or a mapping with "X", "y" and optional "sample_weight", ...'
            )
        valid = {"X": valid[0], "y": valid[1]}
    unknown = set(valid) - {"X", "y", "sample_weight", "groups", "start"}
    if unknown or not {"X", "y"} <= set(valid):
        raise ValueError(
            f'valid needs "X" and "y" and may have "sample_weight", "groups", "start"; got {list(valid)}'
        )
    checked = Sample.check("valid ", loss, **valid, outputs=sample.outputs, sparse=sparse)
    if checked.X.shape[1] != sample.X.shape[1]:
        raise ValueError(f"valid X must have the {sample.X.shape[1]} columns of X, got {checked.X.shape[1]}")
    if isinstance(sample.start, np.ndarray) and not isinstance(checked.start, np.ndarray):
        raise ValueError('start is an array, so valid needs its own: a mapping with "X", "y" and "start"')
    return checked


@dataclass(frozen=True)
class Sampling:
    """Which rows and columns a projection sees, drawn from (seed, round, projection): no state to keep.

    A learner that `draws` is given the generator too.
    """

    shape: tuple[int, int]
    row_fraction: float
    feature_fraction: float
    seed: int
    draws: bool = False

    def __call__(self, t: int, k: int) -> tuple[Any, ...]:
        if self.row_fraction == 1.0 and self.feature_fraction == 1.0 and not self.draws:
            return None, None
        random = np.random.default_rng((self.seed, t, k))
        n, n_features = self.shape
        rows = features = None
        if self.row_fraction < 1.0:
            rows = np.flatnonzero(random.random(n, dtype=np.float32) < self.row_fraction)
            rows = rows if len(rows) else random.integers(n, size=1)
        if self.feature_fraction < 1.0:
            count = max(1, round(self.feature_fraction * n_features))
            features = np.sort(random.choice(n_features, size=count, replace=False))
        return (rows, features, random) if self.draws else (rows, features)
