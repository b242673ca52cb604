"""What `boost` is given, checked: samples with their weights, groups and starts, and what a projection sees of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.backends import mapped
from anyboost.backends.arrays import as_scores
from anyboost.backends.taken import Taken
from anyboost.draws import Units, mix, some_numbers
from anyboost.losses import Loss, domains
from anyboost.space import Binned, Masses, Space
from anyboost.trees.parts import circle
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
        if binned is not None:
            table = binned.X
        else:
            table = X if isinstance(X, Taken) else checks.table(X, f"{prefix}X", sparse=sparse)
        targets = loss.check(y)
        if not prefix:
            _check_scale(targets)
        n = checks.as_many(targets, table.shape[0], f"{prefix}y")
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
            table, targets, weights = mapped.take(table, kept), targets[kept], weights[kept]
            labels = None if labels is None else labels[kept]
            start = start[kept] if isinstance(start, np.ndarray) else start
        return cls(table, targets, weights, labels, start, outputs, None if binned is None else binned.bins)

    def scores(self, constant: np.ndarray) -> np.ndarray:
        """f_0 on this sample: the offset where one is given, else the constant."""
        if isinstance(self.start, np.ndarray):
            return self.start
        scores = mapped.full((self.X.shape[0], self.outputs), constant, np.float64, beside=self.X)
        return as_scores(scores)


def with_own(X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Targets, weights and groups as they are given, else those that a table from files brings."""
    if isinstance(X, Binned):
        y = X.y if y is None else y
        sample_weight = X.sample_weight if sample_weight is None else sample_weight
        groups = X.groups if groups is None else groups
        if y is None:
            raise ValueError(
                "y must be given: the binned X brings no targets, Binned.from_parquet(target=...)"
            )
    return y, sample_weight, groups


def valid_parts(valid: Any, prefix: str, others: tuple[str, ...]) -> Mapping[str, Any]:
    """The parts of a validation set, "X", "y" and any of the others, from what a user gave."""
    if not isinstance(valid, Mapping):
        if not (isinstance(valid, tuple | list) and len(valid) == 2):
            raise TypeError(f'{prefix}must be (X, y), or a mapping with "X", "y" and optional others')
        valid = {"X": valid[0], "y": valid[1]}
    if not {"X", "y"} <= set(valid) <= {"X", "y", *others}:
        raise ValueError(f'{prefix}needs "X" and "y" and may have {", ".join(others)}; got {list(valid)}')
    return valid


def check_valid(loss: Loss, valid: Any, sample: Sample, sparse: bool) -> Sample | None:
    """A validation set that fits the sample, from what a user gave."""
    if valid is None:
        return None
    parts = valid_parts(valid, "valid ", ("sample_weight", "groups", "start"))
    checked = Sample.check("valid ", loss, **parts, outputs=sample.outputs, sparse=sparse)
    if checked.X.shape[1] != sample.X.shape[1]:
        raise ValueError(f"valid X must have the {sample.X.shape[1]} columns of X, got {checked.X.shape[1]}")
    if isinstance(sample.start, np.ndarray) and not isinstance(checked.start, np.ndarray):
        raise ValueError('start is an array, so valid needs its own: a mapping with "X", "y" and "start"')
    return checked


def _check_scale(targets: np.ndarray) -> None:
    """Refuse targets of which a fit would see nothing, in all parts, and make a constant."""
    largest = float(circle().most(np.abs(targets).max(initial=0.0)))
    if domains.are_tiny(largest):
        raise ValueError(
            f"y must have values of {domains.SMALLEST:g} or more in size, got {largest:.6g} at most: multiply y by a "
            "number"
        )


class Sampling:
    """What each projection sees of a space: units of its measure, and columns, drawn by (seed, round, projection).

    No state to keep. `units` are None where all count; a learner that `draws` is lent a key of its own each time.
    """

    def __init__(
        self,
        space: Space,
        units: Units | None,
        row_fraction: float,
        feature_fraction: float,
        seed: int,
        draws: bool = False,
    ) -> None:
        self.space, self.units, self.seed, self.draws = space, units, seed, draws
        self.row_fraction, self.feature_fraction = row_fraction, feature_fraction
        self._scale = 0  # of the last sum of masses, near which the next will be
        # Of a unit of each row: that of the row where each is one
        self._unit = space.measure
        if units is not None and units.several:
            self._unit = Masses.of(units.weights, space.rows)

    def __call__(self, t: int, k: int) -> Space:
        if self.units is None and self.feature_fraction == 1.0 and not self.draws:
            return self.space
        salt = mix(self.seed, t, k)
        features = None
        if self.feature_fraction < 1.0:
            n_features = self.space.X.shape[1]
            count = max(1, round(self.feature_fraction * n_features))
            features = some_numbers(count, n_features, salt)
        return self.space.lent(self._measure(salt), features, salt)

    def _measure(self, salt: int) -> Masses | None:
        """That of the units drawn: each has the weight it has in the sample."""
        if self.units is None:
            return None
        everyone = self.space.rows
        counts, rows = self.units.drawn(self.row_fraction, salt, everyone.arrays)
        unit = self._unit
        mass = counts
        if unit.mass is not None:
            mass = np.multiply(counts, unit.mass, out=self.space.empty(len(counts)))
        if unit.whole:
            mass = mass.astype(np.int64, copy=False)
            one_each = unit is self.space.measure and unit.mass is None
            total = float(everyone.add(len(rows) if one_each else mass.sum()))
        else:
            total, self._scale = everyone.dot(mass[:, None], None, None, self._scale)
        all_drawn = everyone.add(len(rows)) == everyone.n
        return Masses(mass, unit.whole, total, unit.unit, None if all_drawn else rows)
