"""The progress table: lines at doubling counts, averages that are right however the stream is cut."""

import numpy as np
import pytest

from anyboost.cli.passes.progressive import ProgressTable, Tally


def lines_of(losses, cuts, weights=None):
    """The printed lines of a stream that arrives in batches ending at `cuts`."""
    table, lines = ProgressTable(own=[("constant", "loss")]), []
    for begin, end in zip([0, *cuts], [*cuts, len(losses)], strict=True):
        batch = losses[begin:end]
        for rows in table.pieces(len(batch)):
            mass = None if weights is None else weights[begin:end][rows]
            table.add(batch[rows], label=1.0, prediction=0.5, features=3, weights=mass)
            if table.due:
                lines.append(table.line(0.25))
    return table, lines


def test_the_heading_is_that_of_vowpal_wabbit():
    first, second = ProgressTable().heading().splitlines()
    assert first == "average  since         example        example        current        current  current"
    assert second == "loss     last          counter         weight          label        predict features"


def test_lines_come_at_doubling_counts_with_the_average_so_far_and_since_the_last_line():
    losses = np.random.default_rng(0).exponential(size=100)
    _, lines = lines_of(losses, [])
    counts = [int(line.split()[2]) for line in lines]
    assert counts == [1, 2, 4, 8, 16, 32, 64]
    for line, before, count in zip(lines, [0, *counts], counts, strict=False):
        average, since = map(float, line.split()[:2])
        assert average == pytest.approx(losses[:count].mean(), abs=1e-6)
        assert since == pytest.approx(losses[before:count].mean(), abs=1e-6)


@pytest.mark.parametrize("cuts", [[1], [5, 6, 90], list(range(1, 100)), [64], [63, 65]])
def test_the_table_does_not_depend_on_how_the_stream_is_cut(cuts):
    random = np.random.default_rng(1)
    losses, weights = random.exponential(size=100), random.uniform(0.5, 2, size=100)
    whole, lines = lines_of(losses, [], weights)
    cut, cut_lines = lines_of(losses, cuts, weights)
    assert cut_lines == lines
    assert cut.tally == whole.tally


def test_a_table_goes_on_from_its_tally():
    losses = np.random.default_rng(2).exponential(size=40)
    _, lines = lines_of(losses, [])
    first, head = lines_of(losses[:11], [])
    second = ProgressTable(own=first.own, tally=Tally(**first.tally.as_dict()))
    tail = []
    for rows in second.pieces(29):
        second.add(losses[11:][rows], label=1.0, prediction=0.5, features=3)
        if second.due:
            tail.append(second.line(0.25))
    assert head + tail == lines


def test_columns_keep_their_width_whatever_the_values():
    table = ProgressTable(own=[("constant", "loss")])
    table.add(np.array([1e12]), label=-1e10, prediction="a class with a very long name", features=3)
    line = table.line(None)
    width = len(table.heading().splitlines()[1])
    assert len(line) == width
    assert line.split()[-1] == "n.a."


@pytest.mark.parametrize(
    ("loss", "shown"),
    [
        (9.87654321, "9.876543"),
        (12.3456789, "12.34568"),
        (123456.789, "123456.8"),
        (87654321.0, "87654321"),
        (12345678901.0, "1.23e+10"),
        (1.5e300, "1.5e+300"),
        (np.inf, "inf"),
    ],
)
def test_a_large_loss_keeps_the_digits_there_is_room_for(loss, shown):
    """One digit of it would hide whether it falls."""
    table = ProgressTable()
    table.add(np.array([loss]), label=-loss, prediction=loss, features=3)
    cells = table.line().split()
    assert cells[0] == shown
    assert float(cells[4]) == pytest.approx(-loss, rel=1e-6, abs=1e-4)
    assert len(table.line()) == len(table.heading().splitlines()[1])
