"""The validation sets that `fit` is given, by name."""

from collections.abc import Mapping
from typing import Any

_PARTS = {"X", "y", "sample_weight", "groups", "qid", "offset"}


def named_sets(X_val: Any, y_val: Any, sample_weight_val: Any, valid: Any, **others: Any) -> dict[str, Any]:
    """All validation sets, the one that decides first. `others` go with X_val, where given."""
    sets: dict[str, Any] = {}
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together")
    if X_val is None and any(part is not None for part in (sample_weight_val, *others.values())):
        raise ValueError("X_val must be given for the other parts of a validation set to have a meaning")
    if X_val is not None:
        parts = {"X": X_val, "y": y_val, "sample_weight": sample_weight_val, **others}
        sets["valid"] = {name: part for name, part in parts.items() if part is not None}
    if valid is None:
        return sets
    if isinstance(valid, Mapping) and not (set(valid) <= _PARTS and "X" in valid):
        given = dict(valid)
    else:
        given = {"valid": valid}
    for name in given:
        if not isinstance(name, str):
            raise ValueError(f"valid must name its sets by words, got {name!r}")
        if name in sets:
            raise ValueError(f"valid has a set {name!r}, which X_val is called already: use another name")
    if not given:
        raise ValueError("valid is empty: name at least one set, or leave it out")
    return sets | given
