"""The processes of a script on this host: started, watched and stopped by who runs the script."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Final

#: Seconds after which a process ends of which nobody has asked.
LEASE: Final = 60.0

#: Seconds that a process gets to end when it is told to.
GRACE: Final = 2.0

#: Characters of its output that are kept until they are asked for.
_KEPT: Final = 2**20


class RankProcess:
    """One process, and what it prints."""

    def __init__(self, payload: bytes, environment: Mapping[str, str]) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", f"{__package__}.script_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": path, **environment},
            start_new_session=True,
        )
        self._output: list[str] = []
        self._length = 0
        self._asked = time.monotonic()
        self._lock = threading.Lock()
        # Both block: the child reads when it has started, and prints when it likes.
        self._threads = [
            threading.Thread(target=self._feed, args=(payload,), daemon=True),
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._watch, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _feed(self, payload: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as pipe:
            pipe.write(payload)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                with self._lock:
                    self._output.append(line.decode(errors="replace"))
                    self._length += len(line)
                    while self._length > _KEPT:
                        self._length -= len(self._output.pop(0).encode())

    def _watch(self) -> None:
        while self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            if time.monotonic() - self._asked > LEASE:
                self.stop()

    def news(self) -> tuple[int | None, str]:
        """Return the exit code, if it has ended, and what it printed since."""
        self._asked = time.monotonic()
        code = self._process.poll()
        if code is not None:
            self._threads[1].join(GRACE)  # the rest of the output
        with self._lock:
            text, self._output, self._length = "".join(self._output), [], 0
        return code, text

    def stop(self) -> None:
        """End the process and its children, first by asking."""
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
        # Not here: a worker's event loop must not wait.
        threading.Thread(target=process.stop, name="marsdask-stop-rank", daemon=True).start()


def free_port() -> int:
    """Return a port of this host that nobody uses."""
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
    return port
