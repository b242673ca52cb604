"""How good a ranking is: NDCG, mean average precision, and the share of pairs in the wrong order.

A query (`qid`) in which nothing is relevant (every grade 0) cannot be ranked well or badly. By convention it is
left out of NDCG and MAP; `empty=0.0` or `empty=1.0` counts it as that instead. Rows of equal score: NDCG is the
mean over their orders, MAP takes the worst one, a pair of them is half wrong. So the order of rows does not matter.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks

_CHUNK = 1 << 22  # pairs looked at together


def ndcg(
    y: Any,
    scores: Any,
    qid: Any = None,
    k: int | None = None,
    empty: float | None = None,
    sample_weight: Any = None,
) -> float:
    """The mean over queries of DCG / the best DCG there is, gain 2^grade - 1, discount 1 / log2(rank + 1).

    Parameters
    ----------
    y : array_like (n,)
        Grades, 0 for what is not relevant.
    scores : array_like (n,)
        What rows are ranked by, the highest first.
    qid : array_like (n,) or None, default None
        The query of each row; None: one query.
    k : int or None, default None
        How many ranks count; None: all.
    empty : float or None, default None
        What a query without a relevant row counts as; None: it is left out.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows: a query counts by the mean of its rows'.

    Returns
    -------
    float
        The mean; NaN where no query counts.

    Examples
    --------
    >>> import anyboost as ab
    >>> round(ab.metrics.ndcg([2, 0, 1], [0.9, 0.5, 0.1]), 4)
    0.9639
    """
    grades, predicted, query = _checked(y, scores, qid, k)
    gains = np.exp2(grades) - 1.0
    order = np.lexsort((-predicted, query))
    ranked, of = gains[order], query[order]
    first = np.append(True, (of[1:] != of[:-1]) | (predicted[order][1:] != predicted[order][:-1]))
    tie = np.cumsum(first) - 1
    shared = np.bincount(tie, ranked) / np.bincount(tie)
    reached = np.bincount(of, shared[tie] * _discounts(of, k))
    best = np.lexsort((-gains, query))
    ideal = np.bincount(query[best], gains[best] * _discounts(query[best], k))
    weights = None
    if sample_weight is not None:
        weights = np.bincount(query, checks.sample_weight(sample_weight, len(grades))) / np.bincount(query)
    return _mean_over_queries(reached, ideal, empty, weights)


def average_precision(
    y: Any, scores: Any, qid: Any = None, k: int | None = None, empty: float | None = None
) -> float:
    """The mean over queries of the mean, over relevant rows, of the precision at their rank: MAP.

    Parameters
    ----------
    y : array_like (n,)
        Grades; those above 0 are relevant.
    scores : array_like (n,)
        What rows are ranked by, the highest first.
    qid : array_like (n,) or None, default None
        The query of each row; None: one query.
    k : int or None, default None
        Relevant rows beyond this rank count 0, and at most this many are asked for; None: all ranks count.
    empty : float or None, default None
        What a query without a relevant row counts as; None: it is left out.

    Returns
    -------
    float
        The mean; NaN where no query counts.

    Examples
    --------
    >>> import anyboost as ab
    >>> round(ab.metrics.average_precision([1, 0, 1], [0.9, 0.5, 0.1]), 4)
    0.8333
    """
    grades, predicted, query = _checked(y, scores, qid, k)
    relevant = grades > 0
    order = np.lexsort((relevant, -predicted, query))
    hits, of = relevant[order].astype(np.float64), query[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of))[:-1]])
    rank = np.arange(len(of)) - starts[of] + 1
    before = np.append(0.0, np.cumsum(hits))[starts]
    precision = (np.cumsum(hits) - before[of]) / rank
    within = hits if k is None else hits * (rank <= k)
    wanted = np.bincount(of, hits)
    if k is not None:
        wanted = np.minimum(wanted, k)
    return _mean_over_queries(np.bincount(of, within * precision), wanted, empty)


def disagreement(y: Any, scores: Any, qid: Any = None) -> float:
    """The share of pairs of a query, one row of higher grade than the other, that scores put in the wrong order.

    A pair of equal scores is half wrong. Queries without such a pair have no say.

    Parameters
    ----------
    y : array_like (n,)
        Grades.
    scores : array_like (n,)
        What rows are ranked by.
    qid : array_like (n,) or None, default None
        The query of each row; None: one query.

    Returns
    -------
    float
        The share; NaN where there is no pair.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.metrics.disagreement([2, 0, 1, 0], [0.9, 0.5, 0.1, 0.0])
    0.2
    """
    grades, predicted, query = _checked(y, scores, qid, None)
    wrong = pairs = 0.0
    for rows in _each_query(query):
        for part in _chunks(rows, len(rows)):
            higher = grades[part, None] > grades[rows]
            gap = np.sign(predicted[part, None] - predicted[rows])
            pairs += float(higher.sum())
            wrong += float((higher * (1.0 - gap)).sum()) / 2.0
    return wrong / pairs if pairs else float("nan")


def concordance(y: Any, scores: Any) -> float:
    """Harrell's C: of two rows of which one is known to fail first, how often it has the higher score.

    A pair of equal scores is half right.

    Parameters
    ----------
    y : array_like (n,)
        +time for an event, -time for a row last seen without one, as for the Cox loss.
    scores : array_like (n,)
        Higher for rows that fail sooner.

    Returns
    -------
    float
        The share; NaN where no two rows can be compared.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.metrics.concordance([1.0, 2.0, -3.0], [0.9, 0.1, 0.5])
    0.6666666666666666
    """
    times, predicted, _ = _checked(y, scores, None, None)
    event, length = times > 0, np.abs(times)
    right = pairs = 0.0
    for part in _chunks(np.flatnonzero(event), len(times)):
        outlives = (length[part, None] < length) | ((length[part, None] == length) & ~event)
        gap = np.sign(predicted[part, None] - predicted)
        pairs += float(outlives.sum())
        right += float((outlives * (1.0 + gap)).sum()) / 2.0
    return right / pairs if pairs else float("nan")


class Metric(NamedTuple):
    """A function of (y, scores, qid), and whether more of it is better.

    Attributes
    ----------
    value : callable
        The function.
    greater_is_better : bool
        Whether more of it is better.

    Examples
    --------
    >>> import anyboost as ab
    >>> metric = ab.metrics.get("ndcg@10")
    >>> metric.greater_is_better, metric.value([1, 0], [0.9, 0.1], None)
    (True, 1.0)
    """

    value: Callable[[Any, Any, Any], float]
    greater_is_better: bool


def get(name: str) -> Metric | None:
    """The metric of a name.

    Parameters
    ----------
    name : str
        "ndcg" or "map" (both with "@k" where only k ranks count), "disagreement" or "concordance".

    Returns
    -------
    Metric or None
        The metric; None where there is none of this name.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.metrics.get("disagreement").greater_is_better
    False
    """
    word, at, depth = name.partition("@")
    ranked = {"ndcg": ndcg, "map": average_precision}
    if word in ranked:
        if at and not depth.isdigit():
            raise ValueError(f"scoring {name!r} has no whole number after the @: write e.g. '{word}@10'")
        k = checks.count(int(depth), "k", least=1) if at else None
        return Metric(partial(ranked[word], k=k), True)
    if at:
        return None
    others = {
        "disagreement": Metric(disagreement, False),
        "concordance": Metric(lambda y, scores, _: concordance(y, scores), True),
    }
    return others.get(word)


def _checked(y: Any, scores: Any, qid: Any, k: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    grades, predicted = checks.column(y, "y"), checks.column(scores, "scores")
    checks.as_many(predicted, len(grades), "scores", of="y")
    if k is not None:
        checks.count(k, "k", least=1)
    if qid is None:
        return grades, predicted, np.zeros(len(grades), dtype=np.intp)
    labels = checks.labels(qid, "qid", len(grades))
    return grades, predicted, np.unique(labels, return_inverse=True)[1].ravel()


def _discounts(of: np.ndarray, k: int | None) -> np.ndarray:
    """1 / log2(rank + 1) for rows sorted by query, ranks counted from 1 in each; 0 beyond rank k."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(of))[:-1]])
    rank = np.arange(len(of)) - starts[of] + 1
    discounts = 1.0 / np.log2(rank + 1.0)
    return discounts if k is None else discounts * (rank <= k)


def _mean_over_queries(
    reached: np.ndarray, ideal: np.ndarray, empty: float | None, weights: np.ndarray | None = None
) -> float:
    counts = ideal > 0
    values = np.divide(reached, ideal, out=np.zeros(len(ideal)), where=counts)
    if empty is not None:
        values[~counts] = checks.fraction(empty, "empty")
        counts[:] = True
    if weights is None:
        return float(values[counts].mean()) if counts.any() else float("nan")
    total = weights[counts].sum()
    return float((values[counts] * weights[counts]).sum() / total) if total > 0 else float("nan")


def _each_query(query: np.ndarray) -> Iterator[np.ndarray]:
    order = np.argsort(query, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(query))[:-1])


def _chunks(rows: np.ndarray, others: int) -> Iterator[np.ndarray]:
    """Rows in parts, small enough to look at all their pairs with `others` at once."""
    size = max(1, _CHUNK // others)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
