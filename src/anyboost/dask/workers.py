"""What runs on Dask's workers: a member of a fit takes its seat, does the work on its own partitions, and leaves.

A seat is a door with an address that the others are told. Calling a fit off reaches a member through its seat, while
its thread waits for the others.
"""

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from distributed import Worker, get_worker, secede
from distributed.comm.addressing import get_address_host

from anyboost.dask.mesh import Door, Mesh, Stopped
from anyboost.dask.reports import Post, Reporter, fresh
from anyboost.trees.journal import Journal, Kept
from anyboost.trees.parts import within

LISTEN = 0.5  # seconds that a question for news waits for some
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


@dataclass
class Seat:
    """The place of one worker in one attempt."""

    door: Door
    taken: bool = False
    reasons: list[str] = field(default_factory=list)  # why the fit is called off
    post: Post = field(default_factory=Post)

    def called_off(self) -> str | None:
        return self.reasons[0] if self.reasons else None


_seats: dict[tuple[str, str], Seat] = {}  # by attempt and worker: several workers may share a process


_one_at_a_time = threading.Lock()  # of those who take a seat and those who give it up


def open_door(name: str, keys: tuple[bytes, bytes], dask_worker: Worker) -> str:
    """Take a seat in an attempt; where its door is."""
    host = get_address_host(dask_worker.address)
    door = Door("127.0.0.1" if dask_worker.address.startswith("inproc") else host, keys)
    _seats[name, dask_worker.address] = Seat(door)
    return door.address


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
    journal = Journal(pickle.loads(known))
    mesh = Mesh(seat.door, place, fit.addresses, fit.workers, fit.patience, seat.called_off, journal)
    try:
        with within(mesh):
            reporters = (Reporter(seat.post, place, True, seat.called_off),) if fit.heard else ()
            return Answer(work(sets, Surroundings(place, worker.state.nthreads, mesh, reporters)))
    except Stopped as stopped:
        return Answer(stopped=str(stopped), journal=tuple(journal.kept))
    except Exception as error:
        mesh.stop(f"the worker {worker.address} has failed: {error}")
        return Answer(error=error)
    finally:
        mesh.close()
        _seats.pop((fit.name, worker.address), None)


def without_rows(part: Mapping[str, Any]) -> dict[str, Any]:
    """What a partition would be if it had no rows: for members that have none."""
    return {name: None if values is None else values[:0] for name, values in part.items()}
