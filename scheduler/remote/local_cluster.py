"""The parent's side of a local cluster: start it, know its address, end it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

from distributed.security import Security

from ..errors import NoSupervisor

#: Timeouts of a local cluster for starting, and for ending before it is killed, in seconds.
START, END = 120.0, 10.0

_COMMAND = (
    "import sys; options, *sys.path[:] = sys.argv[1:]; del sys.argv[1:];"
    "from {module} import main; sys.exit(main(options))"
)
_MODULE = __package__.rpartition(".")[0] + ".cli.local"


#: Ends the cluster: the end of its standard input alone would wait for forked children.
_END = b"\n"


class LocalProcess:
    """A process with a supervisor and its workers.

    It is a new interpreter that never imports the caller's ``__main__``, so scripts need no guard.
    """

    def __init__(self, **options: Any) -> None:
        self._lock = threading.Lock()
        # The session handles Ctrl-C.
        apart: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}
        command = [sys.executable, "-P", "-c", _COMMAND.format(module=_MODULE)]
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            [*command, json.dumps(options), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            **apart,
        )
        self._pid = os.getpid()
        _started.add(self)
        try:
            message = self._first_line()
        except BaseException:
            self.close()
            raise
        self.address: str = message["address"]
        self.security = Security(**message["security"])
        self.web: str | None = message.get("web")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def _first_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        text = b""
        deadline = time.monotonic() + START
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise NoSupervisor(f"the local cluster did not start in {START:.0f} s")
                part = os.read(descriptor, 4096)
                if not part:
                    raise NoSupervisor("the local cluster ended while it started; see its log")
                text += part
        message: dict[str, Any] = json.loads(text)
        return message

    def close(self) -> None:
        """End every process of the cluster, but not that of a forked child's parent. Idempotent."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            with contextlib.suppress(OSError, ValueError):  # it has ended, or is closed already
                self._process.stdin.write(_END)
            self._process.stdin.close()
            try:
                self._process.wait(END)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process.stdout.close()

    def disinherit(self) -> None:
        """Close a forked child's copy of the pipe that keeps the cluster running."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()


_started: weakref.WeakSet[LocalProcess] = weakref.WeakSet()


def _disinherit() -> None:
    for process in list(_started):
        process.disinherit()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_disinherit)
