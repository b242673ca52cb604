"""Pieces pass through all stages in their order, whoever works there."""

import threading

import numpy as np
import pytest

from anyboost.backends import pipeline
from anyboost.backends.atomics import rest
from anyboost.backends.compiler import kernel


@kernel
def work(sync, count, pieces, slots, slow, room, seen):
    """Station k makes 3 * number + k of what lies in the piece's slot; the last keeps a sum that tells the order."""
    looks = 0
    while pipeline.finished(sync, count - 1) < pieces:
        stage = pipeline.claim(sync, count, pieces, slots)
        if stage < 0:
            looks = rest(looks)
            continue
        looks = 0
        number = pipeline.finished(sync, stage)
        slot = number % slots
        value = number if stage == 0 else room[slot]
        for _ in range(slow * (1 + (number * 7 + stage) % 5)):
            value = (value * 5 + 1) % 1000003
        room[slot] = (3 * value + stage) % 1000003
        if stage == count - 1:
            seen[0] = (seen[0] * 31 + room[slot]) % 1000003
        pipeline.pass_on(sync, stage)


def run(helpers, count=4, pieces=3000, slots=5, slow=3):
    sync, room, seen = pipeline.prepare(count), np.zeros(slots, np.int64), np.zeros(1, np.int64)
    given = (sync, count, pieces, slots, slow, room, seen)
    others = [threading.Thread(target=work, args=given) for _ in range(helpers)]
    for thread in others:
        thread.start()
    pipeline.open_up(sync)
    work(*given)
    for thread in others:
        thread.join()
    assert [pipeline.finished(sync, k) for k in range(count)] == [pieces] * count
    return seen[0]


@pytest.mark.parametrize("helpers", [1, 2, 5])
@pytest.mark.parametrize(("count", "slots", "slow"), [(4, 5, 3), (1, 1, 0), (3, 1, 1), (6, 2, 0)])
def test_any_number_of_threads_gives_the_same(helpers, count, slots, slow):
    assert run(helpers, count, 3000, slots, slow) == run(0, count, 3000, slots, slow)


def test_nobody_enters_before_it_opens():
    sync = pipeline.prepare(3)
    assert pipeline.claim(sync, 3, 10, 2) == -1
    pipeline.open_up(sync)
    assert pipeline.claim(sync, 3, 10, 2) == 0
    assert pipeline.claim(sync, 3, 10, 2) == -1  # taken
    pipeline.pass_on(sync, 0)
    assert pipeline.claim(sync, 3, 10, 2) == 1  # later stages first


def test_no_more_pieces_than_slots():
    sync = pipeline.prepare(2)
    pipeline.open_up(sync)
    for _ in range(3):
        assert pipeline.claim(sync, 1 + 1, 10, 3) in (0, 1)
        pipeline.pass_on(sync, 0)
        sync[16 + 8] = 1  # somebody is at the last stage, and stays there
    assert pipeline.claim(sync, 2, 10, 3) == -1
