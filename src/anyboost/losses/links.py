"""Links: from raw scores to predictions (a mean or a label) and, where they exist, probabilities.

Labels: +1 where the score is above 0, else -1; the largest score's class, the lowest number on ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anyboost.checks import Array, Floats
from anyboost.losses.elementary import exp_each


@dataclass(frozen=True)
class Link:
    """`predict` maps scores to predictions; `probabilities` to (n, K), None where the loss has none."""

    predict: Callable[[Floats], Array]
    probabilities: Callable[[Floats], Floats] | None = None
    instead: str = "use logistic for two classes or softmax for several"


def identity(scores: Floats) -> Floats:
    return scores


def exponential(scores: Floats) -> Floats:
    return exp_each(scores)


def sign(scores: Floats) -> Floats:
    return np.where(scores > 0, 1.0, -1.0)


def largest(scores: Floats) -> Array:
    return np.argmax(scores, axis=-1)


def increasing(scores: Floats) -> Floats:
    return np.sort(scores, axis=-1)


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)) without overflow, relatively exact in both tails."""
    small = exp_each(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def softmax(scores: Floats) -> Floats:
    powers = exp_each(scores - scores.max(axis=-1, keepdims=True))
    with np.errstate(under="ignore"):
        return powers / powers.sum(axis=-1, keepdims=True)


def _two_columns(plus: Floats, minus: Floats) -> Floats:
    return np.stack([minus, plus], axis=-1)


def _logistic(scores: Floats) -> Floats:
    return _two_columns(sigmoid(scores), sigmoid(-scores))


def _half_logistic(scores: Floats) -> Floats:
    return _logistic(2.0 * scores)


def _clipped(scores: Floats) -> Floats:
    plus = np.clip((1.0 + scores) / 2.0, 0.0, 1.0)
    return _two_columns(plus, 1.0 - plus)


IDENTITY = Link(identity)
LOG = Link(exponential)
SORTED = Link(increasing)
SIGN = Link(sign, instead="use logistic instead")
SIGN_LOGISTIC = Link(sign, _logistic)
SIGN_HALF_LOGISTIC = Link(sign, _half_logistic)
SIGN_CLIPPED = Link(sign, _clipped)
LARGEST = Link(largest, instead="use softmax instead")
LARGEST_SOFTMAX = Link(largest, softmax)


def common(links: list[Link]) -> Link:
    """The link all terms share; the identity where their predictions differ."""
    first = links[0]
    if all(link == first for link in links):
        return first
    if all(link.predict == first.predict for link in links):
        return Link(first.predict, instead=first.instead)
    return IDENTITY
