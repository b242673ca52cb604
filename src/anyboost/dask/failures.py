"""Errors on their way from a worker to the client: as they are where pickle can bring them there, else in words."""

import pickle
import traceback
from typing import NamedTuple

import cloudpickle


class Failure(NamedTuple):
    """An error, as it travels."""

    text: str  # what it says
    told: str  # its type, what it says, and where it came from
    pickled: bytes | None  # None where it cannot be brought back

    @classmethod
    def of(cls, error: BaseException, worker: str) -> "Failure":
        """Pack an error of a worker."""
        try:
            text = str(error)
        except Exception:  # its author's slip
            text = "an error that cannot be told"
        where = "".join(traceback.format_exception(error))
        return cls(
            text, f"{type(error).__name__}: {text}\n\nOn the worker {worker}:\n{where}", _pickled(error)
        )

    def error(self) -> BaseException:
        """The error, or a RuntimeError that tells of it."""
        try:
            found = None if self.pickled is None else pickle.loads(self.pickled)
        except Exception:  # the client knows less than the worker, a module, say
            found = None
        return found if isinstance(found, BaseException) else RuntimeError(self.told)


def _pickled(error: BaseException) -> bytes | None:
    """The error in bytes that bring it back, without what it came from where that cannot be brought."""
    found = _bytes(error)
    if found is None and (error.__cause__ is not None or error.__context__ is not None):
        error.__cause__ = error.__context__ = None
        found = _bytes(error)
    return found


def _bytes(error: BaseException) -> bytes | None:
    for dumps in (
        pickle.dumps,
        cloudpickle.dumps,
    ):  # the second takes classes that were defined in a notebook
        try:
            found = dumps(error)
            if type(pickle.loads(found)) is type(error):
                return found
        except Exception:  # whatever its own code for this does
            continue
    return None
