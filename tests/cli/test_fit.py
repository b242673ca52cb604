"""`fit`, `predict`, `explain`, `cv` and `convert` do what the library does, whatever format the table has."""

import gzip
import io
import itertools
import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import feather, ipc, parquet
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from anyboost.cli.rows import frames, sources
from anyboost.cli.rows.cells import TableError
from anyboost.estimators import progress
from exactly import read_csv

ROWS = 120


def run(*words, code=0, given=None):
    done = CliRunner().invoke(build(), [str(word) for word in words], input=given)
    assert done.exit_code == code, done.stderr
    return done


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    found = pd.DataFrame(random.normal(size=(ROWS, 3)).round(3), columns=["a", "b", "c"])
    found.loc[::9, "a"] = np.nan
    found["color"] = random.choice(["red", "green", "blue"], ROWS)
    found["code"] = random.integers(1, 5, ROWS)
    found["id"] = [f"row {number}" for number in range(ROWS)]
    found["w"] = random.integers(1, 4, ROWS)
    found["query"] = np.arange(ROWS) // 10
    score = found["b"] + (found["color"] == "red") + (found["code"] == 2)
    found["y"] = (score + random.normal(size=ROWS)).round(3)
    found["kind"] = np.where(score > 0.8, "high", "low")
    found["grade"] = np.digitize(score, [0.0, 1.0])
    return found


@pytest.fixture(autouse=True)
def place(tmp_path, table, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("data.csv", index=False)
    return tmp_path


OTHERS = ["id", "w", "query", "y", "kind", "grade"]


def _ignored(*kept):
    return [word for name in OTHERS if name not in kept for word in ("--ignore", name)]


def test_the_model_is_that_of_the_library(table):
    done = run(
        *("fit", "data.csv", "--target", "y", "--weight", "w", *_ignored("y", "w"), "-o", "model.anyboost"),
        *("--categorical", "code", "--loss", "absolute", "--set", "max_iter=6", "--set", "max_leaf_nodes=5"),
    )
    X = table[["a", "b", "c", "color", "code"]].assign(code=table["code"].astype(str))
    wanted = ab.BoostingRegressor("absolute", max_iter=6, max_leaf_nodes=5)
    wanted.fit(X, table["y"], sample_weight=table["w"])
    model = ab.load("model.anyboost")
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))
    assert "3 columns of numbers, 2 of words: color (3 levels), code (4 levels)" in done.stderr
    assert "task: regression" in done.stderr
    assert "BoostingRegressor, absolute loss, 6 rounds" in done.stdout


def test_words_are_classes_and_probabilities_are_columns(table):
    run("fit", "data.csv", "--target", "kind", *_ignored("kind"), "-o", "m", "--set", "max_iter=5")
    run("predict", "m", "data.csv", "--probabilities", "--raw", "--keep", "id", "-o", "out.csv")
    found, model = read_csv("out.csv"), ab.load("m")
    assert list(found) == ["id", "prediction", "score", "probability_high", "probability_low"]
    np.testing.assert_array_equal(
        found["probability_low"], model.predict_proba(table[model.feature_names_in_])[:, 1]
    )
    assert (found["prediction"] == model.predict(table[model.feature_names_in_])).all()
    assert (found["id"] == table["id"]).all()


def test_rankings_have_queries(table):
    words = ("--target", "grade", "--qid", "query", "--task", "ranking", *_ignored("grade", "query"))
    run("fit", "data.csv", *words, "-o", "m", "--set", "max_iter=4")
    model = ab.load("m")
    X = table[model.feature_names_in_]
    wanted = ab.BoostingRanker(max_iter=4).fit(X, table["grade"], qid=table["query"])
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))


def test_quantiles_and_intervals_are_columns(table):
    words = ("--target", "y", *_ignored("y"), "--loss", "multi_quantile:0.1,0.5,0.9", "--set", "max_iter=4")
    run("fit", "data.csv", *words, "-o", "m")
    run("predict", "m", "data.csv", "--interval", "0.8", "--quantiles", "0.25,0.75", "-o", "out.parquet")
    found = pd.read_parquet("out.parquet")
    assert list(found) == [
        *(
            "prediction_0.1",
            "prediction_0.5",
            "prediction_0.9",
            "quantile_0.25",
            "quantile_0.75",
            "low",
            "high",
        )
    ]
    model = ab.load("m")
    ends = model.predict_interval(table[model.feature_names_in_], 0.8)
    np.testing.assert_array_equal(found[["low", "high"]], ends)


def test_explanations_add_up_to_the_score():
    run("fit", "data.csv", "--target", "y", *_ignored("y"), "-o", "m", "--set", "max_iter=5")
    run("predict", "m", "data.csv", "--explain", "--raw", "-o", "out.csv")
    found = read_csv("out.csv")
    why = [name for name in found if name.startswith("why_")]
    assert why == ["why_a", "why_b", "why_c", "why_color", "why_code"]
    np.testing.assert_allclose(found["base"] + found[why].sum(axis=1), found["score"], atol=1e-9)
    run("explain", "m", "data.csv", "-o", "why.tsv", "--keep", "id")
    again = read_csv("why.tsv", sep="\t")
    np.testing.assert_array_equal(again[why], found[why])
    shown = run("explain", "m").stdout.splitlines()
    assert len(shown) == 5
    assert shown[0].split()[0] == "b"
    moved = run("explain", "m", "data.csv", "--top", "2").stdout.splitlines()
    assert float(moved[0].split()[1]) == pytest.approx(found["why_b"].abs().mean(), rel=1e-4)
    assert moved[-1] == "and 3 more (--top 5 shows all)"


def _written(table, name):
    """The table in a format, by the name of the file."""
    arrow = pyarrow.Table.from_pandas(table, preserve_index=False)
    text = table.to_csv(index=False, sep="\t" if ".tsv" in name.lower() else ",").encode()
    if name.endswith(".gz"):
        with gzip.open(name, "wb") as file:
            file.write(text)
    elif name.lower().endswith(".zst"):
        with pyarrow.CompressedOutputStream(name, "zstd") as file:
            file.write(text)
    elif name.endswith(".parquet"):
        parquet.write_table(arrow, name)
    elif name.endswith(".feather"):
        feather.write_feather(arrow, name)
    elif name.endswith(".arrow"):
        with ipc.new_stream(name, arrow.schema) as file:
            file.write_table(arrow)
    else:
        with open(name, "wb") as file:
            file.write(text)


FORMATS = ["t.csv", "t.tsv", "t.csv.gz", "t.TSV.ZST", "t.parquet", "t.feather", "t.arrow"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_table(table, name):
    _written(table, name)
    whole, wanted = frames.read(name), frames.read("data.csv")
    assert whole.kinds == wanted.kinds
    for column, values in wanted.columns.items():
        np.testing.assert_array_equal(whole.columns[column], values)


@pytest.mark.parametrize("name", [*FORMATS[:5], "t.arrow"])
def test_every_format_can_be_written(place, table, name):
    ab.save(ab.BoostingRegressor(max_iter=3).fit(table[["a", "b", "color"]], table["y"]), "m")
    run("predict", "m", "data.csv", "-o", name, "--keep", "id")
    found = frames.read(name)
    np.testing.assert_array_equal(
        found.columns["prediction"], ab.load("m").predict(table[["a", "b", "color"]])
    )
    assert found.columns["id"].tolist() == table["id"].tolist()
    assert sorted(path.name for path in place.iterdir()) == sorted(["data.csv", "m", name])
    assert (Path(name).read_bytes()[:4] == b"\x28\xb5\x2f\xfd") == name.endswith("ZST")


def test_standard_input_and_output(place, table):
    text = (place / "data.csv").read_bytes()
    run("fit", "-", "--target", "y", *_ignored("y"), "-o", "m", "--set", "max_iter=3", given=text)
    done = run("predict", "m", "-", given=text)
    found = read_csv(io.StringIO(done.stdout))
    np.testing.assert_array_equal(
        found["prediction"], ab.load("m").predict(table[ab.load("m").feature_names_in_])
    )


def test_a_parquet_file_from_standard_input(place, table, monkeypatch):
    _written(table, "t.parquet")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((place / "t.parquet").read_bytes())))
    assert len(frames.read("-", "parquet")) == ROWS


def test_a_column_that_turns_out_to_hold_words_is_read_again(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,m,y\n" + "1,NA,2\n" * 5 + "007b,?,3\n" + "2,4,NaN\n")
    whole = frames.read(str(path))
    assert whole.columns["n"].tolist() == ["1"] * 5 + ["007b", "2"]
    np.testing.assert_array_equal(whole.columns["m"], [np.nan] * 6 + [4.0])
    assert whole.kinds == {"n": "text", "m": "number", "y": "number"}
    with pytest.raises(
        TableError, match=r"line 7: column 'n' is '007b', and --type n=number was said: --type n=text"
    ):
        frames.read(str(path), types={"n": "number"})


def test_a_config_file_says_what_the_line_may_say_otherwise(place):
    (place / "c.toml").write_text(
        'target = "kind"\nignore = ["id", "w", "query", "y", "grade"]\ncategorical = ["code"]\n'
        '[parameters]\nmax_iter = 3\nlearner = "stump"\n'
    )
    run("fit", "data.csv", "--config", "c.toml", "--set", "max_iter=2", "--loss", "hinge", "-o", "m")
    model = ab.load("m")
    assert (type(model).__name__, model.n_iter_, model.loss, model.learner) == (
        "BoostingClassifier",
        2,
        "hinge",
        "stump",
    )
    assert model.is_categorical_.tolist() == [False, False, False, True, True]


def test_a_validation_table_stops_the_fit(table):
    table.iloc[:80].to_csv("train.csv", index=False)
    table.iloc[80:].to_csv("valid.csv", index=False)
    words = ("--target", "y", *_ignored("y"), "--set", "max_iter=400")
    done = run("fit", "train.csv", *words, "--valid", "valid.csv", "-o", "m")
    model = ab.load("m")
    assert model.n_iter_ < 400
    assert "held out" in done.stdout
    names = list(model.feature_names_in_)
    wanted = ab.BoostingRegressor(max_iter=400)
    wanted.fit(table[names].iloc[:80], table["y"][:80], X_val=table[names].iloc[80:], y_val=table["y"][80:])
    np.testing.assert_array_equal(model.predict(table[names]), wanted.predict(table[names]))


def test_a_report_is_on_the_rows_held_out(place, table):
    table.iloc[80:].to_csv("valid.csv", index=False)
    words = ("--target", "y", *_ignored("y"), "--set", "max_iter=3")
    done = run("fit", "data.csv", *words, "--valid", "valid.csv", "--report", "page.html", "-o", "m")
    assert "page.html: report on the validation rows" in done.stdout
    page = (place / "page.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "<h1>y by BoostingRegressor with the loss squared</h1>" in page


def test_progress_is_lines_where_there_is_no_terminal():
    done = run("fit", "data.csv", "--target", "y", *_ignored("y"), "-o", "m")
    assert "trying on rows held out, part 1 of 5: round " in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"fitting: round {ab.load('m').n_iter_}  loss ")


def test_cv_scores_what_fit_would_fit(place, table):
    words = ("--target", "y", *_ignored("y"), "--set", "max_iter=5", "--folds", "3")
    done = run("cv", "data.csv", *words, "-o", "cv.json")
    found = json.loads((place / "cv.json").read_text())
    assert len(found["parts"]) == 3
    assert done.stdout.count("part ") == 3
    from sklearn.model_selection import KFold, cross_val_score

    X = table[["a", "b", "c", "color", "code"]]
    scores = cross_val_score(
        ab.BoostingRegressor(max_iter=5), X, table["y"], cv=KFold(3, shuffle=True, random_state=0)
    )
    np.testing.assert_allclose([part["score"] for part in found["parts"]], scores, rtol=1e-9)
    assert found["mean"]["score"] == pytest.approx(scores.mean())


def test_cv_of_classes_and_rankings():
    words = ("--set", "max_iter=3", "--folds", "2")
    run("cv", "data.csv", "--target", "kind", *_ignored("kind"), *words)
    ranking = ("--target", "grade", "--qid", "query", "--task", "ranking", *_ignored("grade", "query"))
    assert "score" in run("cv", "data.csv", *ranking, *words).stdout


def test_convert_and_back(place, table):
    model = ab.BoostingRegressor(max_iter=3).fit(table[["a", "b", "color"]], table["y"])
    ab.save(model, "m.anyboost")
    for name in ("m.json", "m.txt", "m.onnx"):
        assert run("convert", "m.anyboost", name).stdout.startswith(f"{name}: ")
    run("convert", "m.json", "again.anyboost")
    assert (place / "again.anyboost").read_bytes() == (place / "m.anyboost").read_bytes()
    assert (place / "m.txt").read_text().startswith("regressor, squared loss, 3 columns\n")


def test_a_run_and_a_sum_predict_from_numbers(table):
    X = np.nan_to_num(table[["a", "b"]].to_numpy())
    pd.DataFrame(X).to_csv("n.csv", index=False)
    model = ab.boost(X, np.abs(table["y"]), "poisson", rounds=3)
    ab.save(model, "run")
    ab.save(model.ensemble, "sum")
    for name, column, wanted in (
        ("run", "prediction", np.exp(model.ensemble.predict(X))),
        ("sum", "score", model.ensemble.predict(X)),
    ):
        run("predict", name, "n.csv", "-o", "out.csv")
        np.testing.assert_allclose(read_csv("out.csv")[column], wanted, rtol=1e-12)


def test_a_failure_halfway_leaves_the_old_table(place, table):
    ab.save(ab.BoostingRegressor(max_iter=2).fit(table[["a", "b"]], table["y"]), "m")
    (place / "late.csv").write_text("a,b\n" + "1,2\n" * 70_000 + "1,wrong\n")
    (place / "out.csv").write_text("old")
    (place / "out.csv.part").write_text("of somebody else")
    done = run("predict", "m", "late.csv", "-o", "out.csv", code=1)
    assert done.stderr == (
        "line 70002: column 'b' is 'wrong', and the model takes numbers there: leave the cell empty where it is "
        "missing\n"
    )
    assert (place / "out.csv").read_text() == "old"
    assert (place / "out.csv.part").read_text() == "of somebody else"
    assert sorted(path.name for path in place.iterdir()) == [
        "data.csv",
        "late.csv",
        "m",
        "out.csv",
        "out.csv.part",
    ]


def test_columns_that_the_model_has_not_may_hold_anything(place, table):
    """They are copied as they stand: 007 is no 7.0, and a word after numbers is no error."""
    ab.save(ab.BoostingRegressor(max_iter=2).fit(table[["a", "b"]], table["y"]), "m")
    (place / "late.csv").write_text("key,a,b,when\n" + "007,1,2,3\n" * 3 + "x9,1,,inf\n")
    run("predict", "m", "late.csv", "--keep", "key", "--keep", "when", "-o", "out.csv")
    found = [line.split(",")[:2] for line in (place / "out.csv").read_text().splitlines()]
    assert found == [["key", "when"], *[["007", "3"]] * 3, ["x9", "inf"]]


def test_two_numbers_are_classes_where_they_are_whole(table):
    for values, task in (((0, 1), "classification"), ((0.5, 1.5), "regression")):
        pd.DataFrame({"a": table["a"], "t": np.where(table["b"] > 0, *values)}).to_csv("two.csv", index=False)
        for place in ("--in-memory", "--on-disk"):
            done = run("fit", "two.csv", "--target", "t", "--set", "max_iter=2", place, "-o", "m")
            assert f"task: {task}, told by the target" in done.stderr


@pytest.fixture
def dated(table):
    """A Parquet table with columns that are neither numbers nor text, and the same one as CSV."""
    days = pd.date_range("2024-02-28", periods=ROWS, freq="36h")
    typed = table[["a", "b", "color", "y", "id"]].assign(day=days.normalize(), moment=days)
    arrow = pyarrow.Table.from_pandas(typed, preserve_index=False)
    arrow = arrow.append_column("date", pyarrow.array(days.date)).append_column(
        "clock", pyarrow.array(days.time)
    )
    for name, values in (
        ("blob", [b"x"] * ROWS),
        ("list", [[1]] * ROWS),
        ("wait", [days[1] - days[0]] * ROWS),
    ):
        arrow = arrow.append_column(name, pyarrow.array(values))
    parquet.write_table(arrow, "typed.parquet")
    typed.assign(date=days.date, clock=days.time).to_csv("typed.csv", index=False)
    return typed


MODELS, DATA = ("text", "typed"), ("typed.csv", "typed.parquet")
STRANGE = ["blob", "list", "wait"]


def _left(*names):
    return [word for name in names for word in ("--ignore", name)]


@pytest.mark.parametrize("room", ["--in-memory", "--on-disk"])
def test_a_column_that_cannot_be_read_can_be_left_out(room, dated):
    words = ("--target", "y", "--set", "max_iter=3")
    said = run("fit", "typed.parquet", *words, room, "-o", "m", code=1).stderr
    assert said == (
        "column 'blob' of typed.parquet has type binary, and numbers, text, dates and times can be read: "
        "--ignore blob leaves it out\n"
    )
    left = _left("id", "day", "moment", "date", "clock", *STRANGE)
    run("fit", "typed.parquet", *words, *left, room, "-o", "m")
    run("cv", "typed.parquet", *words, *left, "--folds", "2")
    run("predict", "m", "typed.parquet", "--keep", "id", "-o", "out.csv")
    np.testing.assert_array_equal(
        read_csv("out.csv")["prediction"],
        ab.load("m").predict(dated[["a", "b", "color"]]),
    )
    run("explain", "m", "typed.parquet")
    run("report", "m", "typed.parquet", "--target", "y", "-o", "page.html")


@pytest.mark.parametrize("room", ["--in-memory", "--on-disk"])
@pytest.mark.usefixtures("dated")
def test_dates_and_times_are_the_same_words_in_csv_and_parquet(room):
    words = ("--target", "y", "--ignore", "id", "--set", "max_iter=3", room, "-o")
    run("fit", "typed.csv", *words, "text")
    run("fit", "typed.parquet", *words, "typed", *_left(*STRANGE))
    names = ["a", "b", "color", "day", "moment", "date", "clock"]
    assert list(ab.load("typed").feature_names_in_) == names
    for model in MODELS:
        for data in DATA:
            run("predict", model, data, "--keep", "moment", "-o", f"{model}-{data}.csv")
    found = [pd.read_csv(f"{model}-{data}.csv") for model in MODELS for data in DATA]
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


def test_what_is_left_out_may_hold_anything_in_csv_too(table):
    table.assign(id="inf").to_csv("odd.csv", index=False)
    run("fit", "odd.csv", "--target", "y", *_ignored("y"), "--set", "max_iter=2", "-o", "m")


def test_many_words_are_classes_where_that_is_said_or_they_come_again(table):
    names = np.array([f"class {number}" for number in range(30)])
    for rows, words in ((120, []), (50, ["--task", "classification"])):
        pd.DataFrame({"a": table["b"], "t": names[np.arange(ROWS) % 30]})[:rows].to_csv(
            "many.csv", index=False
        )
        for room in ("--in-memory", "--on-disk"):
            run("fit", "many.csv", "--target", "t", "--set", "max_iter=1", room, "-o", "m", *words)
            assert len(ab.load("m").classes_) == 30


@pytest.mark.parametrize("room", ["--in-memory", "--on-disk"])
def test_a_thousand_words_are_no_classes_however_often_they_come(room):
    pd.DataFrame({"a": range(3003), "t": [f"${n % 1001}" for n in range(3003)]}).to_csv(
        "many.csv", index=False
    )
    said = run("fit", "many.csv", "--target", "t", room, "-o", "m", code=1).stderr
    assert "--target 't' holds more than 1,000 different words in 3,003 rows, such as '$0': " in said


def test_other_libraries_read_the_arrow_files_that_are_written(place, table):
    model = ab.BoostingRegressor(max_iter=2).fit(table[["a", "b", "color"]], table["y"])
    ab.save(model, "m")
    wanted = model.predict(table[["a", "b", "color"]])
    for name in ("out.arrow", "out.feather", "out.ipc"):
        run("predict", "m", "data.csv", "-o", name)
        np.testing.assert_array_equal(pd.read_feather(name)["prediction"], wanted)
    run("predict", "m", "data.csv", "-o", "out.arrows")
    piped = run("predict", "m", "data.csv", "--output-format", "arrow").stdout_bytes
    assert piped == (place / "out.arrows").read_bytes()
    np.testing.assert_array_equal(ipc.open_stream(piped).read_all()["prediction"], wanted)
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(polars.read_ipc("out.arrow")["prediction"], wanted)


def test_a_name_of_a_column_means_one_thing(table):
    """Fitted and calibrated quantiles of one level stand beside each other, with or without other levels."""
    X = table[["a", "b", "color"]]
    model = ab.BoostingRegressor("multi_quantile:0.1,0.5,0.9", max_iter=4, conformal="cv").fit(X, table["y"])
    ab.save(model, "m")
    for levels in ((0.1,), (0.1, 0.3)):
        words = ",".join(map(str, levels))
        run("predict", "m", "data.csv", "--quantiles", words, "-o", "out.parquet")
        found = pd.read_parquet("out.parquet")
        np.testing.assert_array_equal(
            found[[f"quantile_{level}" for level in levels]], model.predict_quantiles(X, levels)
        )
        np.testing.assert_array_equal(
            found[["prediction_0.1", "prediction_0.5", "prediction_0.9"]], model.predict(X)
        )
    assert not np.array_equal(found["prediction_0.1"], found["quantile_0.1"])


def test_truths_are_the_same_numbers_in_csv_and_parquet(table):
    """One model, whichever file it was fitted to or is asked about."""
    found = table[["a", "b", "y"]].assign(pool=pd.array(table["b"] > 0, "boolean"))
    found.loc[::7, "pool"] = None
    found.to_csv("truths.csv", index=False)
    found.to_parquet("truths.parquet", index=False)
    for data in ("truths.csv", "truths.parquet"):
        said = run("fit", data, "--target", "y", "--set", "max_iter=3", "-o", f"{data}.model").stderr
        assert said.startswith("120 rows; 3 columns of numbers (")
        for other in ("truths.csv", "truths.parquet"):
            run("predict", f"{data}.model", other, "-o", f"{data}-{other}.csv")
            pd.testing.assert_frame_equal(
                pd.read_csv(f"{data}-{other}.csv"), pd.read_csv("truths.csv-truths.csv.csv")
            )


def test_truths_among_words_are_words(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,m,k,y\nTrue,True,TRUE,1\nfalse,no,0.5,2\n,False,NA,3\n")
    whole = frames.read(str(path))
    assert whole.columns["m"].tolist() == ["True", "no", "False"]
    np.testing.assert_array_equal(whole.columns["n"], [1, 0, np.nan])
    np.testing.assert_array_equal(whole.columns["k"], [1, 0.5, np.nan])


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "m", "new.csv", "-o", "out.csv"),
        ("explain", "m", "new.csv"),
        ("explain", "m", "new.csv", "-o", "why.csv"),
        ("report", "m", "new.csv", "-o", "page.html"),
        ("cv", "data.csv", "--target", "y", "--folds", "3", *_ignored("y", "id"), "--set", "max_iter=2"),
    ],
    ids=" ".join,
)
def test_a_warning_is_one_sentence_however_many_rows_there_are(table, words, monkeypatch, recwarn):
    """And no line of the library's source."""
    monkeypatch.setattr(sources, "ROWS", 40)
    model = ab.BoostingRegressor(max_iter=2).fit(table[["a", "b", "color"]], table["y"])
    ab.save(model, "m")
    table.assign(color="mauve").to_csv("new.csv", index=False)
    said = [line for line in run(*words).stderr.splitlines() if "saw none of" in line]
    column = "id" if words[0] == "cv" else "color"
    assert said == [
        f"column '{column}': the fit saw none of these levels, so every row counts as missing or unseen there"
    ]
    assert not recwarn.list


def _pipe(path):
    """The name of a pipe from which what is in a file can be read, once."""
    pipe = f"{path}.pipe"
    os.mkfifo(pipe)
    text = Path(path).read_bytes()
    threading.Thread(target=Path(pipe).write_bytes, args=(text,), daemon=True).start()
    return pipe


def test_pipes_are_read_like_files(place, table):
    """As of `anyboost fit <(zcat 1.csv.gz) <(zcat 2.csv.gz) --format csv`."""
    table[:50].to_csv("1.csv", index=False)
    table[50:].to_csv("2.csv", index=False)
    table[50:].to_parquet("2.parquet", index=False)
    words = ("--target", "y", *_ignored("y"), "--set", "max_iter=3", "--format", "csv", "-o")
    run("fit", "data.csv", *words, "whole")
    run("fit", _pipe("1.csv"), _pipe("2.csv"), *words, "pipes")
    for model in ("whole", "pipes"):
        run("predict", model, "data.csv", "-o", f"{model}.csv")
    run("predict", "whole", _pipe("data.csv"), "--format", "csv", "-o", "piped.csv")
    assert (place / "whole.csv").read_bytes() == (place / "pipes.csv").read_bytes()
    assert (place / "whole.csv").read_bytes() == (place / "piped.csv").read_bytes()
    run("explain", "whole", _pipe("2.parquet"), "--format", "parquet")
    for room in ("predict", "fit"):
        words = ("whole", "-") if room == "predict" else ("-", "--target", "y", "-o", "m")
        said = run(room, *words, given=(place / "2.parquet").read_bytes(), code=1).stderr
        assert said == "standard input is no text: add --format parquet\n"
    (place / "bad.csv").write_text("a\n1\n")
    said = run("predict", "whole", _pipe("bad.csv"), "--format", "csv", "-o", "new.csv", code=1).stderr
    assert said == "bad.csv.pipe has no column 'b', which the model needs\n"


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst"])
def test_packed_text_is_known_by_its_bytes(place, table, ending):
    """From standard input, from a pipe, and under a name that does not say it."""
    ab.save(ab.BoostingRegressor(max_iter=3).fit(table[["a", "b", "color"]], table["y"]), "m")
    run("predict", "m", "data.csv", "-o", "wanted.csv")
    _written(table, f"t{ending}")
    packed = (place / f"t{ending}").read_bytes()
    (place / "packed.csv").write_bytes(packed)
    (place / f"T{ending.upper()}").write_bytes(packed)
    for name in ("-", "packed.csv", _pipe("packed.csv"), f"T{ending.upper()}"):
        given = packed if name == "-" else None
        words = () if name.startswith("T") else ("--format", "csv")
        run("predict", "m", name, *words, "-o", "out.csv", given=given)
        assert (place / "out.csv").read_bytes() == (place / "wanted.csv").read_bytes()
    for room in ("--in-memory", "--on-disk"):
        run("fit", "-", "--target", "y", *_ignored("y"), "--set", "max_iter=2", room, "-o", "n", given=packed)
    assert run("stream", "-", "--target", "y", *_ignored("y"), given=packed).stdout


def _labels(*words):
    """What the lines of progress say is being fitted, in their order, and of which round the last line of each is."""
    found = {}
    for line in run(
        "fit", "data.csv", "--target", "y", *_ignored("y"), *words, "-o", "m"
    ).stderr.splitlines():
        what, _, numbers = line.partition(": round ")
        if numbers:
            found[what] = int(numbers.split()[0])
    return found


def test_progress_says_which_fit_it_is(table, monkeypatch):
    """The last line of "fitting" has the loss that is printed as the result; folds that calibrate are called so."""
    clock = itertools.count(step=1000.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))  # every line is due
    words = ("--loss", "quantile:0.9", "--set", "conformal=cv")
    found = _labels(*words, "--set", "max_iter=4")
    assert found == {"fitting": 4} | {f"calibrating, fold {fold} of 5": 4 for fold in range(1, 6)}
    found = _labels(*words)
    searches = [f"trying on rows held out, part {part} of 5" for part in range(1, 6)]
    assert list(found)[:6] == [*searches, "fitting"]
    assert set(found) <= {*searches, "fitting", "calibrating"}
    assert found["fitting"] == ab.load("m").n_iter_
    table[:40].to_csv("valid.csv", index=False)
    assert set(_labels("--valid", "valid.csv")) == {"fitting"}


@pytest.mark.parametrize("room", ["--in-memory", "--on-disk"])
def test_the_cell_that_makes_words_of_numbers_is_named(table, room):
    """One slip in a thousand rows would otherwise make categories of a column, and nobody would know why."""
    late = table.assign(c=table["c"].astype(str))
    late.loc[70, "c"] = "unknown"
    late.to_csv("late.csv", index=False)
    said = run(
        "fit", "late.csv", "--target", "y", *_ignored("y"), "--set", "max_iter=2", room, "-o", "m"
    ).stderr
    assert "line 72: column 'c' is 'unknown', so it holds words" in said.splitlines()
    assert said.count("so it holds words") == 1


def test_tables_that_polars_wrote_are_read(table):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: table[name].to_numpy() for name in ("b", "color", "code")})
    frame = frame.with_columns(kind=polars.Series(table["kind"].tolist(), dtype=polars.Categorical))
    frame.write_ipc("polars.arrow")
    frame.write_parquet("polars.parquet")
    for name in ("polars.arrow", "polars.parquet"):
        found = frames.read(name)
        assert found.kinds == {"b": "number", "color": "text", "code": "number", "kind": "text"}
        for column in ("color", "kind"):
            assert found.columns[column].tolist() == table[column].tolist()


def test_one_round_is_one_and_nothing_has_no_sign():
    Path("same.csv").write_text("a,y\n" + "".join(f"{number},3\n" for number in range(60)))
    said = run("fit", "same.csv", "--target", "y", "-o", "model.anyboost").stdout
    assert "1 round, loss 0, held out 0\n" in said


def test_a_report_on_a_fit_counts_rows_by_their_weights():
    words = ["--ignore", "id", "--weight", "w", "--set", "max_iter=4", "--report", "page.html"]
    run("fit", "data.csv", "--target", "y", *words, "-o", "model.anyboost")
    assert "Rows count by their weights." in Path("page.html").read_text(encoding="utf-8")


def test_queries_tell_that_it_is_a_ranking(place):
    """The model of `--qid` alone is that of `--task ranking`, with and without a file of settings."""
    words = (*("--target", "grade", "--set", "max_iter=3"), *_ignored("grade", "query"))
    run("fit", "data.csv", *words, "--qid", "query", "--task", "ranking", "-o", "said")
    for room in ("--in-memory", "--on-disk"):
        done = run("fit", "data.csv", *words, "--qid", "query", room, "-o", "told")
        assert "task: ranking, told by --qid" in done.stderr
        said, told = (ab.load(name) for name in ("said", "told"))
        assert type(told) is ab.BoostingRanker
        assert [step.loss for step in told.steps_] == [step.loss for step in said.steps_]
    assert run("cv", "data.csv", *words, "--qid", "query", "--folds", "2").exit_code == 0
    (place / "fit.toml").write_text('target = "grade"\n')
    assert (
        "told by --qid"
        in run("fit", "data.csv", "--config", "fit.toml", *words, "--qid", "query", "-o", "m").stderr
    )


DISGUISES = {
    "percentages such as '5%'": ["5%", "12.5 %", "7"],
    "amounts of money such as '$1,000'": ["$1,000", "$20", "3"],
    "dates such as '2026-01-31'": ["2026-01-31", "2026-02-01 12:30", "2026-03-01"],
    "times such as '12:30'": ["12:30", "1:05:07", "11:00"],
    "numbers with commas such as '1,25'": ["1,25", "2", "-3,5"],
}


@pytest.mark.parametrize("what", DISGUISES)
@pytest.mark.parametrize("rows", [9, 60])
def test_numbers_in_some_dress_are_no_classes(what, rows):
    """However few there are: of a small table they had become classes, and early stopping was to blame."""
    pd.DataFrame({"a": range(rows), "y": (DISGUISES[what] * rows)[:rows]}).to_csv("odd.csv", index=False)
    for line in (["fit", "-o", "m"], ["fit", "--on-disk", "-o", "m"], ["cv"], ["stream", "--save", "m"]):
        done = run(line[0], "odd.csv", "--target", "y", *line[1:], code=1)
        assert f"--target 'y' holds {what}, from which no number is read: write " in done.stderr
        assert done.stderr.endswith("or say --task classification\n")
        assert done.stdout == ""
        assert not Path("m").exists()
    said = ("--task", "classification")
    run("fit", "odd.csv", "--target", "y", *said, "--set", "max_iter=1", "-o", "m")
    assert set(ab.load("m").classes_) == set(DISGUISES[what])
    assert run("stream", "odd.csv", "--target", "y", *said).exit_code == 0


def test_words_of_which_nearly_all_differ_are_no_classes():
    pd.DataFrame({"a": range(8), "y": [f"{n} km" for n in range(8)]}).to_csv("odd.csv", index=False)
    said = run("fit", "odd.csv", "--target", "y", "-o", "m", code=1).stderr
    assert (
        "--target 'y' holds 8 different words in 8 rows, such as '0 km': write plain numbers, or say --task"
        in said
    )
    for classes in (["no", "yes"], ["18-24", "25-34", "35+"], ["1.0.2", "1.1.0"], ["a, b", "b"]):
        pd.DataFrame({"a": range(8), "y": (classes * 8)[:8]}).to_csv("fine.csv", index=False)
        run("fit", "fine.csv", "--target", "y", "--set", "max_iter=1", "-o", "m")
        assert list(ab.load("m").classes_) == sorted(classes)


@pytest.mark.parametrize("room", ["--in-memory", "--on-disk"])
@pytest.mark.usefixtures("dated")
def test_what_becomes_of_dates_is_said_when_they_are_fitted(room):
    for data in DATA:
        left = _left(*STRANGE) if data == "typed.parquet" else []
        done = run(
            "fit", data, "--target", "y", "--ignore", "id", *left, "--set", "max_iter=1", room, "-o", "m"
        )
        told = [
            line.split("'")[1] for line in done.stderr.splitlines() if "holds dates, which are words" in line
        ]
        assert told == ["day", "moment", "date"]


def test_cells_may_be_parted_by_another_sign(table):
    """As spreadsheets write where a comma stands for the decimal point: the same models and answers."""
    table.to_csv("parted.csv", sep=";", index=False)
    sign = ("--separator", ";")
    for name, data, more in (("m", "data.csv", ()), ("n", "parted.csv", sign)):
        valid = ("--valid", data, "--set", "max_iter=4")
        run("fit", data, "--target", "y", *_ignored("y"), *valid, *more, "-o", f"{name}.anyboost")
        run("predict", f"{name}.anyboost", data, *more, "--keep", "id", "-o", f"{name}.csv")
        run("explain", f"{name}.anyboost", data, *more, "-o", f"{name}-why.csv")
        run("cv", data, "--target", "y", *_ignored("y"), "--set", "max_iter=2", *more, "-o", f"{name}.json")
        run(
            "combine",
            data,
            "--target",
            "y",
            "--no-regret",
            *more,
            "-o",
            f"{name}-pool.json",
            *_ignored("y"),
            *_PLAIN,
        )
        run("stream", data, "--target", "y", *more, "--learner", "linear", "--predictions", f"{name}.txt")
        run("report", f"{name}.anyboost", data, "--target", "y", *more, "-o", f"{name}.html")
    for ending in (".csv", "-why.csv", ".json", "-pool.json", ".txt"):
        assert Path(f"m{ending}").read_text() == Path(f"n{ending}").read_text()
    run(
        "fit",
        "parted.csv",
        "--target",
        "y",
        *_ignored("y"),
        *sign,
        "--on-disk",
        "--set",
        "max_iter=4",
        "-o",
        "o.anyboost",
    )
    run(
        "fit", "parted.csv", "--target", "y", *_ignored("y"), *sign, "--set", "max_iter=4", "-o", "p.anyboost"
    )
    np.testing.assert_array_equal(*(ab.load(f"{name}.anyboost").predict(table[OF_MODEL]) for name in "op"))


_PLAIN = [word for name in ("color", "a") for word in ("--ignore", name)]
OF_MODEL = ["a", "b", "c", "color", "code"]


def test_results_go_to_standard_output():
    """One way for all commands: "-" is standard output, and what else there is to say is on standard error."""
    done = run("cv", "data.csv", "--target", "y", *_ignored("y"), "--set", "max_iter=2", "-o", "-")
    assert len(json.loads(done.stdout)["parts"]) == 5
    assert "part 5 of 5" in done.stderr
    done = run("combine", "data.csv", "--target", "y", *_ignored("y"), *_PLAIN, "-o", "-")
    assert set(json.loads(done.stdout)["weights"]) == {"b", "c", "code"}
    assert "mean progressive loss" in done.stderr
    run("fit", "data.csv", "--target", "y", *_ignored("y"), "--set", "max_iter=2", "-o", "m.anyboost")
    done = run("explain", "m.anyboost", "data.csv", "-o", "-")
    assert len(done.stdout.splitlines()) == ROWS + 1
    assert not Path("-").exists()
