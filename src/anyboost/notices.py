"""Warnings of a fit, in a sentence each: told where the user is, also where the fit runs elsewhere.

Nobody reads the log of a cluster's worker. What is warned of within `collected` is kept, for somebody else to tell.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Have this thread's warnings kept, each once, instead of told."""
    kept: list[str] = []
    before = _collected.set(kept)
    try:
        yield kept
    finally:
        _collected.reset(before)


def warn(sentence: str, stacklevel: int = 1) -> None:
    """Tell the user something that is no error: a `UserWarning`.

    Parameters
    ----------
    sentence : str
        What, and what to do about it.
    stacklevel : int, default 1
        As of `warnings.warn`, counted from who calls this.
    """
    kept = _collected.get()
    if kept is None:
        warnings.warn(sentence, UserWarning, stacklevel=stacklevel + 1)
    elif sentence not in kept:
        kept.append(sentence)
