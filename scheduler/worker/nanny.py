"""The nanny: starts a worker process, restarts it when it dies, and records why it ended."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
from typing import Any, Final

import dask.config
import distributed
from distributed.core import Status
from distributed.worker_memory import NannyMemoryManager

from .. import limits
from ..cluster import hooks
from ..storage.shared import own_memory
from . import binding
from .hooks import NANNY_HOOKS
from .memory_ledger import HARD, LedgerView
from .running_tasks import RunningTasksRecord
from .server import MarsWorker

logger: Final = logging.getLogger(__name__)


class MarsNanny(distributed.Nanny):
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
        self.memory_manager.host = self._ledger = None if ledger is None else LedgerView(ledger[0])
        self.handlers["mars_follow"] = self.follow
        self.handlers["mars_ran"] = self.ran

    def follow(self, *, address: str) -> None:
        """Record that the worker continues with the supervisor at ``address``."""
        logger.warning("%s continues with the supervisor at %s", self.worker_address, address)
        self.scheduler_addr = address
        self.scheduler = self.rpc(address)

    def ran(self) -> list[Any] | None:
        """Return the tasks that the worker process runs or ran last; ``None`` if unknown."""
        return None if self._record is None else self._record.read()

    async def instantiate(self) -> Any:
        """Start a worker process; cancelling this ends the process."""
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
        """Close, and record the reason unless it is known."""
        self.reason = self.reason or options.get("reason")
        try:
            return await super().close(*args, **options)
        finally:
            if self._record is not None:
                self._record.close()
                self._record = None
            if self._ledger is not None:
                self._ledger.close()


class ProcessMemory(NannyMemoryManager):
    """Restarts a worker process that exceeds its memory limit.

    Above its share it may use the memory that other workers of the host leave.
    """

    host: LedgerView | None = None

    def memory_monitor(self, nanny: distributed.Nanny) -> None:
        """Check the process."""
        process = nanny.process and nanny.process.process
        if sys.platform == "linux" and process is not None and process.pid is not None:
            most = self.memory_terminate_fraction * (self.memory_limit or math.inf)
            if own_memory(process.pid) <= most:
                return
            if self.host is not None and self.host.within(HARD):
                return
        super().memory_monitor(nanny)
