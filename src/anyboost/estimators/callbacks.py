"""scikit-learn's callback protocol (1.9 and later) on top of `boost`'s: one subtask a round.

`model.set_callbacks(sklearn.callback.ProgressBar())` shows a bar; `ScoringMonitor` records scores.
"""

from collections.abc import Callable
from typing import Any

from anyboost.boosting import Run
from anyboost.descent import Step

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method


class Rounds:
    """A callback of `boost` that tells scikit-learn's callbacks of each round, its end and the next one's begin."""

    def __init__(
        self,
        estimator: Any,
        rounds: int | None,  # at most; None: not known
        arguments: dict[str, Any],
        fitted: Callable[[Run], dict[str, Any] | None],  # None: callbacks are shown no fitted estimator
    ) -> None:
        self.estimator, self.rounds, self.arguments, self.fitted = estimator, rounds, arguments, fitted
        self.context: Any = None
        self.task: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=rounds)
            self.context.call_on_fit_task_begin(estimator=estimator, **arguments)
            self._begin()

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return self.context is not None and bool(getattr(self.estimator, "_skl_callbacks", None))

    def _begin(self) -> None:
        if self.heard and self.rounds != 0:
            self.rounds = None if self.rounds is None else self.rounds - 1
            self.task = self.context.subcontext(task_name="round")
            self.task.call_on_fit_task_begin(estimator=self.estimator, **self.arguments)

    def __call__(self, step: Step, run: Run) -> bool:
        if self.task is None:
            return False
        stop = self.task.call_on_fit_task_end(
            estimator=self.estimator, **self.arguments, reconstruction_attributes=lambda: self.fitted(run)
        )
        self.task = None
        if not stop:
            self._begin()
        return bool(stop)

    def end(self, run: Run) -> None:
        """The fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator,
                **self.arguments,
                reconstruction_attributes=lambda: self.fitted(run),
            )
