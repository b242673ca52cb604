"""Named features: they may appear and disappear, and the way they arrive (dicts, tables, any order) changes nothing."""

import pickle
import re
import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from anyboost.online.features import MOST_PLANS, Features, hashed


def dense(rows, width):
    table = np.zeros((rows.n, width))
    for row in range(rows.n):
        span = slice(rows.starts[row], rows.starts[row + 1])
        assert (np.diff(rows.columns[span]) > 0).all()
        table[row, rows.columns[span]] = rows.values[span]
    return table


EXAMPLES = [
    {"a": 1.0, "b": 2},
    {"b": True, "a": np.float32(0.5)},
    {},
    {"c": "red", "a": -1.0},
    {"c": None, "d": 4.0},
    {"c": "blue", "b": 1.0, "a": 3.0},
]


@pytest.mark.parametrize("bits", [None, 2, 18])
@pytest.mark.parametrize("again", [1, 3])
def test_dicts_and_tables_give_the_same_rows(bits, again):
    one, many, table = Features(bits), Features(bits), Features(bits)
    for _ in range(again):  # the second time the columns are remembered
        singles = []
        for x in EXAMPLES:
            columns, values = one.row(x, grow=True)
            full = np.zeros(64 if bits is None else 1 << bits)
            np.add.at(full, columns, values)
            singles.append(full)
        rows = many.rows(EXAMPLES, grow=True)
    np.testing.assert_array_equal(dense(rows, len(singles[0])), singles)
    assert one.names == many.names
    if bits is not None:
        names = ["a", "b", "c", "d"]
        columns = {name: [x.get(name) for x in EXAMPLES] for name in names}
        arrays = {
            name: np.array(cells, dtype=object if name == "c" else np.float64)
            for name, cells in columns.items()
        }
        np.testing.assert_array_equal(dense(table.table(arrays, len(EXAMPLES), True), 1 << bits), singles)


def test_the_order_of_names_in_a_dict_does_not_matter():
    features = Features()
    features.row({"a": 1.0, "b": 2.0, "c": 3.0}, grow=True)
    for x in ({"c": 3.0, "a": 1.0, "b": 2.0}, {"b": 2.0, "c": 3.0, "a": 1.0}):
        for _ in range(2):
            columns, values = features.row(x, grow=False)
            np.testing.assert_array_equal(columns, [0, 1, 2])
            np.testing.assert_array_equal(values, [1.0, 2.0, 3.0])


def test_columns_do_not_depend_on_the_order_of_names():
    one, other = Features(), Features()
    one.row({"b": 1.0, "a": "x", "c": 2.0}, grow=True)
    other.row({"c": 2.0, "b": 1.0, "a": "x"}, grow=True)
    assert one.names == other.names == ["a=x", "b", "c"]


def test_a_text_may_spell_another_feature():
    features = Features()
    for _ in range(2):
        columns, values = features.row({"a": "7", "a=7": 2.0}, grow=True)
        assert (features.names, columns.tolist(), values.tolist()) == (["a=7"], [0], [3.0])


def test_predicting_adds_no_columns():
    features = Features()
    features.row({"a": 1.0}, grow=True)
    columns, values = features.row({"new": 5.0, "a": 2.0, "text": "x"}, grow=False)
    assert (columns.tolist(), values.tolist()) == ([0], [2.0])
    assert features.names == ["a"]


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_what_is_not_finite_is_refused_and_leaves_nothing(bad, seen):
    features = Features()
    if seen:
        features.row({"a": 1.0, "b": 1.0}, grow=True)
    names = list(features.names)
    with pytest.raises(ValueError, match=r"x\['b'\] must be finite, got -?inf: leave a missing"):
        features.row({"a": 1.0, "b": bad}, grow=True)
    with pytest.raises(ValueError, match=r"must be finite.*\(row 1\)"):
        features.rows([{"z": 1.0}, {"a": 1.0, "b": bad}], grow=True)
    with pytest.raises(ValueError, match="column 'b' must be finite, got inf at row 1"):
        features.table({"z": np.ones(2), "b": np.array([np.nan, np.inf])}, 2, grow=True)
    assert features.names == names


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_no_feature(missing, seen):
    features = Features()
    if seen:
        features.row({"a": 1.0, "b": 1.0}, grow=True)
    for grow in (False, True):
        columns, _ = features.row({"a": 2.0, "b": missing}, grow=grow)
        assert columns.tolist() == [0] * (seen or grow)
    assert ("b" in features.names) == seen


@pytest.mark.parametrize(
    ("bad", "advice"),
    [
        (datetime(2024, 5, 1), "datetime: turn it into numbers or a category, such as the year, the weekday"),
        (pd.Timestamp("2024-05-01"), "Timestamp: turn it into numbers or a category, such as the year"),
        (
            np.datetime64("2024-05-01", "ns"),
            "datetime64: turn it into numbers or a category, such as the year",
        ),
        (pd.Timedelta("1D"), "Timedelta: turn it into numbers or a category, such as its seconds"),
        ([1.0], "list: convert it first"),
    ],
)
def test_what_is_no_number_is_refused_with_what_to_make_of_it(bad, advice):
    with pytest.raises(ValueError, match=r"x\['when'\] must be a number or text, got " + re.escape(advice)):
        Features().row({"when": bad}, grow=True)


def test_huge_values_whose_sum_overflows_are_fine():
    features = Features()
    for _ in range(2):
        assert features.row({"a": 1e308, "b": 1e308}, grow=True)[1].tolist() == [1e308, 1e308]


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([1.0], "x must be a dict of features, got list"),
        ({"a": [1.0]}, r"x\['a'\] must be a number or text, got list"),
        ({"a": 10**400}, r"x\['a'\] must be finite, got a number beyond all floats"),
        ({(1, 2): 1.0}, "a feature's name must be text or a whole number"),
    ],
)
def test_what_is_no_example_is_refused(x, reason):
    with pytest.raises(ValueError, match=reason):
        Features().row(x, grow=True)


def test_a_number_beyond_all_floats_is_refused_by_a_remembered_plan_too():
    features = Features()
    features.row({"a": 1.0}, grow=True)
    with pytest.raises(ValueError, match="beyond all floats"):
        features.row({"a": 10**400}, grow=True)


def test_text_and_numbers_may_take_turns():
    features = Features()
    for value, name in [("7", "a=7"), (7.0, "a"), ("7", "a=7"), (7.0, "a")]:
        columns, _ = features.row({"a": value}, grow=True)
        assert [features.names[column] for column in columns] == [name]


def test_memory_is_bounded_when_names_keep_changing():
    features = Features(bits=4)
    for i in range(10 * MOST_PLANS):
        features.row({f"x{i}": 1.0}, grow=True)
    assert len(features._plans) <= MOST_PLANS
    assert features.names == []


def test_hashes_are_the_same_in_another_process():
    code = "from anyboost.online.features import hashed; print([hashed(f'x{i}', 18) for i in range(50)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = [hashed(f"x{i}", 18) for i in range(50)]
    assert done.stdout.strip() == str(ours)
    assert len(set(ours)) > 45


def test_a_pickle_keeps_the_columns():
    features = Features()
    features.rows(EXAMPLES, grow=True)
    copied = pickle.loads(pickle.dumps(features))
    assert copied.names == features.names
    assert copied.row({"d": 1.0}, grow=False)[0].tolist() == features.row({"d": 1.0}, grow=False)[0].tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["uint8", "int8", "float16", "float32", "bool", "uint64"])
def test_numbers_of_few_bits_are_learnt_without_a_warning(kind):
    features = Features()
    x = {name: np.dtype(kind).type(value) for name, value in (("a", 120), ("b", 100), ("c", 90))}
    if kind == "float16":
        x["a"] = x["b"] = np.float16(60000)
    for _ in range(3):
        np.testing.assert_array_equal(features.row(x, True)[1], [float(value) for value in x.values()])
