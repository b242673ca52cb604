"""A fit survives a kill, a file survives a failed save, and a reader never meets half a file."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import anyboost as ab
from anyboost import saving
from files.killed import report_of
from files.samples import fit, sample
from reference.files import split


def meaning(path):
    """All that a file says, but for how long its rounds took."""
    header = split(path.read_bytes())[1]
    header.pop("sha256")
    tensors = {name: (t.dtype.str, t.shape, t.tobytes()) for name, t in load_file(path).items()}
    tensors.pop("seconds")
    return header, tensors


def kill_and_resume(folder, kills, seed):
    report = report_of(Path(__file__).with_name("killed.py"), folder, kills, seed)
    whole = meaning(folder / "whole")
    assert len(ab.load(folder / "whole").steps) == 40
    for number in range(report["fits"]):
        assert meaning(folder / f"killed-{number}") == whole
    return report


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_killed_fit_resumes_to_the_same_file(tmp_path):
    kill_and_resume(tmp_path, 10, seed=0)


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_hundred_kills(tmp_path):
    report = kill_and_resume(tmp_path, 100, seed=1)
    assert min(report["kills"].values()) > 0  # at random times, and at each moment of a save


def test_checkpoints_come_when_they_are_due(tmp_path):
    path = tmp_path / "model"
    seen = []

    def look(*_):
        seen.append(len(ab.load(path).steps) if path.exists() else 0)

    fit("absolute", "stump", "naive", 7, callbacks=[ab.Checkpoint(path, every_rounds=3), look])
    assert seen == [0, 0, 3, 3, 3, 6, 6]
    path.unlink()
    seen.clear()
    clock = [0.0]

    def wait(*_):
        clock[0] += 1.0

    checkpoint = ab.Checkpoint(path, every_seconds=2.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anyboost.files.checkpoint.monotonic", lambda: clock[0])
        checkpoint._wrote = 0.0
        fit("absolute", "stump", "naive", 7, callbacks=[wait, checkpoint, look])
    assert seen == [0, 0, 3, 3, 3, 6, 6]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "every_rounds or every_seconds must be given"),
        ({"every_rounds": 0}, "every_rounds must be at least 1, got 0"),
        ({"every_seconds": -1.0}, "every_seconds must be positive"),
    ],
)
def test_a_checkpoint_that_never_comes_is_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        ab.Checkpoint("model", **options)


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, broken):
    path = tmp_path / "model"
    ab.save(fit("absolute", "stump", "naive", 2).ensemble, path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr(saving.os, broken, fail)
    with pytest.raises(OSError, match="the disk is full"):
        ab.save(fit("absolute", "stump", "naive", 3).ensemble, path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == before


def test_a_save_into_no_folder_or_onto_one(tmp_path):
    model = fit("absolute", "stump", "naive", 1).ensemble
    with pytest.raises(
        FileNotFoundError, match=f"^path: no such folder, create it first: {tmp_path}/nowhere$"
    ):
        ab.save(model, tmp_path / "nowhere" / "model")
    with pytest.raises(IsADirectoryError, match=f"^path: {tmp_path} is a folder, name a file in it$"):
        ab.save(model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_into_no_folder_is_refused_in_the_first_round(tmp_path):
    """Not when the first file is due, which may be hours later."""
    rounds = []
    checkpoint = ab.Checkpoint(tmp_path / "nowhere" / "model", every_rounds=50)
    with pytest.raises(FileNotFoundError, match="no such folder, create it first"):
        fit("absolute", "stump", "naive", 60, callbacks=[lambda *_: rounds.append(1), checkpoint])
    assert len(rounds) == 1


def test_the_file_and_its_folder_are_flushed_in_order(tmp_path, monkeypatch):
    """The bytes before the rename, the folder after it: otherwise a power cut leaves an empty file."""
    did = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle):
        did.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        real_fsync(handle)

    def replace(source, target):
        did.append("rename")
        assert os.path.dirname(source) == os.path.dirname(target)
        real_replace(source, target)

    monkeypatch.setattr(saving.os, "fsync", fsync)
    monkeypatch.setattr(saving.os, "replace", replace)
    ab.save(fit("absolute", "stump", "naive", 1).ensemble, tmp_path / "model")
    assert did == ["file", "rename", "folder"]


def test_a_reader_sees_one_file_or_the_other(tmp_path):
    path = tmp_path / "model"
    X = sample("real")[0]
    models = [fit("absolute", "tree", "naive", rounds).ensemble for rounds in (2, 40)]
    allowed = [model.predict(X) for model in models]
    ab.save(models[0], path)
    stop = threading.Event()

    def write(model):
        while not stop.is_set():
            ab.save(model, path)

    writers = [threading.Thread(target=write, args=(model,)) for model in models]
    for writer in writers:
        writer.start()
    seen = [0, 0]
    end = time.monotonic() + 20
    while (sum(seen) < 200 or 0 in seen) and time.monotonic() < end:
        found = ab.load(path).predict(X)
        seen[[np.array_equal(found, scores) for scores in allowed].index(True)] += 1
    stop.set()
    for writer in writers:
        writer.join()
    assert min(seen) > 0
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
