"""The file of `--predictions`: a line an example, written to NAME.anyboost-part, which becomes NAME when all is there.

Each line is there as soon as its example is scored. "-" is standard output.

A model file of the stream tells how far its predictions had come, by a number of bytes and their digest. Whoever
resumes goes on from there: in NAME.anyboost-part after a kill, in NAME itself after a stop.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from anyboost import saving
from anyboost.cli.rows.sources import STANDARD
from anyboost.cli.shared.console import standard_output

_BLOCK = 1 << 20
PART = ".anyboost-part"  # a name that no file of a user has


class Predictions:
    """Nothing is touched before `open`, and NAME not before `finish`. A pipe or a device is written to as it is."""

    def __init__(self, path: Path) -> None:
        self._standard = str(path) == STANDARD
        self._direct = self._standard or saving.is_special(path)
        self.path = path if self._direct else Path(os.path.realpath(path))
        self._part = self.path if self._direct else Path(f"{self.path}{PART}")
        self._file: IO[bytes] | None = None
        self._bytes, self._digest = 0, hashlib.sha256()

    def open(self, reached: dict[str, Any] | None = None) -> bool:
        """Begin, or go on after what had been `reached`; False where no file begins with that any more."""
        if self._direct:
            self._file = standard_output() if self._standard else self.path.open("wb")
            return True
        head = None if reached is None else self._head(reached)
        if head is None:
            self._file = self._part.open("wb")
        elif head == self._part:
            self._file = self._part.open("r+b")
            self._file.truncate(self._bytes)
            self._file.seek(self._bytes)
        else:
            self._file = self._part.open("wb")
            with head.open("rb") as before:
                for block in _blocks(before, self._bytes):
                    self._file.write(block)
        return reached is None or head is not None

    def _head(self, reached: dict[str, Any]) -> Path | None:
        """The file that begins with what had been reached, which is then counted as written."""
        for path in (self._part, self.path):
            digest = hashlib.sha256()
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                for block in _blocks(file, reached["bytes"]):
                    digest.update(block)
                if file.tell() == reached["bytes"] and digest.hexdigest() == reached["sha256"]:
                    self._bytes, self._digest = reached["bytes"], digest
                    return path
        return None

    def write(self, lines: Iterable[str]) -> None:
        """Add lines, each without its end; one with line breaks in it stays one line."""
        assert self._file is not None
        blob = "".join(" ".join(line.splitlines()) + "\n" for line in lines).encode()
        self._file.write(blob)
        self._digest.update(blob)
        self._bytes += len(blob)
        self._file.flush()  # whoever reads along waits for it

    def reached(self) -> dict[str, Any] | None:
        """What is written so far, for a model file; None where a resumed run could not go on from it."""
        if self._file is None or self._direct:
            return None
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:  # a full disk: the model is saved all the same, and the next line says what is wrong
            return None
        return {"bytes": self._bytes, "sha256": self._digest.hexdigest()}

    def finish(self) -> None:
        """Put the file in its place."""
        if self._file is None:
            return
        if not self._standard:
            self._file.close()
        self._file = None
        if not self._direct:
            saving.put_in_place(self._part, self.path)


def _blocks(file: IO[bytes], length: int) -> Iterable[bytes]:
    while length and (block := file.read(min(_BLOCK, length))):
        length -= len(block)
        yield block
