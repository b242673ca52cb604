"""Online boosting the slow, obvious way: Algorithms 1 and 2 with clipped linear SGD, and Hedge over a finite class.

Linear mode is the paper's. Greedy mode is not: no paper has it, and `boost` repeats the product's own rules and their
order (stages that learn one after another, each from what the ones before it answer once they have learned the row, and
scores in the range of labels). So for greedy mode it checks that the fast code does what the plain code says, not that
what it says is right. `online_paper` is written from the paper alone.
"""

from __future__ import annotations

import math

import numpy as np


def slope(loss, p, y):
    return p - y if loss == "squared" else -y / (1 + math.exp(y * p))


def value(loss, p, y):
    return 0.5 * (p - y) ** 2 if loss == "squared" else math.log1p(math.exp(-y * p))


def ball_radius(loss, eta, N, D, Y):
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}), by bisection."""

    def short(b):
        beta, eps = (1.0, max(Y - b, 0.0)) if loss == "squared" else (0.25, 1 / (1 + math.exp(b)))
        return eta * beta * b * b < eps * D

    low, high = D, D if not short(D) else D + Y + 100
    for _ in range(200):
        low, high = ((low + high) / 2, high) if short((low + high) / 2) else (low, (low + high) / 2)
    return min(eta * N * D, high)


def clip(number, bound):
    return max(-bound, min(bound, number))


class Sgd:
    """w . x + b by gradient steps, at most to where a quadratic loss of curvature 1 has its minimum."""

    def __init__(self, d, rate):
        self.w, self.rate = np.zeros(d + 1), rate

    def predict(self, x):
        return float(self.w @ np.append(1.0, x))

    def learn(self, x, slope, bounds):
        low, high = bounds
        answer = self.predict(x)
        if (answer > high and slope < 0) or (answer < low and slope > 0):
            return
        v = np.append(1.0, x)
        self.w = self.w - min(self.rate, 1 / float(v @ v)) * slope * v


class HedgeByHand:
    """The mean of +x, -x and 0, columns of at most D, by exponential weights: R(T) = D sqrt(2 T ln M)."""

    def __init__(self, d, D, horizon, unit=1.0):
        self.total = np.zeros(2 * d + 1)
        self.rate = math.sqrt(2 * math.log(2 * d + 1) / horizon) / D
        self.unit = unit  # of slopes in greedy mode: 1 over the curvature of the loss

    def predict(self, x):
        weights = np.exp(-self.rate * (self.total - self.total.min()))
        return float(weights @ np.concatenate([x, -x, [0.0]]) / weights.sum())

    def learn(self, x, slope, bounds):
        answer = self.predict(x)
        beyond = answer - max(bounds[0], min(bounds[1], answer))  # 0 in linear mode
        self.total += (beyond + slope * self.unit) * np.concatenate([x, -x, [0.0]])


def boost(X, y, *, loss, hull, greedy, N, eta, D, Y, rate=None, make=None, scale=1.0, of_bound_only=False):
    """The score of every row before it is learned; y_0 = 0, the whole chain answers.

    `make` : makes a base learner A; None: `Sgd`.
    `scale` : lambda of supplement C.2, by which A's predictions are multiplied, and with them the bound of its class.
    `of_bound_only` : only the bound is multiplied, as earlier versions of the library had it.
    """
    learners = [make() if make else Sgd(X.shape[1], rate) for _ in range(N)]
    times = 1.0 if of_bound_only else scale
    D = scale * D  # of the scaled class
    most = D / times  # what A answers
    B = math.inf if hull else ball_radius(loss, eta, N, D, Y)
    L = (D if hull else B) + Y if loss == "squared" else 1.0
    shrink = [0.0] * N
    answers = []
    box = (-Y, Y) if loss == "squared" else (-math.inf, math.inf)
    etas = [2 / (i + 1) if hull else eta for i in range(1, N + 1)]

    def advance(i, z, answer):
        kept = 1 - etas[i] if hull else 1 - shrink[i] * eta
        z = clip(kept * z + etas[i] * times * clip(answer, most), B)
        return max(box[0], min(box[1], z)) if greedy else z

    for t, (x, target) in enumerate(zip(X, y, strict=True), start=1):
        points = [0.0]
        for i in range(N):
            points.append(advance(i, points[-1], learners[i].predict(x)))
        answers.append(points[-1])
        after = 0.0
        for i in range(N):
            if greedy:
                lead = etas[i] * times
                offset = (1 - etas[i]) * after if hull else after
                led = max(box[0], min(box[1], offset + lead * clip(learners[i].predict(x), most)))
                low, high = ((end - offset) / lead for end in box)
                bounds = min(max(-most, low), high), max(min(most, high), low)
                learners[i].learn(x, slope(loss, led, target) / lead, bounds)
                after = advance(i, after, learners[i].predict(x))
            else:
                learners[i].learn(x, slope(loss, points[i], target) / L, (-most, most))
            if not hull:
                pull = slope(loss, points[i], target) * points[i]
                shrink[i] = max(0.0, min(1.0, shrink[i] + pull / (L * B * math.sqrt(t))))
    return np.array(answers)


class Hedge:
    """`HedgeByHand` as a learner that the library takes: it finds the slope in its target.

    R(T) = D sqrt(2 T ln M) for linear losses of Lipschitz constant 1 and columns of at most D.
    """

    def __init__(self, D, horizon):
        self.D, self.horizon = D, horizon

    def start(self, n_features, outputs):
        return HedgeStage(self, n_features)

    def regret_bound(self, T, D):
        return D * math.sqrt(2 * T * math.log(self.members))

    members = 0


class HedgeStage:
    def __init__(self, hedge, n_features):
        self.hedge = hedge
        hedge.members = 2 * n_features + 1
        self.total = np.zeros(hedge.members)
        self.rate = math.sqrt(2 * math.log(hedge.members) / hedge.horizon) / hedge.D

    def _class(self, x):
        return np.concatenate([x, -x, [0.0]])

    def predict(self, x):
        weights = np.exp(-self.rate * (self.total - self.total.min()))
        return float(weights @ self._class(x) / weights.sum())

    def learn(self, x, target, weight):
        slope = (self.predict(x) - target) / self.hedge.D  # of the linear loss: the booster's ease is D
        self.total += weight * slope * self._class(x)
