"""`anyboost inspect`: what a model file holds, read from its header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import explaining, fail

if TYPE_CHECKING:
    from rich.table import Table

    from anyboost.files.container import Contents

_SHOWN = 20


def command(
    model: options.Model,
    as_json: Annotated[bool, typer.Option("--json", help="All of the header, as JSON.")] = False,
) -> None:
    """Show what is in a model file.

    Checks the checksum and reads the header; no model is built, and nothing in the file is run.

    For example:

        anyboost inspect houses.anyboost

        anyboost inspect houses.anyboost --json | less
    """
    from anyboost.files import ModelFileError, peek

    file = model
    if file.is_file():
        with explaining():
            paths.check_model(file)
    try:
        contents = peek(file)
    except ModelFileError as error:
        fail(_printable(str(error)))
    except OSError as error:
        fail(_printable(f"{file} cannot be read: {error.strerror}"))
    if as_json:
        typer.echo(json.dumps(as_dict(file, contents), indent=2))
        return
    from rich.console import Console

    Console().print(_table(file, contents))


def as_dict(file: Path, contents: Contents) -> dict[str, Any]:
    """The header, and each tensor's type and shape."""
    tensors = {
        name: {"dtype": tensor.dtype, "shape": list(tensor.shape), "bytes": tensor.end - tensor.begin}
        for name, tensor in sorted(contents.tensors.items())
    }
    return {"file": str(file), "bytes": contents.size, **contents.header, "tensors": tensors}


def _table(file: Path, contents: Contents) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in rows(file, contents):
        table.add_row(name, Text(_printable(value)))  # Text: what a file says is not markup
    return table


def rows(file: Path, contents: Contents) -> list[tuple[str, str]]:
    """The lines of the table: a name and a value each."""
    from anyboost.files.parts import spell

    header = contents.header
    kind, model = header["kind"], header["model"]
    found = [
        ("file", f"{file}, {contents.size:,} bytes, checksum right"),
        ("holds", f"{kind}, format {header['format']}, written by anyboost {header['library']}"),
    ]
    if kind in ("averager", "tracker", "stump averager", "mirror estimator"):
        return found + _averager_rows(contents)
    if kind == "interval model":
        found.append(
            ("coverage", f"{model.get('coverage')}; {model.get('missed')} of {model.get('rows')} missed")
        )
        kind, model = "online_model", model.get("model")
        model = model if isinstance(model, dict) else {}
    if kind in ("booster", "online_model"):
        return found + _online_rows(model)
    ensemble = model.get("ensemble", model)
    ensemble = ensemble if isinstance(ensemble, dict) else {}
    found += [
        ("features", str(ensemble.get("features"))),
        ("outputs", str(ensemble.get("outputs"))),
        ("rounds", _length(contents, "shrinks")),
        ("sum of", f"{_length(contents, 'added')} {ensemble.get('hypotheses')}{_nodes(contents)}"),
        ("starts at", "scores given row by row" if ensemble.get("needs_offset") else "a constant"),
    ]
    found += [(name, spell(model[name])) for name in ("loss", "learner", "descent") if name in model]
    found += _estimator_rows(model)
    if kind == "run":
        found += [
            ("seed", str(model.get("seed"))),
            ("training rows", _length(contents, "scores")),
            ("validation rows", _length(contents, "valid.scores")),
            ("training", _continuation(model)),
        ]
    return found


def _averager_rows(contents: Contents) -> list[tuple[str, str]]:
    """The lines for what combines forecasts: its settings, and how many it weights."""
    from anyboost.files.parts import spell

    model = contents.header["model"]
    settings = model["averager"] if isinstance(model.get("averager"), dict) else model
    shape = contents.tensors["theta"].shape if "theta" in contents.tensors else ()
    found = [("weights", " x ".join(f"{n:,}" for n in shape) if shape else _length(contents, "thresholds"))]
    for name in ("loss", "proxy", "domain", "radius", "schedule", "classes", "models"):
        value = settings.get(name, model.get(name))
        if value is not None:
            found.append((name, spell(value)))
    return found


def _estimator_rows(model: dict[str, Any]) -> list[tuple[str, str]]:
    """The columns and classes of an estimator, whatever the entries are."""
    columns, classes = model.get("columns"), model.get("classes")
    names = columns.get("names") if isinstance(columns, dict) else None
    labels = classes.get("values") if isinstance(classes, dict) else None
    return [
        (title, _some(values))
        for title, values in (("columns", names), ("classes", labels))
        if isinstance(values, list)
    ]


def _some(values: list[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _online_rows(model: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of an online booster or estimator."""
    from anyboost.files.parts import spell

    team = model.get("team")
    found = _chain_rows(model) if not isinstance(team, dict) else _team_rows(team)
    # What has learnt from named features takes no arrays.
    learn = "learn_many" if "columns" in model and model["columns"] is None else "partial_fit"
    needs = any(first.get("needs") for first in _boosters(model))
    again = "load(path, loss=...)" if needs else "load(path)"
    found.append(("training", f"can continue: {again}.{learn}(X, y)"))
    classes, stream = model.get("classes"), model.get("stream")
    if isinstance(classes, dict):
        found.append(("classes", spell(classes.get("labels"))))
    if isinstance(stream, dict) and isinstance(stream.get("tally"), dict):
        found.append(("learnt from", f"{stream['tally'].get('rows')} examples of a stream"))
    return found


def _boosters(model: dict[str, Any]) -> list[dict[str, Any]]:
    boosters = model.get("boosters", [model])
    return [each for each in boosters if isinstance(each, dict)] if isinstance(boosters, list) else []


def _chain_rows(model: dict[str, Any]) -> list[tuple[str, str]]:
    from anyboost.files.parts import spell

    boosters = _boosters(model)
    first = boosters[0] if boosters else {}
    kind = f"{first.get('class')} of {first.get('n_learners')} learners, {first.get('mode')} mode"
    return [
        ("booster", kind if len(boosters) == 1 else f"{len(boosters)} times {kind}"),
        ("features", str(first.get("features"))),
        ("outputs", str(first.get("outputs"))),
        *((name, spell(first.get(name))) for name in ("loss", "learner")),
    ]


def _team_rows(team: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of a team: who is in it and who leads, and the rows that it has seen."""
    from anyboost.files.parts import spell

    experts, kept, moves = team.get("experts"), team.get("kept"), team.get("moves")
    names = (
        [each.get("name") for each in experts if isinstance(each, dict)] if isinstance(experts, list) else []
    )
    kept = kept if isinstance(kept, dict) else {}
    last = moves[-1] if isinstance(moves, list) and moves else None
    leads = f"{last[2]}, since row {last[0]}" if isinstance(last, list) and len(last) == 3 else "none"
    return [
        ("team", "; ".join(map(str, names))),
        ("leads", leads),
        ("loss", spell(team.get("loss"))),
        (
            "rows",
            f"{kept.get('seen')} learnt, at most {kept.get('most')} kept for refits ({team.get('refit')})",
        ),
    ]


def _length(contents: Contents, name: str) -> str:
    shape = contents.tensors[name].shape if name in contents.tensors else ()
    return f"{shape[0]:,}" if shape else "none"


def _nodes(contents: Contents) -> str:
    leaves = contents.tensors.get("leaf.value")
    return f" with {leaves.shape[0]:,} leaves" if leaves is not None and leaves.shape else ""


def _continuation(model: dict[str, Any]) -> str:
    needs = model.get("needs")
    if not needs:
        return "can continue: boost(..., resume=load(path)) with the same data"
    given = ", ".join(f"{name}=..." for name in needs) if isinstance(needs, list) else "..."
    return f"cannot continue without functions that are not in the file: load(path, {given})"


def _printable(text: str) -> str:
    """Without characters that would move a terminal's cursor or colour it."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
