"""Shapley values of sums of trees: how much each column adds to a score.

In the game of a leaf, of value v, a coalition S that keeps some players is worth v prod_j (o_j if j in S else r_j): o_j
is whether the row passes the tests of player j, r_j with what weight rows pass that leave it out. Averaged over all
orders in which players may join (Owen's multilinear extension),

    phi_i = v (o_i - r_i) int_0^1 prod_{j != i} (o_j t + r_j (1 - t)) dt

a polynomial in t, of which Gauss and Legendre's rule takes the integral exactly, and without differences of large
numbers at any depth. Rows left out go the way of the training rows (path-dependent), or of background rows given
(interventional), of which o and r are 0 or 1 and the integrals are factorials.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import bare, inlined
from anyboost.trees.predictor import as_kernel_input, entry_of

if TYPE_CHECKING:
    from anyboost.explain.games import Games

_BLOCK = 32  # rows that are looked at together, one after another in memory


@inlined(early=True)
def _passes(X, i, test, games):
    x = np.float64(X[i, games.column[test]])
    number = games.number[test]
    if number < 0:
        return games.missing[test] if x != x else not (x <= games.low[test]) and x <= games.high[test]
    return games.sets[number, entry_of(x, games.column[test], games.categories)]


@bare
def _look(X, games, leaf, begin, rows, passed):
    # passed[j, r] is 1 where row begin + r passes all tests of the leaf's player j.
    start = games.players[leaf]
    for p in range(start, games.players[leaf + 1]):
        for r in range(rows):
            good = True
            for test in range(games.tests[p], games.tests[p + 1]):
                good = good and _passes(X, begin + r, test, games)
            passed[p - start, r] = 1.0 if good else 0.0


@bare
def _integrate(weight, points, weights, passed, count, before, found):
    # found[j, r] = int prod_{i != j} (o_i t + r_i (1 - t)) dt over the first `count` players; `before` is for products
    # of those before j.
    rows = passed.shape[1]
    for j in range(count):
        for r in range(rows):
            found[j, r] = 0.0
    for q in range(points.shape[0]):
        t = points[q]
        for r in range(rows):
            before[0, r] = weights[q]
        for j in range(count - 1):
            stays = weight[j] * (1.0 - t)
            for r in range(rows):
                before[j + 1, r] = before[j, r] * (stays + passed[j, r] * t)
        for r in range(rows):
            before[count, r] = 1.0
        for j in range(count - 1, -1, -1):
            stays = weight[j] * (1.0 - t)
            for r in range(rows):
                found[j, r] += before[j, r] * before[count, r]
                before[count, r] *= stays + passed[j, r] * t


@bare
def _add_values(X, games, points, weights, firsts, start, stop, passed, before, found, out):
    for begin in range(start, stop, passed.shape[1]):
        rows = min(passed.shape[1], stop - begin)
        for leaf in range(games.value.shape[0]):
            first = games.players[leaf]
            count = games.players[leaf + 1] - first
            own = games.weight[first : first + count]
            rule = firsts[count]
            _look(X, games, leaf, begin, rows, passed)
            _integrate(
                own,
                points[rule : firsts[count + 1]],
                weights[rule : firsts[count + 1]],
                passed,
                count,
                before,
                found,
            )
            for j in range(count):
                for k in range(games.value.shape[1]):
                    value = games.value[leaf, k]
                    if value != 0.0:
                        for r in range(rows):
                            out[begin + r, games.player[first + j], k] += (
                                value * (passed[j, r] - own[j]) * found[j, r]
                            )


@bare
def _add_interactions(
    X, games, points, weights, firsts, start, stop, passed, others, shares, before, found, out
):
    # phi_ij = v/2 (o_i - r_i) (o_j - r_j) int prod of the others, for i != j.
    for begin in range(start, stop, passed.shape[1]):
        rows = min(passed.shape[1], stop - begin)
        for leaf in range(games.value.shape[0]):
            first = games.players[leaf]
            count = games.players[leaf + 1] - first
            _look(X, games, leaf, begin, rows, passed)
            if count < 2:
                continue
            rule, end = firsts[count - 1], firsts[count]
            for i in range(count):
                kept = 0
                for j in range(count):
                    if j != i:
                        shares[kept] = games.weight[first + j]
                        for r in range(rows):
                            others[kept, r] = passed[j, r]
                        kept += 1
                _integrate(shares[:kept], points[rule:end], weights[rule:end], others, kept, before, found)
                for place in range(kept):
                    j = place if place < i else place + 1
                    a, b = games.player[first + i], games.player[first + j]
                    for k in range(games.value.shape[1]):
                        half = 0.5 * games.value[leaf, k]
                        for r in range(rows):
                            edge = passed[i, r] - games.weight[first + i]
                            other = others[place, r] - shares[place]
                            out[begin + r, a, b, k] += half * edge * other * found[place, r]


@bare
def _add_by_background(X, games, background, table, start, stop, passed, behind, out):
    # Rows of the background in blocks, as rows are; table[a, b] = a! b! / (a + b + 1)!.
    share = 1.0 / background.shape[0]
    for leaf in range(games.value.shape[0]):
        first = games.players[leaf]
        count = games.players[leaf + 1] - first
        for second in range(0, background.shape[0], behind.shape[1]):
            others = min(behind.shape[1], background.shape[0] - second)
            _look(background, games, leaf, second, others, behind)
            for begin in range(start, stop, passed.shape[1]):
                rows = min(passed.shape[1], stop - begin)
                _look(X, games, leaf, begin, rows, passed)
                for r in range(rows):
                    for s in range(others):
                        mine, theirs, neither = 0, 0, 0
                        for j in range(count):
                            o, b = passed[j, r] > 0.0, behind[j, s] > 0.0
                            mine += o and not b
                            theirs += b and not o
                            neither += not (o or b)
                        if neither > 0 or mine + theirs == 0:
                            continue
                        up = share * table[mine - 1, theirs] if mine > 0 else 0.0
                        down = share * table[mine, theirs - 1] if theirs > 0 else 0.0
                        for j in range(count):
                            step = up * (passed[j, r] > behind[j, s]) - down * (passed[j, r] < behind[j, s])
                            if step != 0.0:
                                for k in range(games.value.shape[1]):
                                    out[begin + r, games.player[first + j], k] += step * games.value[leaf, k]


@bare
def _reach(X, games, asked, start, stop, out):
    for leaf in range(start, stop):
        for row in range(X.shape[0]):
            out[leaf, row] = 1.0
        for player in range(games.players[leaf], games.players[leaf + 1]):
            if asked[player]:
                for test in range(games.tests[player], games.tests[player + 1]):
                    for row in range(X.shape[0]):
                        if not _passes(X, row, test, games):
                            out[leaf, row] = 0.0


def reached(games: "Games", X: np.ndarray, asked: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """1 where a row passes all tests of those players of a leaf that are asked: (leaves, rows)."""
    table, out = as_kernel_input(X), np.empty((len(games.value), len(X)))

    def some(start: int, stop: int) -> None:
        _reach(table, games, asked, start, stop, out)

    threads.over_blocks(some, len(games.value), n_threads, smallest=_BLOCK)
    return out


def _rules(most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points and weights on [0, 1] of the rules for games of up to `most` players, and where each begins.

    The integrand of a game of d players has degree d - 1, for which ceil(d / 2) points are exact.
    """
    points, weights, firsts = [], [], [0, 0]
    for count in range(1, most + 1):
        nodes, shares = np.polynomial.legendre.leggauss((count + 1) // 2)
        points.append((nodes + 1) / 2)
        weights.append(shares / 2)
        firsts.append(firsts[-1] + len(nodes))
    nothing = [np.zeros(0)]
    return np.concatenate(points or nothing), np.concatenate(weights or nothing), np.array(firsts)


def values(games: "Games", X: np.ndarray, n_players: int, n_threads: int = 1) -> np.ndarray:
    """The path-dependent Shapley values of every player, (n, players, k)."""
    table, most = as_kernel_input(X), games.most_players
    rules = _rules(most)
    out = np.zeros((len(X), n_players, games.value.shape[1]))

    def some(start: int, stop: int) -> None:
        room = np.empty((most, _BLOCK)), np.empty((most + 1, _BLOCK)), np.empty((most, _BLOCK))
        _add_values(table, games, *rules, start, stop, *room, out)

    threads.over_blocks(some, len(X), n_threads, smallest=_BLOCK)
    return out


def interactions(games: "Games", X: np.ndarray, n_players: int, n_threads: int = 1) -> np.ndarray:
    """The path-dependent Shapley interactions, (n, players, players, k): half of a pair's each, own values inside."""
    table, most = as_kernel_input(X), games.most_players
    rules = _rules(most)
    out = np.zeros((len(X), n_players, n_players, games.value.shape[1]))

    def some(start: int, stop: int) -> None:
        room = np.empty((most, _BLOCK)), np.empty((most, _BLOCK)), np.empty(most)
        more = np.empty((most + 1, _BLOCK)), np.empty((most, _BLOCK))
        _add_interactions(table, games, *rules, start, stop, *room, *more, out)

    threads.over_blocks(some, len(X), n_threads, smallest=_BLOCK)
    own = values(games, X, n_players, n_threads) - out.sum(axis=2)
    diagonal = np.arange(n_players)
    out[:, diagonal, diagonal] += own
    return out


def values_by_background(
    games: "Games", X: np.ndarray, background: np.ndarray, n_players: int, n_threads: int = 1
) -> np.ndarray:
    """The interventional Shapley values of every player, (n, players, k): those left out are as background rows."""
    table, behind, most = as_kernel_input(X), as_kernel_input(background), games.most_players
    factorials = np.array(
        [
            [math.factorial(a) * math.factorial(b) / math.factorial(a + b + 1) for b in range(most + 1)]
            for a in range(most + 1)
        ]
    )
    out = np.zeros((len(X), n_players, games.value.shape[1]))

    def some(start: int, stop: int) -> None:
        room = np.empty((most, _BLOCK)), np.empty((most, _BLOCK))
        _add_by_background(table, games, behind, factorials, start, stop, *room, out)

    threads.over_blocks(some, len(X), n_threads, smallest=_BLOCK)
    return out
