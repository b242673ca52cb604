"""The text of a model can be followed by hand to its predictions."""

import re

import numpy as np
import pytest

import anyboost as ab
from export.models import MODELS, fitted


def _follow(lines, row):
    """The sum that the text says for a row, {name: value}, of a model of one output."""
    total = float(re.match(r"score = (\S+)", lines[1])[1])
    body = "\n".join(lines[2:])
    for tree in re.split(r"^tree \d+.*\n", body, flags=re.M)[1:]:
        nodes, place, depth = tree.splitlines(), 0, 1
        while True:
            line = nodes[place].strip()
            number = re.fullmatch(r"([+-]\S+)", line)
            if number:
                total += float(number[1])
                break
            goes = _answer(line, row)
            place += 1
            depth += 1
            if not goes:
                marker = "  " * (depth - 1) + "else"
                while nodes[place] != marker:
                    place += 1
                place += 1
    return total


def _answer(line, row):
    asked = re.fullmatch(r"(.+) <= (\S+) \(missing: (left|right)\)", line)
    if asked:
        value = row[asked[1]]
        return asked[3] == "left" if value != value else value <= float(asked[2])
    if line.endswith(" is not missing"):
        return row[line.removesuffix(" is not missing")] == row[line.removesuffix(" is not missing")]
    inside = re.fullmatch(r"(.+?) (not in|in) \{(.*)\}(, or missing)?", line)
    found = row[inside[1]] in inside[3].split(", ")
    return found if inside[2] == "in" else not found


@pytest.mark.parametrize("name", ["squared", "absolute", "stumps", "categories"])
def test_following_the_text_gives_the_score(name):
    model, X = fitted(name)
    lines = ab.export.to_text(model).splitlines()
    records = X.to_dict("records") if hasattr(X, "to_dict") else None
    for number in range(0, 60, 3):
        row = records[number] if records else {f"column {j}": value for j, value in enumerate(X[number])}
        score = model._raw(X.iloc[[number]] if records else X[[number]])[0]
        assert _follow(lines, row) == pytest.approx(score, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_text(name):
    model, _ = fitted(name)
    text = ab.export.to_text(model)
    assert "score = " in text
    leaves = sum(tree.n_leaves for tree in _trees(model))
    assert len(re.findall(r"^ *[+\[-].*\d", text, flags=re.M)) >= leaves


def _trees(model):
    for part in model.ensemble_.hypotheses:
        yield from getattr(part, "trees", [part] if hasattr(part, "n_leaves") else [])


def test_slopes_are_told():
    text = ab.export.to_text(fitted("linear leaves")[0])
    assert re.search(r"\* \(column \d within \[", text)
    assert np.isfinite(float(re.search(r"score = (\S+)", text)[1]))
