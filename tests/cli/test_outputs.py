"""Files that commands write: where one could not be, that is said before the work."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost import saving
from anyboost.cli import build

COMMANDS = [
    ["stream", "table.csv", "--target", "y", "--save"],
    ["stream", "table.csv", "--target", "y", "--predictions"],
    ["stream", "table.csv", "--target", "y", "--figure"],
    ["combine", "table.csv", "--target", "y", "--save"],
    ["combine", "table.csv", "--target", "y", "--figure"],
    ["combine", "table.csv", "--target", "y", "--output"],
    ["demo", "--output"],
    ["bench", "combine", "--quick", "--output"],
]


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Runs a command in a folder with a table; its output and words, whatever box they stand in."""
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("a,b,y\n1,2,1\n2,2,2\n")

    def call(*words):
        done = CliRunner().invoke(build(), words)
        assert done.exit_code in (1, 2), done.output
        assert not done.stdout
        assert sorted(os.listdir()) == ["table.csv"]
        return " ".join(done.stderr.replace("│", " ").split())

    return call


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_that_is_not_there(invoke, command):
    assert f"{command[-1]}: no such folder, create it first: nowhere" in invoke(*command, "nowhere/file.png")


@pytest.mark.parametrize("command", [*COMMANDS, ["reproduce", "rates", "--quick", "--output"]], ids=" ".join)
def test_a_folder_that_is_closed(invoke, command, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "may be written in" in invoke(*command, "file.png")


def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path):
    """Neither is replaced by a file."""
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_bytes(b"old")
    link.symlink_to(file)
    saving.write(link, b"new")
    assert file.read_bytes() == b"new"
    assert link.is_symlink()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    saving.write(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    assert saving.is_special("/dev/stdout")
    assert not saving.is_special("/dev/shm/model")  # a folder like others, in memory


def _on_a_full_disk(path):
    """Where rows go until they are all there, which has no room."""
    os.symlink("/dev/full", f"{path}.full")
    return f"{path}.full", open("/dev/full", "wb")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("name", ["/dev/full", "new.csv"])
def test_a_full_disk_names_the_file_and_leaves_none_behind(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    model = ab.BoostingRegressor(max_iter=1).fit(np.arange(8.0)[:, None], np.arange(8.0))
    ab.save(model, "model")
    Path("table.csv").write_text("a\n1\n")
    if name == "new.csv":
        monkeypatch.setattr(saving, "begin_beside", _on_a_full_disk)
    done = CliRunner().invoke(
        build(), ["predict", "model", "table.csv", "-o", name, "--output-format", "csv"]
    )
    assert (done.exit_code, done.stderr) == (1, f"{name} cannot be used: No space left on device\n")
    done = CliRunner().invoke(build(), ["convert", "model", "/dev/full", "--to", "json"])
    assert (done.exit_code, done.stderr) == (1, "/dev/full cannot be used: No space left on device\n")
    assert sorted(os.listdir()) == ["model", "table.csv"]


_ENDED = """
import os, signal, sys
from anyboost.cli.rows import writing
write = writing.TableWriter.write
def ended(self, columns):
    write(self, columns)
    print(*sorted(os.listdir()), file=sys.stderr)
    os.kill(os.getpid(), signal.SIGTERM)
writing.TableWriter.write = ended
from anyboost.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")
def test_a_table_that_is_ended_halfway_leaves_no_part(tmp_path):
    """A scheduler that ends a job leaves the old table, and nothing beside it."""
    ab.save(ab.BoostingRegressor(max_iter=1).fit(np.arange(8.0)[:, None], np.arange(8.0)), tmp_path / "model")
    (tmp_path / "table.csv").write_text("a\n1\n")
    for name in ("out.csv", "out.csv.part"):
        (tmp_path / name).write_text("old")
    line = [sys.executable, "-c", _ENDED, "predict", "model", "table.csv", "-o", "out.csv"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGTERM
    assert len(done.stderr.split()) == 5  # the part was there
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model",
        "out.csv",
        "out.csv.part",
        "table.csv",
    ]
    assert {(tmp_path / name).read_text() for name in ("out.csv", "out.csv.part")} == {"old"}
