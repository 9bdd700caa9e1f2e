"""A process that a test tells what to do, and may kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from tests.source import ROOT

#: Seconds that anything may take.
DEADLINE = 60.0

_START = (
    "import sys; handle, *sys.path[:] = sys.argv[1:];"
    "from tests.scheduler.peer import serve; serve(int(handle))"
)


class PeerProcess:
    """A fresh interpreter that calls functions, one after the other."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-c", _START, str(theirs.fileno()), str(ROOT), *sys.path]
        with theirs:
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        self._connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        """Return the process's number."""
        return self.process.pid

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what ``function`` of a module returns there; raise what it raises."""
        self._connection.send((function, args))
        if not self._connection.poll(DEADLINE):
            raise TimeoutError(f"{function.__name__} takes too long")
        failed, result = self._connection.recv()
        if failed:
            raise result
        return result

    def kill(self) -> None:
        """Kill it as the kernel's out-of-memory killer does, and wait for its end."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)
        self._connection.close()


def serve(handle: int) -> None:
    """Do what the test says until it has ended."""
    with Connection(handle) as connection:
        while True:
            try:
                function, args = connection.recv()
            except EOFError:
                return
            try:
                answer = False, function(*args)
            except Exception as error:  # noqa: BLE001  (it is the test's)
                answer = True, error
            connection.send(answer)


@contextmanager
def peers(count: int) -> Iterator[list[PeerProcess]]:
    """Start processes, and kill those that are left in the end."""
    started = [PeerProcess() for _ in range(count)]
    try:
        yield started
    finally:
        for peer in started:
            peer.kill()


def eventually(check: Callable[[], Any]) -> Any:
    """Return what ``check`` does as soon as it is true: the kernel ends things when it can."""
    deadline = time.monotonic() + DEADLINE
    while not (result := check()):
        assert time.monotonic() < deadline, "it never happened"
        os.sched_yield()
    return result
