"""Members of a circle over sockets: sums are right, and whoever does not hold the key of the fit is kept out."""

import socket
import struct
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

zmq = pytest.importorskip("zmq")

from anyboost.dask import mesh as meshing  # noqa: E402
from anyboost.dask.mesh import Door, Keys, Mesh, Stopped  # noqa: E402


def meshes(size, patience=20.0, called_off=lambda: None):
    keys = Keys(*zmq.curve_keypair())
    doors = [Door("127.0.0.1", keys) for _ in range(size)]
    addresses = [door.address for door in doors]
    names = [f"worker {place}" for place in range(size)]
    return [Mesh(door, place, addresses, names, patience, called_off) for place, door in enumerate(doors)]


def each(members, work):
    found = [None] * len(members)

    def one(place):
        try:
            found[place] = work(members[place])
        except Exception as error:
            found[place] = error

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(members))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for member in members:
        member.close()
    return found


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sums_extremes_and_gatherings(size):
    def work(mesh):
        small = mesh.add(np.int64(mesh.place + 1))
        large = mesh.add(np.arange(100_000) * (mesh.place + 1))
        most = mesh.most(np.array([mesh.place, -mesh.place], dtype=np.float64))
        words = mesh.gather(np.array(["a", "bcd"][: mesh.place % 3], dtype=object))
        return int(small), large, most.tolist(), words.tolist()

    total = size * (size + 1) // 2
    for small, large, most, words in each(meshes(size), work):
        assert small == total
        np.testing.assert_array_equal(large, np.arange(100_000) * total)
        assert most == [size - 1, 0]
        assert words == [word for place in range(size) for word in ["a", "bcd"][: place % 3]]


def intrude(kind, address, keys):
    """Somebody who wants to be a part of the fit, or to disturb it."""
    host, port = address.removeprefix("tcp://").rsplit(":", 1)
    if kind == "noise":
        with socket.create_connection((host, int(port)), 5) as line:
            line.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)) * 64)
        return None
    context = zmq.Context()
    stranger = context.socket(zmq.PUSH)
    stranger.linger = 0
    if kind != "no key":
        public, secret = zmq.curve_keypair()
        stranger.curve_publickey, stranger.curve_secretkey = public, secret
        stranger.curve_serverkey = keys[0] if kind == "wrong key" else public
    stranger.connect(address)
    try:
        for _ in range(3):
            stranger.send_multipart([b'[1, 1, "<i8", [], []]', np.int64(666).tobytes()], zmq.NOBLOCK)
    except zmq.Again:
        pass
    return stranger


@pytest.mark.parametrize("kind", ["noise", "no key", "wrong key", "wrong door"])
def test_strangers_are_refused_and_the_fit_is_unharmed(kind):
    members = meshes(3)
    door = members[0]._door
    stranger = intrude(kind, door.address, door.keys)
    threading.Event().wait(0.3)  # time for what was sent to be taken for a parcel
    found = each(members, lambda mesh: [int(mesh.add(np.int64(turn))) for turn in range(1, 6)])
    assert found == [[3, 6, 9, 12, 15]] * 3
    if stranger is not None:
        stranger.context.destroy(0)


@pytest.fixture
def door():
    found = Door("127.0.0.1", Keys(*zmq.curve_keypair()))
    yield found
    found.close()


def greet(door):
    """A line on which a stranger has begun to speak as ZeroMQ does, and has been answered."""
    host, port = door.address.removeprefix("tcp://").rsplit(":", 1)
    line = socket.create_connection((host, int(port)), 5)
    line.settimeout(10)
    line.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + bytes(32))
    answer = b""
    while len(answer) < 64:
        answer += line.recv(64 - len(answer))
    return line


@pytest.mark.parametrize("flags", [2, 6], ids=["message", "command"])
def test_a_stranger_cannot_fill_the_memory(door, flags):
    """Who is a stranger is known when the handshake is over, and before it he may claim to send four gigabytes."""
    sent = 0
    with greet(door) as line, suppress(ConnectionError):  # the line is cut
        line.sendall(bytes([flags]) + struct.pack(">Q", 4 << 30))
        while sent < 200:  # megabytes
            line.sendall(bytes(1 << 20))
            sent += 1
    assert sent < 50  # the system itself holds a few


def test_a_stranger_who_is_silent_is_not_listened_to_for_long(monkeypatch):
    monkeypatch.setattr(meshing, "HANDSHAKE", 200)
    door = Door("127.0.0.1", Keys(*zmq.curve_keypair()))
    with greet(door) as line:
        assert line.recv(1) == b""  # the end of it
    door.close()


def test_nobody_is_let_in_where_the_guard_is_gone(door):
    door._guard.stop()
    stranger = intrude("wrong key", door.address, door.keys)
    assert not door.socket.poll(500)
    stranger.context.destroy(0)


def test_large_parcels_and_long_headers_come_as_they_were(monkeypatch):
    """They travel in frames, as no larger ones are taken."""
    monkeypatch.setattr(meshing, "FRAME", 1000)
    sizes = (0, 1, 124, 125, 126, 250, 5000)
    rows = np.random.default_rng(0).integers(0, 99, (300, 64))  # whose header has an entry a row

    def work(mesh):
        numbers = [mesh.gather(np.arange(size) + 0.5 * mesh.place) for size in sizes]
        return numbers, mesh.add(rows)

    for numbers, total in each(meshes(2), work):
        for size, found in zip(sizes, numbers, strict=True):
            np.testing.assert_array_equal(found, np.r_[np.arange(size), np.arange(size) + 0.5])
        np.testing.assert_array_equal(total, 2 * rows)


def test_a_header_may_end_where_a_frame_does(monkeypatch):
    for length in range(20, 40):
        monkeypatch.setattr(meshing, "FRAME", length)
        for reason in ("a", "ab", "a" * length):
            told = meshing._told(["stop", reason])
            assert meshing._read([*told, memoryview(b"body")])[0] == ["stop", reason]


NO_PARCELS = (
    [b""],
    [bytes(meshing.FRAME)],
    [b"\xff\x00"],
    [b"[1]"],
    [b"{}", b""],
    [b'[1, 1, "<i8", [5], []]', b"xx"],
    [b'["now", 1, "<i8", [1], []]', bytes(8)],
    [b'[1, [1], "<i8", [1], []]', bytes(8)],
    [b'[1, 7, "<i8", [1], []]', bytes(8)],
    [b'[1, 1, "O", [1], []]', bytes(8)],
    [b'[1, 1, "O", [1], []]', b'[{"O": "0000000000000000"}]'],
    [b'[1, 1, "O", [1], []]', b'[{"Decimal": "ten"}]'],
    [b'[1, 1, "O", [7], []]', b'["a"]'],
    [b'[1, 1, "V8", [1], []]', bytes(8)],
    [b'[1, 1, "<i8", [10000000000000000], [["<i1", 0, 0]]]', b""],
    [b'[1, 1, "<i8", [100], [["<i1", 0, 3]]]', b"\xff" * 9],
    [b"[" * 100_000],
)


def test_what_is_no_parcel_is_ignored_whoever_sent_it():
    members = meshes(3)
    door = members[0]._door
    other = Door("127.0.0.1", door.keys)
    line = other.knock(door.address)
    for frames in NO_PARCELS:
        line.send_multipart(frames)
    threading.Event().wait(0.3)
    found = each(members, lambda mesh: [int(mesh.add(np.int64(turn))) for turn in range(1, 6)])
    other.close()
    assert found == [[3, 6, 9, 12, 15]] * 3


def test_who_passes_for_a_member_is_not_sent_anything():
    keys = Keys(*zmq.curve_keypair())
    context = zmq.Context()
    false = context.socket(zmq.PULL)
    false.curve_server, (false.curve_publickey, false.curve_secretkey) = True, zmq.curve_keypair()
    port = false.bind_to_random_port("tcp://127.0.0.1")
    door = Door("127.0.0.1", keys)
    mesh = Mesh(door, 0, [door.address, f"tcp://127.0.0.1:{port}"], ["a", "b"], 0.5, lambda: None)
    with pytest.raises(Stopped, match=r"worker b has not answered for 0.5 seconds"):
        mesh.add(np.int64(1))
    assert not false.poll(200)
    mesh.close()
    context.destroy(0)


def test_who_computes_for_long_is_waited_for():
    """Time is limited for silence, not for work: members have unlike many rows."""

    def work(mesh):
        if mesh.place == 1:
            time.sleep(3.0)
        return int(mesh.add(np.int64(mesh.place)))

    assert each(meshes(3, patience=1.0), work) == [3, 3, 3]


def test_a_parcel_that_is_lost_on_its_way_is_not_waited_for():
    """Its sender is alive, and says that it is past it."""

    def work(mesh):
        mesh._turn += mesh.place == 1
        return mesh.add(np.int64(1))

    found = each(meshes(2, patience=1.0), work)
    assert str(found[0]).startswith("the worker worker 1 has not answered for 1 seconds")
    assert isinstance(found[1], Stopped)


def test_a_member_that_fails_ends_the_wait_of_the_others():
    def work(mesh):
        if mesh.place == 1:
            mesh.stop("its table has no columns")
            return None
        return mesh.add(np.int64(1))

    found = each(meshes(3), work)
    assert [str(error) for error in found[::2]] == ["its table has no columns"] * 2


def test_a_fit_that_is_called_off_ends():
    members = meshes(2, called_off=lambda: "the worker tcp://10.0.0.7:1 is lost")
    found = each(members[:1], lambda mesh: mesh.add(np.int64(1)))
    assert str(found[0]) == "the worker tcp://10.0.0.7:1 is lost"
    members[1].close()
