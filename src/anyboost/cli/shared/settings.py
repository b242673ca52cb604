"""What a user asks of a fit: options of the line, `--set NAME=VALUE`, `--type COL=KIND`, and a TOML file of them."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from anyboost.cli.rows.frames import KINDS

TASKS = ("regression", "classification", "ranking")
_WORDS = {"None": None, "none": None, "True": True, "False": False}


@dataclass
class FitRequest:
    """What is asked of a fit, whichever way it was said."""

    target: str = ""
    task: str | None = None
    loss: str | None = None
    weight: str | None = None
    groups: str | None = None
    ignore: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    by_queries: bool = False  # whether --qid told the task

    def apart(self) -> list[str]:
        """The columns that are not there to predict from."""
        return [name for name in (self.target, self.weight, self.groups, *self.ignore) if name is not None]

    def reads(self, name: str) -> bool:
        """Whether a column is looked into."""
        return name not in self.ignore or name in (self.target, self.weight, self.groups)


def gathered(
    config: Path | None,
    sets: Iterable[str] | None,
    types: Iterable[str] | None,
    categorical: Iterable[str] | None,
    ignore: Iterable[str] | None,
    qid: str | None,
    **options: str | None,
) -> FitRequest:
    """What the file says, and over it what the line says."""
    asked = FitRequest() if config is None else _from_file(config)
    for name, value in options.items():
        if value is not None:
            setattr(asked, name, value)
    if qid is not None:
        _take_queries(asked, qid, options["groups"])
    asked.ignore = [*asked.ignore, *(ignore or ())]
    asked.types |= dict(_pair(text, "--type", "COL=text") for text in types or ())
    asked.types |= dict.fromkeys(categorical or (), "text")
    asked.parameters |= {
        name: _value(text) for name, text in (_pair(each, "--set", "name=value") for each in sets or ())
    }
    _check(asked)
    return asked


def _take_queries(asked: FitRequest, qid: str, groups: str | None) -> None:
    """Queries are the groups of a ranking, which they tell where nobody said what is asked for."""
    if groups is not None:
        raise ValueError(f"--qid {qid} and --groups {groups} both name the queries: leave one out")
    if asked.task not in (None, "ranking"):
        raise ValueError(
            f"--qid is for rankings, and the task is {asked.task}: say --groups, or leave it out"
        )
    asked.task, asked.groups, asked.by_queries = "ranking", qid, asked.task is None


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text!r} is not of the form {example}")
    return name.strip(), value.strip()


def _value(text: str) -> Any:
    """A value as TOML has it, or the words themselves."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _from_file(path: Path) -> FitRequest:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"--config {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"--config {path} is not TOML: {error}") from None
    asked = FitRequest()
    for name in found:
        value: Any = found[name]
        kind = _KINDS.get(name)
        if kind is None:
            near = difflib.get_close_matches(name, _KINDS, 1)
            advice = f"use {near[0]}" if near else f"it may have {', '.join(_KINDS)}"
            raise ValueError(f"--config {path} has an entry {name!r}: {advice}")
        if type(value) is not kind:
            raise ValueError(f"--config {path}: {name} must be {_SPELLED[kind]}, got {value!r}")
        if name == "categorical":
            asked.types |= dict.fromkeys(map(str, value), "text")
        elif name == "types":
            asked.types |= value
        else:
            setattr(asked, name, value)
    return asked


_KINDS: dict[str, Any] = {
    **{
        entry.name: {"str": str, "str | None": str}.get(str(entry.type), dict)
        for entry in fields(FitRequest)
        if entry.name != "by_queries"
    },
    "ignore": list,
    "categorical": list,
}
_SPELLED: dict[Any, str] = {str: "text", dict: "a table", list: "a list of columns"}


def _check(asked: FitRequest) -> None:
    if asked.task is not None and asked.task not in TASKS:
        raise ValueError(f"--task must be {', '.join(TASKS[:-1])} or {TASKS[-1]}, got {asked.task!r}")
    if not asked.target:
        raise ValueError("--target is missing: name the column to predict")
    for name, kind in asked.types.items():
        if kind not in KINDS:
            raise ValueError(f"--type {name}={kind} is not known: a column holds {' or '.join(KINDS)}")
    taken: dict[str, str] = {}
    columns = {"target": asked.target, "weight": asked.weight, "groups": asked.groups}
    for option, column in columns.items():
        if column is not None and column in taken:
            raise ValueError(
                f"--{option} and --{taken[column]} both name the column {column!r}: name another"
            )
        if column is not None:
            taken[column] = option
    if asked.target in asked.ignore:
        raise ValueError(f"--ignore names the target {asked.target!r}: name another")
    if asked.parameters.get("categorical_features", "from_dtype") != "from_dtype":
        raise ValueError("--set categorical_features=... is not needed: say --categorical COL")
    if asked.parameters.get("verbose"):
        raise ValueError("--set verbose=... is not needed: rounds are shown on standard error as it is")
    if "loss" in asked.parameters:
        raise ValueError("--set loss=... is not needed: say --loss")
