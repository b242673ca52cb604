"""One pass over a stream: score each example, learn from it, print progressive loss, save as it goes.

The file that `--save` writes is one whole checkpoint or another at every moment. Beside it stands NAME.reached with the
number of examples taken so far, so that whoever resumes after a kill is told how many the checkpoint lacks. No file is
touched before the model has taken its first example.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.cli.passes.course import Course
from anyboost.cli.passes.progressive import ProgressTable, Tally
from anyboost.cli.rows import disguises
from anyboost.cli.rows import examples as reading
from anyboost.cli.rows.cells import TableError
from anyboost.cli.rows.examples import Examples, ExampleSource
from anyboost.streams.mixture import TeamRegret

if TYPE_CHECKING:
    from anyboost.cli.passes.predictions import Predictions
    from anyboost.online.estimators import OnlineBoosting

OPTIONAL = ("predictions", "course")  # of a position: not in the file where there is none
LABEL = "label"  # what Vowpal Wabbit's format has for a target
CONSTANT = ("constant", "loss")
OF_CHAIN = [CONSTANT, ("single", "loss")]
OF_TEAM = [CONSTANT, ("expert", "loss"), ("who", "leads")]


@dataclass
class Position:
    """What a model file of a stream says besides the model: how far it came, in which file, and its table."""

    target: str
    kinds: dict[str, str]
    tally: Tally
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    examples: int = 0  # of its current source, learnt or passed over
    source: dict[str, Any] | None = None
    predictions: dict[str, Any] | None = None  # how far their file had come
    course: Course | None = None  # what a figure is drawn from, where one was asked for

    def as_dict(self) -> dict[str, Any]:
        """For the model file."""
        found = asdict(self) | {"ignore": list(self.ignore)}
        return {name: value for name, value in found.items() if value is not None or name not in OPTIONAL}

    @classmethod
    def of(cls, found: dict[str, Any]) -> Position:
        course = found.get("course")
        parts = {"tally": Tally(**found["tally"]), "ignore": tuple(found["ignore"])}
        return cls(**{**found, **parts, "course": None if course is None else Course(**course)})


class Reached:
    """The number of examples taken so far, in eight bytes of shared memory that outlive a killed process."""

    def __init__(self, model: str) -> None:
        self.path = Path(f"{model}.reached")
        self._memory: mmap.mmap | None = None

    def read(self) -> int:
        """What a run that did not end left behind; 0 where there was none."""
        try:
            return int.from_bytes(self.path.read_bytes()[:8], "little")
        except FileNotFoundError:
            return 0

    def open(self) -> None:
        with self.path.open("wb") as file:
            file.write(bytes(8))
        with self.path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8)

    def note(self, examples: int) -> None:
        if self._memory is not None:
            struct.pack_into("<Q", self._memory, 0, examples)

    def done(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        self.path.unlink(missing_ok=True)


class LearningPass:
    """A model on its way through a source of examples.

    make : builds the model once the first batch shows what the labels are.
    echo, say : print a line of the table, and a remark beside it.
    told : whether somebody said that the labels are classes.
    """

    def __init__(
        self,
        source: ExampleSource,
        make: Callable[[str], OnlineBoosting],
        echo: Callable[[str], None],
        say: Callable[[str], None],
        test: bool = False,
        save: str | None = None,
        every: int = 100_000,
        predictions: Predictions | None = None,
        told: bool = False,
    ) -> None:
        self.source, self.echo, self.say, self.test = source, echo, say, test
        self.save_path, self.every, self.predictions = save, every, predictions
        self._make, self.told = make, told
        self.model: OnlineBoosting | None = None
        self.position = Position(source.target or LABEL, source.kinds, Tally(), source.weight, source.ignore)
        self.saved = 0  # examples at the last save, of this run or of the one it goes on from
        self._written = False
        self.begun = False  # whether an example was taken, and the table has its heading
        self.reached = None if save is None else Reached(save)
        self._busy, self.stopped_by = False, 0  # by which signal
        self.watch: Callable[[], None] = lambda: None  # called after every piece that is learnt

    def resume(self, model: OnlineBoosting) -> None:
        """Go on with a model and, where its file says so, from its place in the same source."""
        self.model = model
        if model._stream is None:
            return
        before, source = Position.of(model._stream), self.source
        if self.test:
            source.spared = {before.target, before.weight, *before.ignore} - source.named
        if source.target not in (None, before.target):
            raise TableError(
                f"--target is {source.target!r}, and the model predicts {before.target!r}: leave it out"
            )
        if source.format != "vw":
            source.target = None if before.target == LABEL else before.target
        source.kinds = before.kinds
        source.weight, source.ignore = source.weight or before.weight, source.ignore or before.ignore
        # In a test the table is one of its own.
        tally = Tally() if self.test else before.tally
        self.position = Position(before.target, before.kinds, tally, source.weight, source.ignore)
        if not self.test and self._same(before.source):
            self.position.examples, self.position.predictions = before.examples, before.predictions
            self.position.course = before.course
        self.saved = before.tally.rows

    def _same(self, before: dict[str, Any] | None) -> bool:
        if not before or not before["bytes"]:
            return False
        return reading.fingerprint(self.source.path, before["bytes"]) == before

    def run(self) -> None:
        """All examples up to the end, or up to a bad one; what was learnt is saved in either case."""
        self.table = ProgressTable([], self.position.tally)
        if not self.test:
            self.position.source = self.position.source or reading.fingerprint(self.source.path)
        try:
            for examples in self._examples():
                self._take(examples)
            if not self.begun:  # an empty stream has a file of no predictions, or of those before
                self._open_predictions()
        except KeyboardInterrupt:
            self.echo(f"interrupted after {self.table.tally.rows} examples")
        except BaseException:
            # After a bad line or a full disk, too: the examples so far are not to be learnt again.
            if self.begun:
                self._end()
            raise
        self._end()

    def _begin(self) -> None:
        """Open the files and the table, now that the model has taken an example."""
        if self.begun:
            return
        self._open_predictions()
        if self.reached is not None:
            self.reached.open()
        self.begun = True
        if not self.test:
            self.table.own = tuple(OF_TEAM if self._has_team() else OF_CHAIN)
        self.echo(self.table.heading())

    def _has_team(self) -> bool:
        return self.model is not None and isinstance(self.model.regret(), TeamRegret)

    def _open_predictions(self) -> None:
        if self.predictions is None:
            return
        passed = self.position.examples
        whole = self.predictions.open(self.position.predictions if passed else None)
        if not whole or (passed and self.position.predictions is None):
            self.say(
                f"{self.predictions.path} begins after the first {passed} examples: their predictions are not there"
            )

    def _end(self) -> None:
        """Leave whole files behind."""
        changed = self.saved != self.table.tally.rows or not self._written
        if self.save_path is not None and self.model is not None and changed:
            self.save()
        if self.predictions is not None:
            self.predictions.finish()
        if self.reached is not None:
            self.reached.done()

    def _examples(self) -> Iterator[Examples]:
        """Batches whose labels are numbers or classes, as the model needs them."""
        for examples in reading.read(self.source, self.position.examples):
            if self.model is None:
                text = examples.labels.dtype != np.float64 and self.source.format != "vw"
                if text and not self.told:
                    self._check_words(examples)
                self.model = self._make("classification" if text else "regression")
            if self.model.classifies:
                yield reading.as_classes(examples)
                continue
            good, error = reading.as_numbers(examples, f"the target {self.position.target!r}")
            if len(good):
                yield good
            if error is not None:
                raise error

    def _check_words(self, examples: Examples) -> None:
        """A sentence where labels that nobody called classes are numbers in some dress."""
        words = [label for label in examples.labels.tolist() if label is not None]
        dress = disguises.of_words(words)
        if dress is not None and self.position.target not in self.source.text:
            raise TableError(f"--target {self.position.target!r} holds {dress}")

    def stop(self, number: int, *_: Any) -> None:
        """A signal's handler: stop now if nothing is half learnt, else after that."""
        self.stopped_by = number
        if not self._busy:
            raise KeyboardInterrupt

    def _take(self, examples: Examples) -> None:
        labelled = examples.labelled
        if labelled.all():
            self._learn_all(examples)
            return
        # Examples without a label are answered in their place, between the others.
        edges = np.flatnonzero(np.diff(labelled)) + 1
        for begin, end in zip([0, *edges], [*edges, len(examples)], strict=True):
            part = examples.take(slice(begin, end))
            if labelled[begin]:
                self._learn_all(part)
            else:
                self._answer(part)

    def _learn_all(self, examples: Examples) -> None:
        """Learn in pieces that end where a line or a save is due."""
        for rows in self.table.pieces(len(examples)):
            begin = rows.start
            while begin < rows.stop:
                left = rows.stop - begin
                if self.position.course is not None:
                    left = min(left, self.position.course.left(self.table.tally.rows))
                if self.save_path is not None:
                    left = min(left, self.every - (self.table.tally.rows - self.saved))
                end = begin + left
                self._learn(examples.take(slice(begin, end)))
                begin = end

    def _learn(self, examples: Examples) -> None:
        self._busy = True
        try:
            self._learn_and_count(examples)
        finally:
            self._busy = False
        if self.stopped_by:
            raise KeyboardInterrupt

    def _note(self, examples: Examples) -> None:
        if self.reached is not None:
            self.reached.note(self.table.tally.rows + len(examples))

    def _learn_and_count(self, examples: Examples) -> None:
        assert self.model is not None
        self._note(examples)
        seen = self.model.observe(examples.features, examples.labels, examples.weights, learn=not self.test)
        self._begin()
        self._note(examples)
        self.position.examples += len(examples)
        labels = None if self.model.classifies else examples.labels
        self.table.add(
            seen.losses,
            label=_shown(examples.labels[-1]),
            prediction=_shown(seen.predictions[-1]),
            features=int(seen.features[-1]),
            weights=examples.weights,
            labels=labels,
            all_features=int(seen.features.sum()),
        )
        self._note_course()
        self._write(
            seen.predictions
        )  # after the counting, which a full disk must not keep from the model's file
        if self.table.due:
            self.echo(self.table.line(*self.beside()))
        if self.save_path is not None and self.table.tally.rows - self.saved >= self.every:
            self.save()

    def _note_course(self) -> None:
        tally = self.table.tally
        if self.position.course is not None:
            experts = self.model.weights_ if self._has_team() and not self.test else {}  # type: ignore[union-attr]
            self.position.course.note(tally.rows, tally.weight, tally.loss, experts)
        self.watch()

    def _answer(self, examples: Examples) -> None:
        assert self.model is not None
        predictions = self.model.predict_many(examples.features)
        self._begin()
        self.position.examples += len(examples)
        self._write(predictions)

    def beside(self) -> list[float | str | None]:
        """The mean losses of the best constant and of one learner alone, so far; of a team, its best expert's and who
        leads."""
        if self.test:
            return []
        if self.model is None or not self.table.tally.rows:
            return [None, None]
        regret: Any = self.model.regret()
        weight, team = self.table.tally.weight, isinstance(regret, TeamRegret)
        single = regret.loss - regret.best_expert_regret if team else regret.first_learner_loss
        losses = (regret.best_constant_loss, single)
        means = [None if loss is None or not weight else loss / weight for loss in losses]
        return [*means, regret.leader or "none"] if team else means

    def _write(self, predictions: Any) -> None:
        if self.predictions is not None:
            self.predictions.write(_text(value) for value in np.asarray(predictions).tolist())

    def save(self) -> None:
        """Write the model and its position, replacing the file as a whole."""
        from anyboost.files import save

        assert self.model is not None
        if self.begun:
            self.position.predictions = None if self.predictions is None else self.predictions.reached()
        self.model._stream = self.position.as_dict()
        save(self.model, self.save_path)
        self.saved, self._written = self.table.tally.rows, True


def _shown(value: Any) -> float | str:
    return value if isinstance(value, str) else "none" if value is None else float(value)


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else "none" if value is None else str(value)
