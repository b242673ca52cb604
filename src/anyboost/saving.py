"""Files that are written whole or not at all, and refused before the work where they could not be."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_OPEN = ("/dev/std", "/dev/fd/", "/proc/self/fd/")


def refusal(path: Any) -> OSError | None:
    """Why no file can be written at `path`, for callers to ask before they work; None where one can."""
    given = os.fsdecode(path)
    if os.path.isdir(given):
        return IsADirectoryError(f"{given} is a folder, name a file in it")
    folder = os.path.dirname(os.path.realpath(given))
    shown = os.path.dirname(given) or folder
    if is_special(path):
        return None
    if not os.path.isdir(folder):
        return FileNotFoundError(f"no such folder, create it first: {shown}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return PermissionError(f"no file may be written in {shown}: name another folder")
    return None


def check_name(path: Any) -> None:
    """A TypeError in one sentence where `path` is no name of a file."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be the name of a file, got {type(path).__name__}")


def check(path: Any) -> None:
    """An OSError in one sentence where no file can be written at `path`."""
    check_name(path)
    reason = refusal(path)
    if reason is not None:
        raise type(reason)(f"path: {reason}")


def is_special(path: Any) -> bool:
    """Whether `path` is a pipe or a device, or an open file by number, which is written to and never replaced."""
    given = os.fsdecode(path)
    return given.startswith(_OPEN) or (os.path.exists(given) and not os.path.isfile(given))


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Have errors of the system name the file that is written: one of a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.strerror:
            error.filename = os.fsdecode(path)
        raise


def write(path: Any, blob: bytes) -> None:
    """Replace the file at `path` by these bytes; it is the old file or the new one at every moment."""
    check(path)
    with naming(path):
        _write(path, blob)


def _write(path: Any, blob: bytes) -> None:
    if is_special(path):
        Path(path).write_bytes(blob)
        return
    spare, file = begin_beside(path)
    try:
        with file:
            file.write(blob)
        put_in_place(spare, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(spare)
        raise


def begin_beside(path: Any) -> tuple[str, IO[bytes]]:
    """A new file in the folder of another, whose place it is to take: its name, which nobody has, and the file."""
    folder, name = os.path.split(os.path.realpath(os.fsdecode(path)))
    spare = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    binary = getattr(os, "O_BINARY", 0)
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, 0o666)
    return spare, open(handle, "wb")


def put_in_place(spare: Any, path: Any) -> None:
    """Give a file that is whole, and lies in the same folder, the name of another, which it replaces."""
    target = os.path.realpath(os.fspath(path))
    _flush(spare, os.O_RDWR)
    with suppress(FileNotFoundError):  # a file that was not for everyone stays so
        os.chmod(spare, stat.S_IMODE(os.stat(target).st_mode))
    os.replace(spare, target)
    # Without this the new name may be lost with the power. Windows cannot, and need not.
    if hasattr(os, "O_DIRECTORY"):
        _flush(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)


def _flush(path: Any, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
