"""What runs on Dask's workers: a member of a fit takes its seat, does the work on its own partitions, and leaves.

A seat is a door with an address that the others are told. Calling a fit off reaches a member through its seat, while
its thread waits for the others.
"""

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import zmq
from distributed import Worker, get_worker, secede
from distributed.comm.addressing import get_address_host

from anyboost.dask.mesh import Door, Keys, Mesh, Stopped
from anyboost.dask.reports import Post, Reporter, fresh
from anyboost.notices import collected
from anyboost.trees.grown import Grown
from anyboost.trees.journal import Journal, Kept
from anyboost.trees.parts import within

LISTEN = 0.5  # seconds that a question for news waits for some
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
    error: BaseException | None = None
    stopped: str | None = None
    journal: tuple[Kept, ...] = ()
    notices: Sequence[str] = ()  # what it has warned of


@dataclass
class Seat:
    """The place of one worker in one attempt."""

    door: Door
    taken: bool = False
    reasons: list[str] = field(default_factory=list)  # why the fit is called off
    wanted: Callable[[], bool] = lambda: True  # whether Dask still wants what is done here
    post: Post = field(default_factory=Post)

    def called_off(self) -> str | None:
        if not self.reasons and not self.wanted():
            self.reasons.append("the client is gone")
        return self.reasons[0] if self.reasons else None


class Opened(NamedTuple):
    """Where a door is, or why there is none."""

    address: str = ""
    refusal: str | None = None


class _Followed(Journal):
    """Looks before each tree whether the fit goes on: a member that is alone asks nobody, and would not find out."""

    def __init__(self, known: Sequence[Kept], look: Callable[[], None]) -> None:
        super().__init__(known)
        self._look = look

    def recall(self) -> Grown | None:
        self._look()
        return super().recall()


_seats: dict[tuple[str, str], Seat] = {}  # by attempt and worker: several workers may share a process


_one_at_a_time = threading.Lock()  # of those who take a seat and those who give it up


def open_door(name: str, keys: Keys, members: int, seconds: float, dask_worker: Worker) -> Opened:
    """Take a seat in an attempt; where its door is. It closes by itself where nobody comes."""
    host = get_address_host(dask_worker.address)
    try:
        door = Door("127.0.0.1" if dask_worker.address.startswith("inproc") else host, keys, members)
    except (zmq.ZMQError, OSError) as error:  # Dask would log the call
        return Opened(refusal=f"{host}: {error}")
    _seats[name, dask_worker.address] = Seat(door)
    dask_worker.loop.call_later(2 * seconds + UNUSED, close_door, name, dask_worker)
    return Opened(door.address)


def has_begun(name: str, dask_worker: Worker) -> bool:
    """Whether the member is at work: a sign of life."""
    seat = _seats.get((name, dask_worker.address))
    return seat is None or seat.taken


def call_off(name: str, reason: str, dask_worker: Worker) -> None:
    """End the wait of a member."""
    seat = _seats.get((name, dask_worker.address))
    if seat is not None:
        seat.reasons.append(reason)


async def news(name: str, heard: int, answer: tuple[int, bool] | None, dask_worker: Worker) -> list[bytes]:
    """Take the client's last answer; what was told since, as soon as there is anything."""
    seat = _seats.get((name, dask_worker.address))
    if seat is not None and answer is not None:
        seat.post.answer(*answer)
    return await fresh(None if seat is None else seat.post, heard, LISTEN)


def close_door(name: str, dask_worker: Worker) -> None:
    """Give a seat up that nobody took."""
    with _one_at_a_time:
        seat = _seats.get((name, dask_worker.address))
        if seat is None or seat.taken:  # its member closes the door: a socket belongs to one thread
            return
        del _seats[name, dask_worker.address]
    seat.door.close()


def take_part(fit: Fit, place: int, known: bytes, work: Work, sets: Mapping[str, Sequence[Any]]) -> Answer:
    """Do the work as the member at a place."""
    worker = get_worker()
    # Two fits on workers of one thread each would else wait for each other for ever.
    secede()
    with _one_at_a_time:
        seat = _seats.get((fit.name, worker.address))
        if seat is None:
            return Answer(stopped=f"the worker {worker.address} has no seat in this fit")
        seat.taken = True
    seat.wanted = _wanted(worker)
    mesh = Mesh(seat.door, place, fit.addresses, fit.workers, fit.patience, seat.called_off)
    journal = mesh.journal = _Followed(pickle.loads(known), mesh.look)
    try:
        with within(mesh), collected() as notices:
            reporters = (Reporter(seat.post, place, fit.patience, seat.called_off),) if fit.heard else ()
            return Answer(
                work(sets, Surroundings(place, worker.state.nthreads, mesh, reporters)), notices=notices
            )
    except Stopped as stopped:
        return Answer(stopped=str(stopped), journal=tuple(journal.kept))
    except Exception as error:
        mesh.stop(f"the worker {worker.address} has failed: {error}")
        return Answer(error=error)
    finally:
        mesh.close()
        _seats.pop((fit.name, worker.address), None)


def _wanted(worker: Worker) -> Callable[[], bool]:
    """Says whether Dask wants the task of this thread: no longer where its client is gone, however it went."""
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return wanted


def without_rows(part: Mapping[str, Any]) -> dict[str, Any]:
    """What a partition would be if it had no rows: for members that have none."""
    return {name: None if values is None else values[:0] for name, values in part.items()}
