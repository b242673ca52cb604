"""The team as an estimator: scikit-learn's checks, River's checks, and one model however the rows came."""

import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

import anyboost as ab
from anyboost.online.estimators import ChainRegressor
from anyboost.streams.team import Team

REGRESSOR, CLASSIFIER = ab.OnlineBoostingRegressor, ab.OnlineBoostingClassifier


@parametrize_with_checks([REGRESSOR(), CLASSIFIER()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def river_checks():
    if find_spec("river") is None:
        return
    from river import checks

    for model in (REGRESSOR(), REGRESSOR(hash_bits=12), CLASSIFIER()):
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(
                model, check, id=f"{type(model).__name__}-{model.hash_bits}-{check.__name__}-{number}"
            )


@pytest.mark.parametrize(("model", "check"), list(river_checks()))
def test_river_checks(model, check):
    check(model.clone())


def numbers(n=150, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + np.sin(3 * X[:, 0]) + 0.1 * random.normal(size=n)


def classes(n=150, seed=0):
    X, y = numbers(n, seed)
    return X, np.digitize(y, [-1.0, 1.0])


DATA = {REGRESSOR: numbers, CLASSIFIER: classes}
KINDS = pytest.mark.parametrize("make", list(DATA))


def dicts(X, names="abcd"):
    """Named rows with texts, missing cells and a feature that comes late."""
    rows = []
    for i, row in enumerate(X.tolist()):
        x = dict(zip(names, row, strict=True)) | {"kind": "uvw"[i % 3]}
        if i % 5 == 0:
            del x["c"]
        if i > 60:
            x["late"] = row[0] ** 2
        rows.append(x)
    return rows


def probes():
    return dicts(np.random.default_rng(9).normal(size=(30, 4)))


def said(model):
    one = model.predict_proba_one if hasattr(model, "predict_proba_one") else model.predict_one
    return [one(x) for x in probes()]


def same(first, second):
    assert said(first) == said(second)
    assert first.regret() == second.regret()
    assert first.drift_ == second.drift_


@KINDS
@pytest.mark.parametrize("refit", ["inline", "background"])
def test_one_call_many_calls_and_a_loop_are_one_model(make, refit):
    X, y = DATA[make]()
    rows = dicts(X)
    whole, loop, cut = (make(refit=refit) for _ in range(3))
    whole.learn_many(rows, y)
    for x, label in zip(rows, y.tolist(), strict=True):
        loop.learn_one(x, label)
    for begin, end in ((0, 3), (3, 20), (20, 77), (77, 150)):
        cut.learn_many(rows[begin:end], y[begin:end])
        cut = pickle.loads(pickle.dumps(cut))
    same(whole, loop)
    same(whole, cut)


@KINDS
def test_arrays_are_learnt_row_by_row(make):
    X, y = DATA[make]()
    known = {"classes": [0, 1, 2]} if make is CLASSIFIER else {}
    whole, loop = make().partial_fit(X, y, **known), make()
    for row, label in zip(X, y, strict=True):
        loop.partial_fit(row[None], [label], **known)
    np.testing.assert_array_equal(whole.predict(X), loop.predict(X))
    assert whole.regret() == loop.regret()


def holes(X, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)


@KINDS
def test_missing_numbers_of_arrays_are_learnt_row_by_row_and_from_files(make, tmp_path):
    X, y = DATA[make](260)
    X[20:] = holes(X[20:])
    known = {"classes": [0, 1, 2]} if make is CLASSIFIER else {}
    whole, loop = make().partial_fit(X, y, **known), make()
    for row, label in zip(X, y, strict=True):
        loop.partial_fit(row[None], [label], **known)
    sparse = make().partial_fit(csr_matrix(X), y, **known)
    ab.save(whole, tmp_path / "model")
    for other in (loop, sparse, ab.load(tmp_path / "model")):
        np.testing.assert_array_equal(whole.predict(X), other.predict(X))
        assert whole.regret() == other.regret()
    with pytest.raises(ValueError, match="X must be finite, got inf at row 1"):
        whole.predict([[0.0] * 4, [np.inf] * 4])


def test_what_is_missing_in_arrays_says_something():
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 2))
    lacks = random.random(900) < 0.5
    X[lacks, 1] = np.nan
    model = REGRESSOR().partial_fit(X[:800], 3.0 * lacks[:800])
    assert np.abs(model.predict(X[800:]) - 3.0 * lacks[800:]).mean() < 0.3


@KINDS
@pytest.mark.parametrize("learner", ["team", "linear"])
def test_texts_of_frames_are_categories_to_partial_fit_as_to_learn_many(make, learner, tmp_path):
    X, y = DATA[make](150)
    frame = pd.DataFrame(holes(X), columns=list("abcd")).assign(kind=["u", "v", None] * 50)
    frame["ever"] = pd.Categorical([1, 2] * 75)
    many, whole, cut = (make(learner=learner) for _ in range(3))
    many.learn_many(frame, y)
    whole.fit(frame, y)
    cut.partial_fit(frame[:40], y[:40])
    ab.save(cut, tmp_path / "model")
    cut = ab.load(tmp_path / "model").partial_fit(frame[40:], y[40:])
    assert list(cut.predict(frame)) == list(whole.predict(frame))
    assert cut.regret() == whole.regret()
    if make is REGRESSOR:  # classes are numbered as they come, by name, and sorted here
        assert list(whole.predict(frame)) == list(many.predict_many(frame))
        assert whole.regret() == many.regret()
    with pytest.raises(ValueError, match="feature names should match"):
        cut.predict(frame.rename(columns={"a": "other"}))


@KINDS
@pytest.mark.parametrize("learner", ["team", "linear"])
def test_what_no_table_may_hold_is_refused_in_a_sentence(make, learner):
    X, y = DATA[make](30)
    frame = pd.DataFrame(X, columns=list("abcd"))
    dates = frame.assign(d=pd.Timestamp("2024-05-01"))
    advice = "turn it into numbers or a category, such as the year, the weekday"
    for given in (dates, dates.astype({"d": object}), np.zeros((30, 2), dtype="M8[D]")):
        with pytest.raises(ValueError, match=f"X holds .*{advice}"):
            make(learner=learner).partial_fit(given, y)
    with pytest.raises(ValueError, match=r"got the word 'u' at row 0, column 4: .* or pass a data frame"):
        make(learner=learner).partial_fit(frame.assign(e="u").to_numpy(), y)
    model = make(learner=learner).partial_fit(frame, y)
    with pytest.raises(ValueError, match="column 'd' of X holds words: it held numbers in the first rows"):
        model.predict(frame.assign(d="u"))
    if learner == "linear":
        with pytest.raises(
            ValueError, match=r"X holds NaN at row 1, and chains .* learn_many, or let the team"
        ):
            model.predict(frame.assign(a=[0.0, np.nan] * 15))


@KINDS
@pytest.mark.parametrize(
    "nothing",
    [
        pd.Series([np.nan, np.nan]),
        pd.Series([pd.NA, pd.NA], dtype=object),
        pd.Series([pd.NaT, pd.NaT]),
        pd.Series([None, None], dtype="category"),
    ],
)
def test_a_column_of_nothing_may_stand_for_any_other(make, nothing):
    X, y = DATA[make](30)
    numbers = pd.DataFrame(X, columns=list("abcd"))
    words = numbers.assign(d=np.where(X[:, 3] > 0, "high", "low"))
    two = numbers[:2].drop(columns="d")
    for frame in (numbers, words):
        model = (
            make(learner="linear").partial_fit(frame, y) if frame is words else make().partial_fit(frame, y)
        )
        without = two.assign(d=[None, None]) if frame is words else two.assign(d=np.nan)
        expected = list(model.predict(without))
        assert list(model.predict(two.assign(d=nothing))) == expected
        model.partial_fit(two.assign(d=nothing), y[:2])


@KINDS
def test_words_may_come_after_a_column_of_nothing(make):
    X, y = DATA[make](30)
    words = pd.DataFrame(X, columns=list("abcd")).assign(d=[None] * 10 + ["high", "low"] * 10)
    whole, cut = make(learner="linear"), make(learner="linear")
    whole.partial_fit(words, y)
    cut.partial_fit(words[:10], y[:10], **({} if make is REGRESSOR else {"classes": np.unique(y)}))
    cut.partial_fit(words[10:], y[10:])
    assert cut.features_.names == whole.features_.names


@KINDS
def test_a_refused_example_leaves_no_trace(make):
    X, y = DATA[make](40)
    model = make()
    model.learn_many(dicts(X), y)
    before = pickle.dumps(model)
    for x, label, weight in (
        ({"a": np.inf, "z": 1.0}, y[0], 1.0),
        ({"z": 1.0}, np.nan, 1.0),
        ({"z": 1.0}, y[0], -1.0),
    ):
        with pytest.raises(ValueError, match="must"):
            model.learn_one(x, label, weight)
        with pytest.raises(ValueError, match="must"):
            model.learn_many([{"a": 1.0}, x], [y[0], label], [1.0, weight])
    assert pickle.dumps(model) == before


@KINDS
def test_rows_of_no_weight_leave_no_trace(make):
    X, y = DATA[make]()
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    weighted, kept = make(), make()
    weighted.learn_many(dicts(X), y, w)
    rows = [x for x, weight in zip(dicts(X), w, strict=True) if weight]
    kept.learn_many(rows, y[w > 0], w[w > 0])
    if make is REGRESSOR:  # classes get their numbers when they are first seen, whatever they weigh
        assert [weighted.predict_one({"a": x["a"]}) for x in probes()] == [
            kept.predict_one({"a": x["a"]}) for x in probes()
        ]
    assert weighted.regret().rows == kept.regret().rows == (w > 0).sum()


@KINDS
def test_the_team_learns_what_no_line_can(make):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(1500, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    model, line = make(), make(learner="linear")
    for each in (model, line):
        each.partial_fit(X[:1000], y[:1000], **({"classes": [-1.0, 1.0]} if make is CLASSIFIER else {}))
    errors = [np.mean(np.sign(each.predict(X[1000:])) != y[1000:]) for each in (model, line)]
    assert errors[0] < 0.1 < 0.3 < errors[1]
    assert model.weights_["all rows"] + model.weights_["last 500"] > 0.5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("refit", ["inline", "background"])
def test_many_classes_are_learnt_without_a_warning(refit):
    random = np.random.default_rng(0)
    y = random.permutation(60) % 30
    model = CLASSIFIER(refit=refit)
    for begin in (0, 25):
        part = slice(begin, begin + 35)
        model.partial_fit(y[part, None] + 0.1 * random.normal(size=(35, 1)), y[part])
    assert any(expert.model is not None for expert in model.boosters_.refitted)


def test_drift_says_when_and_to_whom():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(2400, 2))
    y = np.where(np.arange(2400) < 1200, np.sign(X[:, 0] * X[:, 1]), np.sign(X[:, 0] + 0.1 * X[:, 1]))
    model = CLASSIFIER()
    model.partial_fit(X, y, classes=[-1.0, 1.0])
    late = [move for move in model.drift_ if 1200 < move.row < 1800]
    assert late
    assert late[0].before in ("all rows", "last 500")
    assert late[0].leader not in ("all rows",)
    assert (model.predict(X[2000:]) == y[2000:]).mean() > 0.9


@KINDS
def test_labels_may_come_late_and_in_any_order(make):
    X, y = DATA[make](60)
    rows = dicts(X)
    model, prompt = make(), make()
    model.learn_many(rows[:30], y[:30])
    prompt.learn_many(rows[:30], y[:30])
    for i in range(30, 60):
        model.predict_one(rows[i], key=f"row {i}")
        model.learn_one(key=f"row {i}", y=y[i])
        prompt.learn_one(rows[i], y[i])
    same(model, prompt)  # a label that comes at once is no late one
    answers = [model.predict_one(x, key=i) for i, x in enumerate(rows[:10])]
    copy = pickle.loads(pickle.dumps(model))
    for each in (model, copy):
        for i in (7, 2, 9, 0):
            each.learn_one(key=i, y=y[i])
    same(model, copy)
    assert model.regret().rows == 64
    assert len(answers) == 10


def test_a_late_label_is_charged_to_what_was_said_then():
    model = REGRESSOR()
    model.learn_many([{"a": float(i % 5)} for i in range(60)], np.arange(60) % 5)
    said = model.predict_one({"a": 1.0}, key="k")
    before = model.regret().loss
    model.learn_many([{"a": 1.0}] * 50, [100.0] * 50)  # the world changes before the label comes
    between = model.regret().loss
    model.learn_one(key="k", y=2.0)
    team = model.booster_.mixture
    assert before < between
    # The experts' forecasts are those of the question; the weights are those of now.
    assert model.regret().loss - between == pytest.approx((said - 2.0) ** 2 / 2, rel=0.5, abs=0.5)
    assert team.rows == 111


@pytest.mark.parametrize("first", [[], ["low"]])
def test_who_was_asked_before_a_class_was_known_is_not_judged_by_it(first):
    X, _ = classes(120)
    rows, model = dicts(X), CLASSIFIER()
    for x, label in zip(rows, first, strict=False):
        model.learn_one(x, label)
    for i, x in enumerate(rows):
        model.predict_proba_one(x, key=i)
    for i in range(120):
        model.learn_one(key=i, y=["high", "higher"][i % 2])
    mixture = model.boosters_.mixture
    past = mixture.state.past - mixture.state.past[0]
    np.testing.assert_allclose(past, 0.0, atol=1e-9)  # no part of the average is ahead for nothing
    assert model.regret().best_expert_regret == pytest.approx(0.0, abs=1e-9)
    assert sum(model.predict_proba_one(rows[0]).values()) == pytest.approx(1.0)


def test_a_batch_expert_that_slept_when_asked_is_not_charged():
    X, y = classes(260)
    rows, model = dicts(X), CLASSIFIER()
    model.learn_many(rows[:20], y[:20] % 2)
    model.predict_one(rows[0], key="early")
    model.learn_many(rows[20:], y[20:])
    before = model.regret()
    model.learn_one(key="early", y=0)
    after = model.regret()
    moved = {name for name in after.experts if after.experts[name] != before.experts[name]}
    assert "linear" in moved
    assert "last 500" not in moved


def test_the_wait_is_bounded_and_wrong_keys_are_refused():
    model = REGRESSOR(max_waiting=2)
    model.learn_one({"a": 1.0}, 1.0)
    for key in "xyz":
        model.predict_one({"a": 2.0}, key=key)
    with pytest.raises(ValueError, match=r"key 'x' has no example that waits .* the last 2 are kept"):
        model.learn_one(key="x", y=1.0)
    with pytest.raises(ValueError, match="y must"):
        model.learn_one(key="y", y=np.nan)
    model.learn_one(key="y", y=1.0)  # a refused label may come again, rightly
    with pytest.raises(ValueError, match="key 'y' has no example"):
        model.learn_one(key="y", y=1.0)
    with pytest.raises(ValueError, match="leave x out"):
        model.learn_one({"a": 1.0}, 1.0, key="z")
    for key in (("a", 1), ["a"], np.datetime64("2024-01-01"), True, float("nan")):
        with pytest.raises(ValueError, match=r"key must be text or a number, got .*: use str\("):
            model.predict_one({"a": 1.0}, key=key)
        with pytest.raises(ValueError, match="key must be text or a number"):
            model.learn_one(key=key, y=1.0)
    with pytest.raises(ValueError, match="x must be a dict of features, got None"):
        model.learn_one(y=1.0)


@pytest.mark.parametrize("learner", ["team", "linear"])
@pytest.mark.parametrize("pair", [("a", 1), (1, 2.5), (True, "x"), (("a", 1), ("b", 2)), (np.int64(4), "z")])
def test_labels_of_any_kind_are_the_same_in_a_list_and_one_by_one(learner, pair):
    rows = [{"a": float(i % 2)} for i in range(60)]
    labels = [pair[i % 2] for i in range(60)]
    loop, whole, seen = (CLASSIFIER(learner=learner) for _ in range(3))
    for x, label in zip(rows, labels, strict=True):
        loop.learn_one(x, label)
    whole.learn_many(rows, labels)
    seen.observe(rows, labels)
    for model in (loop, whole, seen):
        assert list(model.codes_) == list(pair)
        assert [type(label) for label in model.codes_] == [type(label) for label in loop.codes_]
        assert list(model.predict_many(rows[:2])) == list(pair)
        assert model.predict_one(rows[1]) == pair[1]


@pytest.mark.parametrize("learner", ["team", "linear"])
def test_labels_that_are_none_are_refused_in_a_sentence(learner):
    model = CLASSIFIER(learner=learner)
    rows = [{"a": 1.0}, {"a": 2.0}]
    for labels, reason in (
        (
            pd.Series([True, None], dtype="boolean"),
            "y must name a class, got <NA> at row 1: leave that row out",
        ),
        (["x", ["y"]], r"y must name a class by text or a number, got \['y'\] at row 1: use str"),
        (["x", None], "y must name a class, got None at row 1"),
    ):
        with pytest.raises(ValueError, match=reason):
            model.learn_many(rows, labels)
        with pytest.raises(ValueError, match=reason.replace("row 1", "row 0")):
            model.learn_one(rows[0], list(labels)[1])
    with pytest.raises(ValueError, match="y is empty: give at least one row"):
        model.observe([], [])
    assert model.predict_proba_many(rows) == [{}, {}]  # nothing was learnt, and nothing is known
    assert model.predict_proba_many(pd.DataFrame(rows)).shape == (2, 0)


def test_classes_that_come_later_are_learnt():
    random = np.random.default_rng(0)
    model = CLASSIFIER()
    for i in range(600):
        c = int(random.integers(0, 2 if i < 200 else 4))
        model.learn_one({"a": c + 0.1 * random.normal()}, f"class {c}")
    assert [model.predict_one({"a": float(c)}) for c in range(4)] == [f"class {c}" for c in range(4)]
    assert sum(model.predict_proba_one({"a": 3.0}).values()) == pytest.approx(1.0)


HARD = {
    "one row": lambda: ([{"a": 1.0}], [1.0]),
    "no features": lambda: ([{}] * 60, [1.0, 2.0] * 30),
    "all missing": lambda: ([{"a": None, "b": None}] * 60, [1.0, 2.0] * 30),
    "one label": lambda: ([{"a": float(i)} for i in range(120)], [3.0] * 120),
    "an outlier": lambda: (
        [{"a": float(i % 7)} for i in range(400)],
        [1e10 if i == 100 else float(i % 7) for i in range(400)],
    ),
}


@pytest.mark.parametrize("kind", list(HARD))
def test_hard_streams_do_no_harm(kind):
    rows, y = HARD[kind]()
    model = REGRESSOR()
    model.learn_many(rows, np.array(y))
    answers = [model.predict_one(x) for x in rows[-7:]]
    assert np.isfinite(answers).all()
    if kind == "an outlier":
        assert np.abs(np.array(answers) - y[-7:]).max() < 1.0
    if kind in ("one label", "one row"):
        assert answers[-1] == pytest.approx(y[-1], abs=1e-6)
    if kind != "an outlier":
        sorter = CLASSIFIER()
        sorter.learn_many(rows, np.array(y))
        assert sorter.predict_one(rows[-1]) in y


def test_who_learns_is_the_team_unless_something_else_is_said():
    def team(model):
        model.learn_one({"a": 1.0}, 1.0)
        found = model.booster_ if hasattr(model, "booster_") else model.boosters_
        return isinstance(found, Team)

    assert team(REGRESSOR())
    assert team(CLASSIFIER())
    assert team(REGRESSOR(loss="absolute", hash_bits=8))
    assert team(REGRESSOR("team"))
    assert not team(REGRESSOR("linear"))
    assert not team(REGRESSOR(n_learners=3))
    assert not team(REGRESSOR(forget=0.1))
    assert not team(CLASSIFIER(loss="hinge"))
    assert not team(CLASSIFIER("tree", n_learners=2))


def test_old_behavior_by_name():
    X, y = numbers()
    model, chain = REGRESSOR(learner="linear").partial_fit(X, y), ChainRegressor().partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), chain.predict(X))
    assert model.regret() == chain.regret()
    with pytest.raises(AttributeError, match="drift_ belongs to a team"):
        _ = model.drift_


@pytest.mark.parametrize(
    ("make", "options", "reason"),
    [
        (
            REGRESSOR,
            {"learner": "team", "n_learners": 3},
            "n_learners belongs to one chain, got 3 with learner 'team'",
        ),
        (CLASSIFIER, {"learner": "team", "loss": "hinge"}, "loss hinge is not mixed by the team"),
        (REGRESSOR, {"max_rows_kept": 10}, "max_rows_kept must be at least 100"),
        (REGRESSOR, {"refit": "later"}, "refit must be 'inline' or 'background', got 'later'"),
        (REGRESSOR, {"max_waiting": 0}, "max_waiting must be at least 1"),
        (REGRESSOR, {"loss": "logistic"}, "loss logistic is for classes: use OnlineBoostingClassifier"),
        (REGRESSOR, {"hash_bits": 40}, "hash_bits must be between"),
        (REGRESSOR, {"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_wrong_parameters_are_refused_before_any_work(make, options, reason):
    with pytest.raises(ValueError, match=reason):
        make(**options).learn_many([{"a": 1.0}], [1.0])


def test_how_refits_are_done_may_be_set_at_any_row():
    X, y = numbers(120)
    model = REGRESSOR().partial_fit(X[:20], y[:20])
    model.set_params(refit="background").partial_fit(X[20:41], y[20:41])
    assert any(each.pending is not None for each in model.booster_.refitted)  # the refit at row 40 runs
    model.set_params(refit="later")
    before = model.regret()
    with pytest.raises(ValueError, match="refit must be 'inline' or 'background', got 'later'"):
        model.partial_fit(X[41:], y[41:])
    assert model.regret() == before


def test_memory_is_bounded():
    X, y = numbers(3000)
    model = REGRESSOR(max_rows_kept=200).partial_fit(X, y)
    assert model.booster_.kept.n <= 200
    assert len(model.booster_.kept.packed.values) <= 2 * 200 * 4 + 8


def test_public_names():
    from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor

    assert ab.OnlineBoostingRegressor is OnlineBoostingRegressor
    assert ab.OnlineBoostingClassifier is OnlineBoostingClassifier
