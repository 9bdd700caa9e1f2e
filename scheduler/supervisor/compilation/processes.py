"""Processes in which jobs unpickle and compile: one for each session, with a deadline.

What hangs is killed, with the other jobs of its session that are compiled at that moment. The
supervisor itself unpickles nothing of users.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Collection, Hashable
from typing import Any

import dask.config
from dask.utils import parse_bytes

from ... import limits
from ...base import Machine
from ...cluster import daemon_threads
from ...errors import CompilationDied, CompilationTimeout
from .forkserver import ForkServer
from .session_process import SessionProcess
from .threads import CompileThreads, timeout
from .total_memory import TotalMemory

#: Seconds after which a process ends that has no compilers.
_IDLE = 60.0


class ProcessCompiler:
    """A compiler in the process of its session."""

    recomputes = False

    def __init__(
        self, processes: CompileProcesses, session: Hashable, process: SessionProcess
    ) -> None:
        self._processes, self._session, self._process = processes, session, process
        self._number = process.new()

    async def open(self, *args: Any) -> None:
        """Start the process if it is new, and the compiler in it."""
        self.recomputes = await self._call(self._process.open_compiler, *args)

    async def call(self, method: str, *args: Any) -> Any:
        """Call a method of the compiler."""
        return await self._call(self._process.request, method, *args)

    async def _call(self, function: Any, *args: Any) -> Any:
        process, threads = self._process, self._processes.threads
        try:
            return await threads.call(self._session, function, self._number, *args)
        except CompilationTimeout:
            await daemon_threads.call(process.kill, name="marsdask-compile-end")
            raise
        except asyncio.CancelledError:
            if process.open <= {self._number}:
                end(process)  # nobody else would wait for it
            else:
                self._processes.retire(self._session, process)
            raise

    def __del__(self) -> None:
        self._process.drop(self._number)
        self._processes.settle(self._process)


class CompileProcesses:
    """Compiles jobs of each session in a process of its own."""

    def __init__(self) -> None:
        self.threads = CompileThreads()
        self._sessions: dict[Hashable, SessionProcess] = {}
        self._processes: set[SessionProcess] = set()
        self._forkserver = ForkServer()
        self._total = TotalMemory(lambda: tuple(self._processes))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def prepare(self) -> None:
        """Start what processes are made from, without waiting for it."""
        threading.Thread(target=self._start, name="marsdask-compile-start", daemon=True).start()

    def _start(self) -> None:
        with contextlib.suppress(OSError):  # the first job says so
            self._forkserver.start()

    async def open(self, session: Hashable, data: bytes, machine: Machine) -> ProcessCompiler:
        """Return a compiler of a job."""
        self._loop = asyncio.get_running_loop()
        compiler = ProcessCompiler(self, session, self._process(session))
        await compiler.open(data, machine)
        return compiler

    def _process(self, session: Hashable) -> SessionProcess:
        memory = memory_limit()
        if self._closed:
            raise CompilationDied(None, memory)
        process = self._sessions.get(session)
        if process is None or not process.alive:
            if process is not None:
                self._forget(process)
            if not self._forkserver.alive:
                _apart(self._forkserver.close)
                self._forkserver = ForkServer()
            process = self._sessions[session] = SessionProcess(self._forkserver, memory)
            self._processes.add(process)
            self._total.watch()
        return process

    def leave(self, sessions: Collection[Hashable]) -> None:
        """Forget sessions that have ended; their processes end with their last results."""
        for session in sessions:
            process = self._sessions.pop(session, None)
            if process is not None:
                self._settle(process)

    def retire(self, session: Hashable, process: SessionProcess) -> None:
        """Give later jobs of a session another process: this one may hang, and ends if it does."""
        if self._sessions.get(session) is process:
            self.leave([session])
        if self._loop is not None:
            self._loop.call_later(timeout(), self._end_if_still, process, process.requests)

    def _end_if_still(self, process: SessionProcess, request: int) -> None:
        if process.is_still(request):
            end(process)

    def renew(self) -> None:
        """Give later jobs new processes, which import modules that have changed."""
        self.leave(list(self._sessions))

    def settle(self, process: SessionProcess) -> None:
        """End a process that has no compilers: soon, or at once if no session uses it."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._settle, process)

    def _settle(self, process: SessionProcess) -> None:
        if process.open or process not in self._processes:
            return
        self._forkserver.use(process.packages)  # the job has ended, which this would have delayed
        if process not in self._sessions.values():
            self._forget(process)
        elif self._loop is not None:
            self._loop.call_later(_IDLE, self._end_idle, process, process.made)

    def _end_idle(self, process: SessionProcess, made: int) -> None:
        if process.made == made and not process.open:
            self.leave([key for key, value in self._sessions.items() if value is process])

    def _forget(self, process: SessionProcess) -> None:
        self._processes.discard(process)
        end(process)

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        self._total.close()
        self._forkserver.close()
        self._processes.clear()
        self._sessions.clear()


def end(process: SessionProcess) -> None:
    """End a process, without waiting for it."""
    _apart(process.kill)


def _apart(function: Callable[[], object]) -> None:
    threading.Thread(target=function, name="marsdask-compile-end", daemon=True).start()


def by_default() -> bool:
    """Return ``marsdask.compile.processes``: by default whether this is Linux."""
    return bool(dask.config.get("marsdask.compile.processes", sys.platform == "linux"))


def memory_limit() -> int:
    """Return ``marsdask.compile.memory``: by default half of this process's limit."""
    configured = dask.config.get("marsdask.compile.memory", None)
    return limits.memory() // 2 if configured is None else parse_bytes(configured)
