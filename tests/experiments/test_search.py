"""A step is chosen inside its grid: a grid that is too short grows, and where it does not, the choice says why."""

import numpy as np
import pytest

from anyboost.experiments.search import beyond, search


def valley(best, width=1.0):
    """A loss with its least value at `best`."""
    return lambda scale: {"loss": 1.0 + width * np.log(scale / best) ** 2}


@pytest.mark.parametrize(
    ("best", "chosen", "grid"),
    [
        (0.3, 0.3, [0.1, 0.3, 1.0]),  # nothing beyond the grid is measured
        (30.0, 30.0, [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]),
        (0.01, 0.01, [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]),
    ],
)
def test_a_grid_grows_until_the_choice_lies_inside(best, chosen, grid):
    choice = search({"scale": (0.1, 0.3, 1.0)}, valley(best))
    assert choice.point == {"scale": chosen}
    assert [one["scale"] for one in choice.tried] == pytest.approx(grid)
    assert choice.at_end is None


def test_no_point_is_measured_twice():
    seen = []

    def measure(a, b):
        seen.append((a, b))
        return {"loss": np.log(a / 50) ** 2 + np.log(b / 0.02) ** 2}

    choice = search({"a": (1.0, 3.0, 10.0), "b": (0.1, 0.3)}, measure)
    assert len(set(seen)) == len(seen) == len(choice.tried)
    a, b = choice.point.values()
    losses = {(one["a"], one["b"]): one["loss"] for one in choice.tried}
    for axis, at in (("a", a), ("b", b)):  # a neighbor on each side of either axis, and none is better
        line = [pair for pair in losses if pair[axis == "a"] == (b if axis == "a" else a)]
        values = [pair[axis == "b"] for pair in line]
        assert min(values) < at < max(values)
    assert losses[a, b] == min(losses.values())


def test_limits_hold_and_are_the_reason():
    choice = search(
        {"step": (0.05, 0.2, 0.5)}, lambda step: {"loss": 2.0 - step}, limits={"step": (0.05, 1.0)}
    )
    assert choice.point == {"step": 1.0}
    assert choice.at_end == "step is the largest allowed"
    low = search({"step": (0.05, 0.2, 0.5)}, lambda step: {"loss": 1.0 + step}, limits={"step": (0.05, 1.0)})
    assert low.point == {"step": 0.05}
    assert low.at_end == "step is the least allowed"


def test_a_flat_loss_ends_the_search_and_is_the_reason():
    choice = search({"scale": (0.1, 0.3, 1.0)}, lambda scale: {"loss": 1.0 + scale / 100})
    assert choice.point == {"scale": 0.03}
    assert choice.at_end == "the loss is flat in scale: 1.001 at 0.1"


def test_what_may_not_grow_says_so():
    choice = search({"scale": (0.1, 1.0)}, valley(100.0), growth=0)
    assert choice.point == {"scale": 1.0}
    assert choice.at_end == "the grid of scale may not grow"
    steep = search({"scale": (0.1, 1.0)}, lambda scale: {"loss": 1 / scale}, growth=3)
    assert steep.point == {"scale": 1000.0}


def test_a_run_that_diverged_is_never_chosen():
    choice = search(
        {"rate": (0.4, 1.2, 3.6)}, lambda rate: {"valid": None if rate > 0.5 else 1 + rate}, ("valid",)
    )
    assert choice.point["rate"] < 0.4
    assert {"rate": 1.2, "valid": None} in choice.tried


def test_later_losses_decide_ties():
    def measure(scale):
        return {"order": 0.25, "loss": abs(np.log(scale / 0.3))}

    assert search({"scale": (0.1, 0.3, 1.0)}, measure, ("order", "loss")).point == {"scale": 0.3}


def test_progressions_go_on():
    assert beyond([0.1, 0.3, 1.0, 3.0], up=True) == 10.0
    assert beyond([0.1, 0.3, 1.0], up=False) == 0.03
    assert beyond([0.4, 1.2, 3.6], up=True) == 10.8
    assert beyond([1.0, 2.5], up=True) == 6.25
