"""River's base classes where River is installed, empty ones where it is not.

With them the estimators stand in River's pipelines, metrics and checks; without them they have the same methods.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or find_spec("river") is None:

    class MiniBatchRegressor:
        """Stands in for River's."""

    class MiniBatchClassifier:
        """Stands in for River's."""
else:
    from river.base import MiniBatchClassifier, MiniBatchRegressor

__all__ = ["MiniBatchClassifier", "MiniBatchRegressor"]
