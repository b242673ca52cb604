"""The accuracy benchmark: its parts do not leak, its runs go on where they stopped, its means are the protocol's."""

import json

import numpy as np
import pytest
from scipy.stats import gmean
from typer.testing import CliRunner

from anyboost import datasets
from anyboost.cli import build
from benchmarks import (
    accuracy,
    accuracy_libraries,
    accuracy_pooling,
    accuracy_report,
    accuracy_search,
    accuracy_sets,
)
from benchmarks.accuracy_sets import parts, problem

ROWS = 400


def _generated(name):
    random = np.random.default_rng(len(name))
    X = np.column_stack([random.normal(size=(ROWS, 3)), random.integers(0, 4, ROWS)])
    signal = X[:, 0] + 2 * (X[:, 3] == 2) + 0.3 * random.normal(size=ROWS)
    columns = (["a", "b", "c", "kind"], np.array([False, False, False, True]))
    if name == "satimage":
        y = np.digitize(signal, [-0.5, 0.5, 2.9]).astype(float)
        y[:3] = 4.0  # a class of three rows
        return datasets.Dataset(X, y, *columns, classes=list("abcde"))
    if name == "bank":
        split = np.repeat([0, 1], [300, 100])
        return datasets.Dataset(X, (signal > 0.5).astype(float), *columns, classes=["no", "yes"], split=split)
    if name == "mq2008":
        grades = np.digitize(signal, [0.5, 1.5]).astype(float)
        return datasets.Dataset(
            X, grades, *columns, split=np.repeat(range(1, 6), ROWS // 5), qid=np.arange(ROWS) // 10
        )
    return datasets.Dataset(X, signal, *columns)


@pytest.fixture
def generated(monkeypatch):
    """Small sets under the names of large ones; estimators of few rounds, as defaults do not matter here."""
    monkeypatch.setattr(datasets, "load", _generated)
    monkeypatch.setattr(datasets, "require", lambda names: None)
    anyboost = accuracy_libraries.LIBRARIES["anyboost"]
    few = anyboost._replace(make=lambda work, chosen: anyboost.make(work, {**chosen, "max_iter": 3}))
    monkeypatch.setitem(accuracy_libraries.LIBRARIES, "anyboost", few)
    for cached in (accuracy_sets.load, accuracy_sets.problem):
        cached.cache_clear()
    yield
    for cached in (accuracy_sets.load, accuracy_sets.problem):
        cached.cache_clear()


def _plan(path, **given):
    return accuracy.Comparison(
        out=path, **{"sets": ("abalone", "bank"), "libraries": ("anyboost",), "seeds": 1} | given
    )


@pytest.mark.parametrize("name", ["abalone", "bank", "mq2008"])
def test_no_row_trains_and_tests_and_parts_repeat_themselves(name):
    data = _generated(name)
    for seed in range(3):
        found = parts(data, name, seed, 200)
        assert not set(found.train) & set(found.test)
        assert not set(found.inner) & set(found.validation)
        assert not set(found.validation) & set(found.test)
        for part, again in zip(found, parts(data, name, seed, 200), strict=True):
            assert np.array_equal(part, again)
    if name != "mq2008":
        assert len(found.train) == 200
        assert sorted([*found.inner, *found.validation]) == found.train.tolist()


@pytest.mark.parametrize("name", ["abalone", "bank"])
def test_seeds_share_a_test_part_that_no_seed_trains_on(name):
    data = _generated(name)
    first, second = parts(data, name, 0, 200), parts(data, name, 1, 200)
    assert np.array_equal(first.test, second.test)
    assert not np.array_equal(first.train, second.train)
    if name == "bank":
        assert first.test.tolist() == list(range(300, 400))  # the published one


def test_folds_of_a_ranking_are_the_published_ones():
    data = _generated("mq2008")
    by_fold = [parts(data, "mq2008", seed, 10) for seed in range(5)]
    assert [sorted(set(data.split[fold.train])) for fold in by_fold[:2]] == [[1, 2, 3], [2, 3, 4]]
    assert [int(data.split[fold.validation][0]) for fold in by_fold] == [4, 5, 1, 2, 3]
    assert [int(data.split[fold.test][0]) for fold in by_fold] == [5, 1, 2, 3, 4]
    assert list(accuracy_sets.seeds_of("ranking", 3)) == list(range(5))


@pytest.mark.usefixtures("generated")
def test_rare_classes_are_left_out_and_categories_stay_categories():
    found = problem("satimage", 0, 200)
    assert found.classes == len(np.unique(found.train.y)) == found.train.y.max() + 1
    assert set(found.test.y) <= set(found.train.y)
    assert min(np.bincount(found.train.y)) >= 10
    assert found.categorical == ["kind"]
    assert found.train.X["kind"].dtype == found.test.X["kind"].dtype == "category"


@pytest.mark.usefixtures("generated")
def test_held_out_rows_leave_the_test_part_alone():
    data, found = _generated("abalone"), problem("abalone", 0, 200, held_out=True)
    test = {float(value) for value in data.y[parts(data, "abalone", 0, 200).test]}
    assert not test & set(found.train.y.tolist() + found.test.y.tolist())


@pytest.mark.usefixtures("generated")
def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    path = tmp_path / "found.jsonl"
    accuracy.race(_plan(path, sets=("abalone",)), say=lambda _: None)
    whole = path.read_text()
    lines = [json.loads(line) for line in whole.splitlines()]
    assert [line["fit"] for line in lines] == accuracy_libraries.fits_of("regression")
    assert all(line["losses"] and line["seconds"] > 0 and line["rounds"] == 3 for line in lines)

    path.write_text(whole[: whole.index("\n") + 40])  # a kill in the midst of the second line
    seen = []
    measure = accuracy.measure
    monkeypatch.setattr(accuracy, "measure", lambda fit: seen.append(fit.fit) or measure(fit))
    accuracy.race(_plan(path, sets=("abalone",)), say=lambda _: None)
    assert seen == accuracy_libraries.fits_of("regression")[1:]
    again = accuracy.read(path)
    assert [line["losses"] for line in again] == [line["losses"] for line in lines]
    accuracy.race(_plan(path, sets=("abalone",)), say=lambda _: None)
    assert len(seen) == 4
    assert not path.with_suffix(".under_way").exists()


@pytest.mark.usefixtures("generated")
def test_a_fit_that_fails_is_a_line_and_the_others_go_on(tmp_path, monkeypatch):
    def refuse(*_):
        raise ValueError("no such thing\nand more")

    library = accuracy_libraries.LIBRARIES["HistGradientBoosting"]._replace(fit=refuse)
    monkeypatch.setitem(accuracy_libraries.LIBRARIES, "HistGradientBoosting", library)
    plan = _plan(tmp_path / "f.jsonl", sets=("bank",), libraries=("HistGradientBoosting", "anyboost"))
    accuracy.race(plan, say=lambda _: None)
    absent, failed, done = accuracy.read(plan.out)
    assert absent == {"library": "HistGradientBoosting", "fit": "ranking", "absent": "no ranking"}
    assert failed["failed"] == "ValueError: no such thing"
    assert set(done["losses"]) == {"log loss", "error"}
    assert "HistGradientBoosting, bank, seed 0, classes: ValueError" in accuracy_report.page(
        [absent, failed, done]
    )


@pytest.mark.usefixtures("generated")
def test_a_fit_that_ended_an_earlier_run_goes_to_a_process_of_its_own(tmp_path, monkeypatch):
    plan = _plan(tmp_path / "found.jsonl", sets=("bank",))
    fit, _ = next(accuracy._fits(plan))
    plan.out.with_suffix(".under_way").write_text(json.dumps(fit))
    monkeypatch.setattr(accuracy, "_apart", lambda fit: {"failed": "its process died, twice"})
    accuracy.race(plan, say=lambda _: None)
    assert [line["failed"] for line in accuracy.read(plan.out)] == ["its process died, twice"]


@pytest.mark.usefixtures("generated")
def test_a_library_that_is_not_there_is_absent_with_its_reason(tmp_path, monkeypatch):
    missing = accuracy_libraries.LIBRARIES["hessboost"]._replace(module="no_such_module")
    monkeypatch.setitem(accuracy_libraries.LIBRARIES, "hessboost", missing)
    plan = _plan(tmp_path / "found.jsonl", sets=("bank",), libraries=("hessboost",))
    for _ in range(2):
        accuracy.race(plan, say=lambda _: None)
    (line,) = accuracy.read(plan.out)
    assert "no_such_module" in line["absent"]
    assert "hessboost, all: cannot be imported" in accuracy_report.page([line])


@pytest.mark.usefixtures("generated")
@pytest.mark.parametrize("library", list(accuracy_libraries.LIBRARIES))
def test_every_library_that_is_installed_has_every_fit(library):
    try:
        accuracy_libraries.installed(library)
    except accuracy_libraries.Absent as reason:
        pytest.skip(str(reason))
    short = {"LightGBM": {"n_estimators": 5}, "XGBoost": {"n_estimators": 5}, "CatBoost": {"n_estimators": 5}}
    short |= {"HistGradientBoosting": {"max_iter": 5}, "hessboost": {"n_estimators": 5}}
    for name in ("abalone", "bank", "satimage", "mq2008"):
        data = problem(name, 0, 300)
        for fit in accuracy_libraries.fits_of(data.task):
            if accuracy_libraries.absence(library, fit) is None:
                found = accuracy_libraries.learn(library, data, fit, 1, short.get(library))
                losses = accuracy.losses(fit, data.test, found.predicted)
                assert all(value > 0 for value in losses.values())
                assert found.rounds > 0


@pytest.mark.usefixtures("generated")
def test_a_search_chooses_by_validation_and_tests_once(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_search, "DRAWS", 2)
    plan = _plan(tmp_path / "found.jsonl", sets=("cal_housing",), tuned=True)
    accuracy.race(plan, say=lambda _: None)
    (line,) = accuracy.read(plan.out)
    assert len(line["validation_losses"]) == 3
    best = int(np.argmin(line["validation_losses"]))
    drawn = accuracy_search.candidates("anyboost", "cal_housing", 0)
    assert line["chosen"] == drawn[best]
    assert 0.01 <= drawn[1]["learning_rate"] <= 0.3
    assert 8 <= drawn[1]["max_leaf_nodes"] <= 128


def test_a_candidate_that_is_refused_is_lost():
    def loss(chosen):
        if chosen["x"] == 0:
            raise ValueError("not 0")
        return chosen["x"]

    found = accuracy_search.search([{"x": 3}, {"x": 0}, {"x": 2}], loss)
    assert found.chosen == {"x": 2}
    assert found.refused == ["ValueError: not 0"]
    assert set(accuracy_search.SPACES) == set(accuracy_libraries.LIBRARIES)


def test_losses_are_those_of_the_protocol():
    test = accuracy_sets.Table(None, np.array([0, 1, 1]), None)
    probabilities = np.array([[1.0, 0.0], [0.5, 0.5], [0.8, 0.2]])
    found = accuracy.losses("classes", test, probabilities)
    assert found["log loss"] == pytest.approx(-np.log([1.0, 0.5, 0.2]).mean())
    assert found["error"] == pytest.approx(2 / 3)
    test = accuracy_sets.Table(None, np.array([0.0, 2.0]), None)
    scores = np.array([1.0, 1.0])
    assert accuracy.losses("squared", test, scores) == {"RMSE": 1.0}
    assert accuracy.losses("absolute", test, scores) == {"MAE": 1.0}
    assert accuracy.losses("quantile:0.9", test, scores)["pinball 0.9"] == pytest.approx((0.1 + 0.9) / 2)
    with pytest.raises(ValueError, match="RMSE is nan"):
        accuracy.losses("squared", test, scores * np.nan)


def _line(name, seed, library, losses, seconds=1.0, task="regression"):
    common = {"fit": "+".join(losses), "part": "test", "mode": "defaults", "rows": 100, "threads": 1}
    figures = {"seconds": 9.0, "cpu_seconds": seconds, "rounds": 3, "test_rows": 10}
    return {"set": name, "seed": seed, "library": library, "task": task, "losses": losses, "version": "1"} | (
        common | figures
    )


def test_pooling_by_hand():
    lines = []
    ours = {("a", 0): (1.0, 2.0, (1, 2, 3)), ("a", 1): (2.0, 2.0, (1, 2, 4)), ("b", 0): (3.0, 1.0, (2, 2, 2))}
    theirs = {
        ("a", 0): (2.0, 2.0, (2, 2, 2)),
        ("a", 1): (2.0, 3.0, (1, 1, 1)),
        ("b", 0): (1.0, 1.0, (1, 2, 4)),
    }
    for library, table, seconds in (("anyboost", ours, 2.0), ("LightGBM", theirs, 4.0)):
        for (name, seed), (rmse, mae, pinball) in table.items():
            lines += [
                _line(name, seed, library, {"RMSE": rmse}, seconds),
                _line(name, seed, library, {"MAE": mae}, seconds),
            ]
            lines += [
                _line(name, seed, library, {f"pinball {level}": value}, seconds)
                for level, value in zip((0.1, 0.5, 0.9), pinball, strict=True)
            ]
    a0 = gmean([1 / 2, 1.0, gmean([1 / 2, 1.0, 3 / 2])])
    a1 = gmean([1.0, 2 / 3, gmean([1.0, 2.0, 4.0])])
    b0 = gmean([3.0, 1.0, gmean([2.0, 1.0, 1 / 2])])
    found = accuracy_pooling.pooled(lines, "LightGBM", "regression")
    assert found.ratio == pytest.approx(gmean([gmean([a0, a1]), b0]))
    assert found.time == pytest.approx(0.5)
    assert (found.wins, found.losses, found.ties) == (1, 1, 0)
    assert found.low <= found.ratio <= found.high
    only = accuracy_pooling.pooled(lines, "LightGBM", "MAE")
    assert only.ratio == pytest.approx(gmean([gmean([1.0, 2 / 3]), 1.0]))
    assert (only.wins, only.losses, only.ties) == (1, 0, 1)
    assert accuracy_pooling.pooled(lines, "LightGBM", "two classes, error") is None


def test_what_a_peer_does_not_have_is_left_out_for_both():
    lines = [_line("a", 0, "anyboost", {"RMSE": 1.0}), _line("a", 0, "anyboost", {"MAE": 8.0})]
    lines.append(_line("a", 0, "Perpetual", {"RMSE": 2.0}))
    assert accuracy_pooling.pooled(lines, "Perpetual", "regression").ratio == pytest.approx(0.5)


@pytest.mark.parametrize("loss", ["error", "log loss"])
def test_a_loss_of_zero_has_a_ratio(loss):
    lines = [_line("a", 0, "anyboost", {loss: 0.0}, task="two classes")]
    lines.append(_line("a", 0, "LightGBM", {loss: 0.1}, task="two classes"))
    assert accuracy_pooling.pooled(lines, "LightGBM", f"two classes, {loss}").ratio == pytest.approx(
        0.5 / 1.5
    )


def test_the_interval_is_that_of_drawing_sets_and_seeds():
    random = np.random.default_rng(1)
    # Many values, so that quantiles do not fall between a few atoms.
    table = random.normal(size=(5, 1)) + random.normal(size=(5, 4))
    logs = {str(name): dict(enumerate(seeds)) for name, seeds in enumerate(table.tolist())}
    means = []
    for _ in range(10_000):
        drawn = table[random.integers(5, size=5)]
        means.append(np.mean([seeds[random.integers(4, size=4)].mean() for seeds in drawn]))
    low, high = accuracy_pooling.interval(logs)
    assert np.log([low, high]) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.04)
    assert accuracy_pooling.interval({"a": {0: 0.1}}) == pytest.approx((np.exp(0.1),) * 2)


def test_critical_difference_and_ranks(tmp_path):
    # Demšar (2006): q = 2.569 for four classifiers, and 14 sets: 1.25.
    assert accuracy_pooling.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    lines = [
        _line(name, seed, library, {"RMSE": value})
        for name, values in {"a": (1, 2, 3), "b": (1, 3, 2)}.items()
        for library, value in zip(("anyboost", "LightGBM", "CatBoost"), values, strict=True)
        for seed in range(2)
    ]
    lines.append(_line("a", 0, "Perpetual", {"RMSE": 0.5}))
    assert accuracy_pooling.mean_ranks(lines) == ({"anyboost": 1.0, "LightGBM": 2.5, "CatBoost": 2.5}, 2)
    assert accuracy_report.cliques([1.0, 1.5, 2.6, 3.0], 1.2) == [(0, 1), (1, 2), (2, 3)]
    assert accuracy_report.cliques([1.0, 1.5, 3.6], 9.0) == [(0, 2)]
    accuracy_report.figure(lines, tmp_path / "ranks.svg")
    assert "LightGBM 2.50" in (tmp_path / "ranks.svg").read_text()
    page = accuracy_report.page(lines)
    assert "| RMSE | CatBoost | 0.408 | " in page
    assert "| regression | 0.408, time 1 | 0.408, time 1 | 2.000, time 1 |" in page
    assert "| RMSE | Perpetual | 2.000 |  | 0, 1, 0 | 1 |" in page  # one number has no interval
    with pytest.raises(ValueError, match="two libraries"):
        accuracy_pooling.mean_ranks(lines[:1])


@pytest.mark.usefixtures("generated")
def test_the_command_writes_lines_and_refuses_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        return CliRunner().invoke(build(), ["bench", "accuracy", *words])

    done = invoke("--quick", "--sets", "bank", "--libraries", "anyboost", "--out", "found.jsonl")
    assert done.exit_code == 0, done.output
    assert "bank, seed 0, classes, anyboost: log loss" in done.stdout
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 1
    assert "'nothing' is not known" in invoke("--sets", "nothing").stderr
    assert "without --validate" in invoke("--judge", "--validate").stderr
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    assert "no judging sets" in invoke("--judge").stderr


def test_judging_sets_are_whatever_lies_in_the_folder(tmp_path, monkeypatch):
    data = _generated("abalone")
    (tmp_path / "judge").mkdir()
    np.savez_compressed(
        tmp_path / "judge" / "kept_aside.npz",
        X=data.X.astype(np.float32),
        y=data.y.astype(np.float32),
        categorical=data.categorical,
        category_levels=json.dumps({"kind": list("abcd")}),
        feature_names=np.array(data.feature_names),
    )
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    plan = _plan(tmp_path / "found.jsonl", sets=("kept_aside",), judge=True)
    assert plan.checked().sets == accuracy.Comparison(judge=True).checked().sets == ("judge/kept_aside",)
    accuracy.race(plan, say=lambda _: None)
    lines = accuracy.read(plan.out)
    assert {(line["set"], line["task"]) for line in lines} == {("judge/kept_aside", "regression")}
    assert [line["fit"] for line in lines if "losses" in line] == accuracy_libraries.fits_of("regression")


def test_missing_categories_are_missing_but_for_catboost():
    pd = pytest.importorskip("pandas")
    codes = np.array([[0.0], [np.nan], [2.0], [1.0]])
    data = datasets.Dataset(codes, np.arange(4.0), ["c"], np.array([True]))
    found = accuracy_sets.frame(data, np.arange(4))["c"]
    assert found.isna().tolist() == [False, True, False, False]
    assert found.cat.categories.tolist() == ["0", "1", "2"]
    table = accuracy_sets.Table(pd.DataFrame({"c": found}), data.y, None)
    given = accuracy_sets.Problem("small", 0, "regression", 0, ["c"], table, table)
    assert accuracy_libraries.suited("LightGBM", given).train.X["c"].isna().sum() == 1
    assert accuracy_libraries.suited("CatBoost", given).train.X["c"].tolist() == ["0", "missing", "2", "1"]
