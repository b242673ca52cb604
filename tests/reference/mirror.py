"""Mirror averaging the slow, obvious way: every theta is kept, roots are bisected, vertices are enumerated."""

import itertools
import math

import numpy as np


def gibbs(logs):
    logs = np.asarray(logs) - np.max(logs)
    return np.exp(logs) / np.exp(logs).sum()


def vertices(domain, count):
    """The vertices of the set of radius one, as rows."""
    eye = np.eye(count)
    return {
        "Simplex": eye,
        "SolidSimplex": np.vstack([eye, np.zeros(count)]),
        "Octahedron": np.vstack([eye, -eye]),
    }[domain]


def bisect(function, low, high):
    """The root of a growing function."""
    for _ in range(2000):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def prox(proxy, domain, radius, z, beta, exponent=None):
    """argmin <z, theta> + beta V(theta); `exponent` is p or s where it is not the paper's."""
    z = np.asarray(z, dtype=float)
    count = len(z)
    if proxy == "Entropy":
        V = vertices(domain, count)
        return radius * V.T @ gibbs(-(V @ z) / beta)
    if proxy == "PNorm":
        p = exponent or min(2.0, 1.0 + 1.0 / math.log(count) if count > 1 else 2.0)
        if domain == "Octahedron":
            return -np.sign(z) * p_norm(-np.abs(z), beta, radius, p, solid=True)
        return p_norm(z, beta, radius, p, solid=domain == "SolidSimplex")
    s = exponent or min(1.0, 1.0 / math.log(count) if count > 1 else 1.0)
    C1 = radius ** (1 - s) / (s * (s + 1))

    def theta(nu):
        return (np.maximum(nu - z, 0.0) / (beta * C1 * (s + 1))) ** (1 / s)

    span = beta * C1 * (s + 1) * (radius + 1) ** s + 1
    return theta(bisect(lambda nu: theta(nu).sum() - radius, z.min(), z.min() + span))


def p_norm(z, beta, radius, p, solid):
    q = p / (p - 1)

    def theta(nu):
        s = np.maximum(nu - z, 0.0)
        if not s.any():
            return s
        top = s.max()
        return radius**2 / beta * top * (s / top) ** (q - 1) / np.sum((s / top) ** q) ** ((q - 2) / q)

    if solid and theta(0.0).sum() <= radius:
        return theta(0.0)
    return theta(bisect(lambda nu: theta(nu).sum() - radius, z.min(), z.min() + beta / radius + 1))


def constants(proxy, domain, radius, count, exponent=None):
    """alpha and the largest V (less its smallest for the divergences)."""
    if proxy == "Entropy":
        return 1 / radius, radius * math.log(len(vertices(domain, count)))
    if proxy == "PNorm":
        p = exponent or min(2.0, 1.0 + 1.0 / math.log(count))
        return (p - 1) * count ** (2 / p - 2) / radius**2, 0.5
    s = exponent or min(1.0, 1.0 / math.log(count))
    return count**-s, radius**2 * (1 - count**-s) / (s * (s + 1))


def average(
    forecasts,
    y,
    slope,
    proxy="Entropy",
    domain="Simplex",
    radius=1.0,
    beta=None,
    L=1.0,
    weights=None,
    exponent=None,
):
    """(11) and (12) with every theta kept: predictions of each row before it, the last theta, the average.

    slope(f, y): the loss's derivative. beta(i, norms): the temperature after i rows, given all norms so far.
    A row of weight w counts as w rows, the last one in part. NaN is a sleeper (simplex: stands in for the others).
    """
    forecasts = np.asarray(forecasts, dtype=float)
    weights = np.ones(len(y)) if weights is None else weights
    zeta = np.zeros(forecasts.shape[1])
    thetas, steps = [prox(proxy, domain, radius, zeta, 1.0, exponent)], []
    norms, predictions = [], []
    for h, target, weight in zip(forecasts, y, weights, strict=True):
        parts = [1.0] * int(weight) + ([weight % 1] if weight % 1 else [])
        mean = (sum(w * t for w, t in zip(steps, thetas, strict=False)) + thetas[-1]) / (sum(steps) + 1)
        predictions.append(awake(mean, h, domain, radius))
        for w in parts:
            f = awake(thetas[-1], h, domain, radius)
            filled = np.where(np.isnan(h), f / radius if domain == "Simplex" else 0.0, h)
            u = slope(f, target) * filled
            u = u * min(1.0, L / max(np.abs(u).max(), 1e-300))
            norms.append(w * np.abs(u).max())
            steps.append(w)
            zeta = zeta + w * u
            thetas.append(prox(proxy, domain, radius, zeta, beta(sum(steps), norms), exponent))
    mean = (sum(w * t for w, t in zip(steps, thetas, strict=False)) + thetas[-1]) / (sum(steps) + 1)
    return np.array(predictions), thetas[-1], mean


def awake(theta, h, domain, radius):
    """The score of those who do not sleep."""
    on = ~np.isnan(h)
    score = theta[on] @ h[on]
    if domain != "Simplex" or on.all():
        return score
    mass = theta[on].sum()
    return radius * (score / mass if mass > 0 else h[on].mean())


def share_by_enumeration(losses, rate, share):
    """Weights after each row: the mixture of all sequences of experts, drawn anew with probability `share`."""
    rows, count = losses.shape
    found = []
    for t in range(rows + 1):
        mass = np.zeros(count)
        for path in itertools.product(range(count), repeat=t + 1):
            prior = 1.0 / count
            for a, b in itertools.pairwise(path):
                prior *= (1 - share) * (a == b) + share / count
            loss = sum(losses[i, path[i]] for i in range(t))
            mass[path[t]] += prior * math.exp(-rate * loss)
        found.append(mass / mass.sum())
    return np.array(found)


def second_order(dual, domain="Simplex", radius=1.0):
    """Bernstein online aggregation on given subgradients: thetas before each row and after the last."""
    V = vertices(domain, dual.shape[1])
    N = len(V)
    R, squares, reach = np.zeros(N), np.zeros(N), np.zeros(N)
    thetas = [radius * V.mean(axis=0)]

    def rates():
        with np.errstate(divide="ignore"):
            bound = np.where(reach > 0, 0.5 / reach, 0.0)
            return np.where(squares > 0, np.minimum(bound, np.sqrt(math.log(max(N, 2)) / squares)), bound)

    for u in dual:
        r = u @ thetas[-1] - radius * (V @ u)
        reach = np.maximum(reach, np.abs(r))
        R = R + r - rates() * r**2
        squares = squares + r**2
        eta = rates()
        eta = np.where(eta > 0, eta, max(eta.max(), 1e-300)) if eta.max() > 0 else np.ones(N)
        thetas.append(radius * V.T @ gibbs(np.log(eta) + eta * R))
    return np.array(thetas)


def stump_values(X, features, thresholds):
    """(n, M): +1 where the row is above the threshold, -1 where not, 0 where the value is missing."""
    x = np.asarray(X, dtype=float)[:, features]
    return np.where(np.isnan(x), 0.0, np.where(x > np.asarray(thresholds), 1.0, -1.0))


def best_switching(losses, switches):
    """The least total loss of a sequence of experts with at most so many switches, by trying all."""
    rows, count = losses.shape
    best = math.inf
    for path in itertools.product(range(count), repeat=rows):
        if sum(a != b for a, b in itertools.pairwise(path)) <= switches:
            best = min(best, sum(losses[i, j] for i, j in enumerate(path)))
    return best
