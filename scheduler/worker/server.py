"""The worker: distributed's, with admission by memory, several spill directories and own cores."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import dask.config
import distributed
from dask.utils import parse_bytes
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.spill import SpillBuffer

from .. import hooks, limits
from ..environment import environment, stacks
from ..storage.shared import Pool
from ..usage import Usage, count
from . import binding
from .admission import Admission
from .directories import Directories
from .hooks import WORKER_HOOKS
from .peers import NAME, Peers, introduction
from .sharing import Sharing, SharingComm
from .state import MarsWorkerState, MemoryFreedEvent

#: How many files a worker may have open, if it may choose.
_DESCRIPTORS = 1 << 16

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
        self._usage = Usage(partial(count, own=self._resident))
        self.metrics["mars"] = self._taken
        self.startup_information["mars"] = self._described
        self.handlers["mars_stacks"] = stacks
        self._spill_thread = ThreadPoolExecutor(1, thread_name_prefix="marsdask-spill")
        self._spilling: asyncio.Future[None] | None = None
        self._directories: Directories | None = None
        self.sharing = self._share()
        self._admit(baseline)
        if spill_dirs and isinstance(self.data, SpillBuffer):
            self._directories = Directories(spill_dirs)
            self.data._slow_uncached.d = self._directories
        if cores is not None:
            binding.bind(cores, self.state.nthreads)

    def _share(self) -> Sharing | None:
        if not isinstance(self.state, MarsWorkerState):
            return None
        limit = dask.config.get("marsdask.shared.limit", None)
        if limit is None:
            limit = (self.memory_manager.memory_limit or limits.memory()) // 2
        pool = Pool(parse_bytes(limit), dask.config.get("marsdask.shared.directory", None))
        if pool.problem is not None or pool.limit < pool.share_from:
            return None
        _allow_descriptors()
        self._peers = Peers(self.rpc)
        self._share_pool = ThreadPoolExecutor(1, thread_name_prefix="marsdask-share")
        sharing = Sharing(pool, self.data, self._in_share_thread)
        self.state.sharing = sharing
        self.monitor.get_process_memory = pool.resident  # type: ignore[method-assign]
        return sharing

    def _in_share_thread(self, function: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._share_pool, function, *args)

    def identity(self) -> dict[str, Any]:
        """Return what distributed's worker says of itself, and where its memory can be seen."""
        identity: dict[str, Any] = super().identity()
        return identity if self.sharing is None else identity | {NAME: introduction()}

    async def get_data(
        self, comm: Any, keys: Collection[Any], who: str | None = None, serializers: Any = None
    ) -> Any:
        """Send results, or to a worker that can open it where the memory is that they lie in."""
        sharing = self.sharing
        if (
            sharing is not None
            and who is not None
            and serializers is None
            and any(self._size(key) >= sharing.pool.share_from for key in keys)
            and await self._peers.near(comm, who)
        ):
            comm = SharingComm(comm, who, self._peers, sharing)
        return await super().get_data(comm, keys, who=who, serializers=serializers)

    def _size(self, key: Any) -> int:
        ts = self.state.tasks.get(key)
        return 0 if ts is None else ts.nbytes or 0

    def _resident(self) -> int:
        return self.monitor.get_process_memory()

    def _taken(self, worker: distributed.Worker) -> dict[str, float]:
        return self._usage()._asdict()

    def _described(self, worker: distributed.Worker) -> dict[str, Any]:
        return environment()

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
        freed = await loop.run_in_executor(self._spill_thread, self._free, nbytes)
        if self.status in (Status.closing, Status.closed, Status.failed):
            return
        state.admission.stuck = freed == 0
        self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-spilled"))
        # What failed may succeed later, when other files are gone.
        state.admission.stuck = False

    def _free(self, nbytes: int) -> int:
        """Free memory; return how many bytes."""
        data: Any = self.data
        if self.sharing is None:
            return evict(data, nbytes)
        freed = self.sharing.pool.trim()
        if freed < nbytes:
            self.sharing.spare_borrowed()
            freed += evict(data, nbytes - freed)
            self.sharing.pool.trim()
        return freed

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
        if self.sharing is not None:
            self._share_pool.shutdown(wait=False)
            self.sharing.pool.close()
        if self._directories is not None:
            self._directories.close()
        return result


def _allow_descriptors() -> None:
    """Let this process have more files open: before Python 3.13 each mapping keeps one."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # Unix only

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            most = hard if hard != resource.RLIM_INFINITY else max(soft, _DESCRIPTORS)
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, _DESCRIPTORS), most), hard))


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
