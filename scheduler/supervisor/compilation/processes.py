"""Processes in which jobs unpickle and compile: one for each session, with a deadline.

What hangs is killed, with the other jobs of its session that are compiled at that moment. The
supervisor itself unpickles nothing of users.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable
from typing import Any

import dask.config
from dask.utils import parse_bytes

from ... import limits
from ...base import Machine
from ...cluster import daemon_threads
from ...errors import CompilationTimeout
from .session_process import SessionProcess
from .threads import CompileThreads

#: Maximum number of processes that wait for a session.
_SPARE = 1


class ProcessCompiler:
    """A compiler in the process of its session."""

    recomputes = False

    def __init__(
        self, processes: CompileProcesses, session: Hashable, process: SessionProcess
    ) -> None:
        self._processes, self._session, self._process = processes, session, process
        self._number = process.new()

    async def call(self, method: str, *args: Any) -> Any:
        """Call a method of the compiler."""
        process = self._process
        try:
            return await self._processes.threads.call(
                self._session, process.request, self._number, method, *args
            )
        except CompilationTimeout:
            process.kill()
            raise
        except asyncio.CancelledError:
            if process.open <= {self._number}:
                process.kill()  # nobody else would wait for it
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
        self._spare: list[SessionProcess] = []
        self._closed = False

    async def open(self, session: Hashable, data: bytes, machine: Machine) -> ProcessCompiler:
        """Return a compiler of a job."""
        process = self._process(session)
        compiler = ProcessCompiler(self, session, process)
        await daemon_threads.call(process.start, name="marsdask-compile-start")
        compiler.recomputes = await compiler.call("open", data, machine)
        return compiler

    def _process(self, session: Hashable) -> SessionProcess:
        found = self._sessions.get(session)
        if found is None or not found.alive:
            if found is not None:
                self._processes.discard(found)
            self._spare = [process for process in self._spare if process.alive]
            found = self._spare.pop() if self._spare else SessionProcess(memory_limit())
            self._sessions[session] = found
            self._processes.add(found)
        return found

    def leave(self, sessions: Collection[Hashable]) -> None:
        """Forget sessions that have ended; their processes end with their last results."""
        for session in sessions:
            process = self._sessions.pop(session, None)
            if process is not None:
                self.settle(process)

    def settle(self, process: SessionProcess) -> None:
        """Keep a process that no session uses for the next one, or end it."""
        if process.open or process in self._sessions.values() or process in self._spare:
            return
        if process.alive and len(self._spare) < _SPARE and not self._closed:
            self._spare.append(process)
        else:
            self._processes.discard(process)
            process.kill()

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for process in self._processes:
            process.kill()
        self._processes.clear()
        self._spare.clear()
        self._sessions.clear()


def memory_limit() -> int:
    """Return ``marsdask.compile.memory``: by default half of this process's limit."""
    configured = dask.config.get("marsdask.compile.memory", None)
    return limits.memory() // 2 if configured is None else parse_bytes(configured)
