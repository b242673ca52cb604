"""What Cox's model adds to hazard ratios: Breslow's baseline H, and chances S(t | x) = exp(-H(t) exp(f(x)))."""

import math

import numpy as np

from anyboost.losses.elementary import exp_each
from anyboost.losses.leaves import Leaves
from anyboost.trees.parts import circle, on_ones_own

Hazard = tuple[np.ndarray, np.ndarray]  # the times of events, and H after each


def hazard_of_all(y: np.ndarray, scores: np.ndarray, sample_weight: np.ndarray | None) -> Hazard:
    """The baseline of the rows of all parts."""
    gather = circle().gather
    everyone = gather(y), gather(scores), None if sample_weight is None else gather(sample_weight)
    with on_ones_own():
        return baseline_hazard(*everyone)


def baseline_hazard(y: np.ndarray, scores: np.ndarray, sample_weight: np.ndarray | None) -> Hazard:
    """Breslow: H(t) = sum over events up to t of w_i / sum over rows still at risk of w_j exp(f_j)."""
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    # Rows of one time are summed in any order, the times in theirs
    lengths, place = np.unique(np.abs(y), return_inverse=True)
    top = float(scores.max())
    ends = Leaves(place, len(lengths), weights).sums(exp_each(scores - top))
    risk, happened = np.cumsum(ends[::-1])[::-1], y > 0
    events = Leaves(place[happened], len(lengths), weights[happened]).masses()
    some = events > 0
    return lengths[some], np.cumsum(events[some] / risk[some]) * math.exp(-top)


def chances(times: np.ndarray, hazard: np.ndarray, asked: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """(n, asked): the chance of each row to be without an event after the times asked for."""
    so_far = np.append(0.0, hazard)[np.searchsorted(times, asked, side="right")]
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-np.exp(scores)[:, None] * so_far)
