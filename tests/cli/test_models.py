"""Every command takes every kind of model file: it does what it can, or says in a sentence why not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from anyboost.cli.rows import sources
from exactly import read_csv

ROWS = 40
WORDS, NUMBERS = ["a", "b", "c"], ["a", "b"]


def run(line, code=0):
    done = CliRunner().invoke(build(), line.split())
    assert done.exit_code == code, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, and a model of every kind."""
    where = tmp_path_factory.mktemp("models")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(ROWS, 2)), columns=NUMBERS)
    table["c"] = random.choice(["x", "y"], ROWS)
    table["y"] = table["a"] + (table["c"] == "x")
    table["k"] = np.where(table["y"] > 0.5, "hi", "lo")
    table["g"], table["q"] = random.integers(0, 3, ROWS), np.arange(ROWS) // 5
    table.to_csv(where / "d.csv", index=False)
    table[[*NUMBERS, "y"]].to_csv(where / "f.csv", index=False)
    (where / "t.vw").write_text("1 | a:1 b:2\n2 | a:2 b:1\n3 | a:3\n")
    X, N, M = table[WORDS], table[NUMBERS], table[NUMBERS].to_numpy()
    y, k = table["y"], table["k"]
    streams = {
        "team": (ab.OnlineBoostingRegressor(), y),
        "chain": (ab.OnlineBoostingRegressor(learner="linear"), y),
        "hashed": (ab.OnlineBoostingRegressor(learner="linear", hash_bits=6), y),
        "team of classes": (ab.OnlineBoostingClassifier(), k),
        "chain of classes": (ab.OnlineBoostingClassifier(learner="linear"), k),
    }
    for model, labels in streams.values():
        model.learn_many(X, labels)
    planner = ab.MaxMarginPlanner(max_iter=1)
    grid = np.ones((1, 2, 2, 1))
    planner.fit(grid, [[(0, 0), (0, 1), (1, 1)]])
    intervals = ab.online.AdaptiveIntervals(ab.OnlineBoostingRegressor(learner="linear"), 0.9)
    for row, label in zip(N.to_dict("records"), y, strict=True):
        intervals.learn_one(row, label)
    models = {
        "run": ab.boost(M, y, rounds=2),
        "sum": ab.boost(M, y, rounds=2).ensemble,
        "regressor": ab.BoostingRegressor(max_iter=2).fit(X, y),
        "of arrays": ab.BoostingRegressor(max_iter=2).fit(M, y),
        "quantiles": ab.BoostingRegressor("multi_quantile:0.1,0.9", max_iter=2).fit(X, y),
        "lines": ab.BoostingRegressor(max_iter=2, learner="linear").fit(N, y),
        "classifier": ab.BoostingClassifier(max_iter=2).fit(X, k),
        "hinge": ab.BoostingClassifier("hinge", max_iter=2).fit(X, k),
        "ranker": ab.BoostingRanker(max_iter=2).fit(X, table["g"], qid=table["q"]),
        "chain of arrays": ab.OnlineBoostingRegressor(learner="linear").partial_fit(M, y),
        "chain of a frame": ab.OnlineBoostingRegressor(learner="linear").partial_fit(N, y),
        "classes of arrays": ab.OnlineBoostingClassifier(learner="linear").partial_fit(
            M, k, classes=["hi", "lo"]
        ),
        "booster": streams["chain"][0].booster_,
        "intervals": intervals,
        "planner": planner,
        "mirror": ab.MirrorAveragingRegressor([LinearRegression().fit(N, y)], cv="prefit").fit(N, y),
        "mirror of columns": ab.MirrorAveragingRegressor().fit(N, y),
        "mirror of classes": ab.MirrorAveragingClassifier().fit(N, k),
        **{name: model for name, (model, _) in streams.items()},
    }
    for name, model in models.items():
        ab.save(model, where / _file(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        run("stream d.csv --target y --ignore k --save stream")
        run("stream d.csv --target k --ignore g --save stream_of_classes")
        run("stream d.csv --target k --learner linear --hash-bits 8 --save stream_hashed")
        run("stream t.vw --save stream_of_vw")
        run("combine f.csv --target y --save pool")
        run("combine f.csv --target y --rule anytime --save averager")
    return where


def _file(name):
    return name.replace(" ", "_")


OF_FIT = ("run", "sum", "regressor", "of arrays", "quantiles", "lines", "classifier", "hinge", "ranker")
OF_STREAMS = (
    "team",
    "chain",
    "hashed",
    "team of classes",
    "chain of classes",
    "chain of arrays",
    "chain of a frame",
)
OF_STREAMS += ("classes of arrays", "stream", "stream of classes", "stream hashed", "stream of vw")
OTHERS = (
    "booster",
    "intervals",
    "planner",
    "mirror",
    "mirror of columns",
    "mirror of classes",
    "pool",
    "averager",
)
LINES = (
    *(
        "predict {} d.csv -o o.csv",
        "predict {} f.csv -o o.csv --ignore y",
        "predict {} f.csv --raw --ignore y -o o.csv",
    ),
    *("predict {} d.csv --probabilities -o o.csv", "predict {} d.csv --quantiles 0.1,0.9 -o o.csv"),
    *("predict {} d.csv --interval 0.9 -o o.csv", "predict {} d.csv --explain -o o.csv"),
    *("explain {}", "explain {} --kind split", "explain {} f.csv --ignore y", "explain {} d.csv -o o.csv"),
    *("report {} -o o.html", "report {} d.csv --target y -o o.html", "report {} d.csv --target k -o o.html"),
    *("report {} f.csv --ignore y -o o.html", "report {} d.csv --target g --qid q -o o.html"),
    *("convert {} o.onnx", "convert {} o.json", "convert {} o.txt", "convert {} o.anyboost"),
    *("inspect {}", "inspect {} --json"),
    *("stream d.csv --target y --resume {} --save o.model", "stream d.csv --target k --resume {} --test"),
    *("stream d.csv --resume {} --test --predictions o.p", "stream t.vw --resume {}"),
)


@pytest.mark.parametrize("name", [*OF_FIT, *OF_STREAMS, *OTHERS])
def test_no_answer_is_an_error_of_our_own(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    wrong = []
    for line in LINES:
        done = CliRunner().invoke(build(), line.format(_file(name)).split())
        said = done.stderr.strip().splitlines()
        own = "an error of anyboost itself" in done.stderr or "positional argument" in done.stderr
        if own or done.exit_code not in (0, 1) or (done.exit_code == 1 and not said):
            wrong.append((line, done.exit_code, said[-1:]))
    assert not wrong


@pytest.mark.parametrize("name", ["averager", "pool"])
def test_a_page_about_a_pool_is_refused(folder, tmp_path, name):
    said = run(f"report {folder / name} -o {tmp_path / 'page.html'}", code=1).stderr
    assert "model must be a fitted estimator or a Run, got" in said
    assert not list(tmp_path.iterdir())


def test_a_page_about_a_model_that_knows_no_columns_is_made(folder, tmp_path):
    for name in ("stream", "mirror_of_columns", "chain_of_a_frame"):
        run(f"report {folder / name} -o {tmp_path / name}.html")
        assert "Parameters" in (tmp_path / f"{name}.html").read_text()
    table = read_csv(folder / "f.csv")
    mirror = ab.MirrorAveragingRegressor([LinearRegression()]).fit(table[NUMBERS], table["y"])
    ab.report.write(mirror, tmp_path / "mirror.html")


def test_a_loss_of_several_scores_is_refused_before_any_line(folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = run("stream d.csv --target y --loss multi_quantile:0.1,0.9", code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("--loss must be a loss of one score, got multi_quantile:0.1,0.9")


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "ROWS", 7)  # so that a table comes in portions
    for name in ("stream", "stream_of_classes", "stream_of_vw", "team_of_classes", "d.csv"):
        Path(name).symlink_to(folder / name)
    return read_csv("d.csv")


@pytest.mark.parametrize("model", ["stream", "stream_of_classes"])
def test_a_model_of_a_stream_predicts_tables_as_its_test_does(here, model):
    """From one file and from several, CSV and Parquet, with and without the columns that it does not need."""
    run(f"stream d.csv --resume {model} --test --predictions wanted.txt")
    wanted = Path("wanted.txt").read_text().split()
    here.iloc[:15].drop(columns="k").to_csv("1.csv", index=False)
    here.iloc[15:][["k", *here.columns.drop("k")][::-1]].drop(columns="k").to_parquet(
        "2.parquet", index=False
    )
    for data in ("d.csv", "1.csv 2.parquet"):
        run(f"predict {model} {data} --keep q -o out.csv")
        found = read_csv("out.csv")
        assert list(found) == ["q", "prediction"]
        assert found["q"].tolist() == here["q"].tolist()
        shown = [f"{value:.10g}" if isinstance(value, float) else value for value in found["prediction"]]
        assert shown == wanted


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["stream_of_classes", "team_of_classes"])
def test_a_model_of_a_stream_gives_probabilities(here, name):
    run(f"predict {name} d.csv --probabilities -o out.parquet")
    found, model = pd.read_parquet("out.parquet"), ab.load(name)
    wanted = model.predict_proba_many(
        here[["a", "b", "c", *(["y", "q"] if name.startswith("stream") else [])]]
    )
    for label in ("hi", "lo"):
        np.testing.assert_array_equal(found[f"probability_{label}"], wanted[label])
    assert (found["prediction"] == np.where(wanted["hi"] > wanted["lo"], "hi", "lo")).all()


def test_what_a_model_of_a_stream_cannot_do_is_said(here):
    here.drop(columns="c").to_csv("short.csv", index=False)
    Path("odd.csv").write_text("a,b,c,g,q\n1,2,x,1,1\n1,many,x,1,1\n")
    way = "anyboost stream FILE --resume {} --test --predictions OUT"
    for line, sentence in (
        ("predict stream d.csv --quantiles 0.1", way.format("stream")),
        ("predict stream d.csv --explain", way.format("stream")),
        ("predict stream_of_vw d.csv", f"no columns of a table: use {way.format('stream_of_vw')}"),
        ("predict stream d.csv --probabilities", "--probabilities needs classes"),
        ("predict stream short.csv", "short.csv has no column 'c', which the model has learnt from"),
        ("predict stream odd.csv", "line 3: column 'b' is 'many', and the model takes numbers"),
    ):
        done = run(f"{line} -o out.csv", code=1)
        assert sentence in done.stderr
        assert not Path("out.csv").exists()


def test_a_model_of_named_columns_predicts_a_frame(here):
    """In Python, too: `predict` had said that a column of words held numbers."""
    model = ab.load("team_of_classes")
    frame = here[WORDS]
    np.testing.assert_array_equal(model.predict(frame), model.predict_many(frame))
    np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba_many(frame))
    with pytest.raises(ValueError, match="use learn_many and predict_many"):
        model.predict(frame[NUMBERS].to_numpy())
