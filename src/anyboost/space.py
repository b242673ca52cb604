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
from anyboost.backends import mapped, threads
from anyboost.backends.arrays import by_row
from anyboost.trees.parts import rows_of
from anyboost.trees.rows import Here, Rows
from anyboost.trees.table import Bins

if TYPE_CHECKING:
    from anyboost.backends.sums import Fixed
    from anyboost.on_disk import Asked, Source
    from anyboost.tables import Columns

T = TypeVar("T")


class Binned:
    """A table and its bins: bin once, fit many. `boost` takes it in the place of X.

    The bins are those of this table and these weights, whatever rows and weights a fit then uses. `from_parquet` makes
    one of files that are larger than memory, with targets and weights from the files too; estimators take that.

    Parameters
    ----------
    X : array_like (n, d)
        A table of numbers, NaN where missing.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows.
    max_bins : int, default 255
        Most bins a column, 2 to 255.
    categorical : array_like, default ()
        Columns that hold categories, as numbers or as a mask.
    n_threads : int or None, default None
        None for all cores.

    Attributes
    ----------
    y : ndarray or None
        Targets that a fit takes where it is given none; None but from files.
    sample_weight : ndarray or None
        Weights, likewise.
    groups : ndarray or None
        Labels of groups or queries, likewise.
    columns : Columns or None
        The levels of columns that hold categories, from files.
    names : list of str or None
        The columns' names, from files.

    Examples
    --------
    >>> import anyboost as ab
    >>> table = ab.Binned([[0.0], [1.0], [2.0]])
    >>> table
    Binned(3 x 1, max_bins=255)
    >>> runs = [ab.boost(table, [0.0, 1.0, 3.0], loss, rounds=5) for loss in ("squared", "absolute")]
    """

    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    columns: "Columns | None" = None
    names: list[str] | None = None

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
        from anyboost.trees.binning import bin_table

        self.X = checks.table(X, "X")
        self.max_bins = checks.count(max_bins, "max_bins", least=2, most=255)
        weights = None if sample_weight is None else checks.sample_weight(sample_weight, len(self.X))
        workers = threads.available() if n_threads is None else checks.count(n_threads, "n_threads", least=1)
        self.categorical = checks.columns(categorical, "categorical", self.X.shape[1])
        checks.codes(self.X, "X", self.categorical)
        masses = None
        if weights is not None:
            masses = sums.fixed_mass(weights, False, Here(len(self.X)))[0]
        self.bins = bin_table(self.X, masses, max_bins, workers, self.categorical)

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        *,
        columns: Any = None,
        target: Any = None,
        weight: str | None = None,
        group: str | None = None,
        categorical: Any = "from_dtype",
        max_bins: int = 255,
        folder: Any = None,
        n_threads: int | None = None,
    ) -> "Binned":
        """The rows of Parquet or CSV files, which need not fit into memory.

        The bins, and so the models, are those of the same rows in memory. The files are read a portion at a time;
        numbers and bins lie in files that are mapped into memory.

        Parameters
        ----------
        paths : path, str or sequence
            Files, a pattern as "rows/*.parquet", a folder, or several; read in this order. Columns are found by name.
        columns : sequence of str or None, default None
            The columns of X; None: all but the target, the weight and the group.
        target : str, sequence of str or None, default None
            The column of targets or classes, or several.
        weight : str or None, default None
            The column of weights; rows of weight zero are left out.
        group : str or None, default None
            The column of groups, or of queries.
        categorical : str, sequence or None, default "from_dtype"
            Columns that hold categories, by name or number: "from_dtype" for those of text and dictionary types, None
            for none.
        max_bins : int, default 255
            Most bins a column, 2 to 255.
        folder : path, str or None, default None
            Where to keep numbers and bins, for a later call with the same arguments to find; None: in files of the
            system's folder for temporary ones, which go with the table.
        n_threads : int or None, default None
            None for all cores.

        Returns
        -------
        Binned
            The table.

        Examples
        --------
        >>> import anyboost as ab
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 3.0]}), "rows.parquet")
        >>> table = ab.Binned.from_parquet("rows.parquet", target="y")
        >>> ab.boost(table, loss="absolute", rounds=5).ensemble.predict([[2.0]]).shape
        (1,)
        """
        from anyboost.on_disk import Asked, Files

        checks.count(max_bins, "max_bins", least=2, most=255)
        workers = None if n_threads is None else checks.count(n_threads, "n_threads", least=1)
        asked = Asked(columns, target, weight, group, categorical, max_bins)
        return binned_files(Files(paths), asked, folder, workers)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Binned({self.shape[0]} x {self.shape[1]}, max_bins={self.max_bins})"

    def take(self, rows: Any) -> "Binned":
        """Some of the rows, by number or by mask, in the same bins.

        Parameters
        ----------
        rows : array_like
            Their numbers, or a mask.

        Returns
        -------
        Binned
            These rows.
        """
        part = object.__new__(Binned)
        part.__dict__.update(self.__dict__)
        part.X, part.bins = mapped.take(self.X, rows), self.bins.take(rows)
        for name in ("y", "sample_weight", "groups"):
            own = getattr(self, name)
            setattr(part, name, None if own is None else own[rows])
        return part

    def agree(self, name: str, value: T | None) -> T:
        """What was chosen when the table was binned; a sentence where something else is asked for.

        Parameters
        ----------
        name : str
            The option.
        value : Any
            What is asked for; None for whatever was chosen.

        Returns
        -------
        Any
            What was chosen.
        """
        own = getattr(self, name)
        if value not in (None, own):
            raise ValueError(f"{name} is {own} in the binned X, got {value}; leave it out")
        return own


def binned_files(files: "Source", asked: "Asked", folder: Any = None, n_threads: int | None = None) -> Binned:
    """A table of the rows of files, in files that are mapped into memory."""
    from anyboost.on_disk import stored
    from anyboost.trees.binning import bin_table, words_shape

    workers = threads.available() if n_threads is None else n_threads

    def binned(X: np.ndarray, weights: Any, levels: tuple[int, ...], builder: Any) -> Bins:
        words = builder.zeros("words", words_shape(*X.shape), np.uint64, "C")
        masses = Space(X, weights).masses
        return bin_table(X, masses, asked.max_bins, workers, levels, words)

    found = stored(files, asked, folder, binned)
    table = object.__new__(Binned)
    table.X, table.bins, table.max_bins = found.X, found.bins, asked.max_bins
    table.y, table.sample_weight, table.groups = found.y, found.weights, found.groups
    table.columns, table.names = found.columns, found.names
    table.categorical = tuple(found.columns.levels)
    return table


MOST_WHOLE = 2**31  # a larger total of whole weights leaves too few bits to the targets
_NOTED = 3  # arrays whose largest value is remembered: a gradient, a target and a curvature
_FRACTIONS = 12  # weights are tried as multiples of 1/1 .. 1/12 of the smallest


def as_mass(weights: np.ndarray, rows: Rows) -> tuple[np.ndarray | None, bool, float]:
    """Weights up to a factor: whole where they are multiples of one number (None: all ones), else of mean one.

    And whether they are whole, and their sum. Whole numbers add up exactly. So 1/n for every row, or 1/7 and 3/7, are
    the model of 1, or of 1 and 3.
    """
    smallest = -float(rows.most(-weights.min(initial=np.inf)))
    for parts in range(1, _FRACTIONS + 1):
        scaled = weights * (parts / smallest)
        whole = np.rint(scaled)
        unlike = np.count_nonzero(np.abs(scaled - whole) > 1e-12 * whole)
        others = np.count_nonzero(whole != 1)
        sums = np.array([unlike, others, int(min(whole.sum(), 2.0**53))])
        unlike, others, total = rows.add(sums).tolist()
        if not unlike and total <= MOST_WHOLE:
            return (whole if others else None), True, float(total)
    return weights * (rows.n / _total(weights, rows)), False, float(rows.n)


def _total(weights: np.ndarray, rows: Rows) -> float:
    """The sum of all weights, in the same bits for any order and any parts."""
    return rows.dot(weights[:, None], None, None)[0]


class Masses(NamedTuple):
    """A measure of the rows of a table: their weights up to a factor.

    `mass` is None for all ones, and whole numbers where `whole`; `total` is its sum, `unit` the weight, as given, of
    mass one. `drawn` are the rows of positive mass, in order; None for all of them.
    """

    mass: np.ndarray | None
    whole: bool
    total: float
    unit: float = 1.0
    drawn: np.ndarray | None = None

    @classmethod
    def of(cls, weights: np.ndarray | None, rows: Rows) -> "Masses":
        """That of rows with these positive weights; None: all one."""
        if weights is None:
            return cls(None, True, float(rows.n))
        mass, whole, total = as_mass(weights, rows)
        return cls(mass, whole, total, _total(weights, rows) / total)


class Space:
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
    kappa: np.ndarray | None = None
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
        self.rows: Rows = rows_of(self.n, n_threads, mapped.folder_of(X)) if rows is None else rows
        self._views: dict[Hashable, Any] = {}
        self._scales: dict[str, int] = {}
        self._largest: list[tuple[np.ndarray, float]] = []
        self._weigh(Masses.of(weights, self.rows))

    def _weigh(self, measure: Masses) -> None:
        self.measure = measure
        self.mass, self.whole, self.total = measure.mass, measure.whole, measure.total
        self.drawn = measure.drawn
        if self.mass is not None:
            self.fixed_mass = self._fix(self.mass)

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
        space = object.__new__(Space)
        space.__dict__.update(self.__dict__)
        space.features, space.key, space._lender = features, key, self.full
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
        if kappa is None:
            return self
        space = object.__new__(Space)
        space.__dict__.update(self.__dict__)
        space.kappa, space._lender = kappa, self.full
        return space

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
        space = object.__new__(Space)
        space.__dict__.update(self.__dict__)
        space.rows, space.n_threads = rows, rows.n_threads
        space._scales, space._largest, space._lender = dict(self._scales), self._largest[:], self.full
        return space

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
        mass = weights * (self.rows.n / _total(weights, self.rows))
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

    def inner(self, f: np.ndarray, g: np.ndarray, less: np.ndarray | None = None) -> float:
        """The pairing <f, g>, or <f, g - less>, in the same bits for any order of the rows and any number of threads.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        g : ndarray (n,) or (n, k)
            Another.
        less : ndarray or None, default None
            What to take off g.

        Returns
        -------
        float
            sum_n w_n f_n g_n.
        """
        if less is None:
            return self._sum("inner", self._rows(f), self._rows(g))
        return self._sum("inner of a difference", self._rows(f), self._rows(g), self._rows(less))

    def norm(self, f: np.ndarray, kind: str = "norm") -> float:
        """The norm ||f|| = sqrt(<f, f>).

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        kind : str, default "norm"
            Norms asked for in turns are quicker under names of their own.

        Returns
        -------
        float
            The norm.
        """
        return self._sum(kind, self._rows(f), self._rows(f)) ** 0.5

    def square(self, h: np.ndarray) -> float:
        """The squared norm ||h||^2, in the space's metric.

        Parameters
        ----------
        h : ndarray (n,) or (n, k)
            A function on the rows.

        Returns
        -------
        float
            ||h||^2.
        """
        if self.kappa is None:
            return self._sum("square", self._rows(h), self._rows(h))
        return self._sum("curved square", self._rows(h * self.kappa), self._rows(h))

    def dual_norm(self, D: np.ndarray, kind: str = "norm of D") -> float:
        """The norm of a covector: max <D, h> over ||h|| <= 1, which is ||D|| where there is no curvature.

        Parameters
        ----------
        D : ndarray (n,) or (n, k)
            The covector.
        kind : str, default "norm of D"
            Norms asked for in turns are quicker under names of their own.

        Returns
        -------
        float
            The norm.
        """
        if self.kappa is None:
            return self.norm(D, kind)
        # Where kappa is zero, so is D.
        quotient = np.divide(D, self.kappa, out=np.zeros_like(D), where=self.kappa > 0)
        return self._sum(kind, self._rows(D), self._rows(quotient)) ** 0.5

    def largest(self, f: np.ndarray) -> float:
        """The largest |f_n|; NaN or infinite where any is.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.

        Returns
        -------
        float
            max_n |f_n|.
        """
        for known, top in self._largest:
            if known is f:
                return top
        from anyboost.backends.sums import largest

        return largest(f, self.rows)

    def know_largest(self, f: np.ndarray, largest: float) -> None:
        """Take note of max |f|, known from the pass that made it; f must not change.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        largest : float
            max_n |f_n|.
        """
        self._largest = [(f, largest), *self._largest[: _NOTED - 1]]

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean sum_n w_n values_n.

        Parameters
        ----------
        values : ndarray (n,)
            One value a row.

        Returns
        -------
        float
            The mean.
        """
        return self._sum("mean", self._rows(values), None)

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
        kappa = None if self.kappa is None else self._rows(self.kappa)
        tops: tuple[float | None, float | None] = (None, None)
        if self.mass is None or self.whole:
            tops = self.largest(target), None if self.kappa is None else self.largest(self.kappa)
        return self.rows.fixed(
            self._rows(target), kappa, self.mass, self.whole, self.fixed_mass[0], self.total, tops
        )

    @cached_property
    def fixed_mass(self) -> tuple[np.ndarray, float]:
        """mass_n as (n,) integers times a unit."""
        return mapped.full((self.n,), 1, np.int64, beside=self.X), 1.0  # unless there are weights

    def _fix(self, mass: np.ndarray) -> tuple[np.ndarray, float]:
        from anyboost.backends import sums

        return (mass, 1.0) if mass.dtype == np.int64 else sums.fixed_mass(mass, self.whole, self.rows)

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

    def _sum(self, kind: str, f: np.ndarray, g: np.ndarray | None, less: np.ndarray | None = None) -> float:
        # Sums of one kind tend to keep their scale from round to round, and knowing it saves a pass.
        guess = self._scales.get(kind, 0)
        value, self._scales[kind] = self.rows.dot(f, g, self.mass, guess, less)
        return value / self.total

    def _rows(self, f: np.ndarray) -> np.ndarray:
        return by_row(f)
