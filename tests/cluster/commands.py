"""The documents' commands as processes of a test: started as written, read line by line, reaped."""

from __future__ import annotations

import contextlib
import os
import queue
import random
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections import deque
from collections.abc import Iterator, Sequence
from typing import ClassVar

import psutil

from tests.source import ROOT
from tests.subprocesses import is_lasting

#: Seconds for anything to happen; on an idle machine each takes one or two.
DEADLINE = 60

#: What starts a process that the kernel ends with the thread that started it, however that ends;
#: elsewhere than on Linux a run that is killed leaves its commands behind.
BOUND = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()

_START = "import sys; sys.argv[0] = {name!r}; from {module} import {func}; sys.exit({func}())"


def scripts() -> dict[str, str]:
    """Return what an installation makes commands of: {name: "module:function"}."""
    table: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "scripts"
    ]
    return table


def free_port() -> int:
    """Return a port that nobody listens on, at any address.

    The system would choose one of those that it gives to outgoing connections, of other tests too.
    """
    while True:
        port = random.randrange(15_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("", port)):
            return port


class Command:
    """A command line as the documents have it, running."""

    last: ClassVar[deque[Command]] = deque(maxlen=8)
    """Those that were started last, for reports of failures."""

    def __init__(self, line: str, *, within: Sequence[str] = (), **environment: str) -> None:
        name, *arguments = shlex.split(line.replace("\\\n", " "))
        self.line = line
        if name in scripts():
            module, _, function = scripts()[name].partition(":")
            start = ["-c", _START.format(name=name, module=module, func=function)]
        else:
            assert name == "python", line
            start = []
        self.process = subprocess.Popen(
            [*within, *BOUND, sys.executable, *start, *arguments],
            cwd=ROOT,
            # Importing pytest's plugins or measuring coverage there helps nobody.
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.last.append(self)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line := line.rstrip("\n"))
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, text: str) -> str:
        """Return the next line that contains ``text``."""
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"{self.line}: no {text!r} in\n" + "\n".join(self.said))
            if text in line:
                return line

    def descendants(self) -> list[psutil.Process]:
        """Return the processes that it started, and theirs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def end(self, signum: int) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(signum)
        return self.wait()

    def wait(self) -> int:
        """Return the exit code."""
        code = self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        return code

    def kill(self) -> None:
        """End it and all that it started, at once."""
        processes = self.descendants()
        self.process.kill()
        self.process.wait()
        for process in processes:
            # Python's own helper removes the semaphores of those that were killed, and ends.
            with contextlib.suppress(psutil.NoSuchProcess):
                if not is_lasting(process):
                    process.kill()
        psutil.wait_procs(processes, DEADLINE)
        self._reader.join(DEADLINE)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextlib.contextmanager
def running() -> Iterator[list[Command]]:
    """Give a list for commands, all of which are killed in the end, in the reverse order."""
    commands: list[Command] = []
    try:
        yield commands
    finally:
        for command in reversed(commands):
            command.kill()
