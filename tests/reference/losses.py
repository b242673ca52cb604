"""Convex losses a row at a time: value(f, y) and one subgradient in f, plus best constants.

R[f] = sum_n w_n value(f_n, y_n) with sum w = 1; its gradient in L2(P) is the row subgradient itself,
without the weight and without 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

EQUAL = 1e-9  # relative: quantities this close count as equal


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def squared(f, y):
    return 0.5 * (y - f) ** 2


def squared_subgradient(f, y):
    return f - y


def absolute(f, y):
    return abs(y - f)


def absolute_subgradient(f, y):
    """Zero at the kink."""
    return float(f > y) - float(f < y)


def quantile(f, y, tau=0.5):
    return tau * (y - f) if y > f else (1 - tau) * (f - y)


def quantile_subgradient(f, y, tau=0.5):
    """Zero at the kink, as for the absolute loss, of which tau = 1/2 is one half."""
    if f == y:
        return 0.0
    return 1 - tau if f > y else -tau


def huber(f, y, delta=1.0):
    r = abs(y - f)
    return 0.5 * r * r if r <= delta else delta * (r - 0.5 * delta)


def huber_subgradient(f, y, delta=1.0):
    return min(max(f - y, -delta), delta)


def expectile(f, y, tau=0.5):
    """|tau - 1{y < f}| (y - f)^2: not halved, so tau = 1/2 is the half squared error."""
    return abs(tau - float(y < f)) * (y - f) ** 2


def expectile_subgradient(f, y, tau=0.5):
    return 2 * abs(tau - float(y < f)) * (f - y)


def poisson(f, y):
    """Negative log likelihood with mean e^f, without the terms that do not hold f."""
    return _exp(f) - y * f


def poisson_subgradient(f, y):
    return _exp(f) - y


def gamma(f, y):
    """Negative log likelihood with mean e^f and shape one, without the terms that do not hold f."""
    return y * _exp(-f) + f


def gamma_subgradient(f, y):
    return 1 - y * _exp(-f)


def tweedie(f, y, power=1.5):
    """1 < power < 2, mean e^f: half the deviance without the terms that do not hold f."""
    return y * _exp((1 - power) * f) / (power - 1) + _exp((2 - power) * f) / (2 - power)


def tweedie_subgradient(f, y, power=1.5):
    return _exp((2 - power) * f) - y * _exp((1 - power) * f)


def logistic(f, y):
    m = y * f
    return math.log1p(math.exp(-m)) if m > 0 else math.log1p(math.exp(m)) - m


def logistic_subgradient(f, y):
    return -y / (1 + _exp(y * f))


def hinge(f, y):
    return max(0.0, 1 - y * f)


def hinge_subgradient(f, y):
    """Zero at margin one and beyond."""
    return -y if y * f < 1 else 0.0


def squared_hinge(f, y):
    return 0.5 * max(0.0, 1 - y * f) ** 2


def squared_hinge_subgradient(f, y):
    return -y * max(0.0, 1 - y * f)


def exponential(f, y):
    return _exp(-y * f)


def exponential_subgradient(f, y):
    return -y * _exp(-y * f)


def softmax(f, y):
    top = max(f)
    return top + math.log(sum(math.exp(v - top) for v in f)) - f[int(y)]


def softmax_subgradient(f, y):
    top = max(f)
    e = [math.exp(v - top) for v in f]
    return [v / sum(e) - float(k == int(y)) for k, v in enumerate(e)]


def multiclass_hinge(f, y):
    """Crammer-Singer: max_k (1{k != y} + f_k) - f_y."""
    return max(float(k != int(y)) + v for k, v in enumerate(f)) - f[int(y)]


def multiclass_hinge_subgradient(f, y):
    """e_k - e_y with k the lowest index among the maximisers of 1{k != y} + f_k, y itself included."""
    augmented = [float(k != int(y)) + v for k, v in enumerate(f)]
    g = [0.0] * len(f)
    g[augmented.index(max(augmented))] += 1.0
    g[int(y)] -= 1.0
    return g


LOSSES: dict[str, tuple[Callable, Callable]] = {
    "squared": (squared, squared_subgradient),
    "absolute": (absolute, absolute_subgradient),
    "quantile": (quantile, quantile_subgradient),
    "huber": (huber, huber_subgradient),
    "expectile": (expectile, expectile_subgradient),
    "poisson": (poisson, poisson_subgradient),
    "gamma": (gamma, gamma_subgradient),
    "tweedie": (tweedie, tweedie_subgradient),
    "logistic": (logistic, logistic_subgradient),
    "hinge": (hinge, hinge_subgradient),
    "squared_hinge": (squared_hinge, squared_hinge_subgradient),
    "exponential": (exponential, exponential_subgradient),
    "softmax": (softmax, softmax_subgradient),
    "multiclass_hinge": (multiclass_hinge, multiclass_hinge_subgradient),
}
VECTOR_LOSSES = {"softmax", "multiclass_hinge"}


def resolve(loss) -> tuple[Callable, Callable]:
    """(value, subgradient) of a name, of a name with its parameter ("quantile:0.9"), or of such a pair."""
    if not isinstance(loss, str):
        return loss
    name, _, parameter = loss.partition(":")
    value, subgradient = LOSSES[name]
    if not parameter:
        return value, subgradient
    p = float(parameter)
    return (lambda f, y: value(f, y, p)), (lambda f, y: subgradient(f, y, p))


def normalised(weights, n: int) -> np.ndarray:
    """The measure: weights (None is one a row) divided by their sum."""
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    return w / w.sum()


def mean_loss(loss, f, y, weights=None) -> float:
    """R[f], over the rows of positive weight."""
    value, _ = resolve(loss)
    w = normalised(weights, len(y))
    return math.fsum(w[n] * value(_row(f[n]), float(y[n])) for n in range(len(y)) if w[n] > 0)


def gradient(loss, f, y) -> np.ndarray:
    """The subgradient of R at f in L2(P), of the shape of f: no weights, no 1/n."""
    _, subgradient = resolve(loss)
    return np.array([subgradient(_row(f[n]), float(y[n])) for n in range(len(y))], dtype=float)


def _row(f):
    return f.tolist() if isinstance(f, np.ndarray) else float(f)


def minimise_on_line(loss, f, y, weights=None) -> float:
    """The midpoint of the interval of s that minimises sum_n w_n value(f_n + s, y_n), scalar losses.

    The slope in s is monotone, so both ends of the interval are found by bisection. A slope below
    1e-12 of the size of its terms counts as zero. An interval with one finite end (hinge, one class) gives
    that end. Without a minimiser (logistic, one class) the answer is where the slope underflows, some
    hundreds away, and means only that.
    """
    _, subgradient = resolve(loss)
    w = normalised(weights, len(y))
    rows = [(float(f[n]), float(y[n]), float(w[n])) for n in range(len(y)) if w[n] > 0]

    def slope(s: float) -> float:
        terms = [w_n * subgradient(f_n + s, y_n) for f_n, y_n, w_n in rows]
        total = math.fsum(terms)
        return 0.0 if abs(total) <= 1e-12 * math.fsum(abs(v) for v in terms) else total

    lowest = _first_true(lambda s: slope(s) >= 0)
    highest = -_first_true(lambda s: slope(-s) <= 0)
    if math.isinf(lowest) or math.isinf(highest):
        return highest if math.isinf(lowest) else lowest
    return lowest + 0.5 * (highest - lowest)


def _first_true(predicate: Callable[[float], bool]) -> float:
    """inf{s: predicate(s)} of a predicate that stays true once it is true; -inf or +inf at the ends."""
    high = 1.0
    while not predicate(high):
        high *= 2
        if high > 1e18:
            return math.inf
    low = -1.0
    while predicate(low):
        low *= 2
        if low < -1e18:
            return -math.inf
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if predicate(middle) else (middle, high)
    return high


def best_constant(loss: str, y, weights=None, n_classes: int | None = None):
    """The best constant: a number, for softmax and multiclass hinge a vector.

    Scalar losses: the midpoint of the minimising interval. Softmax: the log frequencies.
    Multiclass hinge: zero, unless one class j holds more than half of the weight; then e_j, of loss
    2 (1 - p_j). No other constant is better: let c_j be the largest entry and g >= 0 its lead over the next;
    then the loss is at least p_j (1 - g)+ + (1 - p_j) (1 + g), which e_j attains at g = 1.
    """
    if loss not in VECTOR_LOSSES:
        return minimise_on_line(loss, np.zeros(len(y)), y, weights)
    w = normalised(weights, len(y))
    k = int(np.max(y)) + 1 if n_classes is None else n_classes
    p = np.array([w[np.asarray(y) == j].sum() for j in range(k)])
    if loss == "softmax":
        return np.array([math.log(v) if v > 0 else -math.inf for v in p])
    return np.where(p > 0.5 * (1 + EQUAL), 1.0, 0.0)
