"""What the chain asks of scores, found by their type: one a row, several a row, or of a loss that Python runs."""

from anyboost.backends.forms import by_type
from anyboost.online import python_loss

FORMS = {**python_loss.FORMS, python_loss.PythonLoss: python_loss}


@by_type(FORMS)
def see(scores, settings, y, weight):
    """Count a row's label, where classes are counted."""


@by_type(FORMS)
def region(scores, settings, chain, known, memory):
    """Where scores lie, by the labels known; in one of two memories."""


@by_type(FORMS)
def zero(scores, number):
    """A z of 0; number 0 or 1, of two that are in use at a time."""


@by_type(FORMS)
def of_stage(scores, raw, i):
    """One stage's of the raw answers."""


@by_type(FORMS)
def at(scores, now, z):
    """The score at z."""


@by_type(FORMS)
def value(scores, f, y):
    """The loss."""


@by_type(FORMS)
def slope(scores, f, y, times, slopes):
    """Fill in its slopes, one an output, times a number."""


@by_type(FORMS)
def advance(scores, link, z, answer, now):
    """z_i from z_{i-1} and the stage's answer."""


@by_type(FORMS)
def goal(scores, link, raw, z, gain, tamed, then):
    """A greedy stage's goal, from its answer and z before its step."""


@by_type(FORMS)
def arrive(scores, goal, link, z, moved, then):
    """z after the stage's step, which moved its answer."""


@by_type(FORMS)
def account(scores, chain, now, points, y, tamed, weight, keep, shrink_step):
    """Count every prefix's losses, and learn the shrinkage."""
