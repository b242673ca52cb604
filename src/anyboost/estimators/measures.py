"""What `scoring` asks for, as measures of the sets that a fit watches: our metrics, and scikit-learn's scorers."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import metrics
from anyboost.ensemble import Ensemble
from anyboost.watching import Watch, WatchedMeasure


@dataclass(eq=False)
class WatchedSet(Watch):
    """A validation set, and what a scorer sees of it."""

    given: Any = None  # the table as the user gave it; None where no scorer asks for it
    labels: Any = None
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None


def of_metric(name: str, metric: metrics.Metric) -> WatchedMeasure:
    """A metric of `anyboost.metrics`."""

    def value(watched: WatchedSet, _: Ensemble) -> float:
        return metric.value(watched.labels, watched.shaped(), watched.groups)

    return WatchedMeasure(name, value, 1.0 if metric.greater_is_better else -1.0)


def of_scorer(
    name: str,
    scorer: Any,
    sets: Sequence[WatchedSet],
    stage: Callable[[WatchedSet, Ensemble], Any],
    queries: str | None,
) -> WatchedMeasure:
    """A scorer of scikit-learn: a function of (estimator, X, y), more is better; `queries` is what it calls groups."""
    if any(watched.sample_weight is not None for watched in sets) and not _takes_weights(scorer):
        raise ValueError(
            f"scoring {name} takes no sample_weight, which a validation set has: leave out one of them"
        )

    def value(watched: WatchedSet, ensemble: Ensemble) -> float:
        given: dict[str, Any] = {}
        if watched.sample_weight is not None:
            given["sample_weight"] = watched.sample_weight
        if queries is not None:
            given[queries] = watched.groups
        return float(scorer(stage(watched, ensemble), watched.given, watched.labels, **given))

    return WatchedMeasure(name, value, 1.0)


def _takes_weights(scorer: Any) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.kind == p.VAR_KEYWORD or p.name in ("sample_weight", "kwargs") for p in parameters)


def check_scoring(scoring: Any) -> list[Any]:
    """A list of what to measure, each "loss", a Metric, None (the estimator's own score) or a scorer, with its name."""
    several = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
    if not several:
        raise ValueError('scoring is an empty list: name at least one score, or use "loss"')
    found = [_one_scoring(part) for part in several]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError(f"scoring names {names} hold one twice: name each once")
    return found


def any_scorer(scoring: Any) -> bool:
    """Whether any of these is a function of (estimator, X, y), which is shown the table."""
    return any(what is None or callable(what) for _, what in check_scoring(scoring))


def _one_scoring(part: Any) -> tuple[str, Any]:
    from sklearn.metrics import get_scorer, get_scorer_names

    if part is None:
        return "score", None
    if isinstance(part, str):
        if part == "loss":
            return part, part
        metric = metrics.get(part)
        if metric is not None:
            return part, metric
        if part not in get_scorer_names():
            raise ValueError(
                f'scoring {part!r} is not known: use "loss", "ndcg", "map", "disagreement", "concordance", '
                "or a scorer of scikit-learn"
            )
        return part, get_scorer(part)
    if callable(part) and not isinstance(part, type):
        return getattr(part, "__name__", type(part).__name__), part
    raise ValueError(
        f"scoring must be a name, a function of (estimator, X, y) or a list of them, got {part!r}"
    )
