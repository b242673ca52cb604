"""Labels of any type are on a cluster what they are in one place."""

import datetime
import decimal
import fractions
import uuid

import numpy as np
import pytest

import anyboost as ab
import fingerprints
from anyboost.trees.parts import distinct
from models import model_of
from spread import delayed

X, Y, GROUPS = fingerprints.data("squared")
HOW = (ab.losses.WorstGroup(ab.losses.Squared()), "stump")


def objects(*labels):
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


LABELS = {
    "dates": np.array(["2024-02-29", "1969-12-31", "NaT"], "M8[D]"),
    "moments": np.array([0, 1, -1], "M8[ns]"),
    "times": np.array([3, 1, 2], "m8[h]"),
    "bytes": np.array([b"a", b"b", b"ab"]),
    "whole numbers": objects(3, -1, 10**30),
    "numbers": objects(0.1, True, 7),
    "words": objects("a", "a\0", "a\0\0"),
    "letters": objects("\ud800", "\u00e4", '"'),
    "NumPy's": objects(np.int8(3), np.float32(0.1), np.int64(2)),
    "NumPy's words": objects(np.str_("b"), "c", np.str_("a")),
    "objects of dates": objects(*[datetime.date(2024, 1, day) for day in (3, 1, 2)]),
    "objects of moments": objects(
        *[datetime.datetime(2024, 1, 1, 1, 1, 1, k, datetime.UTC) for k in (3, 1, 2)]
    ),
    "spans": objects(datetime.timedelta(1), datetime.timedelta(-1, 1, 1), datetime.timedelta(10**8)),
    "hours": objects(*[datetime.time(hour) for hour in (3, 1, 2)]),
    "decimals": objects(*map(decimal.Decimal, ("0.1", "0.10000000000000000000001", "-1"))),
    "fractions": objects(fractions.Fraction(1, 3), fractions.Fraction(1, 2), fractions.Fraction(2, 3)),
    "strings of bytes": objects(b"a", b"a\0", b""),
    "names": objects(*[uuid.UUID(int=number) for number in (3, 1, 2)]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_groups_may_have_labels_of_any_type(client, labels):
    """What is one label in one place is one on a cluster, and what are two are two."""
    groups = labels[GROUPS % 3]
    assert len(distinct(groups)[0]) == 3
    dX, dy, dg = delayed(X, Y, groups)
    run = ab.dask.boost(client, dX, dy, *HOW, rounds=3, groups=dg, timeout=60.0)
    assert model_of(run) == model_of(ab.boost(X, Y, *HOW, rounds=3, groups=groups))


@pytest.mark.parametrize("name", [name for name, labels in LABELS.items() if labels.dtype == object])
def test_objects_come_as_they_were(name):
    from anyboost.dask import labels

    given = LABELS[name]
    found = labels.read(labels.write(given[:, None]), (3, 1))[:, 0]
    assert [(type(label), label) for label in found] == [(type(label), label) for label in given]


def test_labels_that_cannot_travel_are_refused_in_a_sentence(client):
    dX, dy, dg = delayed(X, Y, objects((1, 2), (1, 3))[GROUPS % 2])
    with pytest.raises(ValueError, match="labels of the type tuple cannot travel between workers: turn them"):
        ab.dask.boost(client, dX, dy, *HOW, groups=dg, timeout=60.0)


def test_classes_that_end_with_zeros_are_told_apart(client):
    y = objects("a", "a\0", "b")[GROUPS % 3]
    given = {"max_iter": 3, "learner": "stump"}
    local = ab.BoostingClassifier(**given).fit(X, y)
    model = ab.dask.DaskBoostingClassifier(**given, client=client).fit(*delayed(X, y))
    assert model.classes_.tolist() == local.classes_.tolist()
    assert model.to_local().predict(X).tolist() == local.predict(X).tolist()
