"""Draws of the measure: which part of a sample a projection sees, and which part is held out.

    key = mix(seed, x, y, group, offset, j),     j = 0, 1, ... the number of the copy among equal rows
    drawn for a projection:   the units with mix(key, salt) < fraction * 2^64,    salt = mix(seed, round, projection)
    held out:                 the units of smallest key, up to a share

Units are drawn, not rows: a row of whole weight m is m units, any other row is one. So a draw depends on the measure
alone: not on the order of the rows, nor on the parts they lie in, nor on how weight is shared out among equal ones.
-0.0 is 0.0, all NaN are one, and numbers of 32 bits are those of 64.
"""

import hashlib
import math
from typing import Any

import numpy as np

from anyboost.backends import mapped
from anyboost.backends.arrays import ArrayPool, by_row
from anyboost.trees.parts import Moved, circle, distinct, rows_of
from anyboost.trees.rows import Rows

# Each draw looks at every unit: in a sample of more than so many, each row is one
MOST_UNITS = 2**24

# Where the columns of each part of a row are numbered from
_X, _Y, _GROUP, _OFFSET = (part << 40 for part in range(1, 5))
_WORD = 2**64 - 1


def mix(*numbers: int) -> int:
    """One word of 64 bits made of several whole numbers, in their order (by the finalizer of splitmix64)."""
    z = 0
    for number in numbers:
        z = ((z ^ (number & _WORD)) + 0x9E3779B97F4A7C15) & _WORD
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _WORD
        z ^= z >> 31
    return z


def some_numbers(count: int, of: int, salt: int) -> np.ndarray:
    """`count` of the numbers 0 .. of - 1, in order: those with the smallest mix(salt, number)."""
    from anyboost.backends.draws import smallest

    return smallest(count, of, salt)


class Units:
    """The units of a sample, with their keys.

    y, the labels of groups and the offsets are part of a row, where there are any: rows that differ in them are no
    copies of each other. The weight is not.
    """

    def __init__(
        self,
        seed: int,
        X: Any,
        y: np.ndarray,
        weights: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        n_threads: int = 1,
        rows: Rows | None = None,
    ) -> None:
        from anyboost.backends.draws import add_words, unit_keys

        words = mapped.zeros((X.shape[0], 2), np.uint64, "C", beside=X)
        add_words(X, _X, words, n_threads)
        add_words(_columns(y), _Y, words, n_threads)
        if groups is not None:
            # As whole numbers that a float64 holds
            add_words(_columns(label_words(groups) >> np.uint64(12)), _GROUP, words, n_threads)
        if offset is not None:
            add_words(_columns(offset), _OFFSET, words, n_threads)
        self.n, self.n_threads = len(words), n_threads
        self.rows: Rows = rows_of(self.n, n_threads) if rows is None else rows
        # Of each row, and whether any row of any part is several
        self.counts = np.broadcast_to(np.int64(1), self.n)  # which takes no memory
        if weights is not None:
            self.counts = mapped.zeros((self.n,), np.int64, beside=X)
            self.counts[:] = unit_counts(weights, self.rows)
        self.several = bool(self.rows.most(self.counts.max(initial=1)) > 1)
        self.weights = None if weights is None else weights / self.counts  # of a unit of each row
        # The units of row i are _ends[i] .. _ends[i + 1], and _owners their rows; empty where each row is one
        several = self.counts if self.several else self.counts[:0]
        self._ends = np.cumsum(np.append(0, several)) if len(several) else several
        self._owners = np.repeat(np.arange(len(several), dtype=np.uint32), several)
        copies = _copies(words, self.counts, self.weights, self.rows)
        self.keys = unit_keys(words, copies, self._ends, mix(seed), n_threads)

    def drawn(
        self, fraction: float, salt: int, arrays: ArrayPool | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many units of each row are drawn, about this fraction of all, and the rows with any, in order.

        One unit at least, in all parts together.
        """
        from anyboost.backends.draws import draw, least

        units = (self.keys, self._ends, self._owners)
        counts, rows = draw(*units, salt, fraction, self.n_threads, arrays or ArrayPool())
        if not self.rows.add(len(rows)):
            row, word = least(self.keys, self._owners, salt) if len(self.keys) else (0, ~np.uint64(0))
            if word == ~self.rows.most(~word) and len(self.keys):
                counts[row], rows = 1, np.array([row], dtype=np.uint32)
        return counts, rows

    def held_out(self, share: float, strata: np.ndarray | None = None) -> np.ndarray:
        """How many units of each row are held out: those of smallest key, a share of all and of each stratum.

        One unit at least, where any stratum has two; in each stratum one stays.
        """
        from anyboost.backends.draws import count_smallest

        n_strata, stratum = 1, np.empty(0, dtype=np.int64)
        if strata is not None:
            labels, stratum = distinct(strata)
            n_strata = len(labels)
        own = np.bincount(stratum, self.counts, n_strata) if strata is not None else [self.counts.sum()]
        sizes = self.rows.add(np.array(own, dtype=np.int64))
        wanted = np.array(_share_out(share, sizes), dtype=np.int64)
        return count_smallest(self.keys, self._owners, stratum, wanted, self.n, self.rows)

    def folds(self, count: int, strata: np.ndarray | None = None) -> np.ndarray:
        """(count, n): how many units of each row each fold holds out; by their keys, of each stratum in turn.

        The only unit of a stratum is never held out.
        """
        row = self._owners if len(self._owners) else np.arange(self.n)
        labels, stratum = (np.zeros(1), np.zeros(self.n, np.intp)) if strata is None else distinct(strata)
        fold = _dealt(self.keys, stratum[row], len(labels), count)
        out = [row[fold == number] for number in range(count)]
        return np.stack([np.bincount(rows, minlength=self.n) for rows in out])


def _dealt(keys: np.ndarray, stratum: np.ndarray, n_strata: int, count: int) -> np.ndarray:
    """The fold of each unit: all are dealt in turn, stratum by stratum, by their keys; `count` for the only of its own.

    Units of several parts meet in the part that their key names: each part deals a share of the keys.
    """
    others = circle()
    moved = Moved(_share(keys, others.size))
    keys, stratum = moved.there(keys), moved.there(stratum)
    order = np.lexsort((keys, stratum))
    counts = np.array(others.all_of(np.bincount(stratum, minlength=n_strata)))
    own, total = counts[others.place], counts.sum(axis=0)
    # Of each stratum: those of the strata before it, and of its smaller keys, less those before it here
    before = np.cumsum(total) - total + counts[: others.place].sum(axis=0) - (np.cumsum(own) - own)
    fold = np.empty(len(keys), dtype=np.intp)
    fold[order] = (np.arange(len(keys)) + before[stratum[order]]) % count
    fold[total[stratum] == 1] = count
    return moved.back(fold)


def _share(words: np.ndarray, size: int) -> np.ndarray:
    """Into which of so many equal shares of all words each falls."""
    return (((words >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)).astype(np.intp)


def labels_held_out(seed: int, labels: np.ndarray, share: float) -> np.ndarray:
    """Which rows are held out: all that have a label of smallest mix(seed, label), up to a share of the labels."""
    found, label = distinct(labels)
    keys = [mix(seed, word) for word in label_words(found).tolist()]
    held_out = np.zeros(len(found), dtype=np.bool_)
    count = min(math.ceil(share * len(found)), len(found) - 1)
    held_out[np.argsort(np.array(keys, dtype=np.uint64))[:count]] = True
    return held_out[label]


def label_folds(seed: int, labels: np.ndarray, count: int) -> np.ndarray:
    """The fold of each row: labels in the order of mix(seed, label) are dealt in turn, all rows of one together."""
    found, label = distinct(labels)
    keys = [mix(seed, word) for word in label_words(found).tolist()]
    fold = np.empty(len(found), dtype=np.intp)
    fold[np.argsort(np.array(keys, dtype=np.uint64))] = np.arange(len(found)) % count
    return fold[label]


def label_words(labels: np.ndarray) -> np.ndarray:
    """A word of 64 bits for each label, a number or a name, made of nothing but the label."""
    found, code = np.unique(labels, return_inverse=True)
    words = [_label_word(label) for label in found.tolist()]
    return np.array(words, dtype=np.uint64)[code.reshape(-1)]


def _label_word(label: Any) -> int:
    if isinstance(label, float) and not label.is_integer():
        return mix(int(np.float64(label).view(np.uint64)))
    if isinstance(label, int | float):
        return mix(int(label))  # the same for 3, 3.0 and True for 1
    return int.from_bytes(hashlib.blake2b(str(label).encode(), digest_size=8).digest(), "little")


def _columns(values: np.ndarray) -> np.ndarray:
    return by_row(np.ascontiguousarray(values, dtype=np.float64))


def unit_counts(weights: np.ndarray, rows: Rows) -> np.ndarray:
    """How many units each row is."""
    counts = np.where(weights == np.floor(weights), weights, 1.0)
    if rows.add(int(min(counts.sum(), 2.0**53))) > MOST_UNITS:
        counts = np.ones(len(weights))
    return counts.astype(np.int64)


def _copies(words: np.ndarray, counts: np.ndarray, weights: np.ndarray | None, rows: Rows) -> np.ndarray:
    """How many units of equal rows, of all parts, come before those of each row.

    Rows of several parts meet in the part that their word names: each part looks at a share of the words.
    """
    others = circle()
    if others.size == 1:
        return _copies_here(words, counts, weights)
    moved = Moved(_share(words[:, 0], others.size))
    there = moved.there(words)
    if not rows.most(int(_any_equal(there))):
        return np.zeros(len(words), dtype=np.int64)
    weights = None if weights is None else moved.there(weights)
    return moved.back(_copies_here(there, moved.there(counts), weights))


def _copies_here(words: np.ndarray, counts: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The same where all rows that may be equal are here.

    Who comes first makes no difference among rows of whole weight, for their units are alike. Rows of other weights
    come after those, the lighter ones first: else it would hang on the order of the rows which of them is drawn. Rows
    are equal where both words are (see `backends.draws`).
    """
    copies = mapped.zeros((len(words),), np.int64, beside=words)
    if not _any_equal(words):
        return copies
    order = np.argsort(words[:, 0])
    high = words[order, 0]
    same = high[1:] == high[:-1]
    some = np.sort(
        order[np.append(same, False) | np.append(False, same)]
    )  # alike in all, they keep their order
    own = counts[some]
    unit = np.ones(len(some)) if weights is None else weights[some]
    # Of equal rows, those whose units weigh one come first
    turn = np.lexsort((unit, unit != 1.0, words[some, 1], words[some, 0]))
    some, own = some[turn], own[turn]
    before = np.cumsum(own) - own
    begins = np.append(True, (words[some[1:]] != words[some[:-1]]).any(axis=1))
    copies[some] = before - np.maximum.accumulate(np.where(begins, before, 0))
    return copies


def _any_equal(words: np.ndarray) -> bool:
    high = mapped.zeros((len(words),), np.uint64, beside=words)
    high[:] = words[:, 0]
    high.sort()
    return any((high[part][1:] == high[part][:-1]).any() for part in mapped.blocks(len(high), overlap=1))


def _share_out(share: float, sizes: np.ndarray) -> list[int]:
    """How many of each stratum: a share of all, rounded up, by largest remainders, the earlier stratum first."""
    total = int(sizes.sum())
    wanted = min(math.ceil(share * total), total - 1)
    parts = [divmod(wanted * int(size), total) for size in sizes]
    by_remainder = sorted(range(len(parts)), key=lambda stratum: -parts[stratum][1])
    more = set(by_remainder[: wanted - sum(part for part, _ in parts)])
    return [
        min(part + (stratum in more), int(size) - 1)
        for stratum, ((part, _), size) in enumerate(zip(parts, sizes, strict=True))
    ]
