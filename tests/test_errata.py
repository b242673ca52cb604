"""What the print of Grubb and Bagnell gets wrong, each on the smallest case; docs/theorems.md lists them.

Who implements the paper, or checks us against it, would otherwise take the print's error for ours.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost.descent import Naive, Repeated, Residual
from anyboost.steps import Constant, InverseSqrt


def test_theorem_2_as_printed_promises_an_edge_above_one():
    """One row, D = (1, 1, -2), h names the first class: delta = 1 in the condition of Theorem 2."""
    D, h, K, N = np.array([1.0, 1.0, -2.0]), np.array([1.0, -0.5, -0.5]), 3, 1
    delta = (D[0] - D.sum() / K) / (D.max() - D.sum() / K)
    edge = D @ h / (np.linalg.norm(D) * np.linalg.norm(h))
    assert delta == 1
    assert edge == pytest.approx(0.5)
    printed = math.sqrt(K / (K - 1)) * delta / math.sqrt(N)
    assert printed == pytest.approx(1.2247, abs=5e-5)
    assert edge < delta / math.sqrt(N) < printed
    assert edge == pytest.approx(delta / ((K - 1) * math.sqrt(N)))  # the sharp form is attained
    projected = ab.weak.Classifier().project(ab.space.Space(np.zeros((1, 1))), D[None, :])
    np.testing.assert_allclose(projected.values, h[None, :])


def repeat(g, classifiers, times, subtracts):
    """The inner loop of Algorithm 2 over hypotheses of norm 1, and what is left of g after each projection."""
    rest, direction = g.copy(), np.zeros_like(g)
    for _ in range(times):
        h = max(classifiers, key=lambda h: np.mean(rest * h))
        c = np.mean(h * rest)
        direction = direction + c * h
        rest = rest - (h if subtracts == "h" else c * h)
        yield np.sqrt(np.mean((g - direction) ** 2))


def test_algorithm_2_as_printed_moves_away_from_the_gradient():
    """It subtracts h where c h was added. One row, h in {-1, 1}: one projection is exact, the next one undoes it."""
    g, classifiers = np.array([0.1]), [np.array([1.0]), np.array([-1.0])]
    assert list(repeat(g, classifiers, 3, "c h")) == pytest.approx([0, 0, 0])
    assert list(repeat(g, classifiers, 4, "h")) == pytest.approx([0, 0.9, 0.8, 1.7])

    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    run = ab.boost(X, y, "exponential", ab.weak.Classifier(), Repeated(Constant(0.1)), 9, start=0.0)
    stumps = np.array([[1.0, 1, 1], [-1, 1, 1], [-1, -1, 1]])
    errors = list(repeat(-y, [*stumps, *-stumps], 9, "c h"))
    first = ab.boost(
        X, y, "exponential", ab.weak.Classifier(), Repeated(Constant(0.1), projections=9), 1, start=0.0
    )
    assert first.state.geometry[0].leftover == pytest.approx(errors[-1])
    assert run.steps[-1].loss < run.start_loss


def test_the_printed_subgradient_inequality_is_the_true_one_reversed():
    """R[f] >= R[g] + <f - g, grad R[f]> has to have grad R[g]. R[f] = f^2 / 2, f = 1, g = 0."""

    def R(f):
        return f**2 / 2

    f, g = 1.0, 0.0  # R's gradient at a number is the number
    assert not R(f) >= R(g) + (f - g) * f
    assert R(f) >= R(g) + (f - g) * g


def test_the_proof_of_theorem_3_needs_a_minus():
    """It steps by + (1 / Lambda) c h, and its next line is true of - (1 / Lambda) c h. R[f] = f^2 / 2, f = 1, h = 1."""
    f, c, smooth = 1.0, 1.0, 1.0
    claimed = f**2 / 2 - c**2 / (2 * smooth)
    assert not (f + c / smooth) ** 2 / 2 <= claimed
    assert (f - c / smooth) ** 2 / 2 <= claimed
    run = ab.boost([[1.0]], [0.0], "squared", "dictionary", Naive(1.0), 1, start=f)
    assert run.steps[0].loss <= claimed


ICML = {"X": np.array([[1.0], [0.0]]), "y": [0.0, 0.0], "loss": "absolute", "learner": "dictionary"}


def test_the_icml_counterexample_has_no_edge_where_its_first_point_is_right():
    """|f(x1)| + |f(x2)|, h(x2) = 0 for all h. At f(x1) = 0 the subgradient (0, 1) is orthogonal to all of them."""
    run = ab.boost(**ICML, descent=Naive(Constant(0.5)), rounds=3, start=np.array([0.5, 1.0]))
    assert run.steps[0].edge == pytest.approx(math.sqrt(1 / 2))  # of the subgradient (1, 1)
    assert run.scores.tolist() == [0.0, 1.0]
    assert run.steps[1].edge == run.steps[2].edge == 0
    assert ab.bounds.gamma(run) == 0


@pytest.mark.parametrize("descent", [Repeated(InverseSqrt(1.0)), Residual(InverseSqrt(1.0))])
def test_the_icml_counterexample_defeats_the_new_algorithms_too(descent):
    """Also where no round meets a kink: what the first projection leaves over has edge 0."""
    run = ab.boost(**ICML, descent=descent, rounds=30, start=np.array([np.sqrt(2), 1.0]))
    assert run.scores[1] == 1.0
    assert ab.bounds.gamma(run) < 0.1


def test_the_extended_counterexample_lets_naive_move_the_second_point_after_an_exact_zero():
    """2|f(x1)| + |f(x2)|: "will always select h(x2) = 0" is wrong where a step ends at f(x1) = 0."""
    run = ab.boost(
        *(np.eye(2), [0.0, 0.0], "absolute", "dictionary", Naive(Constant(1.0)), 2),
        sample_weight=[2.0, 1.0],
        start=np.array([1.0, 2.0]),
    )
    assert run.scores.tolist() == [0.0, 1.0]


def test_algorithm_3_stops_at_a_zero_gradient_where_the_print_goes_on():
    """Hinge, y = (1, 1), and the hypotheses a = (1, 1/2), e = (1, 0).

    Round 1 projects (-1, -1) on a, moves to (1.01, 1.01), where the loss and its gradient are 0, and leaves
    D = (0.2, -0.4). The print projects D on e, moves to (0.81, 1.01), and has a loss of 0.095 again.
    """
    start = np.array([1.01 - 1.2, 1.01 - 0.6])
    X = np.array([[1.0, 1.0], [0.5, 0.0]])
    run = ab.boost(X, [1, 1], "hinge", "dictionary", Residual(Constant(1.0)), 5, start=start)
    np.testing.assert_allclose(run.scores, [1.01, 1.01])
    assert [step.loss for step in run.steps] == [0.0] * 5
    assert [step.learners for step in run.steps] == [1] * 5
    np.testing.assert_allclose(run.state.residual, [0.2, -0.4])

    f, D = start, np.zeros(2)  # as printed
    losses = []
    for _ in range(2):
        D = D + np.where(f < 1, -1.0, 0.0)
        h = max(X.T, key=lambda h: abs(h @ D) / np.linalg.norm(h))
        c = h @ D / (h @ h)
        f, D = f - c * h, D - c * h
        losses.append(np.mean(np.maximum(1 - f, 0)))
    np.testing.assert_allclose(f, [0.81, 1.01])
    np.testing.assert_allclose(losses, [0, 0.095], atol=1e-12)


def test_each_erratum_of_the_page_names_its_test():
    tests = Path(__file__).parent
    page = (tests.parent / "docs" / "theorems.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", page.partition("## Errata")[2])
    assert len(named) >= 9
    files = "".join(
        (tests / name).read_text(encoding="utf-8") for name in ("test_errata.py", "test_bounds.py")
    )
    assert [name for name in named if f"def {name}(" not in files] == []
