"""Lines of Vowpal Wabbit's format mean what VW says they mean."""

import pytest

from anyboost.cli.rows import vw
from anyboost.cli.rows.cells import TableError


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 | a b:2", ("1", 1.0, "", {"a": 1.0, "b": 2.0})),
        ("-1 0.5 'house|price:2 sqm:0.25 x | old", ("-1", 0.5, "house", {"price^sqm": 0.5, "price^x": 2.0, "old": 1})),
        ("0 tag|f 1:2", ("0", 1.0, "tag", {"f^1": 2.0})),
        ("| a", (None, 1.0, "", {"a": 1.0})),
        ("'only|n a", (None, 1.0, "only", {"n^a": 1.0})),
        ("3 |n a:1 a:2 |n a:4", ("3", 1.0, "", {"n^a": 7.0})),
        ("2 |", ("2", 1.0, "", {})),
        ("1 |n http://x:80:2", ("1", 1.0, "", {"n^http://x:80": 2.0})),
        ("yes |n é", ("yes", 1.0, "", {"n^é": 1.0})),
    ],
)  # fmt: skip
def test_a_line(line, expected):
    assert vw.parse(line + "\n", 1)[:4] == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 a b", "line 7 has no '|'"),
        ("1 x 'tag|a", "line 7: the weight must be a finite number, got 'x'"),
        ("1 -2 |a", "line 7: the weight must not be negative, got -2"),
        ("1 1 0.5 |a", "a label and a weight can be read, not a base prediction"),
        ("1 |a b:nan", "line 7: the value of feature 'b' must be a finite number, got 'nan'"),
        ("1 |a:x b", "line 7: the scale of namespace 'a' must be a finite number"),
        ("1 |a b:", "the value of feature 'b' must be a finite number, got ''"),
        ("1 |a \udcff", "line 7 is not UTF-8"),
    ],
)
def test_a_bad_line_is_named(line, reason):
    with pytest.raises(TableError) as caught:
        vw.parse(line, 7)
    assert reason in str(caught.value)


@pytest.mark.parametrize("rows", [1, 3, 4096])
def test_examples_before_a_bad_line_come_first(tmp_path, rows):
    path = tmp_path / "t.vw"
    path.write_text("".join(f"{i} | x:{i}\n\n" for i in range(10)) + "broken\n1 | x\n")
    seen = []

    def read_all():
        for batch in vw.read(str(path), rows=rows, skip=2):
            seen.extend((example.label, example.line) for example in batch)

    with pytest.raises(TableError, match="line 21 has no"):
        read_all()
    assert seen == [(str(i), 2 * i + 1) for i in range(2, 10)]


def test_vowpal_wabbit_sees_the_same_features():
    wabbit = pytest.importorskip("vowpalwabbit")
    lines = ["1 2 'a|n x:2 y |m:3 x", "-1 | x y:0.5", "0.25 tag|n x:2"]
    workspace = wabbit.Workspace("--quiet --noconstant")
    for line in lines:
        example = workspace.example(line)
        ours = vw.parse(line, 1)
        assert example.get_simplelabel_label() == pytest.approx(float(ours.label))
        assert example.get_simplelabel_weight() == pytest.approx(ours.weight)
        assert example.get_tag() == ours.tag
        theirs = sorted(value for _, value in example.iter_features())
        assert theirs == pytest.approx(sorted(ours.features.values()))
        workspace.finish_example(example)
    workspace.finish()
