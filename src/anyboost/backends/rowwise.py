"""Row-wise losses without a logarithm or an exponential: values and subgradients in one pass over the rows.

Losses with those are left to NumPy, whose vector code for them is hard to beat.
"""

from anyboost.backends.compiler import kernel

# ruff: noqa: ARG001 (all take parameters, also those that have none)


@kernel
def squared(scores, y, parameters, values, slopes):
    """(y - f)^2 / 2."""
    for i in range(scores.size):
        r = scores[i] - y[i]
        slopes[i] = r
        values[i] = 0.5 * (r * r)


@kernel
def pinball(scores, y, parameters, values, slopes):
    """up (f - y)+ + down (y - f)+, with parameters (up, down); slope 0 at the kink."""
    up, down = parameters
    for i in range(scores.size):
        r = scores[i] - y[i]
        slope = (up if r > 0.0 else 0.0) - (down if r < 0.0 else 0.0)
        slopes[i] = slope
        values[i] = slope * r


@kernel
def huber(scores, y, parameters, values, slopes):
    """r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2), with parameters (delta, unused)."""
    delta, _ = parameters
    for i in range(scores.size):
        r = scores[i] - y[i]
        far = abs(r)
        near = min(far, delta)
        slopes[i] = max(-delta, min(r, delta))
        values[i] = near * (far - 0.5 * near)


@kernel
def expectile(scores, y, parameters, values, slopes):
    """up r^2 where f > y, down r^2 elsewhere, with parameters (up, down)."""
    up, down = parameters
    for i in range(scores.size):
        r = scores[i] - y[i]
        side = up if r > 0.0 else down
        slopes[i] = 2.0 * side * r
        values[i] = side * (r * r)


@kernel
def hinge(scores, y, parameters, values, slopes):
    """(1 - y f)+; slope 0 at margin 1 and above."""
    for i in range(scores.size):
        short = 1.0 - y[i] * scores[i]
        slopes[i] = -y[i] if short > 0.0 else 0.0
        values[i] = max(short, 0.0)


@kernel
def squared_hinge(scores, y, parameters, values, slopes):
    """((1 - y f)+)^2 / 2."""
    for i in range(scores.size):
        short = max(1.0 - y[i] * scores[i], 0.0)
        slopes[i] = -y[i] * short
        values[i] = 0.5 * (short * short)
