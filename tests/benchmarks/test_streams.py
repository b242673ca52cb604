"""The stream benchmark: answers come before labels, losses are the protocol's, runs go on, reports show losses."""

from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from anyboost.cli import build
from anyboost.datasets import Dataset
from anyboost.estimators import BoostingClassifier, BoostingRegressor
from anyboost.streams.estimators import OnlineBoostingClassifier
from benchmarks import accuracy, stream_ablation, stream_learners, stream_report, stream_sets, streams
from benchmarks.stream_learners import FOREST, LEARNERS, LINEAR, SECOND, US, Answers


def _tiny(rows=240, classes=None, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=(rows, 2)), random.integers(0, 3, rows)])
    X[5:6, 0] = X[7:8, 2] = np.nan
    signal = np.nan_to_num(X[:, 0]) + (X[:, 2] == 1)
    y = signal if classes is None else np.digitize(signal, [0.0, 1.0][: classes - 1]).astype(float)
    names = None if classes is None else list("abc")[:classes]
    return Dataset(X, y, ["a", "b", "kind"], np.array([False, False, True]), classes=names)


@pytest.fixture
def small(monkeypatch):
    """Two generated streams in the place of all, learnt in this process."""
    made = {"elec2": lambda rows: _tiny(rows, 2), "abalone": lambda rows: _tiny(rows)}
    monkeypatch.setattr(stream_sets, "CHOOSING", made)
    monkeypatch.setattr(streams, "CHOOSING", made)
    monkeypatch.setattr(streams, "in_own_process", streams.measure)
    monkeypatch.setattr(stream_learners, "WARM_UP", 20)


def test_losses_are_the_protocols():
    data = _tiny(4, 3)._replace(y=np.array([0.0, 1.0, 1.0, 0.0]))
    told = Answers(np.array([np.nan, 0.0, 1.0, 0.0]), np.array([np.nan, 0.9, 0.5, 0.0]))
    found = streams.losses(data, told)
    assert found["error"] == 0.5  # no answer is a wrong one
    # Rows 0 and 1 bring their classes; of the others one was given no chance.
    assert found["log loss"] == pytest.approx(-(np.log(0.5) + np.log(1e-6)) / 2)
    assert found["log loss, floor 0.01"] == pytest.approx(-(np.log(0.5) + np.log(0.01)) / 2)
    silent = told._replace(chances=np.full(4, np.nan))
    assert streams.losses(data, silent)["log loss"] == pytest.approx(np.log(3))
    numbers = _tiny(2)._replace(y=np.array([1.0, -1.0]))
    assert streams.losses(numbers, Answers(np.array([4.0, 0.0]))) == {
        "MAE": 2.0,
        "RMSE": pytest.approx(5**0.5),
    }
    with pytest.raises(ValueError, match="finite"):
        streams.losses(numbers, Answers(np.array([np.inf, 0.0])))


def _few_rounds(data):
    kind = BoostingRegressor if data.classes is None else BoostingClassifier
    return kind(max_iter=5, early_stopping=False, n_jobs=1)


@pytest.mark.parametrize("classes", [None, 2, 3])
@pytest.mark.parametrize("learner", [US, SECOND, "refitted"])
def test_no_answer_knows_its_label_or_later_ones(monkeypatch, learner, classes):
    monkeypatch.setattr(stream_learners, "WARM_UP", 20)
    data, cut = _tiny(200, classes), 100
    later = data.y.copy()
    later[cut:] = (classes or 1) - 1 - later[cut:]
    prepare = stream_learners.refitted(_few_rounds) if learner == "refitted" else LEARNERS[learner].prepare
    one, other = (prepare(data._replace(y=y))() for y in (data.y, later))
    np.testing.assert_array_equal(one.told[: cut + 1], other.told[: cut + 1])
    assert (one.told[cut:] != other.told[cut:]).any()  # but the rows after it do learn from them
    if classes is not None:
        np.testing.assert_array_equal(one.chances[:cut], other.chances[:cut])
        assert np.nanmean(one.chances[60:]) > 1.2 / classes


def test_portions_and_single_rows_are_the_same_learner():
    data = _tiny(150, 3)
    whole, single = (LEARNERS[name].prepare(data)() for name in (US, SECOND))
    np.testing.assert_allclose(whole.chances[20:], single.chances[20:], rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_linear_chain_is_judged_by_its_probabilities(monkeypatch, classes):
    monkeypatch.setattr(stream_learners, "WARM_UP", 20)
    data = _tiny(80, classes)
    told = LEARNERS[LINEAR].prepare(data)()
    table, labels = stream_learners.frame(data), stream_learners.labels_of(data)
    for i in (30, 79):
        model = OnlineBoostingClassifier(learner="linear")
        model.observe(table[:i], labels[:i])
        chances = model.predict_proba_many(table[i : i + 1]).iloc[0]
        assert told.chances[i] == pytest.approx(chances[labels[i]], rel=1e-12)
        assert told.told[i] == chances.idxmax()


def test_refits_follow_growth_by_a_fifth():
    spans = list(stream_learners.refits(1000))
    assert spans[0] == (0, 50)
    assert spans[-1][1] == 1000
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert all(end <= np.ceil(1.2 * begin) for begin, end in spans[1:])


def test_holes_are_filled_from_the_past():
    data = _tiny(50)
    X = stream_sets.filled(data)
    assert X[5, 0] == pytest.approx(data.X[:5, 0].mean())
    assert X[7, 2] == 3.0  # a level of its own
    row = stream_learners.words(data)[7]
    assert row["kind"] == "3"
    assert isinstance(row["a"], float)


@pytest.mark.usefixtures("small")
def test_a_run_goes_on_where_it_stopped(tmp_path):
    plan = streams.Plan(tmp_path / "found.jsonl", libraries=(US, SECOND), rows=120)
    streams.race(plan, say=lambda _: None)
    lines = accuracy.read(plan.out)
    assert [(line["learner"], line["stream"]) for line in lines] == [
        (learner, stream) for learner in plan.libraries for stream in ("elec2", "abalone")
    ]
    assert all(line["learnt"] == 120 and line["cpu_seconds"] > 0 for line in lines)
    text = plan.out.read_text().splitlines(keepends=True)
    plan.out.write_text("".join(text[:2]) + text[2][:30])  # a kill while the third was written
    streams.race(plan, say=lambda _: None)
    again = accuracy.read(plan.out)
    assert [line["losses"] for line in again] == [line["losses"] for line in lines]


def _line(stream, learner, losses, seconds=1.0):
    return {
        "stream": stream,
        "learner": learner,
        "rows": 100,
        "version": "1",
        "learnt": 100,
        "mebibytes": 3.0,
    } | ({"failed": losses} if isinstance(losses, str) else {"losses": losses, "cpu_seconds": seconds})


def test_the_report_says_where_we_lose():
    lines = [
        _line("bank", US, {"error": 0.1, "log loss": 0.3, "log loss, floor 0.01": 0.3}, 2.0),
        _line("bank", FOREST, {"error": 0.2, "log loss": 0.6, "log loss, floor 0.01": 0.5}, 8.0),
        _line("bank", "Vowpal Wabbit", {"error": 0.09, "log loss": 0.298, "log loss, floor 0.01": 0.3}, 0.1),
        _line("casp", US, {"MAE": 3.0, "RMSE": 6.0}, 2.0),
        _line("casp", FOREST, {"MAE": 4.0, "RMSE": 5.0}, 32.0),
        _line("casp", "River linear", "it ran away"),
        _line("bank", LINEAR, {"error": 0.1, "log loss": 0.149, "log loss, floor 0.01": 0.3}, 0.2),
    ]
    page = stream_report.page(lines)
    assert (
        "log loss or RMSE: at most 1 % above the best of all others on 1 of 2 streams (50 %), below it on 0"
        in page
    )
    assert "| bank | log loss | 0.3 | 0.298 | Vowpal Wabbit | 1.007 |" in page
    assert "| casp | RMSE | 6 | 5 | River ARF | **1.200** |" in page
    assert "log loss over that of River ARF: geometric mean 0.500" in page
    assert "speed of anyboost over that of River ARF: geometric mean 8.0, from 4.0 to 16.0" in page
    assert "River linear, casp: it ran away" in page
    assert (
        "over that of Vowpal Wabbit: geometric mean 0.500, median 0.500; at most 1 % above it on 1 of 1"
        in page
    )


@pytest.mark.parametrize("classes", [None, 3])
def test_an_ablation_has_the_team_itself_and_all_parts_of_it(classes):
    data = _tiny(150, classes)
    found = stream_ablation.ablate(data)
    own = streams.losses(data, LEARNERS[US].prepare(data)())
    measure = "RMSE" if classes is None else "log loss"
    assert found["all"][measure] == pytest.approx(own[measure], rel=1e-9)
    alone = [name for name in found if name.endswith(" alone")]
    assert len(found) == 2 + 2 * len(alone) >= 8  # and without the stack
    page = stream_ablation.page([{"stream": "tiny", "losses": found}])
    ratio = found["without linear"][measure] / found["all"][measure]
    assert f"| without linear | {ratio:.3f} | {ratio:.4f} |" in page


@pytest.mark.usefixtures("small")
def test_the_command_writes_lines_and_refuses_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        return CliRunner().invoke(build(), ["bench", "streams", *words])

    done = invoke(
        "--quick", "--rows", "100", "--sets", "abalone", "--libraries", "anyboost", "--out", "found.jsonl"
    )
    assert done.exit_code == 0, done.output
    assert "abalone, anyboost: MAE" in done.stdout
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == 1
    assert "'nothing' is not known" in invoke("--sets", "nothing").stderr
    assert "'nobody' is not known" in invoke("--libraries", "nobody").stderr
