"""Files that a command writes: refused before the work where they could not be, not after it."""

from __future__ import annotations

from pathlib import Path

PICTURES = (".png", ".svg", ".pdf")


def refusal(path: Path, endings: tuple[str, ...] = ()) -> str | None:
    """Why no file can be written at `path`, or None; `endings` are those of pictures, where it has to be one."""
    from anyboost.files import container

    if endings and path.suffix not in endings:
        return f"{path.name!r} names no picture format; end it with {', '.join(endings)}"
    reason = container.refusal(path)
    return None if reason is None else str(reason)


def check(option: str, path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """A ValueError that names the option where its file could not be written."""
    reason = None if path is None else refusal(path, endings)
    if reason is not None:
        raise ValueError(f"{option}: {reason}")
