"""Stochastic mirror descent, one row after another: equations (11) and (12) for a batch of any size.

    zeta_i = zeta_{i-1} + w_i u_i(theta_{i-1}),    theta_i = argmin <zeta_i, theta> + beta_i V(theta)

A weight w of 2.5 is the row twice and then a step of half a row. All that a model remembers is in arrays that
are changed in place, so a batch is the loop over its rows, bit for bit.
"""

import math

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.mirror import OCTAHEDRON, SIMPLEX, SUMS, exp_down, prox
from anyboost.backends.numbered import slope_of_sum, slopes_of_sum

# Rules, and what a model's `numbers` hold.
ANYTIME, DOUBLING, CONSTANT, ADAPTIVE, SHARE, SECOND_ORDER = 0, 1, 2, 3, 4, 5
CLOCK, SQUARES, TYPICAL, SEEN, SLEEPER, BETA, FIRST = 0, 1, 2, 3, 4, 5, 6
N_FIRST = 5
N_NUMBERS = FIRST + N_FIRST
# Codes: proxy, domain, rule, whether predictions average. Dials: what a rule needs.
PROXY, DOMAIN, RULE, AVERAGES = 0, 1, 2, 3
RADIUS, EXPONENT, LIPSCHITZ, FACTOR, MIXED = 0, 1, 2, 3, 4
N_DIALS = 5

FAR = 10.0  # a running scale is this many times the typical subgradient
_SLOWEST = 0.05


@kernel(fastmath=SUMS)
def _score(codes, theta, total, clock, h):
    """Scores of one row by theta and by the average with it; NaN where a forecast is missing."""
    last, mean = 0.0, 0.0
    for j in range(len(h)):
        last += theta[j] * h[j]
        mean += total[j] * h[j]
    return last, (mean + last) / (clock + 1.0) if codes[AVERAGES] else last


@kernel(fastmath=SUMS)
def weighted_sums(table, weights, out):
    """out_i = <weights_i, table_i>; one row of weights serves all. The order of a sum does not depend on the memory."""
    for i in range(len(table)):
        own = weights[i if len(weights) > 1 else 0]
        total = 0.0
        for j in range(table.shape[1]):
            total += own[j] * table[i, j]
        out[i] = total


@kernel
def _awake_score(codes, radius, weights, extra, h):
    """The score of the experts that are awake: on the simplex their weights fill it, elsewhere others count 0."""
    score, mass, awake, plain = 0.0, 0.0, 0, 0.0
    for j in range(len(h)):
        if not np.isnan(h[j]):
            weight = weights[j] + extra[j]
            score += weight * h[j]
            mass += weight
            plain += h[j]
            awake += 1
    if codes[DOMAIN] != SIMPLEX:
        return score
    return radius * (score / mass if mass > 0.0 else plain / awake)


@kernel
def _fill(codes, radius, theta, total, clock, h, row):
    """Who sleeps says what the others say together (on the simplex), or 0; scores of the row as in `_score`."""
    nothing = np.zeros(len(h))
    last = _awake_score(codes, radius, theta, nothing, h)
    mean = last
    if codes[AVERAGES]:
        mean = _awake_score(codes, radius, theta, total, h)
        if codes[DOMAIN] != SIMPLEX:
            mean /= clock + 1.0
    stand_in = last / radius if codes[DOMAIN] == SIMPLEX else 0.0
    for j in range(len(h)):
        row[j] = stand_in if np.isnan(h[j]) else h[j]
    return last, mean


@kernel
def _running_scale(numbers, norm):
    """Ten times the running median of the norms.

    The first five are kept, so that the median is theirs whatever one of them is; from then on the logarithm of the
    median takes a step toward each norm, by which it follows a lasting change and no single row.
    """
    if norm == 0.0:
        return FAR * numbers[TYPICAL]
    seen = int(numbers[SEEN])
    numbers[SEEN] += 1.0
    if seen >= N_FIRST:
        scale = FAR * numbers[TYPICAL]
        pace = max(_SLOWEST, 1.0 / math.sqrt(numbers[SEEN]))
        numbers[TYPICAL] *= math.exp(pace if norm > numbers[TYPICAL] else -pace)
        return scale
    place = FIRST + seen
    while place > FIRST and numbers[place - 1] > norm:
        numbers[place] = numbers[place - 1]
        place -= 1
    numbers[place] = norm
    numbers[TYPICAL] = numbers[FIRST + seen // 2]
    return FAR * numbers[TYPICAL]


@kernel
def _scaling(dials, numbers, norm):
    """What a subgradient of this norm is divided by: so that none is longer than L, or in running units than 1."""
    if dials[LIPSCHITZ] > 0.0:
        return norm / dials[LIPSCHITZ] if norm > dials[LIPSCHITZ] else 1.0
    scale = _running_scale(numbers, norm)
    return max(scale, norm) if scale > 0.0 else 1.0


@kernel(fastmath=SUMS)
def _largest(h):
    top = 0.0
    for j in range(len(h)):
        top = max(top, abs(h[j]))
    return top


@kernel(fastmath=SUMS)
def _dual(step, h, u):
    for j in range(len(h)):
        u[j] = step * h[j]


@kernel
def _pull(dials, numbers, last, h, g, u):
    """u <- g h, scaled; its sup norm, and what it is for an expert that slept through this row."""
    top = _largest(h)
    norm = min(abs(g) * top, 1e300) if top > 0.0 else 0.0
    divisor = _scaling(dials, numbers, norm)
    # An infinite slope times a forecast of zero is zero here.
    step = g / divisor if norm < 1e300 else math.copysign(norm / divisor, g) / top
    _dual(step, h, u)
    return norm / divisor, step * last / dials[RADIUS]


@kernel
def _temperature(codes, dials, numbers):
    """beta_i of the rule; it never falls, as Proposition 2 asks."""
    rule, clock = codes[RULE], numbers[CLOCK]
    unit = dials[LIPSCHITZ] if dials[LIPSCHITZ] > 0.0 else 1.0
    if rule == ANYTIME:
        beta = unit * dials[FACTOR] * math.sqrt(clock + 1.0)
    elif rule == DOUBLING:
        beta = unit * dials[FACTOR] * math.sqrt(2.0 ** math.ceil(math.log2(clock + 1.0)))
    elif rule == CONSTANT:
        beta = unit * dials[FACTOR]
    else:
        beta = dials[FACTOR] * math.sqrt(numbers[SQUARES])
    numbers[BETA] = max(numbers[BETA], beta)
    return numbers[BETA]


@kernel(fastmath=SUMS)
def _add(scale, vector, out):
    for j in range(len(out)):
        out[j] += scale * vector[j]


@kernel
def _move(codes, dials, numbers, weight, u, norm, slept, memory, theta, total):
    """One step of weight `weight` along the scaled subgradient u; `memory` is the rule's (rows of arrays)."""
    _add(weight, theta, total)
    numbers[CLOCK] += weight
    if norm == 0.0 and codes[RULE] >= ADAPTIVE and codes[RULE] != SHARE:
        return
    numbers[SQUARES] += weight * weight * norm * norm
    numbers[SLEEPER] += weight * slept
    if codes[RULE] == SHARE:
        _share(codes, dials, weight, u, memory[0], theta)
    elif codes[RULE] == SECOND_ORDER:
        _second_order(codes, dials, weight, u, memory, theta)
    else:
        _add(weight, u, memory[0])
        beta = _temperature(codes, dials, numbers)
        prox(codes[PROXY], codes[DOMAIN], dials[RADIUS], dials[EXPONENT], memory[0], beta, theta)


@kernel
def _gibbs_of(logs):
    """Probabilities proportional to exp(logs), written over them."""
    top = logs.max()
    total = 0.0
    for j in range(len(logs)):
        logs[j] = exp_down(logs[j] - top)
        total += logs[j]
    for j in range(len(logs)):
        logs[j] /= total


@kernel
def _collapse(domain, radius, shares, theta):
    """theta from probabilities of h_j, of h_j and zero, or of h_j and -h_j."""
    count = len(theta)
    for j in range(count):
        theta[j] = radius * (shares[j] - shares[count + j] if domain == OCTAHEDRON else shares[j])


@kernel
def _lifted(domain, u, j):
    """The subgradient's entry for the j-th vertex: h_j, then zero or -h_j."""
    if j < len(u):
        return u[j]
    return -u[j - len(u)] if domain == OCTAHEDRON else 0.0


@kernel
def _share(codes, dials, weight, u, logs, theta):
    """Fixed share: an exponentiated step, then a little of every weight is dealt out again (Herbster, Warmuth)."""
    unit = dials[LIPSCHITZ] if dials[LIPSCHITZ] > 0.0 else 1.0
    for j in range(len(logs)):
        logs[j] -= weight * _lifted(codes[DOMAIN], u, j) / (unit * dials[FACTOR])
    shares = logs.copy()
    _gibbs_of(shares)
    mixed = 1.0 - (1.0 - dials[MIXED]) ** weight
    for j in range(len(logs)):
        shares[j] = (1.0 - mixed) * shares[j] + mixed / len(logs)
        logs[j] = math.log(shares[j])
    _collapse(codes[DOMAIN], dials[RADIUS], shares, theta)


@kernel
def _second_order(codes, dials, weight, u, memory, theta):
    """Bernstein online aggregation (Wintenberger 2017): a rate for every expert, from its own regrets.

    r_j = <u, theta> - radius u_j;  R_j += r_j - rate_j r_j^2;  weight_j proportional to rate_j exp(rate_j R_j),
    rate_j = min(1/(2 max |r_j|), sqrt(ln N / sum r_j^2)).
    """
    regrets, squares, reaches = memory[0], memory[1], memory[2]
    count = len(regrets)
    mean = 0.0
    for j in range(len(u)):
        mean += u[j] * theta[j]
    for j in range(count):
        r = weight * (mean - dials[RADIUS] * _lifted(codes[DOMAIN], u, j))
        reaches[j] = max(reaches[j], abs(r))
        # Before the first regret of an expert its rate is whatever that regret allows.
        rate = _rate(count, squares[j], reaches[j])
        regrets[j] += r - rate * r * r
        squares[j] += r * r
    logs = np.empty(count)
    widest = 0.0
    for j in range(count):
        widest = max(widest, _rate(count, squares[j], reaches[j]))
    for j in range(count):
        rate = _rate(count, squares[j], reaches[j])
        rate = rate if rate > 0.0 else widest  # it has agreed with the mixture so far
        logs[j] = (math.log(rate) if rate > 0.0 else 0.0) + rate * regrets[j]
    _gibbs_of(logs)
    _collapse(codes[DOMAIN], dials[RADIUS], logs, theta)


@kernel
def _rate(count, squares, reach):
    if reach <= 0.0:
        return 0.0
    bound = 0.5 / reach
    return min(bound, math.sqrt(math.log(max(count, 2)) / squares)) if squares > 0.0 else bound


@kernel
def walk(forecasts, y, weights, terms, codes, dials, numbers, memory, theta, total, scores):
    """Learn from rows in order; `scores` gets each row's prediction before it was learned from."""
    count = forecasts.shape[1]
    u, row = np.empty(count), np.empty(count)
    for i in range(len(y)):
        h = forecasts[i]
        last, scores[i] = _score(codes, theta, total, numbers[CLOCK], h)
        asleep = np.isnan(last)
        if asleep:
            last, scores[i] = _fill(codes, dials[RADIUS], theta, total, numbers[CLOCK], h, row)
        left = weights[i]
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            norm, slept = _pull(
                dials, numbers, last, row if asleep else h, slope_of_sum(terms, last, y[i]), u
            )
            _move(codes, dials, numbers, weight, u, norm, slept, memory, theta, total)
            if left > 0.0:
                last, _ = _score(codes, theta, total, numbers[CLOCK], h)
                if asleep:
                    last, _ = _fill(codes, dials[RADIUS], theta, total, numbers[CLOCK], h, row)


@kernel
def score_row(h, codes, dials, numbers, theta, total, row):
    """For losses that are not compiled: the scores of one row, and the row with its gaps filled."""
    last, mean = _score(codes, theta, total, numbers[CLOCK], h)
    row[:] = h
    if np.isnan(last):
        last, mean = _fill(codes, dials[RADIUS], theta, total, numbers[CLOCK], h, row)
    return last, mean


@kernel
def move_row(row, last, g, weight, codes, dials, numbers, memory, theta, total):
    """The step that follows `score_row`, g being the loss's subgradient at `last`."""
    u = np.empty(len(row))
    norm, slept = _pull(dials, numbers, last, row, g, u)
    _move(codes, dials, numbers, weight, u, norm, slept, memory, theta, total)


@kernel
def score_outputs(h, codes, dials, numbers, theta, total, row, last, mean):
    """`score_row` for (M, K) forecasts: an expert sleeps where one of its numbers is missing."""
    for k in range(h.shape[1]):
        last[k], mean[k] = _score(codes, theta, total, numbers[CLOCK], h[:, k])
    row[:] = h
    if np.isnan(last).any():
        _fill_outputs(codes, dials[RADIUS], theta, total, numbers[CLOCK], h, row, last, mean)


@kernel
def _fill_outputs(codes, radius, theta, total, clock, h, row, last, mean):
    known = h.copy()
    for j in range(len(h)):
        if np.isnan(h[j]).any():
            known[j] = np.nan
    for k in range(h.shape[1]):
        last[k], mean[k] = _fill(codes, radius, theta, total, clock, known[:, k], row[:, k])


@kernel
def move_outputs(row, last, g, weight, codes, dials, numbers, memory, theta, total):
    """`move_row` for (M, K) forecasts: u_j = <g, h_j>."""
    u = row @ g
    norm = min(_largest(u), 1e300)
    divisor = _scaling(dials, numbers, norm)
    slept = 0.0
    for k in range(len(g)):
        slept += g[k] * last[k]
    _dual(1.0 / divisor, u, u)
    _move(
        codes,
        dials,
        numbers,
        weight,
        u,
        norm / divisor,
        slept / divisor / dials[RADIUS],
        memory,
        theta,
        total,
    )


@kernel
def walk_outputs(forecasts, y, weights, terms, codes, dials, numbers, memory, theta, total, scores):
    """`walk` for (n, M, K) forecasts."""
    count, outputs = forecasts.shape[1], forecasts.shape[2]
    row, last, mean, g = np.empty((count, outputs)), np.empty(outputs), np.empty(outputs), np.empty(outputs)
    for i in range(len(y)):
        left = weights[i]
        score_outputs(forecasts[i], codes, dials, numbers, theta, total, row, last, scores[i])
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            slopes_of_sum(terms, last, y[i], g)
            move_outputs(row, last, g, weight, codes, dials, numbers, memory, theta, total)
            if left > 0.0:
                score_outputs(forecasts[i], codes, dials, numbers, theta, total, row, last, mean)
