"""The chain: rows in order, each through all stages. Python runs it as it stands, kernels compile it.

    z_0 = 0;  z_i = P_B((1 - s_i eta) z_{i-1} + eta lambda a_i)    (span)
              z_i = (1 - eta_i) z_{i-1} + eta_i lambda a_i         (hull)

with a_i the stage's answer, no longer than D, lambda the scale of the class (supplement C.2), and center + z_i the
score after i stages. For each row:

    answer   all stages, before the row is learned; the prefix of least loss so far is believed
    learn    greedy: stage i learns from the slope at center + z_{i-1} + eta lambda a_i, over eta lambda, where z has
             what earlier stages answer after their step; offset: from the slope at center + z_{i-1} + alpha lambda a_i,
             over alpha lambda, where z is what answered (supplement C.1); linear: from the slope at center + z_{i-1},
             over L_B
    shrink   s_i <- clip(s_i + a_t <slope at z_{i-1}, z_{i-1}>, 0, 1)
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.compiler import bare, inlined, kernel
from anyboost.backends.forms import borrowed, described, in_kernels
from anyboost.losses.numbered import SQUARED
from anyboost.online import labels, learners, scores
from anyboost.online.learners import Aim, Row
from anyboost.online.one_score import OneScore
from anyboost.online.region import inverse_curvature_of, see_label, unit_of
from anyboost.online.settings import Chain, ChainSettings


class Model(NamedTuple):
    """A booster as the chain has it; kernels are given the chain's lines in one array, which costs a call less."""

    settings: ChainSettings
    chain: Any  # `Chain`
    labels: np.ndarray
    totals: np.ndarray
    scores: Any  # see `scores`
    learner: Any  # see `learners`
    arrays: Any  # the learner's


class Work(NamedTuple):
    """Memory for a row."""

    values: np.ndarray  # (features + 1,) as the learner sees them
    raw: np.ndarray  # (stages * outputs,) what the stages answer
    slopes: np.ndarray  # (outputs,)
    points: np.ndarray  # (stages + 1,) of z; or (stages + 1, outputs)


class StagePlace(NamedTuple):
    """A stage's place in the chain."""

    hull: float  # 1, or 0 for the span
    eta: float
    coefficient: float  # of its answer: eta lambda
    inverse: float  # 1 over that
    shrink: float


@inlined
def _with_lines(given):
    settings, lines, labels, totals, scores, learner, arrays = borrowed(given)
    chain = Chain(lines[0], lines[1], lines[2], lines[3], lines[4])
    return Model(settings, chain, labels, totals, scores, learner, arrays)


@in_kernels(_with_lines)
def with_lines(given):
    """The model with the chain's lines by name."""
    return given


@in_kernels(borrowed)
def lent(given):
    """A tuple of arrays that the caller keeps alive."""
    return given


def learn_all(given, rows, y, weights, answers, work):
    """Answer and learn all rows; answers[row] is the score before the row was learned."""
    model, rows, work = with_lines(given), lent(rows), lent(work)
    y, weights, answers = lent((y, weights, answers))
    known = labels.read(model.labels)
    now = scores.region(model.scores, model.settings, model.chain, known, 0)
    for number in range(len(y)):
        row = load_row(model, rows, number, weights[number], work.values)
        learners.predict(model.learner, model.arrays, row, work.raw)
        if row.weight > 0.0:
            answers[number], known, now = learn_row(model, known, now, row, y[number], work)
            learners.finish(model.learner, model.arrays, row)
        else:
            answers[number] = answer_row(model, now, work.raw)
    labels.write(model.labels, known)


def predict_all(given, rows, answers, work):
    """Answer all rows."""
    model, rows, work, (answers,) = with_lines(given), lent(rows), lent(work), lent((answers,))
    known = labels.read(model.labels)
    now = scores.region(model.scores, model.settings, model.chain, known, 0)
    for number in range(len(answers)):
        row = load_row(model, rows, number, 0.0, work.values)
        learners.predict(model.learner, model.arrays, row, work.raw)
        answers[number] = answer_row(model, now, work.raw)


class Kernels(NamedTuple):
    """`learn_all` and `predict_all`, compiled."""

    learn: Any
    predict: Any


# The cache has one place for both, and tells them by the types of arguments, of which they share none.
BARE = Kernels(bare(learn_all), bare(predict_all))
FULL = Kernels(kernel(learn_all), kernel(predict_all))


def kernels_of(model: Model) -> Kernels:
    """The bare ones, which a call of one row costs half as much, where no piece makes an array or hands one on."""
    several = not isinstance(model.scores, OneScore)
    return FULL if several or isinstance(model.learner, learners.MAKE_ARRAYS) else BARE


@described
def load_row(model, rows, number, weight, values):
    """Row `number` as the learner sees it; a row of weight 0 leaves no trace."""
    begin = rows.starts[number] if len(rows.starts) > 0 else number * rows.width
    count = rows.starts[number + 1] - begin if len(rows.starts) > 0 else rows.width
    norm = learners.load(model.learner, model.arrays, rows, begin, count, weight > 0.0, values)
    rate = learners.rate_of_row(model.learner, model.arrays, norm)
    return Row(rows.columns, begin, count, values, norm, rate, weight)


@described
def answer_row(model, now, raw):
    """The score that the stages' raw answers give."""
    z = scores.zero(model.scores, 0)
    for i in range(answering_prefix(model.settings, model.chain)):
        link = link_of(model.settings, model.chain, i)
        z = scores.advance(model.scores, link, z, scores.of_stage(model.scores, raw, i), now)
    return scores.at(model.scores, now, z)


@described
def learn_row(model, known, now, row, y, work):
    """One row through all stages; returns its score before it was learned, and labels and region after it."""
    settings, chain, learner, arrays, kind = (
        model.settings,
        model.chain,
        model.learner,
        model.arrays,
        model.scores,
    )
    raw, slopes, points, weight = work.raw, work.slopes, work.points, row.weight
    tamed, L, shrink_step, known = see_label(settings, chain, model.totals, known, now, y, weight)
    scores.see(kind, settings, y, weight)
    then = scores.region(kind, settings, chain, known, 1 - now.memory)
    inverse_curvature, unit = inverse_curvature_of(settings, known), unit_of(settings, known)
    length = answering_prefix(settings, chain)
    z, new_z = scores.zero(kind, 0), scores.zero(kind, 1)
    points[0] = 0.0
    for i in range(len(chain.step) - 1):
        link = link_of(settings, chain, i)
        z = scores.advance(kind, link, z, scores.of_stage(kind, raw, i), now)
        points[i + 1] = z
        if settings.greedy:
            gain = learners.gain(learner, arrays, row, i) if settings.code == SQUARED else -1.0
            goal = scores.goal(kind, link, scores.of_stage(kind, raw, i), new_z, gain, tamed, then)
            scores.slope(kind, goal.point, tamed, link.inverse, slopes)
            aim = Aim(inverse_curvature, unit * link.inverse, goal.least, goal.most)
            learners.learn(learner, arrays, row, i, slopes, aim, raw)
            new_z = scores.arrive(kind, goal, link, new_z, scores.of_stage(kind, raw, i), then)
        elif settings.offset_step > 0.0:
            if now.D > 0.0:  # else no label is known, or all were equal
                fit = fit_of(settings)
                goal = scores.goal(kind, fit, scores.of_stage(kind, raw, i), points[i], -1.0, tamed, now)
                scores.slope(kind, goal.point, tamed, fit.inverse, slopes)
                aim = Aim(inverse_curvature, unit * fit.inverse, goal.least, goal.most)
                learners.learn(learner, arrays, row, i, slopes, aim, raw)
        elif L > 0.0:
            scores.slope(kind, scores.at(kind, now, points[i]), tamed, 1.0, slopes)
            for k in range(len(slopes)):
                slopes[k] /= L
            learners.learn(learner, arrays, row, i, slopes, Aim(now.D, now.D, -now.D, now.D), raw)
    result = scores.at(kind, now, points[length])
    count_answer(model.totals, weight * scores.value(kind, result, y))
    scores.account(kind, chain, now, points, y, tamed, weight, 1.0 - settings.forget, shrink_step)
    return result, known, then


@described
def link_of(settings, chain, i):
    eta = chain.step[i + 1]
    hull, coefficient = 1.0 if settings.hull else 0.0, eta * settings.multiplier
    return StagePlace(hull, eta, coefficient, chain.inverse[i + 1], chain.shrink[i + 1])


@inlined
def fit_of(settings):
    """The place of a stage in mode "offset" when it learns: its own step, from all of z_{i-1}."""
    coefficient = settings.offset_step * settings.multiplier
    return StagePlace(0.0, settings.offset_step, coefficient, 1.0 / coefficient, 0.0)


@inlined
def count_answer(totals, loss):
    totals[0].loss += loss


@inlined
def answering_prefix(settings, chain):
    """How many stages answer: all, or the prefix of least loss so far, the longest among equals."""
    best = len(chain.score) - 1
    if settings.best_prefix:
        lowest = chain.score[best]
        for i in range(best - 1, -1, -1):
            if chain.score[i] < lowest:
                best, lowest = i, chain.score[i]
    return best
