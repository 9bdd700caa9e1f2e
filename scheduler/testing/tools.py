"""Tasks, gates and recorders for tests of schedulers."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections.abc import Hashable
from typing import Any

import pytest
from dask.task_spec import GraphNode

from ..base import Key, Scheduler
from ..events import Event, GraphEnded

#: Timeout of every wait, in seconds: no test takes this long without a deadlock.
DEADLINE = 60

_serial = itertools.count()


def key(name: str = "task") -> tuple[str, int]:
    """Return a key that no other test uses, because tests may share a cluster."""
    return f"{name}-{os.getpid()}-{next(_serial)}", 0


class Broken(Exception):
    """The exception of failing tasks."""


def inc(value: Any) -> Any:
    return value + 1


def add(left: Any, right: Any) -> Any:
    return left + right


def total(*values: Any) -> Any:
    return sum(values)


def identity(value: Any) -> Any:
    return value


def scaled(values: list[Any], *, factor: int = 1, extra: Any = 0) -> Any:
    return sum(values) * factor + extra


def fail(value: Any = None) -> Any:
    raise Broken(f"broken by {value}")


def interrupt() -> Any:
    raise KeyboardInterrupt


class Box:
    """A result that supports weak references."""

    def __init__(self, value: Any) -> None:
        self.value = value


def unbox(box: Box) -> Any:
    return box.value


def pass_gate(address: tuple[str, int], value: Any, *_: Any) -> Any:
    """Report on a socket that the task runs, and wait until the gate opens."""
    with socket.create_connection(address, timeout=DEADLINE) as connection:
        connection.recv(1)
    return value


class Gate:
    """Blocks tasks in threads and processes of this host until it is opened."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._server = socket.create_server((host, 0))
        self._server.settimeout(DEADLINE)
        self._waiting: list[socket.socket] = []
        self.address: tuple[str, int] = self._server.getsockname()

    def wait_until_reached(self) -> None:
        """Wait until one more task has reached the gate."""
        self._waiting.append(self._server.accept()[0])

    def open(self) -> None:
        """Release the tasks that have reached the gate."""
        while self._waiting:
            self._waiting.pop().close()

    def close(self) -> None:
        self.open()
        self._server.close()


class Recorder:
    """An event callback that records events, and can wait for the last one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._ended = threading.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, GraphEnded):
            self._ended.set()

    def wait(self) -> list[Event]:
        assert self._ended.wait(DEADLINE), self.events
        return self.events

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def graph_of(*nodes: GraphNode) -> dict[Key, GraphNode]:
    """Return the nodes as a graph."""
    return {node.key: node for node in nodes}


def run(scheduler: Scheduler, *nodes: GraphNode, keys: list[Hashable] | None = None) -> list[Any]:
    """Compute the nodes, gather ``keys`` (default: all of them) and release them."""
    outputs = [node.key for node in nodes] if keys is None else keys
    scheduler.submit(graph_of(*nodes), outputs).wait(DEADLINE)
    values = scheduler.gather(outputs)
    scheduler.release(outputs)
    return values


def assert_not_held(scheduler: Scheduler, *keys: Hashable) -> None:
    """Check that none of the keys can be gathered."""
    for name in keys:
        with pytest.raises(KeyError):
            scheduler.gather([name])
