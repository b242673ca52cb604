"""The second layer: experts beside the average's own answer q, each with a coefficient that is learnt.

    classes:  p ~ q^(1 + c_0) prod_j (p_j / q)^c_j          numbers:  p = q + sum_j c_j (p_j - q)
    H <- lambda H + g g',   c <- c - H^-1 g                 g the slope of the loss of p in c

An average of probabilities is never surer than its surest expert; where experts know different things, this is. All
coefficients are 0 at first, where p is q, and Newton's steps, discounted, need no rate. Who sleeps says q.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.backends.elementary import exp, log

KEPT = 0.999  # of the past with each row
RIDGE = 30.0  # H at first; and 1 / RIDGE the most that H^-1 has on its diagonal
FAR = 10.0  # how many units experts differ at most
STEEP = 5.0  # how many times the usual slope one may be


class Stack(NamedTuple):
    """What is learnt: c and H^-1, of M experts and, for classes, in the last place, of the average."""

    coefficients: np.ndarray
    inverse: np.ndarray
    steepness: np.ndarray  # (1,) numbers: the answers' mean squared slope


def new_stack(size: int) -> Stack:
    """With nothing learnt."""
    return Stack(np.zeros(size), np.eye(size) / RIDGE, np.zeros(1))


@inlined
def newton_step(stack, g, weight, product):
    """Learn from the slopes of one row."""
    inverse, size = stack.inverse, KEPT
    for a in range(len(g)):
        product[a] = 0.0
        for b in range(len(g)):
            product[a] += inverse[a, b] * g[b]
        size += weight * product[a] * g[a]
    for a in range(len(g)):
        for b in range(len(g)):
            inverse[a, b] = (inverse[a, b] - weight * product[a] * product[b] / size) / KEPT
    for a in range(len(g)):  # a direction that nothing is heard of would grow for ever
        product[a] = min(1.0, np.sqrt(1.0 / (RIDGE * inverse[a, a])))
    for a in range(len(g)):
        move = 0.0
        for b in range(len(g)):
            inverse[a, b] *= product[a] * product[b]
            move += inverse[a, b] * g[b]
        stack.coefficients[a] -= weight * move


@inlined
def stack_classes(stack, joined, answer, forecasts, floor, surer, out):
    """out = p; surer[j, k]: by how much expert j is surer of class k than the average is, as logarithms."""
    experts, classes = forecasts.shape
    for k in range(classes):
        surer[experts, k] = log(answer[k])
    for j in range(experts):
        for k in range(classes):
            silent = joined[j] == 0.0 or np.isnan(forecasts[j, k])
            heard = (1.0 - classes * floor) * forecasts[j, k] + floor
            surer[j, k] = 0.0 if silent else log(heard) - surer[experts, k]
    for k in range(classes):
        out[k] = surer[experts, k]
        for j in range(experts + 1):
            out[k] += stack.coefficients[j] * surer[j, k]
    largest, total = out[:classes].max(), 0.0
    for k in range(classes):
        out[k] = exp(out[k] - largest)
        total += out[k]
    for k in range(classes):
        out[k] = (1.0 - classes * floor) * out[k] / total + floor


@inlined
def learn_class(stack, surer, p, label, weight, g, product):
    """Learn from a row's class what p of it would have been better."""
    for j in range(len(g)):
        g[j] = -surer[j, label]
        for k in range(len(p)):
            g[j] += p[k] * surer[j, k]
    newton_step(stack, g, weight, product)


@inlined
def stack_number(stack, joined, answer, heard, mean_loss, differs):
    """p; differs[j]: by how many units expert j differs from the average. A unit is that of a usual error."""
    unit = _unit(stack, mean_loss)
    found = answer
    for j in range(len(heard)):
        differs[j] = 0.0
        if unit > 0.0 and joined[j] > 0.0 and not np.isnan(heard[j]):
            differs[j] = min(max((heard[j] - answer) / unit, -FAR), FAR)
        found += unit * stack.coefficients[j] * differs[j]
    return found


@inlined
def _unit(stack, mean_loss):
    return 2.0 * mean_loss / np.sqrt(stack.steepness[0]) if stack.steepness[0] > 1e-300 else 0.0


@inlined
def learn_number(stack, differs, slope, rows, memory, weight, g, product):
    """Learn from the loss's slope at p."""
    usual = np.sqrt(stack.steepness[0])
    if usual > 1e-150:
        steep = min(max(slope / usual, -STEEP), STEEP)
        for j in range(len(g)):
            g[j] = steep * differs[j]
        newton_step(stack, g, weight, product)
    stack.steepness[0] += (slope * slope - stack.steepness[0]) / min(rows, memory)
