"""The chain of stages, whatever the learners:

    z_0 = 0;  z_i = P_B((1 - s_i eta) z_{i-1} + eta a_i)           (span)
              z_i = (1 - eta_i) z_{i-1} + eta_i a_i                (hull)

with a_i the stage's answer, no longer than D, and center + z_i the score after i stages. In greedy mode center + z_i
is also brought to the range of labels: slopes are taken there, so that a score beyond it would not be pulled back
when the center moves.
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import part
from anyboost.backends.lanes import every, select
from anyboost.backends.online import labels

# Rows of the (5, stages + 1) chain, with stage i in column i, from 1: eta_i, s_i, cumulative loss, the same on tamed
# labels less that of column 0 and discounted, 1 / eta_i.
STEP, SHRINK, LOSS, SCORE, INVERSE = 0, 1, 2, 3, 4
LINES = 5
ANSWERS, ROWS, MOMENTS = (
    0,
    1,
    2,
)  # totals: loss of the answers; rows; from MOMENTS on sums of w, w y and w y^2
TOTALS = 5


class Chain(NamedTuple):
    """The booster's settings."""

    code: int  # of the loss
    parameter: float  # of the loss
    located: bool  # scores lie on the scale of the labels
    center: int  # how a constant answers; see `labels`
    curvature: float  # of the loss; 0: one that fits the labels
    hull: bool
    greedy: bool
    best_prefix: bool  # answer with the prefix of least loss so far, not with the whole chain
    running_center: bool
    start: float  # the center, where it does not run
    output_bound: float  # D; 0: follow the labels
    label_bound: float  # Y; 0: follow the labels
    radius: float  # B; 0: from D and Y
    lipschitz: float  # L; 0: curvature (B + Y)
    scale: float  # lambda of the scaled class
    forget: float


@part
def best_prefix(chain):
    """The prefix of least loss; the longest among equals."""
    best = chain.shape[1] - 1
    lowest = chain[SCORE, best]
    for i in range(best - 1, -1, -1):
        if chain[SCORE, i] < lowest:
            best, lowest = i, chain[SCORE, i]
    return best


@part
def answering_prefix(settings, chain):
    """How many stages answer."""
    return best_prefix(chain) if settings.best_prefix else chain.shape[1] - 1


@part
def bounds_now(settings, chain, seen_labels):
    """D, B, and the range of scores outside which slopes are taken at its ends."""
    reach = settings.label_bound if settings.label_bound > 0.0 else labels.reach(seen_labels)
    D = reach
    if settings.output_bound > 0.0:
        D = settings.output_bound
    elif settings.greedy and not settings.hull:
        D = reach * chain[INVERSE, 1]  # so that the first stage alone can reach any label
    D *= settings.scale
    B = settings.radius
    if B == 0.0:
        B = reach if settings.greedy and settings.output_bound == 0.0 else ball(settings, chain, D, reach)
    if not settings.located:
        return D, B, -math.inf, math.inf
    if settings.label_bound > 0.0:
        return D, B, -reach, reach
    return D, B, seen_labels[labels.LOW], seen_labels[labels.HIGH]


@part
def ball(settings, chain, D, Y):
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}), for losses on the labels' own scale."""
    if D <= 0.0:
        return 0.0
    eta = chain[STEP, 1]
    radius = Y
    if settings.located and settings.curvature > 0.0:  # eps_b is at most beta (Y - b), and L
        radius = min(Y, (math.sqrt(D * D + 4.0 * eta * Y * D) - D) / (2.0 * eta))
        if settings.lipschitz > 0.0:
            radius = min(radius, math.sqrt(settings.lipschitz * D / (settings.curvature * eta)))
    return min(eta * (chain.shape[1] - 1) * D, max(D, radius))


@part
def room(settings, B, low, high, center):
    """Where z may lie: in the ball and, in greedy mode, where labels have been."""
    least, most = (-math.inf, math.inf) if settings.hull else (-B, B)
    if settings.greedy:
        least, most = max(least, min(low - center, 0.0)), min(most, max(high - center, 0.0))
    return least, most


@part
def ease_of(settings, seen_labels):
    """1 over the curvature that steps are measured by."""
    if settings.curvature > 0.0:
        return 1.0 / settings.curvature
    unit = math.sqrt(seen_labels[labels.VARIANCE])
    return unit if unit > 0.0 else 1.0


@part
def unit_of(settings, seen_labels):
    """The labels' deviation, where scores lie on their scale."""
    return math.sqrt(seen_labels[labels.VARIANCE]) if settings.located else 1.0


@part
def lipschitz_of(settings, B, reach):
    """L_B."""
    return settings.lipschitz if settings.lipschitz > 0.0 else max(settings.curvature, 1e-300) * (B + reach)


@part
def shrink_rate(settings, rows, L, B):
    """a_t = 1 / (L_B B sqrt t), after so many rows."""
    age = rows + 1.0
    if settings.forget > 0.0:
        age = min(age, 1.0 / settings.forget)
    return 1.0 / (L * B * math.sqrt(age)) if L * B > 0.0 else 0.0


class Frame(NamedTuple):
    """Where scores lie at a moment."""

    center: float  # y_0
    D: float
    B: float
    low: float  # the range of scores outside which slopes are taken at its ends
    high: float
    bottom: float  # where z may lie
    top: float


@part
def center_of(settings, seen_labels):
    """y_0."""
    return labels.center(settings.center, seen_labels) if settings.running_center else settings.start


@part
def frame_now(settings, chain, seen_labels):
    center, (D, B, low, high) = center_of(settings, seen_labels), bounds_now(settings, chain, seen_labels)
    bottom, top = room(settings, B, low, high, center)
    return Frame(center, D, B, low, high, bottom, top)


@part
def see_label(settings, chain, known, age, now, y, weight):
    """From the labels known before a row, their frame and how many there were, the row's numbers:

    its label tamed, L_B, the shrinkage's step; and the labels known after it, with their frame.
    """
    L = lipschitz_of(settings, now.B, max(now.center - now.low, now.high - now.center))
    # Before the first stage z is 0, and there is nothing to shrink.
    shrink_step = weight * shrink_rate(settings, age, L, now.B) if chain.shape[1] > 2 else 0.0
    calm = labels.tame(known, y) if settings.located and settings.label_bound == 0.0 else y
    known = labels.after(known, y, weight, settings.forget)
    return calm, L, shrink_step, known, frame_now(settings, chain, known)


@part
def count_row(totals, weight, y):
    """Count a row's label."""
    totals[ROWS] += 1.0
    totals[MOMENTS] += weight
    totals[MOMENTS + 1] += weight * y
    totals[MOMENTS + 2] += weight * y * y


# From here on numbers may be lanes of numbers, and `hull` is 1.0 or 0.0.


@part
def clip(number, bound):
    return min(max(number, -bound), bound)


@part
def kept(hull, eta, shrink):
    """What a stage leaves of z: 1 - eta_i (hull) or 1 - s_i eta (span)."""
    return 1.0 - (hull + (1.0 - hull) * shrink) * eta


@part
def advance(hull, eta, shrink, z, a, least, most):
    """z_i from z_{i-1} and the stage's answer."""
    return min(max(kept(hull, eta, shrink) * z + eta * a, least), most)


class Goal(NamedTuple):
    """What a greedy stage learns from, and where its step ends."""

    point: float  # where its slope is taken
    least: float  # answers beyond these make no difference
    most: float
    ahead: float  # z after the step,
    known: bool  # where that can be told beforehand: the next stage need not wait for it then


@part
def goal_of(hull, eta, inverse, shrink, raw, z, gain, calm, center, D, low, high, bottom, top):
    """A stage's goal, from its answer and z before its step; for `gain` see `learners`."""
    lead, left = eta * raw, 1.0 - hull * eta
    offset = center + left * z
    point, least, most = offset + lead, -D, D
    near = (gain >= 0.0) & (low <= point) & (point <= high) & (abs(raw) <= D)
    moved = raw - gain * (point - calm) * inverse
    ahead = (kept(hull, eta, shrink) - gain * left) * z + (lead - gain * (center - calm + lead))
    known = near & (abs(moved) <= D) & (bottom <= ahead) & (ahead <= top)
    if not every(near):  # which is rare
        lowest, highest = (low - offset) * inverse, (high - offset) * inverse
        point = select(near, point, min(max(offset + eta * clip(raw, D), low), high))
        least = select(near, least, min(max(-D, lowest), highest))
        most = select(near, most, max(min(D, highest), lowest))
    return Goal(point, least, most, ahead, known)


@part
def arrive(goal, hull, eta, shrink, z, moved, D, bottom, top):
    """z after the stage's step, which moved its answer."""
    if every(goal.known):
        return goal.ahead
    return select(goal.known, goal.ahead, advance(hull, eta, shrink, z, clip(moved, D), bottom, top))


@part
def account(pull, loss, calm_loss, first, z, shrink, total, score, weight, keep, shrink_step):
    """A stage's shrinkage, loss and score after a row; `pull` and z are from before the stage."""
    return (
        min(max(shrink + shrink_step * pull * z, 0.0), 1.0),
        total + weight * loss,
        keep * score + weight * (calm_loss - first),
    )
