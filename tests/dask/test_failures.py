"""A worker that dies costs time and nothing else: the same bytes, or a sentence, and nothing is left behind."""

import json
import os
import random
import signal
import threading
import time
from functools import partial, wraps

import dask
import dask.array as da
import numpy as np
import pytest
from distributed.diagnostics.plugin import WorkerPlugin

import anyboost as ab
from collective_fits import dealt
from collectives import Marksman
from models import model_of
from processes import children, left_behind, nothing_left, pids

FULL = pytest.mark.full
ROWS, COLUMNS, PARTS = 6000, 6, 6
HOW = {"loss": "absolute", "learner": ab.weak.Tree(15), "rounds": 60}


def rows(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(ROWS // PARTS, COLUMNS))
    return X, X[:, 0] * X[:, 1] + generator.normal(size=len(X)) / 10


def slow_rows(seed):
    time.sleep(0.4)
    return rows(seed)


def collections():
    """Partitions that a worker can make again."""
    made = [dask.delayed(rows)(seed) for seed in range(PARTS)]
    return [part[0] for part in made], [part[1] for part in made]


def on_both(client):
    """The same, each worker with half of them, and able to make those of the other."""
    return tuple(
        dealt(client, [partial(_rows_or_targets, seed, n) for seed in range(PARTS)]) for n in range(2)
    )


def _rows_or_targets(seed, number):
    return rows(seed)[number]


@pytest.fixture(scope="module")
def whole():
    made = [rows(seed) for seed in range(PARTS)]
    return ab.boost(np.concatenate([X for X, _ in made]), np.concatenate([y for _, y in made]), **HOW)


class Killer(threading.Thread):
    """Kills a worker after some seconds."""

    def __init__(self, client, seconds, turn):
        super().__init__(daemon=True)
        self.client, self.seconds, self.turn, self.killed = client, seconds, turn, None

    def run(self):
        time.sleep(self.seconds)
        alive = pids(self.client)
        self.killed = sorted(alive)[self.turn % len(alive)]
        os.kill(alive[self.killed], signal.SIGKILL)


@pytest.fixture
def attempts(monkeypatch):
    """How many workers each attempt at a fit has, and how many trees are known when it begins."""
    from anyboost.dask import fits

    found, run = [], fits.Attempt.run

    def attempt(own, work, journal):
        found.append((len(own.workers), len(journal)))
        return run(own, work, journal)

    monkeypatch.setattr(fits.Attempt, "run", attempt)
    return found


@pytest.mark.parametrize("kill", [0, 1, 2, *(pytest.param(number, marks=FULL) for number in range(3, 100))])
def test_a_worker_killed_at_any_moment_changes_no_byte(processes, whole, attempts, tmp_path, kill):
    """At a random moment of a random round; in each third run one more in what follows, that trees are sent to."""
    chance, before, orders = random.Random(kill), children(), tmp_path / "orders"
    count = 2 if kill % 3 == 2 else 1
    lines = [f"{kill + n} {2 - n} {chance.randint(0, 50)} {chance.uniform(0.0, 0.03)}" for n in range(count)]
    orders.write_text("\n".join(lines))
    processes.register_plugin(Marksman(orders, HOW["rounds"]))
    log = orders.with_suffix(".log")
    run = ab.dask.boost(processes, *on_both(processes), **HOW, timeout=60.0)
    assert model_of(run) == model_of(whole)
    told = [json.loads(line) for line in log.read_text().splitlines()]
    print(lines, told, attempts)
    assert len(told) == count
    assert all(one["at_work"] for one in told)
    assert len(attempts) > count
    # Those who wait for each other are no more than a tree apart.
    assert attempts[1][1] >= told[0]["known"] - 1
    assert attempts[-1][1] >= attempts[1][1]
    assert nothing_left(processes, before)


@FULL
@pytest.mark.parametrize("seconds", [0.2, 0.6, 1.0])
def test_a_worker_killed_while_partitions_load_changes_no_byte(processes, whole, seconds):
    before = children()
    made = [dask.delayed(slow_rows)(seed) for seed in range(PARTS)]
    killer = Killer(processes, seconds, 0)
    killer.start()
    run = ab.dask.boost(
        processes, [part[0] for part in made], [part[1] for part in made], **HOW, timeout=60.0
    )
    assert model_of(run) == model_of(whole)
    killer.join(30)
    assert nothing_left(processes, before)


class Dawdler(WorkerPlugin):
    """Workers that take long over what they do on their own, once a file is there."""

    name = "dawdler"

    def __init__(self, file, seconds):
        self.file, self.seconds = file, seconds

    def setup(self, worker):
        from anyboost.trees.journal import Journal

        remember = getattr(Journal.remember, "__wrapped__", Journal.remember)

        @wraps(remember)
        def slowly(journal, grown):
            remember(journal, grown)
            if self.file.exists():
                time.sleep(self.seconds)

        Journal.remember = slowly


def test_trees_of_a_worker_that_is_busy_for_long_are_not_lost(
    processes, whole, attempts, monkeypatch, tmp_path
):
    """Else each death would have a fit begin anew whose rounds take longer than the others are waited for."""
    monkeypatch.setattr("anyboost.dask.fits.GRACE", 1.0)
    before, busy, killed = children(), tmp_path / "busy", []
    processes.register_plugin(Dawdler(busy, 4.0))

    def kill(step, _):
        if step.round == 20 and not killed:
            alive = pids(processes)
            killed.append(alive[sorted(alive)[1]])
            busy.touch()
            for seconds, what, given in ((1.0, os.kill, (killed[0], signal.SIGKILL)), (3.0, busy.unlink, ())):
                threading.Timer(seconds, what, given).start()

    try:
        found = ab.dask.boost(processes, *on_both(processes), **HOW, timeout=60.0, callbacks=[kill])
    finally:
        processes.unregister_worker_plugin("dawdler")
    assert model_of(found) == model_of(whole)
    assert attempts[0] == (2, 0)
    assert attempts[1][1] >= 20
    assert nothing_left(processes, before)


@FULL
def test_all_workers_killed_at_once_change_no_byte(processes, whole):
    """Their journals die with them: the fit begins anew."""
    before, killed = children(), []

    def kill_all(step, _):
        if step.round == 20 and not killed:
            killed.append(step.round)
            for pid in pids(processes).values():
                os.kill(pid, signal.SIGKILL)

    run = ab.dask.boost(processes, *collections(), **HOW, timeout=60.0, callbacks=[kill_all])
    assert killed == [20]
    assert model_of(run) == model_of(whole)
    assert nothing_left(processes, before)


def test_a_fit_and_one_that_fails_leave_no_seat_port_or_process(processes, whole):
    before = children()
    assert model_of(ab.dask.boost(processes, *collections(), **HOW, timeout=60.0)) == model_of(whole)
    X, y = collections()
    y[3] = dask.delayed(np.full)(ROWS // PARTS, np.nan)
    with pytest.raises(ValueError, match="y"):
        ab.dask.boost(processes, X, y, **HOW, timeout=60.0)
    assert nothing_left(processes, before)


def test_known_trees_are_not_grown_again(monkeypatch, whole):
    from anyboost.trees import grower
    from anyboost.trees.journal import Journal
    from anyboost.trees.parts import circle
    from parts import in_circle

    made = [rows(seed) for seed in range(PARTS)]
    journals = {}

    def fit(place, edges, known, rounds):
        journals[place] = circle().journal = Journal(known)
        own = made[edges[place] : edges[place + 1]]
        X, y = (np.concatenate([part[number] for part in own]) for number in (0, 1))
        return ab.boost(X, y, **{**HOW, "rounds": rounds}, n_threads=1)

    in_circle(lambda place: fit(place, (0, 1, 6), (), 40), 2)
    known = journals[0].kept
    assert len(known) == 40
    grown = []
    counted = grower._run
    monkeypatch.setattr(grower, "_run", lambda *given: grown.append(1) or counted(*given))
    found = in_circle(lambda place: fit(place, (0, 2, 3, 6), known, 60), 3)
    assert len(grown) == 3 * 20
    for run in found:
        assert model_of(run) == model_of(whole)


def test_data_that_cannot_be_made_again_are_refused_in_a_sentence(processes):
    made = [rows(seed) for seed in range(PARTS)]
    X = processes.scatter([X for X, _ in made], hash=False)
    y = processes.scatter([y for _, y in made], hash=False)
    Killer(processes, 0.7, 1).start()
    with pytest.raises(
        ab.dask.Lost, match=r"Dask cannot compute it again|are not in memory, and nothing has moved"
    ):
        ab.dask.boost(processes, X, y, **{**HOW, "rounds": 2000}, timeout=8.0)


@FULL
def test_a_file_that_is_gone_ends_the_fit_with_its_name(processes, tmp_path):
    files = [tmp_path / f"{seed}.npy" for seed in range(PARTS)]
    for seed, file in enumerate(files):
        np.save(file, rows(seed)[0])
    X = [dask.delayed(np.load)(str(file)) for file in files]

    def lose(step, _):
        if step.round == 3:
            for file in files:
                file.unlink()
            for pid in pids(processes).values():
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(FileNotFoundError, match=r"\d.npy"):
        ab.dask.boost(processes, X, collections()[1], **HOW, timeout=60.0, callbacks=[lose])


def test_an_interrupt_at_the_client_stops_the_workers(processes, monkeypatch):
    from anyboost.dask import fits

    began = time.monotonic()

    def interrupt(_):
        if time.monotonic() - began > 1.5:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(fits.Attempt, "_look", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ab.dask.boost(processes, *collections(), **{**HOW, "rounds": 100_000}, timeout=60.0)
    deadline = time.monotonic() + 20
    while any(left_behind(processes).values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(left_behind(processes).values())


def test_without_any_worker_the_fit_ends_with_a_sentence():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as alone,
    ):
        data = da.ones((100, 2), chunks=(50, 2)), da.arange(100, chunks=50)
        threading.Timer(1.0, lambda: cluster.scale(0)).start()
        with pytest.raises(
            ab.dask.Lost, match=r"are not in memory, and nothing has moved for 3 seconds .*: is a worker left"
        ):
            ab.dask.boost(alone, *data, rounds=10**6, timeout=3.0)
