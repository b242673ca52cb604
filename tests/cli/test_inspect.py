"""`anyboost inspect` shows what a file holds, and says in one sentence why a bad one is bad."""

import json

import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from files.samples import LOSSES, fit
from reference import files as reference


def inspect(*arguments):
    return CliRunner().invoke(build(), ["inspect", *map(str, arguments)], terminal_width=200)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def test_the_table_tells_what_was_trained_and_how(path):
    run = fit("quantile", "tree", "residual", 5)
    ab.save(run, path)
    leaves = sum(tree.n_leaves for tree in run.ensemble.hypotheses)
    result = inspect(path)
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    for word in (
        "run, format 1",
        f"anyboost {ab.__version__}",
        "features 4",
        "rounds 5",
        f"5 trees with {leaves} leaves",
        "Quantile(tau=0.9)",
        "Tree(max_leaves=5, max_depth=3, leaf='mean')",
        "Residual(step=InverseSqrt(scale=0.05), memory=0.5)",
        "training rows 40",
        "can continue",
    ):
        assert word in words


def test_json_holds_the_whole_header(path):
    run = fit("coupled sum", "stump", "hull", 3)
    ab.save(run, path)
    found = json.loads(inspect(path, "--json").output)
    assert found["kind"] == "run"
    assert found["bytes"] == path.stat().st_size
    assert found["model"]["loss"]["terms"][1] == [0.25, {"class": "RankHinge"}]
    assert found["tensors"]["scores"] == {"dtype": "F64", "shape": [40], "bytes": 320}
    assert found["model"] == reference.split(path.read_bytes())[1]["model"]


def test_functions_that_are_missing_are_named(path):
    ab.save(fit("pointwise", "stump", "my step", 2), path)
    words = " ".join(inspect(path).output.split())
    assert "mine (your own)" in words
    assert "load(path, loss=..., descent=...)" in words


def test_intervals_are_shown_with_the_model_they_are_around(path):
    model = ab.online.AdaptiveIntervals(ab.online.SpanBooster(ab.online.LinearLearner()), coverage=0.8)
    for x in (1.0, 2.0, 3.0):
        model.learn_one({"a": x}, 2 * x)
    ab.save(model, path)
    words = " ".join(inspect(path).output.split())
    assert "coverage 0.8; " in words
    assert " of 3 missed" in words
    assert "SpanBooster of 20 learners" in words
    assert "loss Squared()" in words


def test_a_team_is_shown_with_who_leads(path):
    model = ab.OnlineBoostingRegressor(loss="absolute")
    model.learn_many([{"a": float(i % 7)} for i in range(60)], [float(i % 7) for i in range(60)])
    ab.save(model, path)
    words = " ".join(inspect(path).output.split())
    assert "team linear; linear, adaptive; " in words
    assert f"leads {model.regret().leader}, since row " in words
    assert "rows 60 learnt, at most 20000 kept for refits (inline)" in words
    assert "loss Absolute()" in words
    assert "load(path).learn_many(X, y)" in words
    assert "None" not in words


def test_every_loss_can_be_shown(path):
    for loss in LOSSES:
        ab.save(fit(loss, "stump", "naive", 1), path)
        assert inspect(path).exit_code == 0
    ab.save(fit("absolute", "stump", "naive", 1).ensemble.truncate(0), path)
    assert "0 none" in " ".join(inspect(path).output.split())


def test_bad_files_are_one_sentence(path):
    path.write_bytes(b"not a model")
    result = inspect(path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{path} cannot be loaded: it is not a model file\n"
    result = inspect(path.with_name("nothing"))
    assert result.exit_code == 1
    assert result.stderr == f"{path.with_name('nothing')} cannot be read: No such file or directory\n"


def test_nothing_in_a_file_reaches_the_terminal_as_a_command(path):
    ab.save(fit("absolute", "stump", "naive", 1), path)
    outer, inner, data = reference.split(path.read_bytes())
    inner["library"] = "\x1b[31m[bold]evil[/bold]"
    inner["model"]["seed"] = {"class": "\x1b]0;title\x07"}
    path.write_bytes(reference.join(outer, inner, data))
    result = inspect(path)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "[bold]evil[/bold]" in result.output


ODD = (None, 1, "x", [], [1], {}, {"yours": []}, {"class": {}})


def test_header_entries_of_any_kind_do_not_break_the_table(path):
    ab.save(fit("absolute", "stump", "naive", 1), path)
    outer, inner, data = reference.split(path.read_bytes())
    for name in inner["model"]:
        for odd in ODD:
            model = {**inner["model"], name: odd}
            path.write_bytes(reference.join(outer, {**inner, "model": model}, data))
            result = inspect(path)
            assert result.exception is None or isinstance(result.exception, SystemExit), (name, odd)


def test_entries_of_a_team_of_any_kind_do_not_break_the_table(path):
    model = ab.OnlineBoostingRegressor()
    model.learn_one({"a": 1.0}, 1.0)
    ab.save(model, path)
    outer, inner, data = reference.split(path.read_bytes())
    for name in inner["model"]["team"]:
        for odd in ODD:
            team = {**inner["model"]["team"], name: odd}
            path.write_bytes(
                reference.join(outer, {**inner, "model": {**inner["model"], "team": team}}, data)
            )
            result = inspect(path)
            assert result.exception is None or isinstance(result.exception, SystemExit), (name, odd)
