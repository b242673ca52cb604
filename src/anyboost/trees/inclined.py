"""Leaves that slope: what a tree adds where its leaves are linear in some columns."""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined, kernel


class Slopes(NamedTuple):
    """Slopes of some leaves of a tree: a leaf is its value + sum of slope (u - center), u = (x - low) / width.

    An entry is a leaf, as a node number, and a column; entries lie in the order of their leaves. A column whose value
    is missing adds nothing. Where they are `clamped`, u is not taken beyond [0, 1].
    """

    node: np.ndarray  # (m,)
    feature: np.ndarray  # (m,)
    slope: np.ndarray  # (m, k)
    center: np.ndarray  # (m, k)
    low: np.ndarray  # (m,)
    width: np.ndarray  # (m,)
    clamped: bool

    def top(self, values: np.ndarray) -> float:
        """The largest |value| on the ranges of all leaves, of which the values (nodes, k) are these."""
        reach = np.abs(values)
        np.add.at(
            reach, self.node, np.abs(self.slope) * np.maximum(np.abs(self.center), np.abs(1 - self.center))
        )
        return float(reach.max(initial=0.0))


LOW, HIGH, SLOPES = range(3)  # columns of `Inclined.terms`: the first of the slopes; as many means follow


class Inclined(NamedTuple):
    """Slopes as kernels take them, those of node v from first[v] to end[v].

    A term has the ends of its range, infinite where it goes on, then each output's slope in units of x, and its mean of
    x: a row's numbers lie together. Leaves of a tree with fewer terms than least[tree] have ones that add nothing up to
    there: most rows then take as many, which the machine guesses, where guessing wrong costs as much as five terms.
    """

    first: np.ndarray
    end: np.ndarray
    least: np.ndarray
    feature: np.ndarray
    terms: np.ndarray  # (m, SLOPES + 2 k)


def incline(
    slopes: list[Slopes | None], coefficients: np.ndarray, nodes: list[np.ndarray]
) -> Inclined | None:
    """The slopes of some trees, each times its coefficient; nodes[tree] are the numbers that its nodes have now."""
    found = [
        (own, c, number)
        for own, c, number in zip(slopes, coefficients, nodes, strict=True)
        if own is not None
    ]
    if not found:
        return None
    node = np.concatenate([number[own.node] for own, _, number in found])
    order = np.argsort(node, kind="stable")
    counts = np.bincount(node, minlength=sum(map(len, nodes)))
    least = np.array([_usual(counts[number]) for number in nodes])
    room = counts.copy()
    for number, usual in zip(nodes, least, strict=True):
        room[number] = np.maximum(counts[number], usual)
    first = np.cumsum(room) - room
    places = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(len(node))
    given = np.concatenate([_terms(own, c) for own, c, _ in found])[order]
    feature, terms = np.zeros(room.sum(), dtype=np.uint32), np.zeros((room.sum(), given.shape[1]))
    means = (SLOPES + given.shape[1]) // 2
    terms[:, SLOPES:means] = -0.0  # adding it changes nothing, not the sign of a zero
    feature[places] = np.concatenate([own.feature for own, _, _ in found])[order]
    terms[places] = given
    ends = [part.astype(np.uint64) for part in (first, first + counts, least)]
    return Inclined(ends[0], ends[1], ends[2], feature, terms)


def _usual(counts: np.ndarray) -> int:
    """How many slopes the nodes that have some have: half of them have no more."""
    some = np.sort(counts[counts > 0])
    return int(some[len(some) // 2]) if len(some) else 0


def _terms(slopes: Slopes, coefficient: float) -> np.ndarray:
    low, width = slopes.low[:, None], slopes.width[:, None]
    ends = [low, low + width] if slopes.clamped else [np.full_like(low, -np.inf), np.full_like(low, np.inf)]
    return np.hstack([*ends, coefficient * slopes.slope / width, low + slopes.center * width])


@inlined(early=True)
def _within(x, low, high):
    x = x if x > low else low
    return x if x < high else high


@kernel
def _add_numbers(X, nodes, value, first, end, least, feature, terms, out):
    # As `add_terms`, for one output, whose sum stays in a register
    for r in range(nodes.size):
        node = np.uint64(nodes[r])
        e = first[node]
        stop = max(end[node], e + least)
        total = out[r, 0] + value[node, 0]
        while e < stop:
            x = np.float64(X[r, feature[e]])
            if x == x:
                total += terms[e, SLOPES] * (_within(x, terms[e, LOW], terms[e, HIGH]) - terms[e, SLOPES + 1])
            e += np.uint64(1)
        out[r, 0] = total


@kernel
def add_terms(X, nodes, value, first, end, least, feature, terms, out):
    # Arrays one by one: those of a tuple are counted as used in every row.
    outputs = out.shape[1]
    means = SLOPES + outputs
    if outputs == 1:
        _add_numbers(X, nodes, value, first, end, least, feature, terms, out)
        return
    for r in range(nodes.size):
        node = np.uint64(nodes[r])
        e = first[node]
        stop = max(end[node], e + least)
        for j in range(outputs):
            out[r, j] += value[node, j]
        while e < stop:
            x = np.float64(X[r, feature[e]])
            if x == x:
                x = _within(x, terms[e, LOW], terms[e, HIGH])
                for j in range(outputs):
                    out[r, j] += terms[e, SLOPES + j] * (x - terms[e, means + j])
            e += np.uint64(1)


@inlined(early=True)
def add_leaves(X, nodes, tree, value, slopes, out):
    # out (n, k) += what the tree is at the rows of X, which end in these nodes
    if slopes is None:
        for r in range(nodes.size):
            for j in range(out.shape[1]):
                out[r, j] += value[nodes[r], j]
    else:
        add_terms(
            X, nodes, value, slopes.first, slopes.end, slopes.least[tree], slopes.feature, slopes.terms, out
        )
