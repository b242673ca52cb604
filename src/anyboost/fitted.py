"""What a fit gives is one record: it is put in place by one assignment, and a method reads it once.

The record is the estimator's `__dict__`. A fit replaces it by a new one and never changes the old one, so a thread that
predicts while another one fits answers by the model of before or by the new one, and never by parts of both.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")


def snapshot(model: M) -> M:
    """The estimator as it is now: later fits do not change it. Other models come back as they are."""
    if not hasattr(model, "get_params"):
        return model
    found = object.__new__(type(model))
    found.__dict__ = vars(model)
    return found


def from_one_fit(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """A method that reads fitted attributes, all of them of the same fit."""

    @wraps(method)
    def call(self: M, /, *args: P.args, **given: P.kwargs) -> R:
        return method(snapshot(self), *args, **given)

    setattr(call, "reads_one_fit", True)  # noqa: B010 - tests ask for it
    return call


def put_in_place(model: Any, fitted: dict[str, Any]) -> None:
    """Give the estimator these attributes, and none of an earlier fit."""
    parameters = model.get_params(deep=False)
    kept = {
        name: value
        for name, value in dict(vars(model)).items()
        if name in parameters or not name.endswith("_")
    }
    model.__dict__ = kept | fitted


def fit_apart(fit: Callable[Concatenate[M, P], Any]) -> Callable[Concatenate[M, P], M]:
    """A `fit` that sets attributes one by one: it does so on a copy, whose attributes the estimator has at its end."""

    @wraps(fit)
    def call(self: M, /, *args: P.args, **given: P.kwargs) -> M:
        apart = object.__new__(type(self))
        apart.__dict__ = dict(vars(self))
        fit(apart, *args, **given)
        self.__dict__ = vars(apart)
        return self

    return call
