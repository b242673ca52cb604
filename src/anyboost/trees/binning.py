"""Binning a table (see `table`): thresholds by weighted quantiles, a bin each for categories."""

from collections.abc import Iterator, Sequence

import numpy as np

from anyboost.backends import mapped, threads
from anyboost.backends.compiler import kernel
from anyboost.backends.order import sort
from anyboost.backends.taken import Taken, portions
from anyboost.trees import cuts
from anyboost.trees.cuts import midpoints
from anyboost.trees.questions import Agreement, Search, found_by, found_by_all
from anyboost.trees.table import GROUP, MISSING, MOST_BINS, Bins, Categories

_AT_ONCE = 4  # columns that are copied together, where no more threads want one


def bin_table(
    X: np.ndarray | Taken,
    masses: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    categorical: tuple[int, ...] = (),
    words: np.ndarray | None = None,
    rows: Agreement | None = None,
) -> Bins:
    """The bins of a table; `masses` are whole numbers, None for all ones.

    Those of a table in a file lie in a file too, and its columns are read in portions. `words` is where they are to be
    written, (groups, n) zeros; None for a place of their own. `rows` are given where those of other parts have a say.
    """
    if words is None:
        words = mapped.zeros(words_shape(*X.shape), np.uint64, "C", beside=X)
    binned = _bin_numbers(X, masses, max_bins, n_threads, categorical, words, rows)
    if not categorical:
        return binned
    return binned._replace(categories=_bin_categories(X, masses, max_bins, categorical, binned, rows))


def words_shape(n: int, n_columns: int) -> tuple[int, int]:
    """Of the words of so many rows and columns."""
    return -(-n_columns // GROUP), n


def _all_thresholds(
    columns: Sequence[np.ndarray],
    masses: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    rows: Agreement | None,
) -> list[tuple[np.ndarray, bool]]:
    """The thresholds of each column, and whether values are missing."""
    if rows is not None:
        return found_by_all(
            [_search(column, masses, max_bins, digit=cuts.OF_PARTS) for column in columns], rows
        )
    found: dict[int, tuple[np.ndarray, bool]] = {}

    def one(place: int) -> None:
        found[place] = _thresholds(columns[place], masses, max_bins)

    threads.each(one, len(columns), n_threads)
    return [found[place] for place in range(len(columns))]


def _thresholds(column: np.ndarray, masses: np.ndarray | None, max_bins: int) -> tuple[np.ndarray, bool]:
    if mapped.folder_of(column) is None:
        return column_thresholds(column, masses, max_bins)
    return found_by(_search(column, masses, max_bins), Agreement())


def _search(
    column: np.ndarray, masses: np.ndarray | None, max_bins: int, **given: int
) -> Search[tuple[np.ndarray, bool]]:
    def portions() -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        for part in mapped.blocks(len(column)):
            yield column[part], None if masses is None else masses[part]

    return cuts.thresholds(portions, max_bins, column.dtype, **given)


def column_thresholds(column: np.ndarray, mass: np.ndarray | None, max_bins: int) -> tuple[np.ndarray, bool]:
    """Thresholds of one column, in float64, and whether it has missing values.

    Up to `max_bins` distinct values get a bin each; more share bins of about equal mass.
    """
    if mass is None:
        ordered = sort(column)
    else:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
    present = len(ordered)
    if present and ordered[-1] != ordered[-1]:  # NaN sorts last
        present = int(np.searchsorted(ordered, np.nan))
    missing = present < len(ordered)
    ordered = ordered[:present]
    values = np.empty(max_bins + 1, dtype=ordered.dtype)
    count = _distinct(ordered, values)
    if count <= max_bins:
        values = values[:count].astype(np.float64)
        return midpoints(values[:-1], values[1:]), missing
    # A bin ends with the value at which the mass reaches its goal.
    cumulated = None if mass is None else np.cumsum(mass[order[:present]])
    total = float(present if cumulated is None else cumulated[-1])
    goals = cuts.goals(total, max_bins)
    if cumulated is None:
        reached = np.ceil(goals).astype(np.int64) - 1
    else:
        reached = np.searchsorted(cumulated, goals, side="left")
    low = np.unique(ordered[reached])
    following = np.searchsorted(ordered, low, side="right")
    low = low[following < present]
    high = ordered[following[following < present]]
    return midpoints(low.astype(np.float64), high.astype(np.float64)), missing


@kernel
def _distinct(ordered, out):
    # The distinct values, until `out` is full; how many were found.
    count = 0
    for i in range(ordered.shape[0]):
        if count == 0 or ordered[i] != out[count - 1]:
            out[count] = ordered[i]
            count += 1
            if count == out.shape[0]:
                break
    return count


@kernel
def _encode(column, thresholds, out):
    # Of 255 thresholds in order, padded with +inf.
    for i in range(column.shape[0]):
        x = np.float64(column[i])
        out[i] = cuts.below(thresholds, x) if x == x else MISSING


def _bin_numbers(
    X: np.ndarray | Taken,
    masses: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    others: tuple[int, ...],
    words: np.ndarray,
    rows: Agreement | None,
) -> Bins:
    """The columns of numbers; the `others` are left without cuts."""
    n_features, groups = X.shape[1], len(words)
    thresholds = np.full((groups * GROUP, MOST_BINS), np.inf)
    n_thresholds, n_cuts = np.zeros((2, groups * GROUP), dtype=np.int64)
    binned = Bins(words, thresholds, n_thresholds, n_cuts, n_features)
    # Columns are copied where rows are read: few at once, for the copies are most of what binning needs.
    copied = rows is None and (isinstance(X, Taken) or not X.flags.f_contiguous)
    at_once = min(GROUP, max(_AT_ONCE, n_threads)) if copied else GROUP
    for group in range(0, n_features, GROUP):
        for first in range(group, min(group + GROUP, n_features), at_once):
            last = min(first + at_once, group + GROUP, n_features)
            features = [feature for feature in range(first, last) if feature not in others]
            columns = _columns(X, first, last, n_threads)
            own = [columns[feature - first] for feature in features]
            _bin_columns(own, features, masses, max_bins, n_threads, rows, binned)
            del columns, own
    return binned


def _bin_columns(
    columns: Sequence[np.ndarray],
    features: Sequence[int],
    masses: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    rows: Agreement | None,
    binned: Bins,
) -> None:
    """Write the bins of a few columns, which are these features."""
    codes = _codes(binned.words)
    all_found = _all_thresholds(columns, masses, max_bins, n_threads, rows)
    for feature, (found, missing) in zip(features, all_found, strict=True):
        binned.thresholds[feature, : len(found)] = found
        binned.n_thresholds[feature], binned.n_cuts[feature] = len(found), len(found) + missing

    def encode(place: int) -> None:
        feature = features[place]
        _encode(columns[place], binned.thresholds[feature], codes[feature // GROUP, :, feature % GROUP])

    threads.each(encode, len(features), n_threads)


def _codes(words: np.ndarray) -> np.ndarray:
    """(groups, n, 8): the bins in the words, as little-endian machines have them."""
    return words.view(np.uint8).reshape(*words.shape, GROUP)


def _columns(X: np.ndarray | Taken, first: int, last: int, n_threads: int) -> np.ndarray:
    """A few columns, each in one piece. A row's numbers lie together, so they are read once for all of them."""
    table, taken = (X.table, X.rows) if isinstance(X, Taken) else (X, None)
    part = table[:, first:last]
    if taken is None and part.flags.f_contiguous:
        return part.T
    out = np.empty((last - first, len(X)), dtype=X.dtype)

    def some(start: int, stop: int) -> None:
        if taken is None:
            _transpose(part[start:stop], out[:, start:stop])
            return
        for rows in portions(start, stop):
            out[:, rows] = part[taken[rows]].T

    threads.over_blocks(some, len(X), n_threads)
    return out


@kernel
def _transpose(part, out):
    for first in range(0, part.shape[0], 64):
        for j in range(part.shape[1]):
            for i in range(first, min(first + 64, part.shape[0])):
                out[j, i] = part[i, j]


def category_bins(
    column: np.ndarray, masses: np.ndarray | None, max_bins: int, rows: Agreement | None = None
) -> tuple[np.ndarray, int, bool]:
    """The bin of every code of a column up to its largest, the number of bins, and whether values are missing.

    Up to `max_bins` categories get a bin each, in the order of their codes. Of more, the max_bins - 1 heaviest,
    of equals the lower codes, and the others share the last bin. `masses` are whole: the order of rows does not
    matter.
    """
    counts, missing = _category_masses(column, None, rows)
    if not len(counts):
        return np.empty(0, dtype=np.uint8), 0, True
    codes = np.flatnonzero(counts)
    kept = np.arange(len(codes))
    if len(codes) > max_bins:
        if masses is not None:
            counts, _ = _category_masses(column, masses, rows)
        kept = np.sort(np.argsort(-counts[codes], kind="stable")[: max_bins - 1])
    table = np.full(int(codes[-1]) + 1, MISSING, dtype=np.uint8)
    table[codes] = max_bins - 1
    table[codes[kept]] = np.arange(len(kept))
    return table, min(len(codes), max_bins), missing


def _category_masses(
    column: np.ndarray, masses: np.ndarray | None, rows: Agreement | None
) -> tuple[np.ndarray, bool]:
    """The rows of each code, or their mass, up to the largest code, and whether values are missing."""
    sums, missing = np.zeros(0, dtype=np.int64), False
    for part in mapped.blocks(len(column)):
        present = column[part] == column[part]
        codes = column[part][present].astype(np.int64)
        missing |= not present.all()
        sums = np.append(sums, np.zeros(max(0, codes.max(initial=-1) + 1 - len(sums)), dtype=np.int64))
        if masses is None:
            sums += np.bincount(codes, minlength=len(sums))
        else:
            np.add.at(sums, codes, masses[part][present])
    if rows is not None:
        size, missing = int(rows.most(len(sums))), bool(rows.most(missing))
        sums = rows.add(np.append(sums, np.zeros(size - len(sums), dtype=np.int64)))
    return sums, missing


def _bin_categories(
    X: np.ndarray | Taken,
    masses: np.ndarray | None,
    max_bins: int,
    columns: tuple[int, ...],
    binned: Bins,
    rows: Agreement | None,
) -> Categories:
    """Bin these columns of X as categories, in place of the numbers they were binned as."""
    first = np.full(X.shape[1], -1, dtype=np.int64)
    size = np.zeros(X.shape[1], dtype=np.int64)
    tables = [np.empty(0, dtype=np.uint8)]
    entries = _codes(binned.words)
    for f in columns:
        column = X[:, f]
        table, n_bins, missing = category_bins(column, masses, max_bins, rows)
        first[f], size[f] = sum(map(len, tables)), len(table)
        tables.append(table)
        for part in mapped.blocks(len(column)):
            present = column[part] == column[part]
            out = np.full(len(present), MISSING, dtype=np.uint8)
            out[present] = table[column[part][present].astype(np.int64)]
            entries[f // GROUP, part, f % GROUP] = out
        binned.n_cuts[f] = max(0, n_bins + missing - 1)
    return Categories(first, size, np.concatenate(tables))
