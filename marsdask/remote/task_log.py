"""The printed output of functions by call, of bounded size, while they run on any worker.

In the process that made a call its log stays in memory. A worker of a cluster sends it to the
scheduler, as events of one topic for each client, and a child of ``processes`` writes a file.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TextIO

from marsdask.scheduler.worker_client import running_worker

from .names import NAMES, owner_of

#: Maximum length of the log of a call, and of all logs in memory together.
ONE_LIMIT, ALL_LIMIT = 2**20, 2**26

#: Characters and seconds after which a worker sends what was printed.
_PIECE, _PAUSE = 2**13, 0.1

_CUT = "\n[the rest of the log is not kept]\n"


class LogsInMemory:
    """The logs of the calls of this process; the oldest are dropped first."""

    def __init__(self, limit: int = ALL_LIMIT) -> None:
        self._limit = limit
        self._texts: OrderedDict[str, list[str]] = OrderedDict()
        self._length = 0
        self._lock = threading.Lock()

    def add(self, name: str, text: str) -> None:
        """Append to the log of a call."""
        with self._lock:
            self._texts.setdefault(name, []).append(text)
            self._length += len(text)
            while self._length > self._limit and len(self._texts) > 1:
                _, dropped = self._texts.popitem(last=False)
                self._length -= sum(map(len, dropped))

    def text(self, name: str) -> str:
        """Return the log of a call."""
        with self._lock:
            return "".join(self._texts.get(name, ()))


LOGS = LogsInMemory()


def topic_of(owner: str) -> str:
    """Return the topic of the events with the logs of a process's calls."""
    return f"marsdask-log-{owner}"


def folder_of(owner: str) -> Path:
    """Return where children of a process write the logs of its calls."""
    return Path(tempfile.gettempdir(), f"marsdask-log-{owner}")


@atexit.register
def _remove_folder() -> None:
    shutil.rmtree(folder_of(NAMES.owner), ignore_errors=True)


class CallLog:
    """Takes what one running call prints."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._length = 0
        self._pending: list[str] = []
        self._waiting = 0
        self._sent = 0.0

    def write(self, text: str) -> None:
        """Keep a text, up to a limit for the call."""
        room = ONE_LIMIT - self._length
        if room <= 0 or not text:
            return
        self._length += len(text)
        self._pending.append(text if len(text) <= room else text[:room] + _CUT)
        self._waiting += len(text)
        if self._is_due(text):
            self._sent = time.monotonic()
            self.flush()

    def _is_due(self, text: str) -> bool:
        """Tell whether to pass on what waits: here at once, elsewhere whole lines now and then."""
        if owner_of(self._name) == NAMES.owner or self._waiting >= _PIECE:
            return True
        return text.endswith("\n") and time.monotonic() - self._sent >= _PAUSE

    def flush(self) -> None:
        """Pass on what was printed."""
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        owner = owner_of(self._name)
        if owner == NAMES.owner:
            LOGS.add(self._name, text)
        elif (worker := running_worker()) is not None:
            worker.log_event(topic_of(owner), {"name": self._name, "text": text})
        else:
            folder = folder_of(owner)
            folder.mkdir(mode=0o700, exist_ok=True)  # what is printed is its user's alone
            with (folder / self._name).open("a", encoding="utf-8") as file:
                file.write(text)


#: The log of the call that runs here.
_current: ContextVar[CallLog | None] = ContextVar("current_call_log", default=None)


class LoggedOutput:
    """Stands for ``sys.stdout`` while functions run, and knows which of them prints."""

    def __init__(self, output: TextIO) -> None:
        self.output = output

    def write(self, text: str) -> int:
        """Write to the output, and to the log of the call."""
        if (log := _current.get()) is not None:
            log.write(text)
        return self.output.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.output, name)


class _Capture:
    """Puts the standing-in output in place while at least one function runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._output: LoggedOutput | None = None

    def begin(self) -> None:
        with self._lock:
            self._running += 1
            if not isinstance(sys.stdout, LoggedOutput) and sys.stdout is not None:
                sys.stdout = self._output = LoggedOutput(sys.stdout)

    def end(self) -> None:
        with self._lock:
            self._running -= 1
            if not self._running and sys.stdout is self._output and self._output is not None:
                sys.stdout, self._output = self._output.output, None


_CAPTURE = _Capture()


class capturing:  # noqa: N801 - used as a function
    """The time in which a call runs: what it prints goes to its log, too."""

    __slots__ = ("_log", "_token")

    def __init__(self, name: str) -> None:
        self._log = CallLog(name)

    def __enter__(self) -> None:
        _CAPTURE.begin()
        self._token = _current.set(self._log)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
        _CAPTURE.end()
        self._log.flush()


def read_log(name: str, client: Any = None) -> str:
    """Return what a call has printed so far; ``client`` is that of its cluster."""
    owner = owner_of(name)
    text = LOGS.text(name)
    file = folder_of(owner) / name
    if file.is_file():
        text += file.read_text(encoding="utf-8")
    if client is not None:
        events = client.get_events(topic_of(owner))
        text += "".join(event["text"] for _, event in events if event["name"] == name)
    return text
