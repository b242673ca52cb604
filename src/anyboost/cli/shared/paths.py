"""Files that a command reads and writes: refused before the work where they could not be, not after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from anyboost import saving

PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm", "")


def refusal(path: Path | None, endings: tuple[str, ...] = ()) -> str | None:
    """Why no file can be written at `path`, or None; `endings` are those of pictures, where it has to be one."""
    if path is None:
        return None
    if endings and path.suffix not in endings:
        return f"{path.name!r} names no picture format; end it with {', '.join(endings)}"
    reason = saving.refusal(path)
    return None if reason is None else str(reason)


def is_standard(path: Any) -> bool:
    """Whether it is the word for standard output."""
    return str(path) == "-"


def check(option: str, path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """A ValueError that names the option where its file could not be written."""
    reason = refusal(path, endings)
    if reason is not None:
        raise ValueError(f"{option}: {reason}")


def check_model_name(option: str, path: Path | None) -> None:
    """The same for a model, which is bytes that no terminal shows."""
    check(option, path)
    if is_standard(path):
        raise ValueError(f"{option} must be a file: a model is not written to standard output")


def check_page(option: str, path: Path | None) -> None:
    """The same for a page, which must not look like something else."""
    check(option, path)
    if is_standard(path):
        raise ValueError(
            f"{option} must be a file, such as report.html: a page is not written to standard output"
        )
    if path is not None and path.suffix.lower() not in _PAGES:
        raise ValueError(f"{option}: a report is a page of HTML: end {path.name!r} in .html")


def check_output(path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """The same for `--output`, as a bad parameter."""
    reason = "- is no file: name one" if is_standard(path) else refusal(path, endings)
    if reason is not None:
        raise typer.BadParameter(reason, param_hint="--output")


def check_input(file: str) -> None:
    """A ValueError where there is nothing to read."""
    if not file:
        raise ValueError("the name of a table is empty: name a file (is a variable of the shell not set?)")
    if file != "-" and Path(file).is_dir():
        raise ValueError(f"{file} cannot be read: it is a folder, name a file in it")
    if file != "-" and not Path(file).exists():
        raise ValueError(f"{file} cannot be read: there is no such file")


def check_model(file: Path, json: bool = False) -> None:
    """A ValueError where there is no model file to read, or none but JSON of one, where that is not taken."""
    if not file.is_file():
        raise ValueError(f"{file} cannot be read: there is no such model file")
    ending = file.suffix.lower()
    if ending == ".json" and not json:
        model = file.with_suffix(".anyboost")
        raise ValueError(f"{file} is JSON and no model file: anyboost convert {file} {model} makes one of it")
    if ending in (".onnx", ".txt"):
        raise ValueError(
            f"{file} is for other programs: name the model file that anyboost convert was given, such as "
            f"{file.with_suffix('.anyboost')}"
        )


def check_apart(written: dict[str, Path | None], *read: str | Path | None) -> None:
    """A ValueError where a file to be written is one that the command reads, or writes otherwise."""
    taken = {Path(path).resolve() for path in read if path is not None and str(path) != "-"}
    for option, path in written.items():
        if (
            path is None or is_standard(path) or saving.is_special(path)
        ):  # a pipe or a device is written to and never replaced
            continue
        if path.resolve() in taken:
            raise ValueError(
                f"{option} names {path}, which this run needs for something else: name another file"
            )
        taken.add(path.resolve())


def write_json(path: Path, found: Any) -> None:
    """Write it as a whole, or leave what is there; "-" prints it."""
    text = json.dumps(found, indent=2)
    if is_standard(path):
        typer.echo(text)
    else:
        saving.write(path, (text + "\n").encode())
