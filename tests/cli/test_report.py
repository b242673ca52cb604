"""`anyboost report` makes a page of a model file and a table, or says in a sentence why not."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": rng.uniform(0, 10, 80), "city": pd.Categorical(rng.choice(["Bern", "Chur"], 80))}
    )
    y = X["size"] + 3.0 * (X["city"] == "Bern")
    ab.save(ab.BoostingRegressor(max_iter=5, max_leaf_nodes=2).fit(X, y), where / "model.anyboost")
    X.assign(price=y, note="x").to_csv(where / "rows.csv", index=False)
    X.drop(columns="size").assign(price=y).to_csv(where / "short.csv", index=False)
    return where


def report(*words):
    return CliRunner().invoke(build(), ["report", *map(str, words)])


def test_a_model_and_a_table_become_a_page(folder, tmp_path):
    page = tmp_path / "page.html"
    result = report(
        folder / "model.anyboost", folder / "rows.csv", "--target", "price", "--groups", "note", "-o", page
    )
    assert result.exit_code == 0, result.output
    assert str(page) in result.output.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    for words in (
        "model.anyboost: price by BoostingRegressor",
        "80 rows given",
        "Residuals",
        "Worst groups",
        "Shape curves",
    ):
        assert words in text


def test_a_model_alone_becomes_one_too(folder, tmp_path):
    page = tmp_path / "page.html"
    assert report(folder / "model.anyboost", "-o", page).exit_code == 0
    assert "No rows were given with the model" in page.read_text(encoding="utf-8")


def test_weights_are_a_column_and_a_table_without_targets_gets_a_hint(folder, tmp_path):
    page = tmp_path / "page.html"
    words = (folder / "model.anyboost", folder / "rows.csv", "-o", page)
    result = report(*words, "--target", "price", "--weight", "size")
    assert result.exit_code == 0, result.output
    assert "Rows count by their weights." in page.read_text(encoding="utf-8")
    assert "--target" not in result.stderr
    assert "without --target COL, the column of the targets, the page has no scores" in report(*words).stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("{}/nothing.anyboost",), "nothing.anyboost"),
        (("{}/rows.csv",), "rows.csv"),
        (("{}/model.anyboost", "{}/nothing.csv"), "there is no such file"),
        (
            ("{}/model.anyboost", "{}/rows.csv", "--target", "cost"),
            "--target names a column 'cost' that",
        ),
        (
            ("{}/model.anyboost", "{}/short.csv", "--target", "price"),
            "has no column 'size', which the model needs",
        ),
        (("{}/model.anyboost", "--target", "price"), "give one after the model file"),
        (("{}/model.anyboost", "-o", "{}/nowhere/page.html"), "no such folder"),
        (("{}/model.anyboost", "-o", "{}/model.anyboost"), "a report is a page of HTML"),
    ],
)
def test_a_wrong_call_is_answered_in_a_sentence_and_writes_nothing(folder, words, sentence):
    before = sorted(folder.iterdir())
    result = report(*(word.format(folder) for word in words))
    assert result.exit_code in (1, 2)
    assert sentence in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert sorted(folder.iterdir()) == before


def test_a_report_does_not_replace_the_model_that_it_is_about(folder, tmp_path):
    model = tmp_path / "page.html"
    model.write_bytes((folder / "model.anyboost").read_bytes())
    before = model.read_bytes()
    result = report(str(model), "-o", str(model))
    assert result.exit_code in (1, 2)
    assert "name another file" in " ".join(result.output.split())
    assert model.read_bytes() == before
