"""The processes of a script on this host: started, watched and stopped by who runs the script."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Final

#: Seconds after which a process ends of which nobody has asked.
LEASE: Final = 60.0

#: Seconds that a process gets to end when it is told to.
GRACE: Final = 2.0

#: Bytes of its output that are kept until they are asked for.
KEPT: Final = 2**20


class RankProcess:
    """One process, and what it prints."""

    def __init__(self, payload: bytes, environment: Mapping[str, str]) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-m", f"{__package__}.script_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": path, **environment},
            start_new_session=True,
        )
        self._output: list[str] = []
        self._length = 0
        self._asked = time.monotonic()
        self._limit: float = KEPT
        self._stopped = False
        self._room = threading.Condition()
        # They block: the child reads when it has started, and prints when it likes.
        self._feeder, self._reader, watcher = (
            threading.Thread(target=target, daemon=True)
            for target in (partial(self._feed, payload), self._read, self._watch)
        )
        for thread in (self._feeder, self._reader, watcher):
            thread.start()

    def _feed(self, payload: bytes) -> None:
        """Write what the child reads; the pipe stays open, as the child ends when it closes."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(payload)
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                with self._room:
                    # Meanwhile the pipe fills up, and the child waits.
                    self._room.wait_for(lambda: self._length < self._limit or self._stopped)
                    if not self._stopped:
                        self._output.append(line.decode(errors="replace"))
                        self._length += len(line)

    def _watch(self) -> None:
        while self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            if time.monotonic() - self._asked > LEASE:
                self.stop()
        self._feeder.join()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def news(self) -> tuple[int | None, str]:
        """Return the exit code, if it has ended, and what it printed since."""
        self._asked = time.monotonic()
        code = self._process.poll()
        if code is not None:
            with self._room:
                self._limit = math.inf  # what has ended prints no more
                self._room.notify()
            self._reader.join(GRACE)
        with self._room:
            text, self._output, self._length = "".join(self._output), [], 0
            self._room.notify()
        return code, text

    def stop(self) -> None:
        """End the process and its children, first by asking."""
        with self._room:
            self._stopped = True
            self._room.notify()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        self._process.wait()


#: The processes of this host by script and rank.
_PROCESSES: dict[tuple[str, int], RankProcess] = {}


def start(script: str, rank: int, payload: bytes, environment: Mapping[str, str]) -> None:
    """Start the process of a rank."""
    _PROCESSES[script, rank] = RankProcess(payload, environment)


def news(script: str, rank: int) -> tuple[int | None, str]:
    """Return the exit code of a rank, if it has ended, and what it printed since."""
    return _PROCESSES[script, rank].news()


def stop(script: str, rank: int) -> None:
    """End the process of a rank; what it printed is forgotten."""
    process = _PROCESSES.pop((script, rank), None)
    if process is not None:
        # Not here: a worker's event loop must not wait. This process does before it ends.
        threading.Thread(target=process.stop, name="marsdask-stop-rank", daemon=False).start()


def free_port() -> int:
    """Return a port of this host that nobody uses."""
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
    return port
