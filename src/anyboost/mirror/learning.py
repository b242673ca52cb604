"""Stochastic mirror descent, one row after another: equations (11) and (12) for a batch of any size.

    zeta_i = zeta_{i-1} + w_i u_i(theta_{i-1}),    theta_i = argmin <zeta_i, theta> + beta_i V(theta)

A weight w of 2.5 is the row twice and then a step of half a row. All that a model remembers is in arrays that
are changed in place, so a batch is the loop over its rows, bit for bit.
"""

import math

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import exp, exp_down, log
from anyboost.backends.forms import borrowed
from anyboost.backends.reductions import dot, largest_size
from anyboost.losses.numbered import slope_of_sum, slopes_of_sum
from anyboost.mirror.proximal import prox
from anyboost.mirror.state import (
    ADAPTIVE,
    ANYTIME,
    CONSTANT,
    DOUBLING,
    FORECAST,
    HEAVY,
    LABEL,
    N_FIRST,
    NO_LAPSE,
    OCTAHEDRON,
    SECOND_ORDER,
    SHARE,
    SIMPLEX,
    SLOPE,
    AveragerSettings,
    AveragerState,
)

FAR = 10.0  # a running scale is this many times the typical subgradient
LONGEST = 1e300  # norms above this count as this, so that a quotient of two stays a number
_SLOWEST = 0.05


@kernel(forceinline=True)
def _named(settings, state):
    """The tuples with their names, which would take long on their way in from Python; callers keep the arrays."""
    memory, theta, total, numbers, lapse = state
    lent = AveragerState(
        borrowed(memory), borrowed(theta), borrowed(total), borrowed(numbers), borrowed(lapse)
    )
    return AveragerSettings(*settings), lent


# Scores of a row ------------------------------------------------------------------------------------------------


@kernel
def _score(averages, theta, total, clock, h):
    """Scores of one row by theta and by the average with it; NaN where a forecast is missing."""
    last = dot(theta, h)
    return last, (dot(total, h) + last) / (clock + 1.0) if averages else last


@kernel
def _awake_score(settings, weights, extra, h):
    """The score of the experts that are awake: on the simplex their weights fill it, elsewhere others count 0."""
    score, mass, awake, plain = 0.0, 0.0, 0, 0.0
    for j in range(len(h)):
        if not np.isnan(h[j]):
            weight = weights[j] + extra[j]
            score += weight * h[j]
            mass += weight
            plain += h[j]
            awake += 1
    if settings.domain != SIMPLEX:
        return score
    return settings.radius * (score / mass if mass > 0.0 else plain / awake)


@kernel
def _fill_in(settings, state, h, row):
    """Who sleeps says what the others say together (on the simplex), or 0; scores of the row as in `_score`."""
    on_simplex = settings.domain == SIMPLEX
    last = _awake_score(settings, state.theta, np.zeros(len(h)), h)
    mean = last
    if settings.averages:
        mean = _awake_score(settings, state.theta, state.total, h)
        if not on_simplex:
            mean /= state.numbers[0].clock + 1.0
    stand_in = last / settings.radius if on_simplex else 0.0
    for j in range(len(h)):
        row[j] = stand_in if np.isnan(h[j]) else h[j]
    return last, mean


@kernel(forceinline=True)
def score_row(h, settings, state, row):
    """The row, written into `row` where gaps had to be filled, and its scores by theta and by what predicts."""
    settings, state = _named(settings, state)
    last, mean = _score(settings.averages, state.theta, state.total, state.numbers[0].clock, h)
    if np.isnan(last):
        last, mean = _fill_in(settings, state, h, row)
        return row, last, mean
    return h, last, mean


@kernel
def score_outputs(h, settings, state, row, last, mean):
    """`score_row` for (M, K) forecasts: an expert sleeps where one of its numbers is missing."""
    settings, state = _named(settings, state)
    outputs = np.ascontiguousarray(h.T)
    for k in range(len(outputs)):
        last[k], mean[k] = _score(
            settings.averages, state.theta, state.total, state.numbers[0].clock, outputs[k]
        )
    if not np.isnan(last).any():
        return h
    known = h.copy()
    for j in range(len(h)):
        if np.isnan(h[j]).any():
            known[j] = np.nan
    for k in range(h.shape[1]):
        last[k], mean[k] = _fill_in(settings, state, known[:, k], row[:, k])
    return row


@kernel
def weighted_sums(table, weights, out):
    """out_i = <weights_i, table_i>; one row of weights serves all."""
    for i in range(len(table)):
        out[i] = dot(weights[i if len(weights) > 1 else 0], table[i])


# Units and temperatures -----------------------------------------------------------------------------------------


@kernel
def _running_scale(numbers, norm):
    """Ten times the running median of the norms.

    The first five are kept, so that the median is theirs whatever one of them is; from then on the logarithm of the
    median takes a step toward each norm, by which it follows a lasting change and no single row.
    """
    if norm == 0.0:
        return FAR * numbers.typical_norm
    seen = int(numbers.norms_seen)
    numbers.norms_seen += 1.0
    if seen >= N_FIRST:
        scale = FAR * numbers.typical_norm
        pace = max(_SLOWEST, 1.0 / math.sqrt(numbers.norms_seen))
        numbers.typical_norm *= exp(pace if norm > numbers.typical_norm else -pace)
        return scale
    first, place = numbers.first_norms, seen
    while place > 0 and first[place - 1] > norm:
        first[place] = first[place - 1]
        place -= 1
    first[place] = norm
    numbers.typical_norm = first[seen // 2]
    return FAR * numbers.typical_norm


@kernel
def scaling(lipschitz, numbers, norm):
    """What a subgradient of this norm is divided by: so that none is longer than L, or in running units than 1."""
    if lipschitz > 0.0:
        return norm / lipschitz if norm > lipschitz else 1.0
    scale = _running_scale(numbers, norm)
    return max(scale, norm) if scale > 0.0 else 1.0


@kernel
def temperature(settings, numbers):
    """beta_i of the rule; it never falls, as Proposition 2 asks."""
    unit = settings.lipschitz if settings.lipschitz > 0.0 else 1.0
    if settings.rule == ANYTIME:
        beta = unit * settings.factor * math.sqrt(numbers.clock + 1.0)
    elif settings.rule == DOUBLING:
        beta = unit * settings.factor * math.sqrt(2.0 ** math.ceil(math.log2(numbers.clock + 1.0)))
    elif settings.rule == CONSTANT:
        beta = unit * settings.factor
    else:
        beta = settings.factor * math.sqrt(numbers.squared_norms)
    numbers.beta = max(numbers.beta, beta)
    return numbers.beta


@kernel
def descend(settings, numbers, zeta, theta):
    """theta_i = argmin <zeta_i, theta> + beta_i V(theta)."""
    beta = temperature(settings, numbers)
    prox(settings.proxy, settings.domain, settings.radius, settings.exponent, zeta, beta, theta)


# What ends the bound --------------------------------------------------------------------------------------------


@kernel
def _note_lapse(state, cause, value):
    lapse = state.lapse[0]
    lapse.row, lapse.cause, lapse.value = math.floor(state.numbers[0].clock) + 1.0, cause, value


@kernel
def watch(settings, state, h, y, weight):
    """Note the first row that the theorems do not allow, before its step; h is flat."""
    settings, state = _named(settings, state)
    if state.lapse[0].cause != NO_LAPSE or settings.lipschitz == 0.0:
        return
    top = largest_size(h) if settings.output_bound < math.inf else 0.0
    if top > settings.output_bound:
        _note_lapse(state, FORECAST, top)
    elif abs(y) > settings.label_bound:
        _note_lapse(state, LABEL, y)
    elif weight > 1.0:
        _note_lapse(state, HEAVY, weight)


@kernel
def _watch_slope(settings, state, norm):
    """The same of a subgradient, which was longer than L by more than rounding."""
    if state.lapse[0].cause == NO_LAPSE and 0.0 < settings.lipschitz * (1.0 + 1e-9) < norm:
        _note_lapse(state, SLOPE, norm)


# Steps ----------------------------------------------------------------------------------------------------------


@kernel
def _multiply(factor, h, out):
    for j in range(len(h)):
        out[j] = factor * h[j]


@kernel
def add(scale, vector, out):
    """out += scale * vector."""
    for j in range(len(out)):
        out[j] += scale * vector[j]


@kernel(forceinline=True)
def move_row(row, last, g, weight, settings, state, u):
    """The step that follows `score_row`, g being the loss's subgradient at `last`; `u` is room for M numbers."""
    settings, state = _named(settings, state)
    top = largest_size(row)
    norm = min(abs(g) * top, LONGEST) if top > 0.0 else 0.0
    _watch_slope(settings, state, norm)
    divisor = scaling(settings.lipschitz, state.numbers[0], norm)
    # An infinite slope times a forecast of zero is zero here.
    step = g / divisor if norm < LONGEST else math.copysign(norm / divisor, g) / top
    _multiply(step, row, u)
    _move(settings, state, weight, u, norm / divisor, step * last / settings.radius)


@kernel
def move_outputs(row, last, g, weight, settings, state):
    """`move_row` for (M, K) forecasts: u_j = <g, h_j>."""
    settings, state = _named(settings, state)
    u = np.zeros(len(row))
    for k in range(len(g)):
        add(g[k], row[:, k], u)
    norm = min(largest_size(u), LONGEST)
    _watch_slope(settings, state, norm)
    divisor = scaling(settings.lipschitz, state.numbers[0], norm)
    slept = 0.0
    for k in range(len(g)):
        slept += g[k] * last[k]
    _multiply(1.0 / divisor, u, u)
    _move(settings, state, weight, u, norm / divisor, slept / divisor / settings.radius)


@kernel(forceinline=True)
def _move(settings, state, weight, u, norm, slept):
    """A step of weight `weight` along the scaled subgradient u, of this norm; for who slept through it, `slept`."""
    numbers, rule = state.numbers[0], settings.rule
    add(weight, state.theta, state.total)
    numbers.clock += weight
    if norm == 0.0 and rule >= ADAPTIVE and rule != SHARE:
        return
    numbers.squared_norms += weight * weight * norm * norm
    numbers.sleeper += weight * slept
    if rule == SHARE:
        _share(settings, weight, u, state.memory[0], state.theta)
    elif rule == SECOND_ORDER:
        _second_order(settings, weight, u, state.memory, state.theta)
    else:
        add(weight, u, state.memory[0])
        descend(settings, numbers, state.memory[0], state.theta)


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
def _weigh(settings, shares, theta):
    """theta from probabilities of h_j, of h_j and zero, or of h_j and -h_j."""
    count = len(theta)
    for j in range(count):
        share = shares[j] - shares[count + j] if settings.domain == OCTAHEDRON else shares[j]
        theta[j] = settings.radius * share


@kernel
def _at_vertex(domain, u, j):
    """The subgradient's entry for the j-th vertex: h_j, then zero or -h_j."""
    if j < len(u):
        return u[j]
    return -u[j - len(u)] if domain == OCTAHEDRON else 0.0


@kernel
def _share(settings, weight, u, logs, theta):
    """Fixed share: an exponentiated step, then a little of every weight is dealt out again (Herbster, Warmuth)."""
    unit = settings.lipschitz if settings.lipschitz > 0.0 else 1.0
    for j in range(len(logs)):
        logs[j] -= weight * _at_vertex(settings.domain, u, j) / (unit * settings.factor)
    shares = logs.copy()
    _gibbs_of(shares)
    mixed = 1.0 - (1.0 - settings.dealt) ** weight
    for j in range(len(logs)):
        shares[j] = (1.0 - mixed) * shares[j] + mixed / len(logs)
        logs[j] = log(shares[j])
    _weigh(settings, shares, theta)


@kernel
def _second_order(settings, weight, u, memory, theta):
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
        r = weight * (mean - settings.radius * _at_vertex(settings.domain, u, j))
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
        logs[j] = (log(rate) if rate > 0.0 else 0.0) + rate * regrets[j]
    _gibbs_of(logs)
    _weigh(settings, logs, theta)


@kernel
def _rate(count, squares, reach):
    if reach <= 0.0:
        return 0.0
    bound = 0.5 / reach
    return min(bound, math.sqrt(log(float(max(count, 2))) / squares)) if squares > 0.0 else bound


# Batches --------------------------------------------------------------------------------------------------------


@kernel
def learn(forecasts, y, weights, terms, settings, state, scores):
    """Learn from rows in order; `scores` gets each row's prediction before it was learned from."""
    settings, state = _named(settings, state)
    forecasts = borrowed(forecasts)
    u, filled = np.empty(forecasts.shape[1]), np.empty(forecasts.shape[1])
    for i in range(len(y)):
        row, last, scores[i] = score_row(forecasts[i], settings, state, filled)
        left = weights[i]
        if left > 0.0:
            watch(settings, state, row, y[i], left)
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            move_row(row, last, slope_of_sum(terms, last, y[i]), weight, settings, state, u)
            if left > 0.0:
                row, last, _ = score_row(forecasts[i], settings, state, filled)


@kernel
def learn_outputs(forecasts, y, weights, terms, settings, state, scores):
    """`learn` for (n, M, K) forecasts."""
    settings, state = _named(settings, state)
    outputs = forecasts.shape[2]
    last, mean, g = np.empty(outputs), np.empty(outputs), np.empty(outputs)
    filled = np.empty(forecasts.shape[1:])
    for i in range(len(y)):
        row = score_outputs(forecasts[i], settings, state, filled, last, scores[i])
        left = weights[i]
        if left > 0.0:
            watch(settings, state, np.ascontiguousarray(row).ravel(), y[i], left)
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            slopes_of_sum(terms, last, y[i], g)
            move_outputs(row, last, g, weight, settings, state)
            if left > 0.0:
                row = score_outputs(forecasts[i], settings, state, filled, last, mean)
