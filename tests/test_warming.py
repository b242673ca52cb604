"""`warmup` compiles ahead what everyday work needs; what is compiled later is named."""

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost import warming
from anyboost.backends import compiler
from anyboost.cli import build
from anyboost.trees import frontier


@pytest.mark.full
def test_every_piece_of_work_runs_and_nothing_is_printed(capfd):
    """A change of an interface that warmup uses would otherwise be seen by users only."""
    heard = []
    folders = ab.warmup(lambda *piece: heard.append(piece))
    names = list(warming.WORK)
    assert heard == [*((name, i, len(names)) for i, name in enumerate(names)), ("", len(names), len(names))]
    here = Path(__file__).parent  # kernels of tests may have been defined in this process too
    kept = [Path(folder) for folder in folders if not Path(folder).is_relative_to(here)]
    assert kept
    for folder in kept:
        assert list(folder.glob("*.nbi"))
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def little_work(monkeypatch):
    monkeypatch.setattr(warming, "WORK", {"this": lambda: None, "that": lambda: None})


@pytest.mark.usefixtures("little_work")
def test_the_command_tells_what_it_does_and_where_kernels_lie():
    done = CliRunner().invoke(build(), ["warmup"])
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "1 of 2: this",
        "2 of 2: that",
        f"compiled; kept in {' and '.join(compiler.cache_folders())}",
    ]


@pytest.mark.usefixtures("little_work")
def test_the_command_refuses_where_nothing_would_be_kept(monkeypatch):
    monkeypatch.setattr(warming, "folders", list)
    done = CliRunner().invoke(build(), ["warmup"])
    assert done.exit_code == 1
    assert not done.stdout
    assert "set NUMBA_CACHE_DIR to a folder that can" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.full
def test_after_warmup_everyday_work_compiles_nothing(tmp_path):
    """Else the notice comes in script after script, and seconds with it."""
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*words):
        return subprocess.run(
            [sys.executable, *map(str, words)], env=surroundings, capture_output=True, text=True, check=True
        )

    warmed = run("-c", "from anyboost.cli import main; main()", "warmup")
    assert warmed.stderr == ""
    assert f"kept in {tmp_path / 'cache'}" in warmed.stdout
    day = run(Path(__file__).with_name("everyday.py"), tmp_path)
    assert day.stderr == ""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_who_waits_for_kernels_is_told_how_long_and_sees_how_far(kind, monkeypatch):
    """A first fit of small data that takes half a minute looks as if it hung."""
    screen = kind()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "__stderr__", screen)
    notice = compiler._Notice()
    event = SimpleNamespace(data={"dispatcher": frontier.advance})
    for _ in range(3):
        notice.on_start(event)  # each compiled for the sake of the one before
    shown = screen.getvalue()
    for _ in range(3):
        notice.on_end(event)
    said = (
        "anyboost: compiling kernels for boosting, which takes about 20 seconds where all are new; the next"
    )
    lines = [line for part in shown.split("\n") for line in part.split("\r\x1b[K") if line]
    assert lines[0].startswith(said)
    if kind is io.StringIO:
        assert screen.getvalue().count("\n") == 1
        assert len(lines) == 1
    else:
        assert [line.partition("] ")[2] for line in lines[1:]] == [
            f"kernel {number} of about 50, 0 s" for number in (1, 2, 3)
        ]
        assert screen.getvalue().endswith("\r\x1b[K")  # nothing is left of the bar
