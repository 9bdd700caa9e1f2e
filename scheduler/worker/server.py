"""The worker: distributed's, with admission by memory, several spill directories and own cores."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask.config
import distributed
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.spill import SpillBuffer

from .. import hooks
from . import binding
from .admission import Admission
from .directories import Directories
from .hooks import WORKER_HOOKS
from .state import MarsWorkerState, MemoryFreedEvent

#: Share of the memory limit that running tasks and results may take together.
SOFT = 0.75


class MarsWorker(distributed.Worker):
    """A dask worker that stock schedulers and clients take for one.

    ``advertise`` is the host that others reach it by, ``cores`` the CPUs that it never leaves, and
    ``spill_dirs`` where results go when memory is short. ``baseline`` are the bytes that the
    process takes before any task (default: those it takes now).
    """

    def __init__(
        self,
        *args: Any,
        advertise: str | None = None,
        cores: Sequence[int] | None = None,
        spill_dirs: Sequence[str] = (),
        baseline: int | None = None,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, WORKER_HOOKS)
        self.advertise = advertise
        if options.get("nanny") and hasattr(os, "setpgid"):
            # Ctrl-C in a terminal and a container's end reach whole groups of processes, but when
            # and how a worker ends is up to its nanny.
            os.setpgid(0, 0)
        # distributed derives the section of its configuration from the class's name.
        options.setdefault(
            "blocked_handlers", dask.config.get("distributed.worker.blocked-handlers", [])
        )
        options.setdefault("WorkerStateClass", MarsWorkerState)
        super().__init__(*args, **options)
        self.id = self.id.replace(type(self).__name__, "Worker", 1)
        self._spill_thread = ThreadPoolExecutor(1, thread_name_prefix="marsdask-spill")
        self._spilling: asyncio.Future[None] | None = None
        self._directories: Directories | None = None
        self._admit(baseline)
        if spill_dirs and isinstance(self.data, SpillBuffer):
            self._directories = Directories(spill_dirs)
            self.data._slow_uncached.d = self._directories
        if cores is not None:
            binding.bind(cores, self.state.nthreads)

    def _admit(self, baseline: int | None) -> None:
        limit = self.memory_manager.memory_limit
        if not limit or not isinstance(self.state, MarsWorkerState):
            return
        taken = self.monitor.get_process_memory() if baseline is None else baseline
        self.state.admission = Admission(max(0, int(SOFT * limit) - taken))
        if isinstance(self.data, SpillBuffer):
            self.state.make_room = self._make_room

    def _make_room(self, nbytes: int) -> None:
        if self._spilling is None or self._spilling.done():
            self._spilling = asyncio.ensure_future(self._spill(nbytes))

    async def _spill(self, nbytes: int) -> None:
        """Move results to disk in a thread, the least recently used first."""
        loop = asyncio.get_running_loop()
        state: Any = self.state
        data: Any = self.data
        freed = await loop.run_in_executor(self._spill_thread, evict, data, nbytes)
        if self.status in (Status.closing, Status.closed, Status.failed):
            return
        state.admission.stuck = freed == 0
        self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-spilled"))
        # What failed may succeed later, when other files are gone.
        state.admission.stuck = False

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen, and tell the address that others are to use."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None:
            listener: Any = self.listeners[0]
            _, port = get_address_host_port(listener.contact_address)
            self.contact_address = self._address = f"{listener.prefix}{self.advertise}:{port}"

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close, and remove what was spilled."""
        result = await super().close(*args, **options)
        self._spill_thread.shutdown(wait=False)
        if self._directories is not None:
            self._directories.close()
        return result


def evict(data: SpillBuffer, nbytes: int) -> int:
    """Move results to disk until ``nbytes`` have left memory; return how many have."""
    freed = 0
    while freed < nbytes and data.fast:
        try:
            weight = data.evict()
        except KeyError:  # the last one was deleted meanwhile
            break
        if weight < 0:  # the disk is full, or it cannot be pickled; distributed has logged it
            break
        freed += weight
    return freed
