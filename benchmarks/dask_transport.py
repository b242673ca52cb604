"""What it costs two processes of one machine to swap arrays: Dask's own messages, and ZeroMQ plain and with CURVE.

    python -m benchmarks.dask_transport

A swap is what a sum over two workers takes: each sends what the other sums up. Medians of turns that alternate between
the ways, in milliseconds.
"""

import asyncio
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import zmq

SIZES = (
    8,
    4_096,
    204_800,
    1_638_400,
)  # bytes: a number, a column's bins, a histogram of 50 columns, one of 400
TURNS, SWAPS = 9, 30


def _zmq_pair(curve: bool, server: bool, port: int, keys: list[tuple[bytes, bytes]]) -> zmq.Socket:
    socket: zmq.Socket = zmq.Context.instance().socket(zmq.PAIR)
    if curve:
        socket.curve_publickey, socket.curve_secretkey = keys[0 if server else 1]
        if server:
            socket.curve_server = True
        else:
            socket.curve_serverkey = keys[0][0]
    if server:
        socket.bind(f"tcp://127.0.0.1:{port}")
    else:
        socket.connect(f"tcp://127.0.0.1:{port}")
    return socket


def _zmq_swap(socket: zmq.Socket) -> Callable[[np.ndarray], None]:
    def swap(array: np.ndarray) -> None:
        socket.send(array.data, 0, False)
        socket.recv(copy=False)

    return swap


def _dask_swap(server: bool, port: int) -> Callable[[np.ndarray], None]:
    from distributed.comm.core import connect, listen
    from distributed.protocol.serialize import to_serialize

    loop = asyncio.new_event_loop()
    found: list = []

    async def welcome(comm: object) -> None:
        found.append(comm)

    async def begin() -> object:
        if not server:
            for _ in range(100):
                try:
                    return await connect(f"tcp://127.0.0.1:{port}", deserialize=True)
                except OSError:
                    await asyncio.sleep(0.1)
        await listen(f"tcp://127.0.0.1:{port}", welcome, deserialize=True)
        while not found:
            await asyncio.sleep(0.01)
        return found[0]

    comm = loop.run_until_complete(begin())

    async def once(array: np.ndarray) -> None:
        await asyncio.gather(comm.write({"x": to_serialize(array)}), comm.read())  # type: ignore[attr-defined]

    return lambda array: loop.run_until_complete(once(array))


def _ways(
    server: bool, port: int, keys: list[tuple[bytes, bytes]]
) -> dict[str, Callable[[np.ndarray], None]]:
    return {
        "dask": _dask_swap(server, port),
        "zmq": _zmq_swap(_zmq_pair(False, server, port + 1, keys)),
        "zmq, CURVE": _zmq_swap(_zmq_pair(True, server, port + 2, keys)),
    }


def _turns(ways: dict[str, Callable[[np.ndarray], None]]) -> Iterator[tuple[str, int, float]]:
    for _ in range(TURNS):
        for size in SIZES:
            array = np.zeros(size // 8, dtype=np.int64)
            for name, swap in ways.items():
                began = time.perf_counter()
                for _ in range(SWAPS):
                    swap(array)
                yield name, size, (time.perf_counter() - began) / SWAPS


def _other(port: int, keys: list[tuple[bytes, bytes]]) -> None:
    for _ in _turns(_ways(False, port, keys)):
        pass


def main() -> None:
    """Print the table."""
    keys = [zmq.curve_keypair(), zmq.curve_keypair()]
    port = 20_000 + os.getpid() % 20_000
    process = multiprocessing.get_context("spawn").Process(target=_other, args=(port, keys))
    process.start()
    found: dict[tuple[str, int], list[float]] = {}
    for name, size, seconds in _turns(_ways(True, port, keys)):
        found.setdefault((name, size), []).append(1e3 * seconds)
    process.join()
    print("bytes      " + "".join(f"{name:>14}" for name in dict.fromkeys(name for name, _ in found)))
    for size in SIZES:
        print(
            f"{size:<11}"
            + "".join(f"{statistics.median(v):>14.3f}" for (_, s), v in found.items() if s == size)
        )


if __name__ == "__main__":
    main()
