"""What runs on Dask's workers: a member of a fit takes its seat, does the work on its own partitions, and leaves.

A seat is a door with an address that the others are told. Calling a fit off reaches a member through its seat, while
its thread waits for the others.
"""

import asyncio
import pickle
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import zmq
from distributed import Worker, get_worker, secede
from distributed.comm.addressing import get_address_host
from distributed.worker import WORKER_ANY_RUNNING

from anyboost.dask.calls import BRIEF
from anyboost.dask.failures import Failure
from anyboost.dask.mesh import Door, Keys, Mesh, Stopped
from anyboost.dask.reports import Post, Reporter, fresh
from anyboost.notices import collected
from anyboost.trees.grown import Grown
from anyboost.trees.journal import Journal, KeptTree
from anyboost.trees.parts import within

SIGN = 15.0  # seconds between looks at whether the scheduler is there
LISTEN = 0.5  # that a question for news waits for some
UNUSED = 60.0  # and that a seat is kept for longer than anybody would wait for its member
Sets = Mapping[str, Sequence[Mapping[str, Any]]]  # by name of the set: what its partitions hold, by name
Work = Callable[[Sets, "Surroundings"], Any]


class Surroundings(NamedTuple):
    """What the work may know of where it runs."""

    place: int
    n_threads: int
    mesh: Mesh
    callbacks: tuple[Reporter, ...] = ()  # that tell the client of rounds, where it listens


class Fit(NamedTuple):
    """One attempt at a fit, as all its members know it."""

    name: str  # of this attempt
    addresses: tuple[str, ...]  # of the members' doors
    workers: tuple[str, ...]
    patience: float
    heard: bool = False  # whether the client has callbacks, which rounds wait for


class Answer(NamedTuple):
    """What a member comes back with: a result, or an error of its own, or the word that others have ended the fit."""

    result: Any = None
    failure: Failure | None = None
    stopped: str | None = None
    replaces: bool = False  # whether this is no member, and has the address of one that is lost
    journal: tuple[KeptTree, ...] = ()
    notices: Sequence[str] = ()  # what it has warned of


@dataclass
class Seat:
    """The place of one worker in one attempt."""

    door: Door
    taken: bool = False
    reasons: list[str] = field(default_factory=list)  # why the fit is called off
    wanted: Callable[[], bool] = lambda: True  # whether Dask still wants what is done here
    post: Post = field(default_factory=Post)
    journal: Journal = field(default_factory=Journal)
    follower: asyncio.Task[None] | None = None  # who looks whether the scheduler is there

    def called_off(self) -> str | None:
        if not self.reasons and not self.wanted():
            self.reasons.append("the client is gone, or the worker")
        return self.reasons[0] if self.reasons else None


class Opened(NamedTuple):
    """Where a door is and whose, or why there is none."""

    address: str = ""
    worker: str = ""  # a name that no other has, nor one that comes after it at its address
    refusal: str | None = None


class _Followed(Journal):
    """Looks before each tree whether the fit goes on: a member that is alone asks nobody, and would not find out."""

    def __init__(self, known: Sequence[KeptTree], look: Callable[[], None]) -> None:
        super().__init__(known)
        self._look = look

    def recall(self) -> Grown | None:
        self._look()
        return super().recall()


_seats: dict[
    tuple[str, str], Seat
] = {}  # by attempt and name of the worker: several workers may share a process


_one_at_a_time = threading.Lock()  # of those who take a seat and those who give it up


def open_door(name: str, keys: Keys, members: int, seconds: float, dask_worker: Worker) -> Opened:
    """Take a seat in an attempt; where its door is. It closes by itself where nobody comes."""
    host = get_address_host(dask_worker.address)
    try:
        door = Door("127.0.0.1" if dask_worker.address.startswith("inproc") else host, keys, members)
    except (zmq.ZMQError, OSError) as error:  # Dask would log the call
        return Opened(refusal=f"{host}: {error}")
    seat = _seats[name, dask_worker.id] = Seat(door)
    seat.follower = asyncio.get_running_loop().create_task(_follow(seat, seconds, dask_worker))
    dask_worker.loop.call_later(2 * seconds + UNUSED, close_door, name, dask_worker)
    return Opened(door.address, dask_worker.id)


async def _follow(seat: Seat, seconds: float, worker: Worker) -> None:
    """Call a member off whose scheduler has been silent for so long: nobody else could."""
    heard, missed = time.monotonic(), 0
    while missed < 2 or time.monotonic() - heard < seconds:  # a worker that stood still itself asks once more
        left = max(min(BRIEF, seconds), heard + seconds - time.monotonic())
        try:
            await asyncio.wait_for(worker.scheduler.ncores(workers=[]), left)
            heard, missed = time.monotonic(), 0
        except Exception:  # whatever Dask says of a connection that is closed
            missed += 1
        await asyncio.sleep(min(SIGN, seconds / 4))
    seat.reasons.append(f"the scheduler {worker.scheduler.address} has not answered for {seconds:g} seconds")


def name_of(dask_worker: Worker) -> str:
    """Who the worker is: one that a nanny has started anew is another, at the same address or not."""
    return dask_worker.id


def has_begun(name: str, dask_worker: Worker) -> bool:
    """Whether the member is at work: a sign of life."""
    seat = _seats.get((name, dask_worker.id))
    return seat is None or seat.taken


def call_off(name: str, reason: str, dask_worker: Worker) -> None:
    """End the wait of a member."""
    seat = _seats.get((name, dask_worker.id))
    if seat is not None:
        seat.reasons.append(reason)


async def news(name: str, heard: int, answer: tuple[int, bool] | None, dask_worker: Worker) -> list[bytes]:
    """Take the client's last answer; what was told since, as soon as there is anything."""
    seat = _seats.get((name, dask_worker.id))
    if seat is not None and answer is not None:
        seat.post.answer(*answer)
    return await fresh(None if seat is None else seat.post, heard, LISTEN)


def count_trees(name: str, dask_worker: Worker) -> int | None:
    """How many trees a member knows that is still at work; None where it has left its seat."""
    seat = _seats.get((name, dask_worker.id))
    return None if seat is None else len(seat.journal.kept)


def trees(name: str, dask_worker: Worker) -> tuple[KeptTree, ...] | None:
    """The trees that it knows."""
    seat = _seats.get((name, dask_worker.id))
    return None if seat is None else tuple(seat.journal.kept)


def close_door(name: str, dask_worker: Worker) -> None:
    """Give a seat up that nobody took."""
    with _one_at_a_time:
        seat = _seats.get((name, dask_worker.id))
        if seat is None or seat.taken:  # its member closes the door: a socket belongs to one thread
            return
        del _seats[name, dask_worker.id]
    _clear(seat, dask_worker)


def _clear(seat: Seat, worker: Worker) -> None:
    """Leave nothing of a seat behind."""
    seat.door.close()
    if seat.follower is not None:
        worker.loop.add_callback(seat.follower.cancel)


def take_part(fit: Fit, place: int, known: bytes, work: Work, sets: Mapping[str, Sequence[Any]]) -> Answer:
    """Do the work as the member at a place."""
    worker = get_worker()
    # Two fits on workers of one thread each would else wait for each other for ever.
    secede()
    with _one_at_a_time:
        seat = _seats.get((fit.name, worker.id))
        if seat is None:
            return Answer(stopped=f"the worker {worker.address} is lost", replaces=True)
        seat.taken = True
    mesh: Mesh | None = None
    try:
        seat.wanted = _wanted(worker)
        mesh = Mesh(seat.door, place, fit.addresses, fit.workers, fit.patience, seat.called_off)
        seat.journal = mesh.journal = _Followed(pickle.loads(known), mesh.look)
        with within(mesh), collected() as notices:
            reporters = (Reporter(seat.post, place, fit.patience, seat.called_off),) if fit.heard else ()
            return Answer(
                work(sets, Surroundings(place, worker.state.nthreads, mesh, reporters)), notices=notices
            )
    except Stopped as stopped:
        return Answer(stopped=str(stopped), journal=tuple(seat.journal.kept))
    except Exception as error:
        failure = Failure.of(error, worker.address)
        if mesh is not None:
            mesh.stop(f"the worker {worker.address} has failed: {failure.text}")
        return Answer(failure=failure)
    finally:
        if mesh is not None:
            mesh.close()
        _clear(seat, worker)
        _seats.pop((fit.name, worker.id), None)


def _wanted(worker: Worker) -> Callable[[], bool]:
    """Says whether Dask wants the task of this thread: no longer where its client or its worker is gone."""
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        there = worker.status in WORKER_ANY_RUNNING
        return there and task is not None and task.state not in ("cancelled", "released", "forgotten")

    return wanted


def without_rows(part: Mapping[str, Any]) -> dict[str, Any]:
    """What a partition would be if it had no rows: for members that have none."""
    return {name: None if values is None else values[:0] for name, values in part.items()}
