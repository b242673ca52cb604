"""The space: a sample under its weights, and what a projection is lent of it; `norms` has its inner product.

    <f, g> = sum_n w_n <f(x_n), g(x_n)>,   sum_n w_n = 1

The weights are the measure: weight 2 is the row twice, weight 0 the row deleted. Scores are (n,) arrays,
or (n, k) for k outputs. Gradients live in this space, so they carry neither weights nor 1/n.
"""

import math
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from anyboost.backends import mapped
from anyboost.backends.arrays import by_row
from anyboost.space.masses import Masses, total_weight
from anyboost.space.norms import Norms
from anyboost.trees.parts import rows_of
from anyboost.trees.rows import Rows
from anyboost.trees.table import Bins

if TYPE_CHECKING:
    from anyboost.backends.fixed_point import Fixed

T = TypeVar("T")


class Space(Norms):
    """L2(P) over the rows of X with positive weights.

    A `curved` space measures functions by ||h||^2 = sum_n w_n kappa_n h(x_n)^2 and covectors, in units of gradients, by
    the dual norm; their pairing <D, h> = sum_n w_n D_n h(x_n) is that of every space.

    Parameters
    ----------
    X : ndarray (n, d) or sparse matrix
        The table.
    weights : ndarray (n,) or None, default None
        Positive weights; None: all equal.
    max_bins : int, default 255
        Most bins a column.
    n_threads : int, default 1
        How many threads work on it.
    bins : Bins or None, default None
        The table's bins, where they are known.
    categorical : tuple of int, default ()
        The columns that hold categories.
    rows : Rows or None, default None
        Who answers questions about all rows; None: these rows, with those of other parts where there are any.

    Attributes
    ----------
    features : ndarray or None
        The columns that a projection may use, in order, where it may not use all. This and `key` differ in spaces that
        are `lent` to a projection.
    key : int
        What a learner that draws at random begins from.
    kappa : ndarray or None
        The curvature; None where it is one.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.zeros((2, 1)), np.array([1.0, 3.0]))
    >>> space.weights, space.mean(np.array([0.0, 4.0])), space.norm(np.array([2.0, 2.0]))
    (array([0.25, 0.75]), 3.0, 2.0)
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
        rows: Rows | None = None,
    ) -> None:
        self._bins = bins
        self.X = X
        self.categorical = categorical
        self.n = X.shape[0]
        self.max_bins = max_bins
        self.n_threads = n_threads
        self.rows = rows_of(self.n, n_threads, mapped.folder_of(X)) if rows is None else rows
        self._views: dict[Hashable, Any] = {}
        self._scales, self._largest = {}, []
        self._weigh(Masses.of(weights, self.rows))

    def _weigh(self, measure: Masses) -> None:
        self.measure = measure
        self.mass, self.whole, self.total = measure.mass, measure.whole, measure.total
        self.drawn = measure.drawn
        if self.mass is not None:
            self.fixed_mass = self._fix(self.mass)

    def _like(self, **changed: Any) -> "Space":
        """This space but for some attributes; it shares all others."""
        space = object.__new__(Space)
        space.__dict__.update(self.__dict__, _lender=self.full, **changed)
        return space

    def lent(
        self, measure: Masses | None = None, features: np.ndarray | None = None, key: int = 0
    ) -> "Space":
        """The same rows and columns for one projection: under another measure, by some features.

        What was computed of the table is shared; what was computed of the measure only where it is the same.

        Parameters
        ----------
        measure : Masses or None, default None
            The masses of the rows; None: the same.
        features : ndarray or None, default None
            The columns to use; None: all.
        key : int, default 0
            What random numbers begin from.

        Returns
        -------
        Space
            The space.
        """
        space = self._like(features=features, key=key)
        if measure is not None:
            for name in ("weights", "fixed_mass"):
                space.__dict__.pop(name, None)
            space._weigh(measure)
            space._views = {}
        return space

    def curved(self, kappa: np.ndarray | None) -> "Space":
        """The same rows and measure with these curvatures.

        Parameters
        ----------
        kappa : ndarray or None
            Curvatures, shaped like scores; None: one.

        Returns
        -------
        Space
            The space.
        """
        return self if kappa is None else self._like(kappa=kappa)

    def outputs(self, count: int) -> list["Space"]:
        """The space of each of several outputs.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        list of Space
            The spaces.
        """
        if self.kappa is None:
            return [self] * count
        return [self.curved(column) for column in self.columns(self.kappa)]

    def columns(self, f: np.ndarray) -> np.ndarray:
        """Numbers an output after the other.

        Parameters
        ----------
        f : ndarray (n, k)
            Numbers row by row.

        Returns
        -------
        ndarray (k, n)
            The same numbers.
        """
        out = self.empty(f.shape[::-1])
        out[:] = f.T
        return out

    def beside(self, rows: Rows) -> "Space":
        """The same space for one thread of several, which asks of these rows (see `Rows.apart`).

        Parameters
        ----------
        rows : Rows
            The rows.

        Returns
        -------
        Space
            The space.
        """
        noted = {"_scales": dict(self._scales), "_largest": self._largest[:]}
        return self._like(rows=rows, n_threads=rows.n_threads, **noted)

    def straight(self, kappa: np.ndarray) -> "Space":
        """The space without curvature in which rows have the mass that they have in one `curved` by kappa.

        Parameters
        ----------
        kappa : ndarray (n,)
            Curvatures.

        Returns
        -------
        Space
            The space.
        """
        weights = kappa if self.mass is None else self.mass * kappa
        drawn = np.flatnonzero(weights) if self.drawn is None else self.drawn
        mass = weights * (self.rows.n / total_weight(weights, self.rows))
        measure = Masses(mass, False, float(self.rows.n), drawn=drawn if len(drawn) < self.n else None)
        space = self.lent(measure, self.features, self.key)
        space.kappa = None
        return space

    @property
    def full(self) -> "Space":
        """The space of the whole sample: this one, or the one that lent it."""
        return self if self._lender is None else self._lender

    @property
    def seen(self) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
        """The rows and the columns that a projection sees, and the masses of all rows; None for all, and its own."""
        whole = None if self.measure is self.full.measure else self.full.fixed_mass[0]
        return self.drawn, self.features, whole

    def random(self) -> np.random.Generator:
        """Random numbers for a projection: the same ones whenever it is made again.

        Returns
        -------
        Generator
            NumPy's.
        """
        return np.random.default_rng(self.key)

    @cached_property
    def weights(self) -> np.ndarray:
        """w_n, with sum one."""
        if self.mass is not None:
            return self.mass / self.total
        return mapped.full((self.n,), 1.0 / self.total, np.float64, beside=self.X)

    def scale_and_add(self, factor: float, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The sum factor * f + g.

        Parameters
        ----------
        factor : float
            What f is multiplied by.
        f : ndarray (n,) or (n, k)
            A function on the rows.
        g : ndarray (n,) or (n, k)
            Another.

        Returns
        -------
        ndarray
            The sum.
        """
        from anyboost.backends.vectors import scale_and_add

        return scale_and_add(factor, f, g, self.n_threads, self.empty(g.shape))

    def at_least(self, kappa: np.ndarray, least: float, D: np.ndarray, farthest: float) -> np.ndarray:
        """The largest of kappa, least and |D| / farthest: a curvature under which no step is longer than `farthest`.

        Parameters
        ----------
        kappa : ndarray (n,) or (n, k)
            Curvatures.
        least : float
            What they are raised to.
        D : ndarray (n,) or (n, k)
            What is to be projected.
        farthest : float
            The longest step.

        Returns
        -------
        ndarray
            Curvatures.
        """
        from anyboost.backends.vectors import at_least

        if math.isinf(farthest) and least == 0:
            return kappa
        out = at_least(kappa, least, D, 1.0 / farthest, self.n_threads, self.empty(kappa.shape))
        self.know_largest(out, max(self.largest(kappa), least, self.largest(D) * (1.0 / farthest)))
        return out

    def fixed(self, target: np.ndarray) -> "Fixed":
        """What histograms add up: mass_n target_n, mass_n kappa_n if there is curvature, and mass_n in fixed point.

        Parameters
        ----------
        target : ndarray (n,) or (n, k)
            What is to be projected.

        Returns
        -------
        Fixed
            Integers and their units.
        """
        kappa = None if self.kappa is None else by_row(self.kappa)
        tops: tuple[float | None, float | None] = (None, None)
        if self.mass is None or self.whole:
            tops = self.largest(target), None if self.kappa is None else self.largest(self.kappa)
        return self.rows.fixed(
            by_row(target), kappa, self.mass, self.whole, self.fixed_mass[0], self.total, tops
        )

    @cached_property
    def fixed_mass(self) -> tuple[np.ndarray, float]:
        """mass_n as (n,) integers times a unit."""
        return mapped.full((self.n,), 1, np.int64, beside=self.X), 1.0  # unless there are weights

    def _fix(self, mass: np.ndarray) -> tuple[np.ndarray, float]:
        from anyboost.backends.fixed_point import fixed_mass

        return (mass, 1.0) if mass.dtype == np.int64 else fixed_mass(mass, self.whole, self.rows)

    @property
    def weight_unit(self) -> float:
        """The weight, as given, of one unit of fixed mass; without weights a row weighs 1."""
        return self.fixed_mass[1] * self.measure.unit

    @property
    def bins(self) -> Bins:
        """The binned columns; computed once."""
        # No cached property: some Pythons compute one at a time in all threads, of which some may wait for each other.
        lender = self.full
        if lender._bins is None:
            lender._bins = lender.rows.bins(lender.X, lender.masses, lender.max_bins, lender.categorical)
        return lender._bins

    @property
    def masses(self) -> np.ndarray | None:
        """Whole masses of the rows, by which bins are weighed; None where all are one."""
        return None if self.mass is None else self.fixed_mass[0]

    def empty(self, shape: int | tuple[int, ...]) -> np.ndarray:
        """An uninitialized array, perhaps one that was used before.

        Parameters
        ----------
        shape : int or tuple of int
            Its shape.

        Returns
        -------
        ndarray
            The array.
        """
        return self.rows.arrays.empty(shape)

    def once(self, key: Hashable, compute: Callable[["Space"], T], *, of_table: bool = False) -> T:
        """What `compute(self)` gave the first time: a learner's view of this sample.

        Parameters
        ----------
        key : Hashable
            What it is kept by.
        compute : callable
            Takes the space.
        of_table : bool, default False
            Whether it does not hang on the measure: spaces that are lent share it.

        Returns
        -------
        Any
            What `compute` gave.
        """
        if of_table and self._lender is not None:
            return self._lender.once(key, compute, of_table=True)
        if key not in self._views:
            self._views[key] = compute(self)
        return self._views[key]
