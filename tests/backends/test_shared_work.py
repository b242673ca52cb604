"""Teams of threads: every task is done once, whoever comes, and nobody is waited for who does not come."""

import threading

import numpy as np
import pytest

import anyboost as ab
from anyboost.backends import atomics, shared_work, threads
from anyboost.backends.compiler import kernel

TASKS, TURNS = 5, 3000


@kernel
def lead(sync, done):
    for _ in range(TURNS):
        shared_work.publish(sync)
        number = shared_work.claim(sync, TASKS)
        while number >= 0:
            done[number] += 1
            shared_work.finish(sync)
            number = shared_work.claim(sync, TASKS)
        shared_work.wait(sync, TASKS)
    shared_work.dismiss(sync)


@kernel
def follow(sync, done):
    looks, mine = 0, 0
    while True:
        number = shared_work.claim(sync, TASKS)
        if number == -2:
            return mine
        if number == -1:
            looks = atomics.rest(looks)
        else:
            done[number] += 1
            mine += 1
            shared_work.finish(sync)


@pytest.mark.parametrize("others", [0, 1, 4])
def test_every_task_of_every_turn_is_done_once(others):
    """A count goes astray where two threads do one task at a time, or where one begins before its turn."""
    sync, done = shared_work.zeros(), np.zeros(TASKS, dtype=np.int64)
    threads.invite(lambda: follow(sync, done), others)
    lead(sync, done)
    np.testing.assert_array_equal(done, TURNS)
    assert follow(sync, done) == 0  # too late


def test_more_teams_than_threads():
    """Eight fits at once, each of which would like four threads: there are not that many, and no fit waits for ever."""
    random = np.random.default_rng(0)
    X = random.normal(size=(4_000, 90))
    y = X[:, 0] + random.normal(size=4_000)

    def fit(n_threads):
        run = ab.boost(X, y, "squared", ab.weak.Tree(15), ab.descent.Naive(0.1), 8, n_threads=n_threads)
        return run.ensemble.predict(X)

    expected = fit(1)
    found = []
    fits = [threading.Thread(target=lambda: found.append(fit(4)), daemon=True) for _ in range(8)]
    for thread in fits:
        thread.start()
    for thread in fits:
        thread.join(timeout=300)
        assert not thread.is_alive()
    assert len(found) == 8
    for scores in found:
        np.testing.assert_array_equal(scores, expected)
