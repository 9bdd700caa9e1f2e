"""The worker: distributed's, with admission by memory, several spill directories and own cores."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import dask.config
import distributed
from dask.utils import parse_bytes
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.spill import SpillBuffer
from distributed.worker_state_machine import StateMachineEvent

from .. import limits
from ..cluster import hooks
from ..cluster.environment import environment, stacks
from ..cluster.failures import FULL
from ..dask import PLACE
from ..storage.shared import Pool
from ..usage import Usage, count
from ..web.tls import dashboard_tls, verify_clients
from . import binding, memory_ledger
from .admission import Admission
from .connections import NAME, PeerConnections, introduction
from .directories import Directories
from .hooks import WORKER_HOOKS
from .memory_ledger import LedgerView
from .reconnect import ReconnectingWorker
from .running_tasks import RunningTasks
from .shared_results import SharedMemoryComm, SharedResults
from .spill_manager import SpillManager
from .state import MarsWorkerState, MemoryFreedEvent

#: How many files a worker may have open, if it may choose.
_DESCRIPTORS = 1 << 16

#: Seconds until a task that waits for other processes of the host is looked at again.
_ASK = 0.05

#: States in which nothing is to be done any more.
_ENDED = (Status.closing, Status.closed, Status.failed)

#: Share of the memory limit that running tasks and results may take together.
SOFT = 0.75


class MarsWorker(ReconnectingWorker):
    """A dask worker that stock schedulers and clients take for one.

    ``advertise`` is the host that others reach it by, ``cores`` the CPUs that it never leaves, and
    ``spill_dirs`` where results go when memory is short. ``baseline`` are the bytes that the
    process takes before any task (default: those it takes now). With ``io_threads`` that many
    threads write results to disk and into shared memory, each directory ``io_parallel`` at a time,
    and the event loop never does; else it writes what is beyond distributed's thresholds.
    ``ledger`` is what the worker processes of the host take together, and this one's row there,
    ``record`` where the nanny learns what runs.
    """

    def __init__(
        self,
        *args: Any,
        advertise: str | None = None,
        cores: Sequence[int] | None = None,
        spill_dirs: Sequence[str] = (),
        baseline: int | None = None,
        io_threads: int | None = None,
        io_parallel: int = 1,
        ledger: tuple[str, int] | None = None,
        record: str | None = None,
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
        self.startup_information[PLACE] = self._placed
        self.handlers["mars_stacks"] = stacks
        self._spilling: asyncio.Future[None] | None = None
        self._wanted = 0
        self._directories: Directories | None = None
        self.spill_manager = SpillManager(self.data, io_threads or 1)
        self.shared_results = self.spill_manager.shared_results = self._share()
        self._admit(baseline, record)
        self._asking: asyncio.TimerHandle | None = None
        self.share = self._join(ledger)
        if isinstance(self.data, SpillBuffer):
            self._write_to(spill_dirs, io_parallel, in_background=io_threads is not None)
        if cores is not None:
            binding.bind(cores, self.state.nthreads)

    def _share(self) -> SharedResults | None:
        _allow_descriptors()  # for what was spilled as well, which is mapped too
        if not isinstance(self.state, MarsWorkerState):
            return None
        limit = dask.config.get("marsdask.shared.limit", None)
        if limit is None:
            limit = (self.memory_manager.memory_limit or limits.memory()) // 2
        pool = Pool(parse_bytes(limit), dask.config.get("marsdask.shared.directory", None))
        if pool.problem is not None or pool.limit < pool.share_from:
            return None
        self._peers = PeerConnections(self.rpc)
        sharing = SharedResults(pool, self.data, self.spill_manager.run, self.spill_manager.moves)
        self.state.shared_results = sharing
        self.monitor.get_process_memory = pool.resident  # type: ignore[method-assign]
        return sharing

    def identity(self) -> dict[str, Any]:
        """Return what distributed's worker says of itself, and where its memory can be seen."""
        identity: dict[str, Any] = super().identity()
        return identity if self.shared_results is None else identity | {NAME: introduction()}

    async def get_data(
        self, comm: Any, keys: Collection[Any], who: str | None = None, serializers: Any = None
    ) -> Any:
        """Send results, or to a worker that can open it where the memory is that they lie in."""
        sharing = self.shared_results
        if (
            sharing is not None
            and who is not None
            and serializers is None
            and any(self._size(key) >= sharing.pool.share_from for key in keys)
            and await self._peers.near(comm, who)
        ):
            comm = SharedMemoryComm(comm, self._peers, sharing)
        return await super().get_data(comm, keys, who=who, serializers=serializers)

    def _size(self, key: Any) -> int:
        ts = self.state.tasks.get(key)
        return 0 if ts is None else ts.nbytes or 0

    def _resident(self) -> int:
        return self.monitor.get_process_memory()

    def _taken(self, worker: distributed.Worker) -> dict[str, float]:
        return self._usage()._asdict()

    def _full(self, worker: distributed.Worker) -> str | None:
        return self.spill_manager.full

    def _described(self, worker: distributed.Worker) -> dict[str, Any]:
        return environment()

    def _placed(self, worker: distributed.Worker) -> dict[str, Any] | None:
        return None if self.shared_results is None else introduction()

    _running: RunningTasks | None = None
    _cleared = False
    """Whether what it had open is closed."""

    def _admit(self, baseline: int | None, record: str | None) -> None:
        if record is not None and isinstance(self.state, MarsWorkerState):
            self._running = self.state.record = RunningTasks(record)
        limit = self.memory_manager.memory_limit
        if not limit or not isinstance(self.state, MarsWorkerState):
            return
        taken = self.monitor.get_process_memory() if baseline is None else baseline
        margin = int(memory_ledger.HARD * limit) - int(SOFT * limit)
        self.state.admission = Admission(max(0, int(SOFT * limit) - taken), margin)
        self.state.make_room = self._make_room

    def _join(self, ledger: tuple[str, int] | None) -> LedgerView | None:
        """Keep a row in the ledger of the host, and heed the others'."""
        state, manager, monitor = self.state, self.memory_manager, self.monitor
        if ledger is None or not isinstance(state, MarsWorkerState) or state.admission is None:
            return None
        share = LedgerView(*ledger)
        state.admission.host = share
        state.ask_again = self._ask_again
        measure, pause = monitor.get_process_memory, manager._maybe_pause_or_unpause

        def told() -> int:
            resident = measure()
            share.tell(resident=resident)
            return resident

        def pause_or_unpause(worker: distributed.Worker, memory: int) -> None:
            # What neighbours leave may be used: beyond its own share it pauses with the host.
            pause(worker, 0 if share.within(memory_ledger.SOFT) else memory)

        monitor.get_process_memory = told  # type: ignore[method-assign]
        manager._maybe_pause_or_unpause = pause_or_unpause  # type: ignore[method-assign]
        state.admission.baseline = told()
        return share

    def _ask_again(self) -> None:
        if self._asking is None:
            self._asking = asyncio.get_running_loop().call_later(_ASK, self._ask)

    def _ask(self) -> None:
        self._asking = None
        if self.share is not None and self.status not in _ENDED:
            self.share.tell(waits=0)  # unless the task is still there
            self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-host"))

    def _write_to(self, folders: Sequence[str], parallel: int, *, in_background: bool) -> None:
        self.metrics[FULL] = self._full
        if in_background:
            # Not in its own directory, which is removed, with all that is in it, before it closes.
            beside = os.path.dirname(self.local_directory)
            self._directories = Directories(folders or [beside], parallel)
            self.spill_manager.take_over(self._directories, self.local_directory)
            self.memory_manager._spill = self._relieve  # type: ignore[method-assign]
        elif folders:
            self._directories = Directories(folders, parallel)
            self.data._slow_uncached.d = self._directories  # type: ignore[attr-defined]

    async def _relieve(self, worker: Any, memory: int) -> None:
        """Move results to disk until the process is back at its target."""
        manager = self.memory_manager
        share = manager.memory_target_fraction or manager.memory_spill_fraction
        excess = int(memory - share * (manager.memory_limit or 0))
        freeing = asyncio.ensure_future(self.spill_manager.free(excess))
        # Tasks go on meanwhile: who waited with pausing might be ended for its memory first.
        while not (await asyncio.wait([freeing], timeout=manager.memory_monitor_interval))[0]:
            manager._maybe_pause_or_unpause(worker, worker.monitor.get_process_memory())
        await freeing

    def _make_room(self, nbytes: int) -> None:
        self._wanted = max(self._wanted, nbytes)
        if self._spilling is None or self._spilling.done():
            self._spilling = asyncio.ensure_future(self._spill())

    async def _spill(self) -> None:
        """Move results to disk, and see whether the first task in line fits now."""
        state: Any = self.state
        while self._wanted:
            freed = await self.spill_manager.free(self._wanted)
            if self.status in _ENDED:
                return
            # Whether it is still too much is asked anew: results may have come back meanwhile.
            self._wanted = 0
            state.admission.stuck = freed == 0
            state.full = self.spill_manager.full
            state.admission.full = state.full is not None
            self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-spilled"))
            # What failed may succeed later, when other files are gone.
            state.admission.stuck = False

    def start_http_server(self, *args: Any, **options: Any) -> None:
        """Serve figures; where the other ports are encrypted, to those who show a certificate."""
        with dask.config.set(dashboard_tls(self.security, "worker")):
            super().start_http_server(*args, **options)
        server: Any = self.http_server
        server.ssl_options = verify_clients(server.ssl_options, None, self.security)

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen, and tell the address that others are to use."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None:
            listener: Any = self.listeners[0]
            self.contact_address = self._address = self._advertised(listener.contact_address)

    def _advertised(self, address: str) -> str:
        protocol, _, _ = address.partition("://")
        _, port = get_address_host_port(address)
        return f"{protocol}://{self.advertise}:{port}"

    async def _introduction(self) -> dict[str, Any]:
        """Tell the nanny's address as others are to use it; this process itself need not."""
        told = await super()._introduction()
        if self.advertise is not None and told["nanny"]:
            told["nanny"] = self._advertised(told["nanny"])
        return told

    def __repr__(self) -> str:
        return super().__repr__().replace(type(self).__name__, "Worker", 1)  # as logs have it

    def handle_stimulus(self, *stims: StateMachineEvent) -> None:
        """Handle events; where one fails distributed closes the worker a moment later.

        Any task that was sent here may have done that, so all are blamed: the one that does it
        again is not tried for ever.
        """
        try:
            super().handle_stimulus(*stims)
        except Exception:
            if self.status not in _ENDED and not self.broken:
                self.broken = True
                if self._running is not None:
                    self.state.record = None  # type: ignore[attr-defined]
                    self._running.disclaim()
            raise

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close, and remove what was spilled; the nanny of one that is broken starts another."""
        if self.broken:
            options |= {"nanny": False, "executor_wait": False}
        result = await super().close(*args, **options)
        if self.status is not Status.closed:  # it goes on with another supervisor
            return result
        if self._cleared:  # whoever loses the connection meanwhile closes it too
            return result
        self._cleared = True
        if self._asking is not None:
            self._asking.cancel()
        if self.share is not None:
            self.share.close()
        if self._running is not None:
            self.state.record = None  # type: ignore[attr-defined]
            self._running.close()
        await self.spill_manager.close()
        if self.shared_results is not None:
            self.shared_results.pool.close()
        if self._directories is not None:
            self._directories.close()
        if self.broken and self.nanny:
            os._exit(1)  # whatever threads there are; and with 0 it would have ended in order
        return result


def _allow_descriptors() -> None:
    """Let this process have more files open: before Python 3.13 each mapping keeps one."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # Unix only

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            most = hard if hard != resource.RLIM_INFINITY else max(soft, _DESCRIPTORS)
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, _DESCRIPTORS), most), hard))
