"""Where scores lie at a moment of the stream, from the labels so far: their center y_0, D, B, and the range of labels.

D bounds the answers of learners. The scaled class (supplement C.2) has the bound lambda D, from which B follows.

In greedy mode center + z_i is also brought to the range of labels: slopes are taken there, so that a score beyond it
would not be pulled back when the center moves. Mode "offset" does the same while D follows the labels; with a D of the
user's it is the paper's algorithm as printed, which knows no such range.
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import inlined
from anyboost.online import labels
from anyboost.online.settings import BEYOND, HEAVY, NO_LAPSE


class Region(NamedTuple):
    """Where scores lie: numbers, or for several scores arrays of `center`, `bottom` and `top`."""

    center: float  # y_0
    reach: float  # how far the range goes from there
    D: float
    B: float
    low: float  # the range of scores outside which slopes are taken at its ends
    high: float
    bottom: float  # where z may lie
    top: float
    memory: int  # of two, that of the arrays


@inlined
def keeps_range(settings):
    """Whether scores are kept in the range of labels."""
    return settings.greedy or (settings.offset_step > 0.0 and settings.output_bound == 0.0)


@inlined
def bounds_now(settings, chain, known):
    """D, B, and the range of scores by the labels."""
    reach = settings.label_bound if settings.label_bound > 0.0 else labels.reach(known)
    D = reach
    if settings.output_bound > 0.0:
        D = settings.output_bound
    elif keeps_range(settings) and not settings.hull:  # the first stage alone can reach any label
        D = reach * chain.inverse[1] * settings.multiplier
    B = settings.radius
    if B == 0.0:
        follows = keeps_range(settings) and settings.output_bound == 0.0
        B = reach if follows else ball(settings, chain, D * settings.scale, reach)
    D *= settings.scale / settings.multiplier
    if not settings.located:
        return D, B, -math.inf, math.inf
    if settings.label_bound > 0.0:
        return D, B, -reach, reach
    return D, B, known.low, known.high


@inlined
def ball(settings, chain, D, Y):
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}), for losses on the labels' own scale."""
    if D <= 0.0:
        return 0.0
    eta = chain.step[1]
    radius = Y
    if settings.located and settings.curvature > 0.0:  # eps_b is at most beta (Y - b), and L
        radius = min(Y, (math.sqrt(D * D + 4.0 * eta * Y * D) - D) / (2.0 * eta))
        if settings.lipschitz > 0.0:
            radius = min(radius, math.sqrt(settings.lipschitz * D / (settings.curvature * eta)))
    return min(eta * (len(chain.step) - 1) * D, max(D, radius))


@inlined
def room(settings, B, low, high, center):
    """Where z may lie: in the ball and, where scores are kept in their range, where labels have been."""
    least, most = (-math.inf, math.inf) if settings.hull else (-B, B)
    if keeps_range(settings):
        least, most = max(least, min(low - center, 0.0)), min(most, max(high - center, 0.0))
    return least, most


@inlined
def slope_range(settings, low, high):
    """Outside which range of scores slopes are taken at its ends."""
    return (low, high) if keeps_range(settings) else (-math.inf, math.inf)


@inlined
def center_of(settings, known):
    """y_0."""
    return labels.center(settings.center, known) if settings.running_center else settings.start


@inlined
def inverse_curvature_of(settings, known):
    """1 over the curvature that steps are measured by."""
    if settings.curvature > 0.0:
        return 1.0 / settings.curvature
    unit = math.sqrt(known.variance)
    return unit if unit > 0.0 else 1.0


@inlined
def unit_of(settings, known):
    """The labels' deviation, where scores lie on their scale."""
    return math.sqrt(known.variance) if settings.located else 1.0


@inlined
def see_label(settings, chain, totals, known, now, y, weight):
    """From what was known before a row: its label tamed, L_B, the shrinkage's step; and the labels known after it."""
    L = settings.lipschitz
    if L <= 0.0:
        L = max(settings.curvature, 1e-300) * (now.B + now.reach)
    # Before the first stage z is 0, and there is nothing to shrink.
    shrink_step = weight * shrink_rate(settings, totals[0].rows, L, now.B) if len(chain.step) > 2 else 0.0
    tamed = labels.tame(known, y) if settings.located and settings.label_bound == 0.0 else y
    totals[0].rows += 1.0
    if totals[0].lapse_cause == NO_LAPSE:
        note_lapse(settings, totals, y, weight)
    totals[0].weight += weight
    totals[0].first += weight * y
    totals[0].second += weight * y * y
    return tamed, L, shrink_step, labels.after(known, y, weight, settings.forget)


@inlined
def note_lapse(settings, totals, y, weight):
    """Note a row that the theorems do not allow: its loss is steeper than L, or its label beyond Y."""
    if weight > 1.0:
        totals[0].lapse_row, totals[0].lapse_cause, totals[0].lapse_value = totals[0].rows, HEAVY, weight
    elif settings.label_bound > 0.0 and abs(y) > settings.label_bound:
        totals[0].lapse_row, totals[0].lapse_cause, totals[0].lapse_value = totals[0].rows, BEYOND, y


@inlined
def shrink_rate(settings, rows, L, B):
    """a_t = 1 / (L_B B sqrt t), after so many rows."""
    age = rows + 1.0
    if settings.forget > 0.0:
        age = min(age, 1.0 / settings.forget)
    return 1.0 / (L * B * math.sqrt(age)) if L * B > 0.0 else 0.0
