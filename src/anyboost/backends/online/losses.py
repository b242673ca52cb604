"""Losses as numbered functions of (code, parameters, score, target), so that a loop can inline them.

They repeat `anyboost.losses` number by number; tests hold the two together.
"""

import math

from anyboost.backends.compiler import part

SQUARED, ABSOLUTE, QUANTILE, HUBER, EXPECTILE = 0, 1, 2, 3, 4
LOGISTIC, HINGE, SQUARED_HINGE, EXPONENTIAL = 5, 6, 7, 8
POISSON, GAMMA, TWEEDIE = 9, 10, 11
SOFTMAX, MULTICLASS_HINGE, MULTI_QUANTILE = 12, 13, 14
OTHER = 15  # known to Python only
CODES = {
    "Squared": SQUARED,
    "Absolute": ABSOLUTE,
    "Quantile": QUANTILE,
    "Huber": HUBER,
    "Expectile": EXPECTILE,
    "Logistic": LOGISTIC,
    "Hinge": HINGE,
    "SquaredHinge": SQUARED_HINGE,
    "Exponential": EXPONENTIAL,
    "Poisson": POISSON,
    "Gamma": GAMMA,
    "Tweedie": TWEEDIE,
    "Softmax": SOFTMAX,
    "MulticlassHinge": MULTICLASS_HINGE,
    "MultiQuantile": MULTI_QUANTILE,
}


@part
def squared_slope(score, y):
    return score - y


@part
def squared_value(score, y):
    return 0.5 * (score - y) * (score - y)


@part
def slope(code, parameter, score, y):
    """A subgradient in the score."""
    if code == SQUARED:
        return squared_slope(score, y)
    if code <= EXPECTILE:
        return _slope_at_gap(code, parameter, score - y)
    if code <= EXPONENTIAL:
        return _slope_at_margin(code, score * y) * y
    power = 1.0 if code == POISSON else 2.0 if code == GAMMA else parameter
    up = math.exp((2.0 - power) * score)
    return up if y == 0.0 else up - y * math.exp((1.0 - power) * score)


@part
def _slope_at_gap(code, parameter, gap):
    if code == HUBER:
        return min(max(gap, -parameter), parameter)
    if code == EXPECTILE:
        return 2.0 * (1.0 - parameter if gap > 0.0 else parameter) * gap
    if gap == 0.0:
        return 0.0
    if code == ABSOLUTE:
        return 1.0 if gap > 0.0 else -1.0
    return 1.0 - parameter if gap > 0.0 else -parameter


@part
def _slope_at_margin(code, margin):
    if code == LOGISTIC:
        if margin >= 0.0:
            small = math.exp(-margin)
            return -small / (1.0 + small)
        return -1.0 / (1.0 + math.exp(margin))
    if code == EXPONENTIAL:
        return -math.exp(-margin)
    if margin >= 1.0:
        return 0.0
    return -1.0 if code == HINGE else margin - 1.0


@part
def value(code, parameter, score, y):
    """The loss."""
    if code == SQUARED:
        return squared_value(score, y)
    if code <= EXPECTILE:
        return _value_at_gap(code, parameter, score - y)
    if code <= EXPONENTIAL:
        return _value_at_margin(code, score * y)
    if code == POISSON:
        return math.exp(score) - y * score
    if code == GAMMA:
        return y * math.exp(-score) + score
    down = 0.0 if y == 0.0 else y * math.exp((1.0 - parameter) * score)
    return down / (parameter - 1.0) + math.exp((2.0 - parameter) * score) / (2.0 - parameter)


@part
def _value_at_gap(code, parameter, gap):
    if code == ABSOLUTE:
        return abs(gap)
    if code == QUANTILE:
        return (1.0 - parameter) * gap if gap > 0.0 else -parameter * gap
    if code == HUBER:
        near = min(abs(gap), parameter)
        return near * (abs(gap) - 0.5 * near)
    return (1.0 - parameter if gap > 0.0 else parameter) * gap * gap


@part
def _value_at_margin(code, margin):
    if code == LOGISTIC:
        return math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
    if code == EXPONENTIAL:
        return math.exp(-margin)
    short = max(1.0 - margin, 0.0)
    return short if code == HINGE else 0.5 * short * short


@part
def slopes_of(code, taus, scores, y, out):
    """A subgradient in each of several scores."""
    outputs = len(scores)
    if code == MULTI_QUANTILE:
        for k in range(outputs):
            out[k] = _slope_at_gap(QUANTILE, taus[k], scores[k] - y)
        return
    label = int(y)
    if code == SOFTMAX:
        top = scores[0]
        for k in range(1, outputs):
            top = max(top, scores[k])
        total = 0.0
        for k in range(outputs):
            out[k] = math.exp(scores[k] - top)
            total += out[k]
        rest = 0.0
        for k in range(outputs):
            out[k] /= total
            if k != label:
                rest += out[k]
        out[label] = -rest
        return
    best, highest = 0, -math.inf
    for k in range(outputs):
        raised = scores[k] + (0.0 if k == label else 1.0)
        out[k] = 0.0
        if raised > highest:
            best, highest = k, raised
    out[best] += 1.0
    out[label] -= 1.0


@part
def value_of(code, taus, scores, y):
    """The loss of several scores."""
    outputs = len(scores)
    if code == MULTI_QUANTILE:
        total = 0.0
        for k in range(outputs):
            total += _value_at_gap(QUANTILE, taus[k], scores[k] - y)
        return total
    label = int(y)
    top = -math.inf
    for k in range(outputs):
        top = max(top, scores[k] + (1.0 if code == MULTICLASS_HINGE and k != label else 0.0))
    if code == MULTICLASS_HINGE:
        return top - scores[label]
    total = 0.0
    for k in range(outputs):
        total += math.exp(scores[k] - top)
    return math.log(total) + (top - scores[label])
