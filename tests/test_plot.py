"""A tree as text and as a figure says what the tree does."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_iris

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRegressor, plot

X, Y = load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def no_window_opens_and_no_figure_stays():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def walk(lines, row):
    """What the text answers for a row: follow its questions."""
    while not lines[0].startswith(("+", "-", "(")):
        question = lines[0]
        column, threshold = question.removesuffix(" or missing").split(" <= ")
        answer = row[column] <= float(threshold)
        branches, current = {}, None
        for line in lines[1:]:
            if line.startswith(("  yes: ", "  no:  ")):
                current = line[2:5].strip(" :")
                branches[current] = [line[7:]]
            else:
                branches[current].append(line[7:])
        lines = branches["yes" if answer else "no"]
    return float(lines[0])


def test_the_text_of_a_tree_is_the_tree():
    model = BoostingRegressor(max_iter=3, max_leaf_nodes=6).fit(X, Y)
    for number in range(3):
        text = plot.text(model, number)
        tree, factor = model.ensemble_.hypotheses[number], model.ensemble_.coefficients[number]
        for i in range(0, len(X), 20):
            added = factor * tree.predict(X.iloc[[i]].to_numpy())[0]
            assert walk(text.splitlines(), X.iloc[i]) == pytest.approx(added, rel=1e-3)


def test_models_of_every_kind_can_be_shown():
    run = ab.boost(X.to_numpy(), Y, "squared", "tree:3", rounds=2)
    assert plot.text(run) == plot.text(run.ensemble)
    assert "column " in plot.text(run)
    assert plot.text(run, feature_names=list(X.columns)).replace("\n", " ").split(" ")[0] in X.columns
    iris, kinds = load_iris(return_X_y=True)
    assert "(" in plot.text(BoostingClassifier(max_iter=1).fit(iris, kinds))
    for bad, words in (
        (lambda: plot.text(3), "model must be a fitted estimator, a run or an ensemble, got int"),
        (lambda: plot.text(run, 2), "tree must be between 0 and 1, got 2"),
        (lambda: plot.text(run, feature_names=["a"]), "feature_names must have one name for each of the 10"),
        (lambda: plot.text(run.ensemble.truncate(0)), "model has no trees"),
        (lambda: plot.text(ab.boost(X.to_numpy(), Y, learner="dictionary", rounds=1)), "no tree"),
        (lambda: plot.rounds(run.ensemble), "model must be a fitted estimator or a run"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            bad()


def test_a_figure_has_every_node_and_both_answers():
    model = BoostingRegressor(max_iter=1, max_leaf_nodes=5).fit(X, Y)
    ax = plot.tree(model)
    words = [text.get_text() for text in ax.texts]
    assert words.count("yes") == words.count("no") == 4
    assert len(words) == 9 + 8
    ax.figure.canvas.draw()
    own = ax.figure.add_subplot()
    assert plot.tree(model, ax=own) is own


def test_a_notebook_shows_the_figure_and_pyplot_saves_it(tmp_path):
    """A figure that pyplot does not know of is an empty cell in a notebook, and a blank file from `plt.savefig`."""
    model = BoostingRegressor(max_iter=2, max_leaf_nodes=3).fit(X, Y)
    for draw in (plot.tree, plot.rounds):
        ax = draw(model)
        assert plt.gca() is ax
        assert plt.gcf() is ax.figure
        plt.savefig(tmp_path / f"{draw.__name__}.png")
        assert len(plt.get_fignums()) == 1
        plt.close("all")


def test_axes_that_are_given_are_drawn_on_and_no_other_figure_opens():
    model = BoostingRegressor(max_iter=2, max_leaf_nodes=3).fit(X, Y)
    own = Figure().add_subplot()
    assert plot.tree(model, ax=own) is plot.rounds(model, ax=own) is own
    assert plt.get_fignums() == []
    with pytest.raises(TypeError, match="model must be"):
        plot.rounds(3)
    with pytest.raises(TypeError, match="model must be"):
        plot.tree(3)
    assert plt.get_fignums() == []


def test_the_losses_of_a_fit_are_drawn():
    model = BoostingRegressor(max_iter=30, early_stopping=True, scoring=["loss", "r2"])
    model.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    ax = plot.rounds(model)
    labels = [line.get_label() for line in ax.get_lines()]
    assert labels[:3] == ["training loss", "validation loss", "validation r2"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), [step.loss for step in model.steps_])
    run = ab.boost(X.to_numpy(), Y, rounds=4, valid=(X.to_numpy(), Y))
    ax = plot.rounds(run)
    assert [line.get_label() for line in ax.get_lines()] == ["training loss", "validation loss"]
    assert all(float(tick).is_integer() for tick in ax.get_xticks())  # there is no round 2.5


def test_categories_are_shown_by_their_names():
    color = np.array(["red", "green", "blue"])[np.arange(len(Y)) % 3]
    model = BoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(
        pd.DataFrame({"color": color}), np.where(color == "green", 5.0, 0.0)
    )
    first = plot.text(model).splitlines()[0]
    assert first.removesuffix(" or missing") in ("color in {green}", "color in {blue, red}")
