"""Hand an array from one process to another: through a socket, and through shared memory.

`python -m benchmarks.shared` counts the processor time of both processes, until every page of the
array is there in the reader, beside the time on the clock, which says little on a busy machine.
`fresh` is the first reader when the pool has no memory yet, `warm` when it has some to use again,
`next` is every later reader of the same array. Ratios are to the socket.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import socket
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from marsdask.scheduler.storage.shared import Pool, SharedValue
from marsdask.scheduler.storage.shared_handle import SharedHandle

MIB = 1 << 20

#: What a socket is given at once, as distributed does it.
PIECE = 64 * MIB


class TransferCost(NamedTuple):
    """The seconds of one transfer."""

    cpu: float
    wall: float


def touch(array: np.ndarray[Any, Any]) -> float:
    """Read one number of each page."""
    return float(array[:: 4096 // array.itemsize].sum())


def receive(connection: socket.socket, stream: bytes, nbytes: int) -> float:
    """Read an array off a socket, into memory of its own."""
    buffer = np.empty(nbytes, np.uint8)
    rest = buffer.data
    while rest:
        rest = rest[connection.recv_into(rest) :]
    return touch(pickle.loads(stream, buffers=[buffer.data]))


def read(handle: SharedHandle) -> float:
    """Open an array in shared memory."""
    return touch(handle.load())


def reader(orders: Connection, port: int) -> None:
    """Take arrays as told, and tell what that cost."""
    with orders, socket.create_connection(("127.0.0.1", port)) as connection:
        while order := orders.recv():
            start = time.process_time()
            result = read(order) if isinstance(order, SharedHandle) else receive(connection, *order)
            orders.send((result, time.process_time() - start))


class Bench:
    """An array and a process that reads it."""

    def __init__(self, nbytes: int, orders: Connection, connection: socket.socket) -> None:
        self.array = np.random.default_rng(0).random(nbytes // 8)
        self.expected = touch(self.array)
        self.orders = orders
        self.connection = connection
        self.shared: SharedValue | None = None

    def timed(self, hand_over: Callable[[], None]) -> TransferCost:
        """Measure both processes during one hand-over."""
        wall, cpu = time.perf_counter(), time.process_time()
        hand_over()
        result, theirs = self.orders.recv()
        assert result == self.expected, "the reader got something else"
        return TransferCost(time.process_time() - cpu + theirs, time.perf_counter() - wall)

    def through_socket(self) -> None:
        """Send the buffers, which leave the pickle, as distributed does."""
        buffers: list[pickle.PickleBuffer] = []
        stream = pickle.dumps(self.array, 5, buffer_callback=buffers.append)
        data = buffers[0].raw()
        self.orders.send((stream, data.nbytes))
        for start in range(0, data.nbytes, PIECE):
            self.connection.sendall(data[start : start + PIECE])

    def measure(self, repeat: int) -> dict[str, list[TransferCost]]:
        """Take the ways in turns, so that what else the machine does meets all of them."""
        costs: dict[str, list[TransferCost]] = {"socket": [], "fresh": [], "warm": [], "next": []}
        limit = self.array.nbytes + MIB
        warm = Pool(limit)
        for turn in range(repeat + 1):
            fresh = Pool(limit)
            now = {
                "socket": self.timed(self.through_socket),
                "fresh": self.timed(partial(self.publish, fresh)),
                "warm": self.timed(partial(self.publish, warm)),
                "next": self.timed(self.pass_on),
            }
            self.shared = None
            fresh.close()
            for name, cost in now.items() if turn else ():  # the first turn warms up
                costs[name].append(cost)
        warm.close()
        return costs

    def publish(self, pool: Pool) -> None:
        """Put the array into shared memory for the first reader."""
        self.shared = pool.publish(self.array)
        assert self.shared is not None, pool.problem
        self.pass_on()

    def pass_on(self) -> None:
        """Let the reader open the array that is in shared memory already."""
        assert self.shared is not None
        self.orders.send(self.shared.handle)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--mib", type=int, default=1024, help="size of the array")
    options.add_argument("--repeat", type=int, default=5)
    chosen = options.parse_args()
    ours, theirs = multiprocessing.Pipe()
    with socket.create_server(("127.0.0.1", 0)) as server:
        spawn = multiprocessing.get_context("spawn")
        child = spawn.Process(target=reader, args=(theirs, server.getsockname()[1]), daemon=True)
        child.start()
        connection, _ = server.accept()
    with connection, ours:
        costs = Bench(chosen.mib * MIB, ours, connection).measure(chosen.repeat)
        ours.send(None)
        child.join()
    typical = {name: [*map(statistics.median, zip(*c, strict=True))] for name, c in costs.items()}
    print(f"{chosen.mib} MiB     CPU ms  wall ms  CPU ratio  wall ratio")
    for name, (cpu, wall) in typical.items():
        ratios = [base / own for base, own in zip(typical["socket"], (cpu, wall), strict=True)]
        print(f"{name:10} {cpu * 1e3:8.1f} {wall * 1e3:8.1f} {ratios[0]:9.2f}x {ratios[1]:10.2f}x")


if __name__ == "__main__":
    main()
