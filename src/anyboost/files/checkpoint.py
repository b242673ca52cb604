"""A callback that saves the run as it goes, so that a killed fit can be resumed from its file."""

from time import monotonic
from typing import TYPE_CHECKING, Any

from anyboost import checks, saving
from anyboost.files.models import save

if TYPE_CHECKING:
    from anyboost.boosting import Run
    from anyboost.descent import Step


class Checkpoint:
    """A callback that writes a run to a file as it goes.

    After a crash, `boost(..., resume=load(path))` with the same data and options goes on from there and ends
    with the same model.

    Parameters
    ----------
    path : str or Path
        The file.
    every_rounds : int or None, default None
        Write every so many rounds.
    every_seconds : float or None, default None
        Write when that long has passed since it wrote last. With both, whenever either asks for it; one must be given.
    keep : str, default "rows"
        "rows": what the run has for each row, from which it goes on at once. "trees": its trees as they were grown, for
        learners that are trees; the file does not grow with the rows, and the run goes on wherever these lie, also on a
        cluster, after a replay of its rounds. Runs on a cluster always keep their trees.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> keep = ab.Checkpoint("run.anyboost", every_rounds=5)
    >>> run = ab.boost(X, y, rounds=5, callbacks=[keep])
    >>> more = ab.boost(X, y, rounds=8, resume=ab.load("run.anyboost"))
    >>> len(more.steps)
    8
    """

    def __init__(
        self,
        path: Any,
        every_rounds: int | None = None,
        every_seconds: float | None = None,
        keep: str = "rows",
    ) -> None:
        if every_rounds is None and every_seconds is None:
            raise ValueError("every_rounds or every_seconds must be given: try every_rounds=50")
        if every_rounds is not None:
            checks.count(every_rounds, "every_rounds", least=1)
        if every_seconds is not None:
            checks.positive(every_seconds, "every_seconds")
        checks.choice(keep, "keep", ("rows", "trees"))
        self.path, self.every_rounds, self.every_seconds, self.keep = path, every_rounds, every_seconds, keep
        self._wrote = monotonic()
        self._checked: Any = None

    @property
    def keeps_trees(self) -> bool:
        """Whether `boost` is to keep the trees as they are grown."""
        return self.keep == "trees"

    def __call__(self, step: "Step", run: "Run") -> None:
        if self._checked is not run.learner:  # said in the first round, not after an hour
            from anyboost.files import runs

            saving.check(self.path)
            runs.check(run)
            self._admit(step, run)
            self._checked = run.learner
        if self._due(step.round):
            from anyboost.boosting.resuming import without_rows

            save(without_rows(run) if self.keeps_trees else run, self.path)
            self._wrote = monotonic()

    def _admit(self, step: "Step", run: "Run") -> None:
        if self.keeps_trees and run.trees is None:
            because = "goes on from one that kept rows" if step.round > 1 else "has another learner"
            raise ValueError(
                f'keep="trees" is for runs of trees that keep them from their first round, and this one {because}: '
                'use keep="rows"'
            )

    def _due(self, round: int) -> bool:
        if self.every_rounds is not None and round % self.every_rounds == 0:
            return True
        return self.every_seconds is not None and monotonic() - self._wrote >= self.every_seconds
