"""The seam: rows in three parts, each with a loop of its own, make the trees of rows in one place, to the bit.

A part is the rows of this process but for how parts agree: what rows of several processes would add.
"""

import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest

import anyboost as ab
import fingerprints
from anyboost.certificates import Evidence
from anyboost.descent import State, descend
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional
from anyboost.samples import Sampling
from anyboost.space import Binned, Space
from anyboost.trees.frontier import ELSEWHERE
from anyboost.trees.rows import GroundHere, Here

CASES = [name for name, case in fingerprints.CASES.items() if "row_fraction" not in case]


class Meeting:
    """Where the parts hand in what they have, and take home what all of them have."""

    def __init__(self, parts):
        self.brought = [None] * parts
        self.barrier = threading.Barrier(parts)

    def meet(self, number, thing, combine):
        self.brought[number] = thing
        self.barrier.wait(20)
        found = combine(self.brought)
        self.barrier.wait(20)
        return found


class Part(Here):
    """The rows of one part."""

    def __init__(self, number, meeting, n):
        super().__init__(n)
        self.number, self.meeting = number, meeting

    def add(self, counts):
        return self.meeting.meet(self.number, counts, lambda all_of_them: sum(map(np.asarray, all_of_them)))

    def most(self, values):
        return self.meeting.meet(self.number, values, lambda all_of_them: np.max(all_of_them, axis=0))

    def gather(self, values):
        return self.meeting.meet(self.number, values, np.concatenate)

    def ground(self, bins, fixed, plan):
        return GroundOfPart(self, bins, fixed, plan)


class GroundOfPart(GroundHere):
    inside = ELSEWHERE

    def histogram(self, start, stop, sums):
        super().histogram(start, stop, sums)
        sums[:] = self._rows.add(sums)


class Gathered(Functional):
    """A loss that looks at the scores of all rows, and gives back what belongs to those of the part."""

    def __init__(self, whole, rows, part):
        self.whole, self.rows, self.part = whole, rows, part
        self.outputs = whole.outputs

    def at(self, scores):
        value, gradient = self.whole.at(self.rows.gather(scores))
        return value, np.ascontiguousarray(gradient[self.part])

    def value(self, scores):
        return self.at(scores)[0]

    def subgradient(self, scores):
        return self.at(scores)[1]

    def best_shifts(self, scores, leaf, n_leaves, directions=None):
        return self.whole.best_shifts(self.rows.gather(scores), self.rows.gather(leaf), n_leaves, directions)

    def envelope_gradient(self, scores, mu):
        return np.ascontiguousarray(self.whole.envelope_gradient(self.rows.gather(scores), mu)[self.part])

    @property
    def kinked(self):
        return self.whole.kinked

    @property
    def smoothable(self):
        return self.whole.smoothable


def part_of(whole, rows, part, binned, weights, groups):
    """The steps and the model that a part finds, with the method of a run on all rows."""
    all_rows = whole.loss.on(whole.functional.y, Space(binned.X, weights, bins=binned.bins), groups)
    here = binned.take(part)
    given = None if weights is None else weights[part]
    L2 = Space(here.X, given, bins=here.bins, categorical=here.categorical, rows=rows)
    R = Gathered(all_rows, rows, part)
    start = whole.state.start[part]
    model = Ensemble(whole.ensemble.start, here.shape[1])
    state = State(
        start, start, np.zeros_like(start), R.value(start), whole.start_loss, model, Evidence(start.shape)
    )
    sampling = Sampling(L2, None, 1.0, whole.options.feature_fraction, whole.seed)
    progress = descend(R, whole.learner, L2, whole.descent, state, sampling)
    return [next(progress) for _ in whole.steps], state


def in_parts(whole, binned, weights, groups, edges):
    """What every part finds."""
    parts = [slice(a, b) for a, b in pairwise(edges)]
    meeting, found = Meeting(len(parts)), [None] * len(parts)

    def work(number, part):
        try:
            rows = Part(number, meeting, len(binned))
            found[number] = part_of(whole, rows, part, binned, weights, groups)
        except BaseException as error:
            found[number] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=work, args=given) for given in enumerate(parts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in found:
        if isinstance(part, BaseException) and not isinstance(part, threading.BrokenBarrierError):
            raise part
    return found


def trees_of(ensemble):
    for h in ensemble.hypotheses:
        yield from getattr(h, "trees", (h,))


NODES = ("feature", "threshold", "left", "missing_left", "category_sets", "value", "cover", "gain")


@pytest.mark.parametrize(
    "weights", ["floats", *(pytest.param(name, marks=pytest.mark.full) for name in ("none", "whole"))]
)
@pytest.mark.parametrize("name", CASES)
def test_three_parts_make_the_same_model(name, weights):
    case = dict(fingerprints.CASES[name])
    X, y, groups = fingerprints.data(getattr(case["loss"], "name", case["loss"]), case.pop("missing", False))
    given = {"none": None, "whole": fingerprints.WHOLE, "floats": fingerprints.FLOATS}[weights]
    if given is not None:
        X, y, groups, given = (part[given > 0] for part in (X, y, groups, given))
    binned = Binned(X, given, categorical=case.pop("categorical", ()), max_bins=case.pop("max_bins", 255))
    options = {"rounds": 5, **case, "sample_weight": given, "random_state": 0}
    if not getattr(case["loss"], "uses_groups", str(case["loss"]).startswith("rank")):
        groups = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these steps are large
        whole = ab.boost(binned, y, groups=groups, **{**options, "rounds": 5})
    n = len(X)
    found = in_parts(whole, binned, given, groups, (0, n // 7, n // 2, n))
    np.testing.assert_array_equal(np.concatenate([part.scores for _, part in found]), whole.scores)
    for steps, part in found:
        assert [step._replace(seconds=0.0) for step in steps] == [
            step._replace(seconds=0.0) for step in whole.steps
        ]
        assert part.norm == whole.norm
        for one, other in zip(trees_of(part.ensemble), trees_of(whole.ensemble), strict=True):
            for array in NODES:
                np.testing.assert_array_equal(getattr(one, array), getattr(other, array))


def test_quantiles_of_parts_are_those_of_all():
    random = np.random.default_rng(0)
    n, leaves = 400, 5
    values, weights = random.normal(size=n).round(1), random.integers(0, 3, n).astype(float)
    leaf = random.integers(0, leaves, n)
    whole = Here(n).quantiles(values, weights, leaf, leaves, 0.5)
    meeting, found = Meeting(2), [None, None]

    def work(number, part):
        rows = Part(number, meeting, n)
        found[number] = rows.quantiles(values[part], weights[part], leaf[part], leaves, 0.5)

    threads = [threading.Thread(target=work, args=(k, slice(150 * k, [150, n][k]))) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in found:
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("memory", [1, 2**24])
def test_little_memory_for_histograms_makes_the_same_tree(memory, monkeypatch):
    random = np.random.default_rng(5)
    X, target = random.normal(size=(500, 11)), random.normal(size=500)
    X[:, 2] = random.integers(0, 9, 500)
    tree = ab.weak.Tree(31)
    usual = tree.project(Space(X, categorical=(2,)), target)
    monkeypatch.setattr("anyboost.trees.grower.MOST_MEMORY", memory)
    scarce = tree.project(Space(X, categorical=(2,)), target)
    np.testing.assert_array_equal(usual.leaf, scarce.leaf)
    np.testing.assert_array_equal(usual.leaf_values, scarce.leaf_values)
