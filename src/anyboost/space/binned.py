"""A table and its bins, in memory or in files: binned once, to fit many."""

from typing import Any, TypeVar

import numpy as np

from anyboost import checks
from anyboost.backends import mapped
from anyboost.on_disk import ColumnFiles, ColumnsAsked, Files, stored
from anyboost.space.geometry import Space
from anyboost.tables import Columns
from anyboost.trees.rows import Rows
from anyboost.trees.table import Bins

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
    columns: Columns | None = None
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
        from anyboost.backends.fixed_point import fixed_mass
        from anyboost.trees.binning import bin_table

        self.X = checks.table(X, "X")
        self.max_bins = checks.bins(max_bins)
        weights = None if sample_weight is None else checks.sample_weight(sample_weight, len(self.X))
        workers = checks.workers(n_threads)
        self.categorical = checks.columns(categorical, "categorical", self.X.shape[1])
        checks.codes(self.X, "X", self.categorical)
        masses = None
        if weights is not None:
            masses = fixed_mass(weights, False, Rows(len(self.X)))[0]
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
        checks.bins(max_bins)
        workers = checks.workers(n_threads)
        asked = ColumnsAsked(columns, target, weight, group, categorical, max_bins)
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


def binned_files(
    files: ColumnFiles, asked: ColumnsAsked, folder: Any = None, n_threads: int | None = None
) -> Binned:
    """A table of the rows of files, in files that are mapped into memory."""
    from anyboost.trees.binning import bin_table, words_shape

    workers = checks.workers(n_threads)

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
