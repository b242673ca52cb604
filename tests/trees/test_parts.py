"""`boost` by members of a circle, each with its own rows: the model of all rows in one place, byte for byte."""

import math
import warnings
from functools import partial

import numpy as np
import pytest

import anyboost as ab
import fingerprints
from anyboost.draws import Units
from anyboost.losses import risk
from anyboost.trees.binning import column_thresholds
from anyboost.trees.cuts import OF_PARTS, thresholds
from anyboost.trees.parts import Moved, total
from anyboost.trees.questions import found_by
from models import model_of
from parts import Member, in_circle, in_parts

FULL = pytest.mark.full
EDGES = {
    "one": (0, 400),
    "two": (0, 150, 400),
    "three, one of them empty": (0, 0, 100, 400),
    "seven": (0, 1, 60, 130, 131, 200, 390, 400),
}
LINEAR = fingerprints.case("squared", ab.weak.Tree(8, leaf="linear"))
CASES = {
    **fingerprints.CASES,
    "linear leaves": LINEAR,
    "curvature": fingerprints.case("logistic", descent=ab.descent.Naive(0.5, curvature=True)),
    "curvature, softmax": fingerprints.case("softmax", descent=ab.descent.Residual(0.3, 0.5, curvature=True)),
    "huber by its targets": fingerprints.case("huber"),
    "float32": {**fingerprints.case("absolute"), "dtype": np.float32},
}
MATTER = (  # one a kind of sum, every kind of partition
    *(
        "absolute, trees",
        "softmax, trees",
        "cvar",
        "worst group",
        "rank_hinge, trees",
        "cox, trees",
        "few bins",
    ),
    *("float weights", "some rows", "categories, missing, logistic", "linear leaves", "each, exact"),
)


def run_of(name, order=None, part=slice(None), **more):
    case = CASES[name] | {"rounds": 5} | more
    X, y, groups = fingerprints.data(getattr(case["loss"], "name", case["loss"]), case.pop("missing", False))
    X = X.astype(case.pop("dtype", np.float64))
    order = np.arange(len(y)) if order is None else order
    uses = getattr(case["loss"], "uses_groups", str(case["loss"]).startswith("rank"))
    given = {"groups": groups if uses else None, "sample_weight": case.pop("sample_weight", None)}
    given = {key: None if value is None else value[order][part] for key, value in given.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these steps are large
        return ab.boost(
            X[order][part],
            y[order][part],
            **case,
            **given,
            n_threads=1,
            random_state=3,
        )


@pytest.mark.parametrize(("likely", "memory"), [(0.0, 2**25), (1.0, 2**25), (1.0, 0)])
@pytest.mark.parametrize("name", ["some rows and columns, categories", "by level, limited", "monotone"])
def test_how_far_is_looked_ahead_changes_no_tree(name, likely, memory, monkeypatch):
    from anyboost.trees import ahead

    monkeypatch.setattr(ahead, "_LIKELY", likely)
    monkeypatch.setattr(ahead, "_MOST_MEMORY", memory)
    compare(name, EDGES["two"])


def test_histograms_that_are_given_up_are_counted_again(monkeypatch):
    from anyboost.trees import grower

    monkeypatch.setattr(grower, "MOST_MEMORY", 0)  # two leaves keep theirs
    compare("large tree", EDGES["three, one of them empty"])


def test_a_round_asks_for_little_and_seldom(monkeypatch):
    """A question costs every worker a wait, and what is sent has to be encrypted."""
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 8)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + random.normal(size=6000)
    asked, trade = [], Member.trade

    def watched(self, parcels):
        if self.place == 0:
            asked.append(parcels[1].nbytes)
        return trade(self, parcels)

    monkeypatch.setattr(Member, "trade", watched)

    def fit(place, rounds):
        half = slice(3000 * place, 3000 * (place + 1))
        how = {"descent": ab.descent.Naive(0.1), "rounds": rounds, "record": "light", "n_threads": 1}
        ab.boost(X[half], y[half], "absolute", ab.weak.Tree(31, leaf="exact"), **how)

    counts = []
    for rounds in (2, 12):
        asked.clear()
        in_circle(partial(fit, rounds=rounds), 2)
        counts.append(len(asked))
    assert (counts[1] - counts[0]) / 10 <= 24  # of which 29 histograms are some 14


@FULL
def test_the_tail_of_many_rows_is_found_by_sums(monkeypatch):
    """No part is sent the losses of all in a round."""
    asked, gather, edges = [], Member.gather, (0, 0, 150, 300, 450)
    monkeypatch.setattr(Member, "gather", lambda self, values: asked.append(1) or gather(self, values))

    def times(rounds):
        asked.clear()
        whole = run_of("cvar", rounds=rounds)
        parts = partial(run_of, "cvar", None, rounds=rounds)
        for run in in_circle(lambda place: parts(part=slice(*edges[place : place + 2])), 4):
            assert model_of(run) == model_of(whole)
        return len(asked)

    assert times(5) > times(2)  # where few are sorted
    monkeypatch.setattr(risk, "FEW", 0)
    assert times(5) == times(2)


def test_rows_meet_at_their_owners_and_come_back():
    random, edges = np.random.default_rng(0), (0, 0, 100, 400)
    values, owner = random.normal(size=400), random.integers(0, 3, 400)

    def work(place):
        part = slice(*edges[place : place + 2])
        moved = Moved(owner[part])
        np.testing.assert_array_equal(moved.there(values[part]), values[owner == place])
        np.testing.assert_array_equal(moved.back(moved.there(values[part])), values[part])

    in_circle(work, 3)


def test_sums_of_parts_are_rounded_once():
    random = np.random.default_rng(0)
    values = random.normal(size=400) * 10.0 ** random.integers(-20, 20, 400)
    values[:3] = 1e300, 1.0, -1e300
    edges = EDGES["seven"]
    found = in_circle(lambda place: total(values[slice(*edges[place : place + 2])]), len(edges) - 1)
    assert set(found) == {math.fsum(values)}


@pytest.mark.parametrize("weights", [None, np.arange(400) % 3 + 1.0, np.linspace(1, 2, 400)])
@pytest.mark.parametrize("classes", [False, True])
def test_folds_of_parts_are_those_of_all(weights, classes):
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = np.round(np.abs(X[:, 0]))
    y[7] = 9.0  # the only one of its class
    edges = EDGES["three, one of them empty"]

    def folds(part):
        own = None if weights is None else weights[part]
        return Units(3, X[part], y[part], own).folds(4, y[part] if classes else None)

    found = in_circle(lambda place: folds(slice(*edges[place : place + 2])), 3)
    np.testing.assert_array_equal(np.concatenate(found, axis=1), folds(slice(None)))


def test_queries_of_one_part_send_no_rows(monkeypatch):
    """Nobody is sent the scores of all, and the pairs of a query are looked at once."""
    y, groups = fingerprints.data("rank_logistic")[1:]
    sent, trade = [], Member.trade

    def watched(self, parcels):
        sent.extend(parcel for place, parcel in enumerate(parcels) if place != self.place)
        return trade(self, parcels)

    monkeypatch.setattr(Member, "trade", watched)

    def sent_by(edges):
        def work(rows):
            space = ab.space.Space(np.zeros((len(y[rows.own]), 1)), rows=rows)
            R = ab.losses.RankLogistic().on(y[rows.own], space, groups[rows.own])
            sent.clear()
            rows.most(0)  # all have got this far
            return R.at(y[rows.own] / 3)[0], R.curvature(y[rows.own] / 3).sum()

        found = in_parts(work, edges)
        assert len({value for value, _ in found}) == 1
        return max(np.size(part) for part in sent)

    assert sent_by((0, 100, 200, 400)) <= 3  # sums, and their largest terms
    assert sent_by((0, 105, 200, 400)) == 5  # of a query torn in two


def compare(name, edges, order=None, **more):
    whole = run_of(name, **more)
    sizes = len(edges) - 1
    for run in in_circle(lambda place: run_of(name, order, slice(*edges[place : place + 2]), **more), sizes):
        assert model_of(run) == model_of(whole)
        assert [step._replace(seconds=0.0) for step in run.steps] == [
            step._replace(seconds=0.0) for step in whole.steps
        ]


@pytest.mark.parametrize(
    "name", [name if name in MATTER else pytest.param(name, marks=FULL) for name in CASES]
)
def test_members_make_the_same_model(name):
    order = np.random.default_rng(1).permutation(fingerprints.ROWS)
    compare(name, EDGES["three, one of them empty"], order)


@pytest.mark.full
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("weights", ["none", "whole", "floats"])
@pytest.mark.parametrize("name", CASES)
def test_any_parts_make_the_same_model(name, weights, edges):
    given = {
        "none": {},
        "whole": {"sample_weight": fingerprints.WHOLE},
        "floats": {"sample_weight": fingerprints.FLOATS},
    }
    compare(name, EDGES[edges], **given[weights])


@pytest.mark.parametrize("kind", ["numbers", "float32", "few", "ties", "missing", "infinite", "nothing"])
@pytest.mark.parametrize("weights", [False, True])
def test_thresholds_of_parts_are_those_of_all(kind, weights):
    random = np.random.default_rng(0)
    column = random.normal(size=3000)
    if kind == "float32":
        column = column.astype(np.float32)
    elif kind == "few":
        column = random.integers(-5, 5, 3000) / 3.0
    elif kind == "ties":
        column = np.where(random.random(3000) < 0.6, 0.25, column.round(2))
    elif kind == "missing":
        column[random.random(3000) < 0.3] = np.nan
    elif kind == "infinite":
        column[:40], column[40:60] = np.inf, -np.inf
    elif kind == "nothing":
        column[:] = np.nan
    masses = random.integers(1, 1000, 3000) if weights else None
    wanted, missing = column_thresholds(column, masses, 40)

    def look(rows):
        own = None if masses is None else masses[rows.own]
        search = thresholds(lambda: [(column[rows.own], own)], 40, column.dtype, OF_PARTS)
        return found_by(search, rows)

    for found, some in in_parts(look, (0, 10, 10, 1700, 3000)):
        np.testing.assert_array_equal(found, wanted)
        assert some == missing
