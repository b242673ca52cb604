"""A report says what is true of its model, in one file that opens anywhere and shows hostile names as they are."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import anyboost as ab
from anyboost.report import pictures
from anyboost.report.page import render
from anyboost.report.parts import down, number, up

HOSTILE = "<script>alert('1')</script>"


def table_of(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.gamma(5.0, 20.0, n),
            "age": rng.uniform(0, 100, n),
            "city": pd.Categorical(
                rng.choice(["Bern", "Chur", HOSTILE], n), categories=["Bern", "Chur", HOSTILE]
            ),
        }
    )
    y = X["size"] + 30.0 * (X["city"] == "Bern") + rng.normal(0, 10, n) * np.where(X["city"] == "Chur", 4, 1)
    X.loc[::5, "age"] = np.nan
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def rows():
    return *table_of(160, 0), *table_of(100, 1)


@pytest.fixture(scope="module")
def regressor(rows):
    X, y, _, _ = rows
    model = ab.BoostingRegressor(max_leaf_nodes=2, max_iter=25, conformal="cv", random_state=3)
    return model.fit(X, y)


def section(told, title):
    (found,) = [part for part in told["sections"] if part["title"] == title]
    return found


def cells(table):
    """The values of a table: numbers where a cell has one."""
    return [[cell["shown"] if cell["by"] is None else cell["by"] for cell in row] for row in table["rows"]]


def titles(told):
    return [part["title"] for part in told["sections"]]


def test_a_regressor_with_rows_has_every_section(regressor, rows):
    _, _, X, y = rows
    assert titles(ab.report.summarize(regressor, X, y)) == [
        *("How well it does", "The data", "How the fit went", "How far from optimal", "What the model uses"),
        *(
            "Shape curves",
            "Coverage",
            "Worst groups",
            "Residuals",
            "Parameters",
            "Versions",
            "How to reproduce it",
        ),
    ]


def test_scores_residuals_and_coverage_are_those_of_the_rows(regressor, rows):
    _, _, X, y = rows
    told = ab.report.summarize(regressor, X, y)
    off = y - regressor.predict(X)
    scores = dict(cells(section(told, "How well it does")["tables"][0]))
    assert scores["mean absolute error"] == pytest.approx(np.abs(off).mean())
    assert scores["root mean squared error"] == pytest.approx(np.sqrt((off**2).mean()))
    assert scores["R^2"] == pytest.approx(regressor.score(X, y))
    assert scores["loss: squared"] == pytest.approx((off**2).mean() / 2)
    worst = cells(section(told, "Residuals")["tables"][0])
    assert [row[0] for row in worst] == np.argsort(-np.abs(off), kind="stable")[:12].tolist()
    assert [row[3] for row in worst] == pytest.approx(off[[int(row[0]) for row in worst]].tolist())
    for asked, inside, width in cells(section(told, "Coverage")["tables"][0]):
        low, high = regressor.predict_interval(X, asked).T
        assert inside == np.mean((low <= y) & (y <= high))
        assert width == pytest.approx((high - low).mean())


def test_intervals_too_wide_for_the_rows_behind_them_are_not_shown(rows):
    X, y, X_new, y_new = rows
    model = ab.BoostingRegressor(max_iter=5, conformal="split").fit(X, y)  # 32 rows to calibrate by
    told = section(ab.report.summarize(model, X_new, y_new), "Coverage")
    assert [row[0] for row in cells(told["tables"][0])] == [0.5, 0.8, 0.9]
    assert "takes 39 rows or more" in told["text"][1]
    plain = section(ab.report.summarize(model.set_params(conformal=None).fit(X, y), X_new, y_new), "Coverage")
    assert plain["text"][0].startswith("This model has no intervals")


def test_the_data_are_told_column_by_column(regressor, rows):
    _, _, X, y = rows
    lines = {
        row[0]: row for row in cells(section(ab.report.summarize(regressor, X, y), "The data")["tables"][0])
    }
    assert lines["age"][1:4] == ["numbers", 20.0, 80.0]
    assert lines["size"][4:7] == [X["size"].min(), X["size"].median(), X["size"].max()]
    top = X["city"].value_counts(normalize=True)
    assert lines["city"][1:4] == ["categories", 0.0, 3.0]
    assert lines["city"][7].startswith(f"{top.index[0]} ({100 * top.iloc[0]:.3g}")


def test_the_worst_group_is_found_and_its_loss_is_right(regressor, rows):
    _, _, X, y = rows
    first = cells(section(ab.report.summarize(regressor, X, y), "Worst groups")["tables"][0])[0]
    noisy = (X["city"] == "Chur").to_numpy()
    off = (y - regressor.predict(X))[noisy]
    assert first[:3] == ["city", "Chur", noisy.sum()]
    assert first[3] == pytest.approx((off**2).mean() / 2)


def test_groups_of_a_users_own_are_compared_too(regressor, rows):
    _, _, X, y = rows
    groups = np.where(np.arange(len(y)) % 2, "odd", "even")
    lines = cells(section(ab.report.summarize(regressor, X, y, groups=groups), "Worst groups")["tables"][0])
    assert {row[1] for row in lines if row[0] == "groups given"} == {"odd", "even"}


def test_a_group_that_is_a_column_is_told_once_and_its_missing_labels_are_one_group(regressor, rows):
    _, _, X, y = rows
    groups = X["city"].astype(object).where(X["city"] != "Bern", None)
    X = X.assign(city=pd.Categorical(groups, categories=X["city"].cat.categories))
    lines = cells(section(ab.report.summarize(regressor, X, y, groups=groups), "Worst groups")["tables"][0])
    named = [row[:2] for row in lines if row[0] in ("groups given", "city")]
    assert sorted(named) == sorted(["groups given", label] for label in ("missing", "Chur", HOSTILE))


def test_rows_count_by_their_weights(regressor, rows):
    _, _, X, y = rows
    weight = np.arange(len(y)) % 3

    def told(X, y, **given):
        found = ab.report.summarize(regressor, X, y, **given)
        scores = dict(cells(section(found, "How well it does")["tables"][0]))
        covered = cells(section(found, "Coverage")["tables"][0])
        return scores, covered, cells(section(found, "Worst groups")["tables"][0])

    some = np.repeat(np.arange(len(y)), weight)
    scores, covered, groups = told(X, y, sample_weight=weight)
    again, covered_again, groups_again = told(X.iloc[some], y[some])
    assert scores == pytest.approx(again)
    assert np.array(covered, dtype=float) == pytest.approx(np.array(covered_again, dtype=float))
    losses = {tuple(row[:2]): row[3] for row in groups_again}
    shared = [row for row in groups if tuple(row[:2]) in losses]
    assert len(shared) >= 3
    for row in shared:
        assert row[3] == pytest.approx(losses[tuple(row[:2])])


def test_what_shapley_values_are_added_over_is_said(rows):
    X, y, X_new, y_new = rows
    for loss, title in (
        ("squared", "mean size of Shapley values"),
        ("multi_quantile:0.1,0.9", "mean size of Shapley values, added over outputs"),
    ):
        model = ab.BoostingRegressor(loss, max_iter=3, conformal=None).fit(X, y)
        table = section(ab.report.summarize(model, X_new, y_new), "What the model uses")["tables"][0]
        assert table["head"][-1] == title
        sizes = np.abs(model.shap_values(X_new)).mean(axis=0)
        sizes = np.sort(sizes.sum(axis=1) if sizes.ndim == 2 else sizes)[::-1]
        assert [row[-1] for row in cells(table)] == pytest.approx(sizes.tolist())


def test_a_floor_is_never_rounded_up(regressor):
    told = section(ab.report.summarize(regressor), "How far from optimal")
    lines = cells(told["tables"][0])
    assert regressor.norm_ in [norm for norm, _, _ in lines]
    for norm, floor, gap in lines:
        assert (floor, gap) == (regressor.floor(norm), regressor.gap(norm))
    for row in told["tables"][0]["rows"]:
        assert float(row[0]["shown"].replace(",", "")) <= row[0]["by"]
        assert float(row[1]["shown"].replace(",", "")) <= row[1]["by"]
        assert float(row[2]["shown"].replace(",", "")) >= row[2]["by"]
    assert [down(x) for x in (1.23456, 999.96, -0.0123456, 0.0, 12.0)] == [
        "1.234",
        "999.9",
        "-0.01235",
        "0",
        "12",
    ]


def test_prices_are_told_in_digits_and_not_in_powers_of_ten():
    said = [number(x) for x in (282123.4, -12345.6, 1960.5, 2019, 999.96, 99.956, 0.0123456, 2.5e12)]
    assert said == ["282,123", "-12,346", "1,960", "2,019", "1,000", "99.96", "0.01235", "2.5e+12"]
    assert [down(x) for x in (282123.9, -12345.6)] == ["282,123", "-12,346"]
    assert [up(x) for x in (282123.4, -12345.6, 0.0123456, -0.0123456, 0.0)] == [
        *("282,124", "-12,345", "0.01235", "-0.01234", "0"),
    ]


def test_quarters_of_prices_are_named_in_digits():
    X = pd.DataFrame({"price": np.linspace(10_000.4, 90_000.4, 400)})
    model = ab.BoostingRegressor(max_iter=3, conformal=None).fit(X, X["price"] ** 2)
    told = section(ab.report.summarize(model, X, X["price"] ** 2), "Worst groups")
    assert {row[1] for row in cells(told["tables"][0])} == {
        *("up to 30,000", "30,000 to 50,000", "50,000 to 70,000", "over 70,000"),
    }


def test_a_floor_of_nothing_is_not_called_a_certificate():
    x = np.linspace(0.0, 1.0, 200)[:, None]
    model = ab.BoostingRegressor(max_leaf_nodes=2, min_leaf_weight=1, max_iter=100, conformal=None)
    model.fit(x, np.sin(2 * x[:, 0]))
    assert model.floor() == 0.0
    told = section(ab.report.summarize(model), "How far from optimal")
    assert "At that norm nothing is proved: a loss of 0 is not ruled out." in told["text"][0]
    lines = cells(told["tables"][0])
    assert len(lines) == 3
    assert lines[-1][0] > model.norm_ / 100  # the first that says something
    for norm, floor, gap in lines:
        assert norm < model.norm_
        assert (floor, gap) == (model.floor(norm), model.gap(norm))
        assert floor > 0.0
    norm, floor = (cell["shown"] for cell in told["tables"][0]["rows"][-1][:2])
    assert f"of norm {norm} or less has a loss under {floor}, whoever finds it" in told["text"][0]


def test_nothing_proved_is_no_section(rows):
    """A reader of a report of trees would look for a certificate under its heading, and find an excuse."""
    X, y, _, _ = rows
    trees = ab.BoostingRegressor(max_leaf_nodes=6, max_iter=5, conformal=None).fit(X, y)
    table = X[["size", "age"]].fillna(0.0)
    for model in (trees, ab.boost(table.to_numpy(), y, "squared", "tree:6", rounds=5)):
        told = ab.report.summarize(model)
        assert "How the fit went" in titles(told)
        assert "How far from optimal" not in titles(told)
        assert "proved" not in " ".join(text for part in told["sections"] for text in part["text"])


def test_every_parameter_is_there_with_what_auto_became(regressor):
    told = {
        row[0]: row[1:] for row in cells(section(ab.report.summarize(regressor), "Parameters")["tables"][0])
    }
    assert set(regressor.get_params()) <= set(told)
    assert told["learning_rate"] == ["'auto'", repr(regressor.dials_["learning_rate"])]
    assert told["max_iter"] == ["25", ""]


def test_the_call_that_is_shown_makes_the_same_model(regressor, rows):
    X, y, X_new, _ = rows
    code = section(ab.report.summarize(regressor), "How to reproduce it")["code"]
    namespace = {"X": X, "y": y}
    exec(code, namespace)
    assert np.array_equal(namespace["model"].predict(X_new), regressor.predict(X_new))


def test_what_ended_a_fit_is_told(rows):
    X, y, X_val, y_val = rows

    def ended(**given):
        fit = {name: given.pop(name) for name in ("X_val", "y_val") if name in given}
        model = ab.BoostingRegressor(**given).fit(X, y, **fit)
        return section(ab.report.summarize(model), "How the fit went")["text"][0], model

    said, _ = ended(max_iter=5)
    assert said == "The fit had all of its 5 rounds; nothing was to stop it earlier."
    said, model = ended(max_leaf_nodes=6)
    assert "Rounds were found on rows held out" in said
    assert f"after {model.n_iter_}:" in said
    said, model = ended(X_val=X_val, y_val=y_val, n_iter_no_change=3, learning_rate=0.3)
    assert said.startswith(f"The fit stopped after {model.n_iter_} rounds of at most 2000")
    assert said.endswith(f"its best round, {model.best_iteration_}.")
    said, _ = ended(X_val=X_val, y_val=y_val, n_iter_no_change=50, max_iter=4)
    assert said.startswith("The fit had all of its 4 rounds, and validation would not have ended it earlier.")


def test_what_a_fit_measured_on_rows_held_out_stands_beside_the_scores_of_its_own_rows(rows):
    X, y, X_val, y_val = rows

    def measured(model, kind="training rows", **given):
        told = ab.report.summarize(model.fit(X, y, **given), X, y, rows=kind)
        return " ".join(section(told, "How well it does")["text"])

    searched = ab.BoostingRegressor(max_leaf_nodes=6, conformal=None)
    said = measured(searched)
    loss = -searched.validation_score_[searched.n_iter_]
    assert loss > -searched.train_score_[-1]  # what the page would show alone is better than what is true
    assert f"a loss of {number(loss)}, a root mean squared error of {number(np.sqrt(2 * loss))}." in said
    given = ab.BoostingRegressor("absolute", max_iter=9, scoring=["r2", "loss"], conformal=None)
    said = measured(given, "rows given", valid={"later": (X_val, y_val)})
    assert f"a r2 on later of {number(given.score(X_val, y_val))}, a loss on later of " in said
    assert "did not learn from" not in measured(given, "validation rows", valid={"later": (X_val, y_val)})
    assert "did not learn from" not in measured(ab.BoostingRegressor(max_iter=3, conformal=None))


def test_the_title_names_the_target_that_a_column_has(rows):
    X, y, _, _ = rows
    model = ab.BoostingRegressor("absolute", max_iter=2, conformal=None).fit(X, y)
    told = ab.report.summarize(model, X, pd.Series(y, name="price"))
    assert told["title"] == "price by BoostingRegressor with the loss absolute"
    assert ab.report.summarize(model, X, y)["title"] == "BoostingRegressor with the loss absolute"


def test_classes_have_calibration_and_mistakes(rows):
    X, y, X_new, y_new = rows
    model = ab.BoostingClassifier(max_iter=10, max_leaf_nodes=6).fit(X, np.where(y > 120, "high", "low"))
    labels = np.where(y_new > 120, "high", "low")
    told = ab.report.summarize(model, X_new, labels)
    assert {"Calibration", "Mistakes", "Worst groups"} <= set(titles(told))
    said = model.predict(X_new)
    counts = [
        [name, *(((labels == name) & (said == other)).sum() for other in ("high", "low"))]
        for name in ("high", "low")
    ]
    assert cells(section(told, "Mistakes")["tables"][0]) == counts
    scores = dict(cells(section(told, "How well it does")["tables"][0]))
    assert scores["share right"] == model.score(X_new, labels)
    assert section(told, "Shape curves")["text"][0].startswith("This model is no sum of curves")
    assert "sureness" in section(told, "Worst groups")["tables"][0]["head"]
    assert "Sureness is the mean of" in section(told, "Worst groups")["text"][1]


def test_rankers_runs_pools_and_streams_have_reports(rows):
    X, y, _, _ = rows
    numbers, query = X[["size", "age"]].fillna(0.0), np.repeat(np.arange(16), 10)
    grades = np.digitize(y, [90, 130])
    ranker = ab.BoostingRanker(max_iter=5).fit(numbers, grades, qid=query)
    told = ab.report.summarize(ranker, numbers, grades, qid=query)
    worst = cells(section(told, "Worst queries")["tables"][0])[0]
    rows_of = query == int(worst[1])
    assert worst[0] == ab.metrics.ndcg(grades[rows_of], ranker.predict(numbers)[rows_of])
    run = ab.boost(numbers.to_numpy(), y, "absolute", "stump", rounds=10)
    told = ab.report.summarize(run)
    assert [figure["title"] for figure in section(told, "How the fit went")["figures"]] == [
        "Loss by round",
        "Edge by round",
    ]
    assert [run.norm, run.floor(), run.gap()] in cells(section(told, "How far from optimal")["tables"][0])
    pool = ab.MirrorAveragingRegressor([Ridge(), DecisionTreeRegressor(max_depth=2, random_state=0)]).fit(
        numbers, y
    )
    weights = [
        row[1] for row in cells(section(ab.report.summarize(pool, numbers, y), "Weights")["tables"][0])
    ]
    assert weights == pool.weights_.tolist()
    stream = ab.OnlineBoostingRegressor(learner="linear").partial_fit(numbers, y)
    assert "Parameters" in titles(ab.report.summarize(stream, numbers, y))


class Page(HTMLParser):
    """The tags of a page, the ids, and what it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.fetched = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            value = given.get(name)
            if value is not None and not value.startswith(("#", "data:")):
                self.fetched.append(value)


def test_the_page_is_one_file_that_shows_hostile_names_as_they_are(regressor, rows, tmp_path):
    _, _, X, y = rows
    path = tmp_path / "report.html"
    ab.report.write(regressor, path, X, y, rows="validation rows", title=HOSTILE)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.fetched == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert page.tags.count("script") == 1
    assert "alert(" in text
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("svg") == sum(
        len(part["figures"]) for part in ab.report.summarize(regressor, X, y)["sections"]
    )
    assert "prefers-color-scheme: dark" in text
    again = tmp_path / "again.html"
    ab.report.write(regressor, again, X, y, rows="validation rows", title=HOSTILE)
    assert again.read_bytes() == path.read_bytes()


def test_ink_is_the_pages_own():
    figure = pictures.drawn(lambda ax: ax.plot([0, 1], [0, 1], color="black"), (2.0, 2.0), "a & <b>")
    assert "#000000" not in figure["svg"]
    assert 'aria-label="a &amp; &lt;b>"' in figure["svg"]


def test_a_template_that_is_given_too_little_says_so():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render({"title": "nothing else"})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"model": ab.BoostingRegressor()}, "fit it first"),
        ({"model": "model.anyboost"}, "model must be a fitted estimator or a Run, got str"),
        ({"y": [1.0]}, "y was given without X"),
        ({"X": [[1.0, 2.0]], "y": [1.0, 2.0]}, "y must have one value for each of the 1 rows"),
        ({"rows": "mine"}, "rows must be"),
    ],
)
def test_bad_input_is_refused_before_any_file_is_touched(regressor, tmp_path, given, reason):
    path = tmp_path / "report.html"
    path.write_text("earlier")
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        ab.report.write(given.pop("model", regressor), path, **given)
    assert path.read_text() == "earlier"


@pytest.mark.parametrize("name", ["matplotlib", "jinja2"])
def test_what_is_not_installed_is_named_before_any_work(name, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, name, None)
    run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=2)
    with pytest.raises(ImportError, match=rf'^reports need {name}: pip install "anyboost\[report\]"$'):
        ab.report.write(run, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
