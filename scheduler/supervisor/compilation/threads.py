"""Threads in which jobs unpickle and compile: one at a time for each session, with a deadline.

A slow compilation delays no other session, as far as it lets other threads run. One that hangs
fails, and leaves its thread behind, which does not keep the process from ending. Nothing but the
end of a process stops a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Hashable, Iterator
from functools import partial
from typing import Any

import dask.config
from dask.utils import parse_timedelta

from ...base import Machine
from ...cluster import daemon_threads
from ...errors import CompilationTimeout
from .compiler import Compiler

#: The switch interval while threads make tasks, in seconds.
_SWITCH = 0.0005

_lock = threading.Lock()
_switching: list[float] = []
"""The usual switch interval, once for each running thread."""


class ThreadCompiler:
    """A compiler of this process."""

    def __init__(self, threads: CompileThreads, session: Hashable, compiler: Compiler) -> None:
        self._threads, self._session, self._compiler = threads, session, compiler
        self.recomputes = compiler.recomputes

    async def call(self, method: str, *args: Any) -> Any:
        """Call a method of the compiler."""
        return await self._threads.call(self._session, getattr(self._compiler, method), *args)


class CompileThreads:
    """Calls slow functions of jobs outside the event loop."""

    def __init__(self) -> None:
        self._sessions: weakref.WeakValueDictionary[Hashable, asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    async def open(self, session: Hashable, data: bytes, machine: Machine) -> ThreadCompiler:
        """Return a compiler of a job."""
        return ThreadCompiler(self, session, await self.call(session, Compiler, data, machine))

    def leave(self, sessions: Collection[Hashable]) -> None:
        """Forget sessions that have ended: there is nothing to forget."""

    def prepare(self) -> None:
        """Do nothing: there is nothing to start."""

    def renew(self) -> None:
        """Do nothing: this process has imported what has changed."""

    def close(self) -> None:
        """Leave the threads behind."""

    async def call(self, session: Hashable, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function, after the earlier calls of this session.

        Raises :class:`CompilationTimeout` after ``marsdask.compile.timeout`` seconds.
        """
        seconds = timeout()
        # The dictionary keeps a lock only while a call uses it.
        turn = self._sessions.setdefault(session, asyncio.Lock())
        async with turn:
            try:
                async with asyncio.timeout(seconds) as deadline:
                    call = partial(_switching_often, function, *args)
                    return await daemon_threads.call(call, name="marsdask-jobs")
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise CompilationTimeout(seconds) from None


def timeout() -> float:
    """Return ``marsdask.compile.timeout`` in seconds."""
    return float(parse_timedelta(dask.config.get("marsdask.compile.timeout", "600s")))


@contextlib.contextmanager
def _switches() -> Iterator[None]:
    """Shorten the switch interval while any thread makes tasks.

    The event loop releases the GIL with every message, and would wait 5 ms to get it back.
    """
    with _lock:
        _switching.append(_switching[0] if _switching else sys.getswitchinterval())
        sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        with _lock:
            usual = _switching.pop()
            if not _switching:
                sys.setswitchinterval(usual)


def _switching_often(function: Callable[..., Any], *args: Any) -> Any:
    with _switches():
        return function(*args)
