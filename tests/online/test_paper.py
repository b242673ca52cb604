"""The paper's algorithms as printed: with bounds given, answers are those of an oracle written from the paper alone."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
import reference.online_paper as paper
from anyboost.online import HullBooster, LinearLearner, SpanBooster

N, ETA, D, Y, ROWS, COLUMNS = 6, 0.3, 2.0, 3.0, 300, 4
B = {  # min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D})
    "squared": max(D, (math.sqrt(D * D + 4 * ETA * D * Y) - D) / (2 * ETA)),  # eta b^2 = (Y - b) D
    "logistic": D,  # eta b^2 / 4 >= D / (1 + e^b) at b = D already
    "softmax": min(ETA * N * D, 6.0),  # the paper states no eps_b; 6 is the bound on scores of this library
}
BETA = {"squared": 1.0, "logistic": 0.25, "softmax": 0.5}
L = {"squared": {"span": B["squared"] + Y, "hull": D + Y}, "logistic": {"span": 1.0, "hull": 1.0}}
L["softmax"] = {"span": math.sqrt(2), "hull": math.sqrt(2)}
CLASSES = 3
PAGE = Path(__file__).parents[2] / "docs" / "online.md"


def rate(alpha):
    """Of gradient descent; slopes of l(y_{i-1} + alpha h) have the factor alpha."""
    return 0.7 / (alpha or 1.0)


class Descent:
    """The oracle's learner as users write their own: it gets its slope back from the target (docs/online.md)."""

    def __init__(self, mode, loss, alpha, scale=1.0):
        self.rate = rate(alpha)
        self.factor = (alpha * scale) ** 2 * BETA[loss] if mode == "offset" else 1 / D

    def start(self, n_features, outputs):
        return DescentStage(self.factor, paper.GradientDescent(n_features, D, self.rate, outputs))


class DescentStage:
    def __init__(self, factor, learner):
        self.factor, self.learner = factor, learner

    def predict(self, x):
        return self.learner.predict(x)

    def learn(self, x, target, weight):
        self.learner.suffer(x, self.factor * (self.predict(x) - target))


def stream(loss, rows=ROWS):
    """Rows no longer than 1, labels in [-Y, Y], and the gradient of each row's loss."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, COLUMNS))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    score = X @ [3.0, -2.0, 1.0, 0.0] + 0.3 * random.normal(size=rows)
    if loss == "squared":
        y = np.clip(score, -Y, Y)
        return X, y, [lambda p, t=t: p - t for t in y]
    if loss == "logistic":
        y = np.where(score > 0, 1.0, -1.0)
        return X, y, [lambda p, t=t: -t / (1 + np.exp(t * p)) for t in y]
    y = np.digitize(score, [-1.0, 1.0])

    def slope(p, t):
        shares = np.exp(p - p.max())
        return shares / shares.sum() - np.eye(CLASSES)[t]

    return X, y, [lambda p, t=t: slope(p, t) for t in y]


def booster(algorithm, learner, loss, mode, alpha=None, scale=1.0):
    """The settings that make it the paper's algorithm."""
    given = {"mode": mode, "output_bound": D, "start": 0.0, "prefix": "all", "loss": loss, "scale": scale}
    if loss != "softmax":
        given["label_bound"] = Y
    if mode == "offset":
        given["offset_step"] = alpha
    if algorithm == "span":
        return SpanBooster(learner, N, step=ETA, **given)
    return HullBooster(learner, N, **given)


def oracle(algorithm, loss, X, slopes, learners, alpha):
    d = CLASSES if loss == "softmax" else 1
    if algorithm == "span":
        given = {"eta": ETA, "B": B[loss], "L": L[loss]["span"]}
        return paper.algorithm_1(X, slopes, learners, d=d, alpha=alpha, **given)
    return paper.algorithm_2(X, slopes, learners, d=d, alpha=alpha, L=L[loss]["hull"])


def columns(answers):
    return answers.reshape(len(answers), -1)


@pytest.mark.parametrize("algorithm", ["span", "hull"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize(("mode", "alpha"), [("linear", None), ("offset", 0.3), ("offset", 0.05)])
def test_answers_are_those_of_the_paper(algorithm, loss, mode, alpha):
    X, y, slopes = stream(loss)
    d = CLASSES if loss == "softmax" else 1
    learners = [paper.GradientDescent(COLUMNS, D, rate(alpha), d) for _ in range(N)]
    expected = oracle(algorithm, loss, X, slopes, learners, alpha)
    found = booster(algorithm, Descent(mode, loss, alpha), loss, mode, alpha).progressive_predict(X, y)
    assert np.abs(expected).max() > 0.3
    np.testing.assert_allclose(columns(found), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["span", "hull"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_compiled_learners_suffer_the_loss_of_the_paper(algorithm, loss):
    X, y, slopes = stream(loss, 150)
    alpha, speed = 0.8, 0.005  # so slow that no step is cut and D bounds nothing
    learners = [paper.GradientDescent(COLUMNS + 1, math.inf, speed / alpha**2, power=0.0) for _ in range(N)]
    rows = np.column_stack([np.ones(len(X)), X])  # linear learners have an intercept
    expected = oracle(algorithm, loss, rows, slopes, learners, alpha)
    found = booster(algorithm, LinearLearner(speed, "plain"), loss, "offset", alpha)
    assert np.abs(expected).max() > 0.1
    answers = found.progressive_predict(X, y)
    np.testing.assert_allclose(columns(answers), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["span", "hull"])
def test_a_scaled_class_fits_the_loss_with_its_scaled_answers(algorithm):
    """Supplements C.1 and C.2 together: lambda A predicts lambda h and suffers l(y_{i-1} + alpha lambda h)."""
    X, y, slopes = stream("squared")
    alpha, scale = 0.3, 2.0
    learners = [Scaled(paper.GradientDescent(COLUMNS, D, rate(alpha)), scale) for _ in range(N)]
    wide = scale * D
    assert ETA * wide**2 >= max(Y - wide, 0.0) * wide  # so B = lambda D
    expected = {
        "span": lambda: paper.algorithm_1(X, slopes, learners, eta=ETA, B=wide, L=wide + Y, alpha=alpha),
        "hull": lambda: paper.algorithm_2(X, slopes, learners, L=wide + Y, alpha=alpha),
    }[algorithm]()
    model = booster(algorithm, Descent("offset", "squared", alpha, scale), "squared", "offset", alpha, scale)
    np.testing.assert_allclose(columns(model.progressive_predict(X, y)), expected, rtol=0, atol=1e-12)


class Scaled:
    """lambda A."""

    def __init__(self, learner, scale):
        self.learner, self.scale = learner, scale

    def predict(self, x):
        return self.scale * self.learner.predict(x)

    def suffer(self, x, slope):
        self.learner.suffer(x, self.scale * slope)


def test_greedy_mode_is_another_algorithm():
    """The pages say so: its stages learn from what earlier ones answer after the row."""
    X, y, _ = stream("squared")
    learner = LinearLearner(0.1, "plain")
    greedy = booster("span", learner, "squared", "greedy").progressive_predict(X, y)
    printed = booster("span", learner, "squared", "offset", ETA).progressive_predict(X, y)
    assert np.abs(greedy - printed).max() > 0.1


def test_the_step_is_by_default_the_smallest_of_the_chain():
    X, y, _ = stream("squared")
    for make, step in ((SpanBooster, 0.2), (HullBooster, 2 / 7)):
        usual, given = (make(n_learners=6, mode="offset", offset_step=own) for own in (None, step))
        np.testing.assert_array_equal(usual.progressive_predict(X, y), given.progressive_predict(X, y))


def test_a_step_without_its_mode_is_refused():
    with pytest.raises(ValueError, match="offset_step belongs to mode 'offset', got"):
        SpanBooster(offset_step=0.1)
    with pytest.raises(ValueError, match="offset_step must be strictly between 1e-09"):
        ab.OnlineBoostingRegressor("linear", mode="offset", offset_step=0.0).partial_fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="offset_step belongs to one chain"):
        ab.OnlineBoostingRegressor("team", offset_step=0.5).partial_fit([[1.0]], [1.0])


def learner_of_the_page():
    """The class that docs/online.md shows for a learner of one's own."""
    block = re.search(
        r"^```python\n(class LinearFunctions.*?)^\n\n", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert block
    namespace = {"np": np}
    exec(block[1], namespace)
    return namespace["LinearFunctions"]


@pytest.mark.parametrize("algorithm", ["span", "hull"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_learner_and_the_settings_of_the_page_are_the_papers(algorithm, loss):
    """Readers write their learners for linear losses like the page's."""
    X, y, slopes = stream(loss)
    learners = [paper.GradientDescent(COLUMNS, D, D) for _ in range(N)]
    expected = oracle(algorithm, loss, X, slopes, learners, None)
    model = booster(algorithm, learner_of_the_page()(D), loss, "linear")
    found = model.progressive_predict(X, y)
    np.testing.assert_allclose(columns(found), expected, rtol=0, atol=1e-12)
    value = {"squared": lambda f: 0.5 * (f - y) ** 2, "logistic": lambda f: np.logaddexp(0.0, -y * f)}[loss]
    assert model.regret().loss == pytest.approx(value(expected[:, 0]).sum())
    comparator = np.linalg.lstsq(X, y, rcond=None)[0]
    comparator *= D / np.linalg.norm(comparator)
    assert model.regret().loss - value(X @ comparator).sum() < model.regret().bound
