"""L2(P): the sample, its weights, and the geometry boosting happens in.

    <f, g> = sum_n w_n <f(x_n), g(x_n)>,   sum_n w_n = 1

The weights are the measure: weight 2 is the row twice, weight 0 the row deleted. Scores are (n,) arrays,
or (n, k) for k outputs. Gradients live in this space, so they carry neither weights nor 1/n.
"""

import math
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from anyboost import checks
from anyboost.backends import threads
from anyboost.backends.arena import Arena

if TYPE_CHECKING:
    from anyboost.backends.sums import Fixed

T = TypeVar("T")


class Categories(NamedTuple):
    """The bins of category codes: that of code c of column f is bins[first[f] + c], for c < size[f].

    Codes that training had none of, and those beyond, are in the bin of missing values. `size` is 0, and
    `first` -1, for columns of numbers.
    """

    first: np.ndarray
    size: np.ndarray
    bins: np.ndarray

    def same(self, other: "Categories") -> bool:
        return self is other or all(np.array_equal(a, b) for a, b in zip(self, other, strict=True))


class Bins(NamedTuple):
    """The sample's columns as small integers, for histograms (see `backends.bins`)."""

    words: np.ndarray
    thresholds: np.ndarray
    n_cuts: np.ndarray
    categories: Categories | None = None


class Binned:
    """A table and its bins: bin once, fit many. `boost` takes it in the place of X.

    The bins are those of this table and these weights, whatever rows and weights a fit then uses.
    """

    def __init__(
        self,
        X: Any,
        sample_weight: Any = None,
        *,
        max_bins: int = 255,
        categorical: Any = (),
        n_threads: int | None = None,
    ) -> None:
        from anyboost.backends import sums

        self.X = checks.table(X, "X")
        self.max_bins = checks.count(max_bins, "max_bins", least=2, most=255)
        weights = None if sample_weight is None else checks.sample_weight(sample_weight, len(self.X))
        workers = threads.available() if n_threads is None else checks.count(n_threads, "n_threads", least=1)
        self.categorical = checks.columns(categorical, "categorical", self.X.shape[1])
        checks.codes(self.X, "X", self.categorical)
        masses = sums.fixed_mass(weights, len(self.X), False)[0]
        self.bins = _bin(self.X, weights, masses, max_bins, workers, self.categorical)

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Binned({self.shape[0]} x {self.shape[1]}, max_bins={self.max_bins})"

    def take(self, rows: Any) -> "Binned":
        """Some of the rows, by number or by mask, in the same bins."""
        part = object.__new__(Binned)
        part.X, part.max_bins, part.categorical = self.X[rows], self.max_bins, self.categorical
        part.bins = self.bins._replace(words=np.ascontiguousarray(self.bins.words[:, rows]))
        return part

    def agree(self, name: str, value: T | None) -> T:
        """What was chosen when the table was binned; a sentence where something else is asked for."""
        own = getattr(self, name)
        if value not in (None, own):
            raise ValueError(f"{name} is {own} in the binned X, got {value}; leave it out")
        return own


def _bin(
    X: np.ndarray,
    mass: np.ndarray | None,
    masses: np.ndarray,
    max_bins: int,
    n_threads: int,
    categorical: tuple[int, ...],
) -> Bins:
    """The bins of a table; `masses` are the mass in whole numbers."""
    from anyboost.backends.bins import bin_columns

    binned = Bins(*bin_columns(X, None if mass is None else masses, max_bins, n_threads))
    if not categorical:
        return binned
    from anyboost.backends.categories import bin_categories

    found = bin_categories(X, masses, max_bins, categorical, binned.words, binned.n_cuts)
    binned.thresholds[list(categorical)] = np.inf
    return binned._replace(categories=Categories(*found))


MOST_WHOLE = 2**31  # a larger total of whole weights leaves too few bits to the targets
_FRACTIONS = 12  # weights are tried as multiples of 1/1 .. 1/12 of the smallest


def as_mass(weights: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """Weights up to a factor: whole where they are multiples of one number (None: all ones), else of mean one.

    Whole numbers add up exactly. So 1/n for every row, or 1/7 and 3/7, are the model of 1, or of 1 and 3.
    """
    smallest = weights.min()
    for parts in range(1, _FRACTIONS + 1):
        scaled = weights * (parts / smallest)
        whole = np.rint(scaled)
        if np.all(np.abs(scaled - whole) <= 1e-12 * whole) and whole.sum() <= MOST_WHOLE:
            return (None if np.all(whole == 1) else whole), True
    return weights * (len(weights) / math.fsum(weights.tolist())), False  # exact, in any order


class Masses(NamedTuple):
    """A measure of the rows of a table: their weights up to a factor.

    `mass` is None for all ones, and whole numbers where `whole`; `total` is its sum, `unit` the weight, as given, of
    mass one. `rows` are those of positive mass, in order; None for all of them.
    """

    mass: np.ndarray | None
    whole: bool
    total: float
    unit: float = 1.0
    rows: np.ndarray | None = None

    @classmethod
    def of(cls, n: int, weights: np.ndarray | None) -> "Masses":
        """That of n rows with these weights, some of them positive; None: all one."""
        if weights is None:
            return cls(None, True, float(n))
        if not weights.all():
            rows = np.flatnonzero(weights)
            some, spread = cls.of(len(rows), weights[rows]), np.zeros(n)
            spread[rows] = 1.0 if some.mass is None else some.mass
            return some._replace(mass=spread, rows=rows)
        mass, whole = as_mass(weights)
        total = float(mass.sum() if whole and mass is not None else n)
        return cls(mass, whole, total, math.fsum(weights.tolist()) / total)


class Space:
    """L2(P) over the rows of X with positive weights (None: all equal); `categorical` columns hold categories.

    `features` are the columns that a projection may use, in order, where it may not use all; `key` is what a learner
    that draws at random begins from. They differ in spaces that are `lent` to a projection.
    """

    features: np.ndarray | None = None
    key: int = 0
    _lender: "Space | None" = None

    def __init__(
        self,
        X: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        max_bins: int = 255,
        n_threads: int = 1,
        bins: Bins | None = None,
        categorical: tuple[int, ...] = (),
    ) -> None:
        if bins is not None:
            self.bins = bins  # in the place of the ones it would compute
        self.X = X
        self.categorical = categorical
        self.n = X.shape[0]
        self.max_bins = max_bins
        self.n_threads = n_threads
        self.arena = Arena()
        self._views: dict[Hashable, Any] = {}
        self._scales: dict[str, int] = {}
        self._weigh(Masses.of(self.n, weights))

    def _weigh(self, measure: Masses) -> None:
        self.measure = measure
        self.mass, self.whole, self.total = measure.mass, measure.whole, measure.total
        self.rows = measure.rows

    def lent(
        self, measure: Masses | None = None, features: np.ndarray | None = None, key: int = 0
    ) -> "Space":
        """The same rows and columns for one projection: under another measure (None: the same), by some features.

        What was computed of the table is shared; what was computed of the measure only where it is the same.
        """
        space = object.__new__(Space)
        space.__dict__.update(self.__dict__)
        space.features, space.key, space._lender = features, key, self.full
        if measure is not None:
            space._weigh(measure)
            space._views = {}
            for name in ("weights", "fixed_mass"):
                space.__dict__.pop(name, None)
        return space

    @property
    def full(self) -> "Space":
        """The space of the whole sample: this one, or the one that lent it."""
        return self if self._lender is None else self._lender

    def random(self) -> np.random.Generator:
        """Random numbers for a projection: the same ones whenever it is made again."""
        return np.random.default_rng(self.key)

    @cached_property
    def weights(self) -> np.ndarray:
        """w_n, with sum one."""
        return np.full(self.n, 1.0 / self.n) if self.mass is None else self.mass / self.total

    def inner(self, f: np.ndarray, g: np.ndarray, less: np.ndarray | None = None) -> float:
        """<f, g>, or <f, g - less>, in the same bits for any order of the rows and any number of threads."""
        if less is None:
            return self._sum("inner", self._rows(f), self._rows(g))
        return self._sum("inner of a difference", self._rows(f), self._rows(g), self._rows(less))

    def norm(self, f: np.ndarray, kind: str = "norm") -> float:
        """||f|| = sqrt(<f, f>). Norms asked for in turns are quicker under names of their own (`kind`)."""
        return self._sum(kind, self._rows(f), self._rows(f)) ** 0.5

    def mean(self, values: np.ndarray) -> float:
        """sum_n w_n values_n."""
        return self._sum("mean", self._rows(values), None)

    def scale_and_add(self, factor: float, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """factor * f + g."""
        from anyboost.backends.vectors import scale_and_add

        return scale_and_add(factor, f, g, self.n_threads, self.empty(g.shape))

    def fixed(self, target: np.ndarray) -> "Fixed":
        """mass_n target_n and mass_n in fixed point: what histograms add up."""
        from anyboost.backends import sums

        return sums.fixed(
            self._rows(target), self.mass, self.whole, self.fixed_mass[0], self.n_threads, self.arena
        )

    @cached_property
    def fixed_mass(self) -> tuple[np.ndarray, float]:
        """mass_n as (n,) integers times a unit."""
        from anyboost.backends import sums

        if self.mass is not None and self.mass.dtype == np.int64:
            return self.mass, 1.0
        return sums.fixed_mass(self.mass, self.n, self.whole)

    @property
    def weight_unit(self) -> float:
        """The weight, as given, of one unit of fixed mass; without weights a row weighs 1."""
        return self.fixed_mass[1] * self.measure.unit

    @cached_property
    def bins(self) -> Bins:
        """The binned columns; computed once."""
        if self._lender is not None:
            return self._lender.bins
        masses = self.fixed_mass[0] if self.categorical or self.mass is not None else np.empty(0)
        return _bin(self.X, self.mass, masses, self.max_bins, self.n_threads, self.categorical)

    def empty(self, shape: int | tuple[int, ...]) -> np.ndarray:
        """An uninitialized array, perhaps one that was used before."""
        return self.arena.empty(shape)

    def once(self, key: Hashable, compute: Callable[["Space"], T], *, of_table: bool = False) -> T:
        """What `compute(self)` gave the first time: a learner's view of this sample.

        One `of_table` does not hang on the measure: spaces that are lent share it.
        """
        if of_table and self._lender is not None:
            return self._lender.once(key, compute, of_table=True)
        if key not in self._views:
            self._views[key] = compute(self)
        return self._views[key]

    def _sum(self, kind: str, f: np.ndarray, g: np.ndarray | None, less: np.ndarray | None = None) -> float:
        from anyboost.backends import sums

        # Sums of one kind tend to keep their scale from round to round, and knowing it saves a pass.
        guess = self._scales.get(kind, 0)
        value, self._scales[kind] = sums.dot(f, g, self.mass, self.n_threads, guess, less)
        return value / self.total

    def _rows(self, f: np.ndarray) -> np.ndarray:
        return f.reshape(self.n, -1)
