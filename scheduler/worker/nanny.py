"""The nanny: starts a worker process, restarts it when it dies, and records why it ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import sys
from collections import deque
from typing import Any, Final

import dask.config
import distributed
from dask.utils import format_bytes
from distributed.core import Status
from distributed.utils import offload
from distributed.worker_memory import NannyMemoryManager

from .. import clock, limits
from ..cluster import hooks
from ..cluster.connections.idle import LimitedServer
from ..storage.server_folder import PrivateServer
from ..storage.shared import own_memory
from . import binding, directories
from .hooks import NANNY_HOOKS
from .memory_ledger import HARD, LedgerView
from .running_tasks import RunningTasksRecord
from .server import MarsWorker

logger: Final = logging.getLogger(__name__)

#: Number of ended processes whose last tasks are known; a supervisor asks soon.
_REMEMBERED = 8

#: Timeout for removing the directories of a killed worker, in seconds.
_PURGE = 5.0


class MarsNanny(PrivateServer, LimitedServer, distributed.Nanny):
    """A Dask nanny whose worker process is a :class:`.MarsWorker` by default.

    Without ``restart`` the nanny ends with its worker process.
    """

    def __init__(
        self,
        *args: Any,
        restart_worker: bool = True,
        ledger: tuple[str, int] | None = None,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, NANNY_HOOKS)
        self.reason: str | None = None
        self.exitcode = 0
        """The exit code of the last worker process; a negative one is a signal."""
        self.restart_worker = restart_worker
        options.setdefault("worker_class", MarsWorker)
        # A query of polars is one task, which may use all slots of its worker and no more.
        own = os.environ.get(binding.POLARS_THREADS, str(options.get("nthreads") or limits.cpus()))
        options["env"] = {binding.POLARS_THREADS: own} | (options.get("env") or {})
        if ledger is not None:
            options["ledger"] = ledger
        self._record = None
        if isinstance(options["worker_class"], type) and issubclass(
            options["worker_class"], MarsWorker
        ):
            self._record = RunningTasksRecord.start()
        if self._record is not None:
            options["record"] = self._record.path
        super().__init__(*args, **options)
        # distributed derives the section of its configuration from the class's name.
        self.blocked_handlers = dask.config.get("distributed.nanny.blocked-handlers", [])
        self.id = self.id.replace(type(self).__name__, "Nanny", 1)
        self.memory_manager = ProcessMemory(
            self, memory_limit=self.memory_manager.memory_limit or 0
        )
        self._ledger = None if ledger is None else LedgerView(ledger[0])
        if ledger is not None:
            self.memory_manager.host, self.memory_manager.position = self._ledger, ledger[1]
        self.memory_manager.record = self._record
        clock.watch(self.periodic_callbacks)
        self._ran: deque[tuple[int, list[Any] | None]] = deque(maxlen=_REMEMBERED)
        """The tasks that earlier processes ran when they ended."""
        self.handlers["mars_follow"] = self.follow
        self.handlers["mars_ran"] = self.ran

    def follow(self, *, address: str) -> None:
        """Record that the worker continues with the supervisor at ``address``."""
        logger.warning("%s continues with the supervisor at %s", self.worker_address, address)
        self.scheduler_addr = address
        self.scheduler = self.rpc(address)

    def ran(self, *, pid: int | None = None) -> list[Any] | None:
        """Return the tasks that a worker process runs or ran last; ``None`` if unknown.

        By default it is the last process.
        """
        if self._record is None:
            return None
        ended = dict(self._ran)
        if pid in ended:  # the next process may be about to write
            return ended[pid]
        return self._record.read() if pid in (None, self._record.pid) else None

    async def instantiate(self) -> Any:
        """Start a worker process; cancelling this ends the process."""
        if self._record is not None and self._record.pid:
            # The next process writes to the same record.
            self._ran.append((self._record.pid, self._record.read()))
        try:
            return await super().instantiate()
        except asyncio.CancelledError:
            await self._give_up_start()
            raise

    async def kill(self, *args: Any, **options: Any) -> None:
        """Kill the worker process, without waiting for a running start."""
        if self.status is Status.closing:
            await self._give_up_start()
        await super().kill(*args, **options)

    async def _give_up_start(self) -> None:
        starting = self.process
        if starting is not None and starting.status is Status.starting:
            starting.status = Status.failed  # distributed would continue to wait for its start
            if starting.process is not None and starting.process.pid is None:
                await starting.process.kill()  # once it has started

    async def start_unsafe(self) -> Any:
        """Start the worker process and watch it."""
        await super().start_unsafe()
        if not self.restart_worker:
            super().close_gracefully(reason="worker processes are not recovered")
        return self

    async def _on_worker_exit(self, exitcode: int) -> None:
        self.exitcode = exitcode
        await super()._on_worker_exit(exitcode)

    def close_gracefully(self, reason: str = "nanny-close-gracefully") -> None:
        """Record that the worker is about to end, and why."""
        self.reason = reason
        super().close_gracefully(reason=reason)

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close, and record the reason unless it is known.

        A worker process that was killed has left its directories, which no other may come to purge.
        """
        self.reason = self.reason or options.get("reason")
        try:
            status = await super().close(*args, **options)
            folders = self.worker_kwargs.get("spill_dirs") or ()
            with contextlib.suppress(TimeoutError):  # a disk may not answer
                async with asyncio.timeout(_PURGE):
                    await offload(directories.purge, self.local_directory, folders)
            return status
        finally:
            if self._record is not None:
                self._record.close()
                self._record = None
            if self._ledger is not None:
                self._ledger.close()


class ProcessMemory(NannyMemoryManager):
    """Restarts a worker process that exceeds its memory limit.

    Above its share it may use the memory that other workers of the host leave. The process itself
    is not asked: its event loop may be blocked.
    """

    host: LedgerView | None = None
    position = 0
    """The row of the process."""
    record: RunningTasksRecord | None = None

    def memory_monitor(self, nanny: distributed.Nanny) -> None:
        """Check the process."""
        process = nanny.process and nanny.process.process
        if sys.platform != "linux" or process is None or process.pid is None:
            super().memory_monitor(nanny)
            return
        if nanny.status is not Status.running:
            return
        nbytes = self._measure(process.pid)
        most = self.memory_terminate_fraction * (self.memory_limit or math.inf)
        if nbytes > most and not (self.host is not None and self.host.within(HARD)):
            self._end(nanny, process, nbytes)

    def _measure(self, pid: int) -> int:
        """Return the bytes that a process uses, and enter them in the ledger of the host."""
        nbytes = own_memory(pid)
        if self.record is not None and self.record.pid == pid:
            nbytes += self.record.segments
        if self.host is not None:
            self.host.measured(self.position, pid, nbytes)
        return nbytes

    def _end(self, nanny: distributed.Nanny, process: Any, used: int) -> None:
        """End a process: the second time for good, because it may ignore the first signal."""
        if self._last_terminated_pid == process.pid:
            process.kill()
            return
        logger.warning(
            "%s (pid=%d) uses %s of its %s and of what the host has left: restarting it",
            nanny.worker_address,
            process.pid,
            format_bytes(used),
            format_bytes(self.memory_limit or 0),
        )
        self._last_terminated_pid = process.pid
        event = {"worker": nanny.worker_address, "pid": process.pid, "rss": used}
        nanny.log_event("worker-restart-memory", event)
        process.terminate()
