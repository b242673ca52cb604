"""A circle whose members are processes: each is connected with each, by sockets of ZeroMQ under CURVE.

A fit has a key pair of its own, which travels by Dask's messages alone. Who does not hold it is refused in the
handshake, on both sides: a stranger can neither connect to a member nor pass for one. What is sent is encrypted,
whatever the cluster's own connections are. Arrays travel as bytes under a header of a few numbers; nothing is
unpickled. They are cut into small frames and no larger one is taken, so that a stranger, who is known as one only when
the handshake is over, cannot have a member keep more of his than that.

Members swap parcels in one order. A parcel has a number, so that one from a member that is ahead waits for its turn.
A member that is at work says so now and then, from a thread of its own, and is waited for; one that stands still does
not. It says at which parcel it is: who is past the one that is waited for will not send it any more.
"""

import errno
import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import zmq
from zmq.auth.thread import ThreadAuthenticator

from anyboost.dask import labels
from anyboost.dask.parcels import Piece, pack, unpack
from anyboost.trees.journal import Journal
from anyboost.trees.parts import Circle

POLL = 100  # milliseconds between looks at whether the fit is called off
LINGER = 5000  # milliseconds that the last parcels have to leave
FAREWELL = 300  # and that the word has that the fit has ended: those who have left take it no more
SIGNS = 0.25  # how often a member at work says so: a share of the time that others wait for a sign
FRAME = 2**20  # bytes of a parcel that are sent at once, and hardly more are taken
HANDSHAKE = 3000  # milliseconds that a handshake has; a member that is slower tries again
_ENVELOPE = 256  # bytes that encryption adds to a frame, at most
_DOMAIN = "fit"  # what the guard looks after; who names none is let in where no guard is left
_KINDS, _TIMES, _OBJECTS = "biufUS", "mM", "OT"  # of arrays: by their bytes, by whole numbers, label by label
_COPIED = 65_536  # bytes under which a copy costs less than to keep account of who holds them
_NO_PARCEL = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError, RecursionError)


Bytes = bytes | memoryview
_OTHERS = 64  # sockets that a door has beside those to other members
_USUAL = 1023  # sockets that a context has room for


class Keys(NamedTuple):
    """The key pair of a fit, which does not show itself in logs."""

    public: bytes
    secret: bytes

    def __repr__(self) -> str:
        return "Keys()"


class Stopped(RuntimeError):
    """Another member has ended the fit, or a member is lost."""


def silence(worker: str, seconds: float) -> str:
    """The sentence about a worker that gives no sign."""
    return (
        f"the worker {worker} has not answered for {seconds:g} seconds: is it busy, paused or stopped? Look at its "
        "log, or give the fit a longer timeout"
    )


class _OfTheFit:
    """Lets in who holds the key of the fit."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self.key


class Door:
    """Where a member takes parcels: bound to a port of this machine, before it is known who the others are.

    Parameters
    ----------
    host : str
        The address that others reach this machine by.
    keys : Keys
        The public and the secret key of the fit.
    members : int, default 1
        How many there are to knock at, with this one.

    Examples
    --------
    >>> import zmq
    >>> from anyboost.dask.mesh import Door, Keys
    >>> door = Door("127.0.0.1", Keys(*zmq.curve_keypair()))
    >>> door.address.startswith("tcp://127.0.0.1:")
    True
    >>> door.close()
    """

    def __init__(self, host: str, keys: Keys, members: int = 1) -> None:
        self.keys = keys
        self.context = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, max(_USUAL, members + _OTHERS))
        self._guard = ThreadAuthenticator(self.context)
        self._guard.start()
        self._guard.configure_curve_callback(_DOMAIN, _OfTheFit(keys.public))
        self.socket = self.context.socket(zmq.PULL)
        _bound(self.socket)
        self.socket.zap_domain = _DOMAIN.encode()
        with suppress(AttributeError, zmq.ZMQError):  # libzmq may be built without
            self.socket.set(zmq.ZAP_ENFORCE_DOMAIN, 1)
        self.socket.ipv6 = ":" in host
        self.socket.curve_server = True
        self.socket.curve_publickey, self.socket.curve_secretkey = keys
        host = f"[{host}]" if ":" in host else host
        try:
            port = self._bind(host)
        except zmq.ZMQError:
            self.close()
            raise
        self.address = f"tcp://{host}:{port}"

    def _bind(self, host: str) -> int:
        """A free port of the machine, at one address of it or, where others reach it by another's, at all."""
        try:
            return int(self.socket.bind_to_random_port(f"tcp://{host}"))
        except zmq.ZMQError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.ENODEV):
                raise
            return int(self.socket.bind_to_random_port("tcp://*"))

    def knock(self, address: str) -> Any:
        """A socket to another member's door.

        Parameters
        ----------
        address : str
            Where it is.

        Returns
        -------
        Socket
            To send to.
        """
        socket = self.context.socket(zmq.PUSH)
        socket.ipv6 = "[" in address
        socket.curve_serverkey = self.keys.public
        socket.curve_publickey, socket.curve_secretkey = self.keys
        socket.sndhwm = 0
        _bound(socket)
        socket.connect(address)
        return socket

    def close(self, linger: int = 0) -> None:
        """Take no more, and end what it started.

        Parameters
        ----------
        linger : int, default 0
            How many milliseconds parcels that wait have to leave.
        """
        if not self.context.closed:
            self._guard.stop()
            self.context.destroy(linger)


class Mesh(Circle):
    """The members of a fit, as one of them sees them.

    Parameters
    ----------
    door : Door
        That of this member.
    place : int
        Its place.
    addresses : sequence of str
        The doors of all members.
    names : sequence of str
        What members are called in sentences.
    patience : float
        How many seconds to wait for a member that gives no sign.
    called_off : callable
        Says why the fit is called off, from outside; None while it is not.
    journal : Journal or None, default None
        Trees that are known; None: none.

    Examples
    --------
    >>> import numpy as np
    >>> import zmq
    >>> from anyboost.dask.mesh import Door, Keys, Mesh
    >>> door = Door("127.0.0.1", Keys(*zmq.curve_keypair()))
    >>> mesh = Mesh(door, 0, [door.address], ["me"], 10.0, lambda: None)
    >>> mesh.add(np.arange(3))
    array([0, 1, 2])
    >>> mesh.close()
    """

    def __init__(
        self,
        door: Door,
        place: int,
        addresses: Sequence[str],
        names: Sequence[str],
        patience: float,
        called_off: Callable[[], str | None],
        journal: Journal | None = None,
    ) -> None:
        self.place, self.size = place, len(addresses)
        self._door, self._names, self._patience, self._called_off = door, list(names), patience, called_off
        self._out = {other: door.knock(address) for other, address in enumerate(addresses) if other != place}
        self.journal = Journal() if journal is None else journal
        self._linger = LINGER
        self._turn = 0
        self._early: dict[tuple[int, int], np.ndarray] = {}
        self.sent = self.messages = 0  # bytes of parcels, and how many
        self._signs = dict.fromkeys(self._out, 0.0)  # when others have last said that they are at work
        self._sending = threading.Lock()  # of those who use the sockets to others
        self._over = threading.Event()
        self._sign = threading.Thread(target=self._live, daemon=True)
        if self._out:
            self._sign.start()

    def _live(self) -> None:
        """Say now and then that this member is at work."""
        while not self._over.wait(SIGNS * self._patience):
            with self._sending:
                for socket in self._out.values():
                    _send(socket, _told(["here", self.place, self._turn]))

    def trade(self, parcels: Sequence[np.ndarray]) -> list[np.ndarray]:
        self.look()
        with self._sending:
            self._turn += 1
            letters: dict[int, list[Bytes]] = {}  # most often all are given the same
            for other, socket in self._out.items():
                parcel = parcels[other]
                if id(parcel) not in letters:
                    letters[id(parcel)] = self._letter(parcel)
                self._post(socket, letters[id(parcel)])
        return [parcels[place] if place == self.place else self._next(place) for place in range(self.size)]

    def _letter(self, parcel: np.ndarray) -> list[Bytes]:
        """A parcel as it is sent, in frames: how it is to be read, and its bytes."""
        kind = parcel.dtype.kind
        told: Bytes
        pieces: list[Piece] = []
        if kind in _OBJECTS:
            told = labels.write(parcel)
        elif kind in _KINDS + _TIMES:
            pieces, told = pack(np.ascontiguousarray(parcel.view(np.int64) if kind in _TIMES else parcel))
        else:
            raise ValueError(labels.refusal(parcel.dtype))
        dtype = "O" if kind in _OBJECTS else parcel.dtype.str
        return [*_told([self._turn, self.place, dtype, parcel.shape, pieces]), *_frames(told)]

    def _post(self, socket: Any, letter: Sequence[Bytes]) -> None:
        _send(socket, letter)
        self.sent += sum(map(len, letter[1:]))
        self.messages += 1

    def _next(self, place: int) -> np.ndarray:
        """The parcel of this turn from one member."""
        began = looked = time.monotonic()
        wanted = self._turn, place
        while wanted not in self._early:
            if self._door.socket.poll(POLL):
                self._take_in(self._door.socket.recv_multipart(copy=False))
            now = time.monotonic()
            if now - looked > POLL / 1000:
                looked = now
                self.look()
                if now - max(began, self._signs[place]) > self._patience:
                    raise self._ended(silence(self._names[place], self._patience))
        return self._early.pop(wanted)

    def look(self) -> None:
        """End where the fit is called off: also members that never have to wait."""
        reason = self._called_off()
        if reason is not None:
            raise self._ended(reason)

    def _ended(self, reason: str) -> Stopped:
        """What to raise where this member goes on no more, and says so by its silence."""
        self._linger = 0
        self._over.set()
        return Stopped(reason)

    def _take_in(self, frames: Sequence[Any]) -> None:
        reason, awaited = "", False
        try:
            header, body = _read(frames)
            if header[0] == "stop":
                reason = str(header[1])
            elif header[0] == "here":
                self._hear_from(*header[1:])
            else:
                turn, place, dtype, shape, pieces = header
                array = _array(np.dtype(dtype), shape, pieces, body)
                awaited = turn >= self._turn and place in self._out
        except _NO_PARCEL:
            return  # whoever sent it, nobody waits for it
        if reason:
            raise self._ended(reason)
        if awaited:
            self._early[turn, place] = array

    def _hear_from(self, place: int, turn: int) -> None:
        if turn < self._turn and place in self._signs:
            self._signs[place] = time.monotonic()

    def stop(self, reason: str) -> None:
        """Tell the others that the fit has ended here.

        Parameters
        ----------
        reason : str
            Why.
        """
        self._linger = FAREWELL
        with self._sending:
            for socket in self._out.values():
                _send(socket, _told(["stop", reason]))

    def close(self) -> None:
        """End the connections, when what was sent last has left; at once where the fit has been stopped."""
        self._over.set()
        if self._out:
            self._sign.join()
        self._door.close(self._linger)


def _bound(socket: Any) -> None:
    """Have a socket keep little of what it is sent before it is known by whom."""
    socket.maxmsgsize = FRAME + _ENVELOPE
    socket.handshake_ivl = HANDSHAKE


def _send(socket: Any, frames: Sequence[Bytes]) -> None:
    for frame in frames[:-1]:
        socket.send(frame, zmq.SNDMORE, copy=len(frame) < _COPIED)
    socket.send(frames[-1], copy=len(frames[-1]) < _COPIED)


def _told(header: Sequence[Any]) -> list[Bytes]:
    """The frames of a header, the last of which is not full."""
    told = json.dumps(header).encode()
    return _frames(told if len(told) % FRAME else told + b" ")


def _frames(told: Bytes) -> list[Bytes]:
    if len(told) <= FRAME:
        return [told]
    whole = memoryview(told)
    return [whole[at : at + FRAME] for at in range(0, len(whole), FRAME)]


def _read(frames: Sequence[Any]) -> tuple[list[Any], Any]:
    """The header and the bytes under it; one of the errors of `_NO_PARCEL` where it is none."""
    end = 1 + next((number for number, frame in enumerate(frames) if len(frame) < FRAME), len(frames))
    body = frames[end:]
    header = json.loads(b"".join(map(bytes, frames[:end])))
    return header, body[0] if len(body) == 1 else b"".join(map(memoryview, body))


def _array(dtype: np.dtype, shape: Sequence[int], pieces: Sequence[Piece], body: Any) -> np.ndarray:
    """What a parcel has brought."""
    if dtype.kind in _OBJECTS:
        return labels.read(bytes(body), shape)
    if dtype.kind in _TIMES:
        return unpack(pieces, body, np.dtype(np.int64), shape).view(dtype)
    if dtype.kind not in _KINDS:
        raise ValueError(dtype)
    return unpack(pieces, body, dtype, shape)
