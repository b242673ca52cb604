"""River's side of the estimators, where River is installed; without it they have the same methods.

They are River's regressors and classifiers by registration, not by inheritance: scikit-learn refuses classes that have
River's `_more_tags` among their bases.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

INSTALLED = find_spec("river") is not None

if TYPE_CHECKING or not INSTALLED:

    class Base:
        """Stands in for River's: cloning and parameters."""
else:
    from river.base import Base


class RiverFace(Base):
    """What River asks of an estimator besides learning and predicting."""

    _supervised = True
    _multiclass = True

    @property
    def _tags(self) -> set[str]:
        return set()

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}

    def _unit_test_skips(self) -> set[str]:
        return set()


def register(kind: str, cls: type) -> None:
    """Make a class one of River's "MiniBatchRegressor" or "MiniBatchClassifier"."""
    if INSTALLED:
        from river import base

        getattr(base, kind).register(cls)
