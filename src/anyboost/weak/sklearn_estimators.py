"""scikit-learn estimators as users bring them: what they can take, and how a clone of one is fitted.

The user's own object is never fitted or changed. Where its `random_state` is None, the clone gets one from the
run's seed, so that a run is the same twice; another value is the user's choice, and stays.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from anyboost.weak.learner import Takes

_LARGEST_SEED = 2**31 - 1


def is_estimator(thing: Any) -> bool:
    """Whether this is an estimator in the manner of scikit-learn, not its class."""
    return not isinstance(thing, type) and hasattr(thing, "fit") and hasattr(thing, "get_params")


def abilities(estimator: Any, categories: bool, atoms: bool) -> Takes:
    """What an estimator says it can take. Of a pipeline, the first step is asked about missing values."""
    from sklearn.utils import get_tags

    tags, first = get_tags(estimator).input_tags, next(_steps(estimator), ("", estimator))[1]
    return Takes(
        missing=get_tags(first).input_tags.allow_nan,
        categories=categories,
        sparse=tags.sparse,
        weights=bool(weight_names(estimator)),
        atoms=atoms,
    )


def weight_names(estimator: Any) -> list[str]:
    """The names under which `fit` takes weights; none where it does not. In a pipeline, all steps that can get them."""
    from sklearn.utils.validation import has_fit_parameter

    steps = list(_steps(estimator))
    if not steps:
        return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else []
    named = {name: has_fit_parameter(step, "sample_weight") for name, step in steps}
    return [f"{name}__sample_weight" for name, able in named.items() if able] if named[steps[-1][0]] else []


def _steps(estimator: Any) -> Iterator[tuple[str, Any]]:
    """The named steps of a pipeline that do something; none of any other estimator."""
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, Pipeline):
        yield from ((name, step) for name, step in estimator.steps if hasattr(step, "fit"))


def fitted(
    estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, random: np.random.Generator
) -> Any:
    """A fitted clone."""
    from sklearn import config_context
    from sklearn.base import clone

    copy = clone(estimator)
    seeds = {
        name: int(random.integers(_LARGEST_SEED))
        for name, value in sorted(copy.get_params().items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    copy.set_params(**seeds)
    given = {} if weights is None else dict.fromkeys(weight_names(copy), weights)
    with config_context(enable_metadata_routing=False):  # the names above are those without it
        return copy.fit(X, y, **given)


def chosen_columns(X: Any, columns: np.ndarray | None) -> Any:
    """The columns that an estimator is fitted on."""
    return X if columns is None else X[:, columns]
