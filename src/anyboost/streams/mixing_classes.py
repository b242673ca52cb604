"""Probabilities of classes, mixed: log loss, with the rate 1 (see `mixing`)."""

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import log
from anyboost.backends.forms import borrowed
from anyboost.streams.mixing import (
    Averages,
    MixtureState,
    account,
    lead,
    members_of,
    reweigh,
    share,
    stack_of,
    top_weights,
)
from anyboost.streams.stacking import learn_class, stack_classes


@kernel
def _floored(forecast, k, classes, floor):
    return (1.0 - classes * floor) * forecast[k] + floor


@kernel
def _class_answer(state, u, forecasts, floor, out, chances, label):
    """The averages' probabilities of a row, and chances[g], what each gives the label; no one awake: equal ones."""
    experts, classes = forecasts.shape
    out[:] = 0.0
    for g in range(len(state.weights)):
        mass, chances[g] = 0.0, 0.0
        for j in range(experts):
            if not np.isnan(forecasts[j, 0]):
                mass += state.weights[g, j]
                chances[g] += state.weights[g, j] * _floored(forecasts[j], label, classes, floor)
        if mass > 0.0:
            chances[g] /= mass
            for j in range(experts):
                if not np.isnan(forecasts[j, 0]):
                    scaled = u[g] * state.weights[g, j] / mass
                    for k in range(classes):
                        out[k] += scaled * _floored(forecasts[j], k, classes, floor)
        else:
            chances[g] = 1.0 / classes
            for k in range(classes):
                out[k] += u[g] / classes


@kernel
def mix_classes(state, parts, floor, forecasts, codes, weights, learning, answers, leaders):
    """Answer rows (n, M, K) of probabilities, and learn from each row's class where `learning`."""
    state, parts = MixtureState(*borrowed(state)), Averages(*borrowed(parts))
    _, experts, classes = forecasts.shape
    chances, losses, slopes = np.empty(len(parts.priors)), np.empty(experts), np.empty(experts)
    stack, stacked, surer = stack_of(state), np.empty(classes), np.empty((experts + 1, classes))
    scratch, last = np.empty((2, experts + 1)), len(parts.shares)
    for i in range(len(forecasts)):
        u = top_weights(parts, state.past, 1.0)
        label = codes[i] if learning else 0
        _class_answer(state, u, forecasts[i], floor, answers[i], chances, label)
        stack_classes(stack, state.joined, answers[i], forecasts[i], floor, surer, stacked)
        for k in range(classes):
            answers[i, k] += u[last] * (stacked[k] - answers[i, k])
        if learning:
            chance, chances[last] = answers[i, label], stacked[label]
            for j in range(experts):
                own = _floored(forecasts[i, j], label, classes, floor)
                losses[j], slopes[j] = -log(own), -own / chance
            account(state, losses, -log(chance), -1.0, slopes, weights[i])
            members = members_of(state.joined)
            for g in range(last + 1):
                state.past[g] -= weights[i] * log(chances[g])
            for g in range(last):
                reweigh(state, g, losses, weights[i])
                share(state, parts, g, members)
            learn_class(stack, surer, stacked, label, weights[i], scratch[0], scratch[1])
            leaders[i] = lead(state, top_weights(parts, state.past, 1.0))
