"""`anyboost convert`: a model file for other programs, and back from JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anyboost import saving
from anyboost.cli.shared import paths
from anyboost.cli.shared.console import explaining

_SUFFIXES = {
    ".onnx": "onnx",
    ".json": "json",
    ".txt": "text",
    ".anyboost": "anyboost",
    ".safetensors": "anyboost",
}
FORMS = ("onnx", "json", "text", "anyboost")


def command(
    model: Annotated[
        Path, typer.Argument(help="A model file, or JSON of one.", metavar="MODEL", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Argument(help="The file to write; - is standard output.", metavar="OUT", show_default=False),
    ],
    to: Annotated[
        str | None, typer.Option(help="onnx, json, text or anyboost; else told by the name of OUT.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="Of ONNX: float32, or float64 for thresholds and sums as they are.")
    ] = "float32",
    verify: Annotated[
        bool, typer.Option(help="Of ONNX: run the file in onnxruntime before it is written.")
    ] = True,
) -> None:
    """Write a model as ONNX, JSON or text, or JSON as a model file again.

    For example:

        anyboost convert houses.anyboost houses.onnx

        anyboost convert houses.anyboost houses.onnx --dtype float64

        anyboost convert houses.anyboost houses.json

        anyboost convert houses.json again.anyboost

        anyboost convert houses.anyboost - --to text | less
    """
    with explaining(TypeError, ImportError, RuntimeError):
        if paths.is_standard(output):
            output = Path("/dev/stdout")
        form = to or _SUFFIXES.get(output.suffix.lower())
        if form not in FORMS:
            told = f"--to {to!r}" if to else f"the name {output.name!r}"
            raise ValueError(f"{told} tells no format: use --to {', '.join(FORMS[:-1])} or {FORMS[-1]}")
        if dtype not in ("float32", "float64"):
            raise ValueError(f"--dtype must be float32 or float64, got {dtype!r}")
        paths.check_model(model, json=True)
        paths.check("OUT", output)
        paths.check_apart({"OUT": output}, model)
        from anyboost import export, files  # which import much: after what is refused without them

        found: Any = export.from_json(model) if model.suffix == ".json" else files.load(model)
        if form == "onnx":
            _to_onnx(found, output, dtype, verify)
        elif form == "json":
            export.to_json(found, output)
        elif form == "text":
            saving.write(output, (export.to_text(found) + "\n").encode())
        else:
            files.save(found, output)
        if output.is_file():
            typer.echo(f"{output}: {output.stat().st_size:,} bytes")


def _to_onnx(model: Any, output: Path, dtype: str, verify: bool) -> None:
    """The file; what Python would be told to pass is told as options."""
    from anyboost import export

    try:
        export.to_onnx(model, output, dtype=dtype, verify=verify)
    except (ValueError, ImportError) as error:
        said = str(error).replace('pass dtype="float64"', "add --dtype float64")
        raise type(error)(said.replace("pass verify=False", "add --no-verify")) from None
