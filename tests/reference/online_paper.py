"""Beygelzimer, Hazan, Kale and Luo (2015) as printed: Algorithms 1 and 2, and both with supplement C.1.

Written from the paper alone, for answers in R^d. `slopes[t]` is the gradient of the loss of row t, a function of y. A
base learner has `predict(x)` and `suffer(x, slope)`, where slope is the gradient of the learner's own loss at what it
predicted: of the linear loss grad l(y_{i-1}) . h / L in the algorithms, of l(y_{i-1} + alpha h) in C.1.
"""

import numpy as np


def project(y, radius):
    length = np.linalg.norm(y)
    return y if length <= radius else y * (radius / length)


def algorithm_1(rows, slopes, learners, *, eta, B, L, d=1, alpha=None):
    """The answers y_t = y_t^N; `alpha` is that of C.1, and None is the algorithm itself."""
    N, answers = len(learners), []
    sigma = np.zeros(N)
    for t, (x, slope) in enumerate(zip(rows, slopes, strict=True), start=1):
        h = [learner.predict(x) for learner in learners]
        y = [np.zeros(d)]
        for i in range(N):
            y.append(project((1 - sigma[i] * eta) * y[i] + eta * h[i], B))
        answers.append(y[N])
        for i in range(N):
            suffer(learners[i], x, slope, y[i], h[i], L, alpha)
            sigma[i] = max(min(sigma[i] + slope(y[i]) @ y[i] / (L * B * np.sqrt(t)), 1.0), 0.0)
    return np.array(answers)


def algorithm_2(rows, slopes, learners, *, L, d=1, alpha=None):
    """The same for the convex hull: no shrinkage, no ball, eta_i = 2 / (i + 1)."""
    N, answers = len(learners), []
    for x, slope in zip(rows, slopes, strict=True):
        h = [learner.predict(x) for learner in learners]
        y = [np.zeros(d)]
        for i in range(N):
            eta = 2 / (i + 2)
            y.append((1 - eta) * y[i] + eta * h[i])
        answers.append(y[N])
        for i in range(N):
            suffer(learners[i], x, slope, y[i], h[i], L, alpha)
    return np.array(answers)


def suffer(learner, x, slope, offset, h, L, alpha):
    if alpha is None:
        learner.suffer(x, slope(offset) / L)
    else:
        learner.suffer(x, alpha * slope(offset + alpha * h))


class GradientDescent:
    """Linear functions W x with |W| <= D, by online gradient descent with steps rate / sqrt(t); projects onto the ball.

    For rows no longer than 1 it is D-bounded, and with rate D it has regret at most 3 D sqrt(T) for linear losses of
    Lipschitz constant 1: (2 D)^2 / (2 D / sqrt T) + D (1 + 1 / sqrt 2 + ... + 1 / sqrt T) / 2 (Zinkevich 2003).
    """

    def __init__(self, n_features, D, rate, d=1, power=0.5):
        self.W, self.D, self.rate, self.power, self.t = np.zeros((d, n_features)), D, rate, power, 0

    def predict(self, x):
        return self.W @ x

    def suffer(self, x, slope):
        self.t += 1
        self.W = project(self.W - self.rate / self.t**self.power * np.outer(slope, x), self.D)
