"""The worker: a Dask worker with memory admission, several spill directories and bound cores."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Collection, Container, Sequence
from functools import partial
from typing import Any, Final

import dask.config
import distributed
from dask.utils import parse_bytes
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.spill import SpillBuffer
from distributed.worker_state_machine import (
    RemoveReplicasEvent,
    RescheduleEvent,
    StateMachineEvent,
)
from tornado.ioloop import PeriodicCallback

from .. import limits
from ..cluster import hooks
from ..cluster.connections.descriptors import SCARCE
from ..cluster.connections.idle import LimitedServer
from ..cluster.environment import environment, stacks
from ..cluster.failures import FULL
from ..cluster.metrics import publish
from ..dask import PLACE, ROOM
from ..inprocess.thread_frames import collector_paused
from ..storage.server_folder import PrivateServer, forget_safe_path
from ..storage.shared import Pool
from ..storage.shared_mappings import MAPPINGS, MOST
from ..storage.spill_directories import rooms
from ..usage import Usage, count
from ..web.authentication import Token, protect
from ..web.tls import dashboard_tls, joined_context, verify_clients
from . import binding, memory_ledger
from .admission import Admission
from .connections import NAME, PeerConnections, introduction
from .directories import Directories
from .hooks import WORKER_HOOKS
from .memory_ledger import LedgerView
from .metrics import of_worker
from .reconnect import ENDED, ReconnectingWorker
from .running_tasks import RunningTasks
from .shared_results import SharedMemoryComm, SharedResults
from .spill_manager import SpillManager
from .state import MarsWorkerState, MemoryFreedEvent

logger: Final = logging.getLogger(__name__)

#: Seconds until a task that waits for other processes of the host is tried again.
_RETRY = 0.05

#: States of tasks that read no inputs here.
_ELSEWHERE = ("memory", "error", "released", "forgotten", "fetch", "flight", "missing")

#: States of tasks that may be reading their inputs.
_READING = ("executing", "long-running")

#: Share of the memory limit for running tasks and results together.
SOFT = 0.75


class MarsWorker(PrivateServer, LimitedServer, ReconnectingWorker):
    """A Dask worker that also works with stock schedulers and clients.

    ``advertise`` is the host in the address that others use. The process is bound to the CPUs
    ``cores``. Results spill to ``spill_dirs``. ``baseline`` is the memory of the process without
    tasks (default: its current memory). ``io_threads`` threads write results to disk and to shared
    memory, ``io_parallel`` at a time in each directory. By default the event loop writes results at
    distributed's thresholds. ``ledger`` is the path of the host's memory ledger and the position of
    this process's row. ``record`` is the path of the nanny's record of running tasks. Requests to
    the HTTP server must contain ``token``.
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
        token: Token | None = None,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, WORKER_HOOKS)
        self.advertise, self._token = advertise, token
        _set_apart(with_nanny=bool(options.get("nanny")))
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
        self.share = self._join(ledger)
        if isinstance(self.data, SpillBuffer):
            self._write_to(spill_dirs, io_parallel, in_background=io_threads is not None)
        if cores is not None:
            binding.bind(cores, self.state.nthreads)

    def _share(self) -> SharedResults | None:
        if not isinstance(self.state, MarsWorkerState):
            return None
        limit = dask.config.get("marsdask.shared.limit", None)
        if limit is None:
            limit = (self.memory_manager.memory_limit or limits.memory()) // 2
        pool = Pool(parse_bytes(limit), dask.config.get("marsdask.shared.directory", None))
        if pool.problem is not None or pool.limit < pool.share_from:
            return None
        self._peers = PeerConnections(self.rpc)
        self.handlers["mars_results"] = self.send_results
        sharing = SharedResults(pool, self.data, self.spill_manager.run, self.spill_manager.moves)
        self.state.shared_results = sharing
        self.monitor.get_process_memory = pool.resident  # type: ignore[method-assign]
        MAPPINGS.most = MOST
        self.periodic_callbacks["marsdask-mappings"] = PeriodicCallback(MAPPINGS.tidy, 1000)
        return sharing

    def identity(self) -> dict[str, Any]:
        """Return the identity of a Dask worker, with the place of its shared memory."""
        identity: dict[str, Any] = super().identity()
        return identity if self.shared_results is None else identity | {NAME: introduction()}

    def _to_dict(self, *, exclude: Container[str] = ()) -> dict[str, Any]:
        """Return a dump for debugging, with the entries of a Dask worker's."""
        facts: dict[str, Any] = super()._to_dict(exclude=exclude)
        facts.pop(NAME, None)
        return facts

    def trigger_profile(self) -> None:
        with collector_paused():
            super().trigger_profile()

    def get_call_stack(self, keys: Collection[Any] | None = None) -> dict[Any, Any]:
        with collector_paused():
            return super().get_call_stack(keys)

    async def get_data(
        self, comm: Any, keys: Collection[Any], who: str | None = None, serializers: Any = None
    ) -> Any:
        """Send results, or handles of shared memory to a worker that can open them."""
        sharing = self.shared_results
        if (
            sharing is not None
            and who is not None
            and serializers is None
            and any(self._size(key) >= sharing.pool.share_from for key in keys)
            and await self._peers.near(comm, who)
        ):
            comm = SharedMemoryComm(comm, self._peers, sharing)
        self._drop_unreadable(keys)
        return await super().get_data(comm, keys, who=who, serializers=serializers)

    async def execute(self, key: Any, *, stimulus_id: str) -> StateMachineEvent:
        """Execute a task, unless the file of an input cannot be read: that is computed again."""
        errors = self._unreadable_inputs(key)
        if not errors:
            return await super().execute(key, stimulus_id=stimulus_id)
        await asyncio.sleep(_RETRY)  # while another task reads the input, the scheduler asks again
        loop = asyncio.get_running_loop()
        loop.call_later(0, self._drop_inputs, errors)  # once this task is released
        return RescheduleEvent(key=key, stimulus_id=f"mars-unreadable-{time.time()}")

    def _unreadable_inputs(self, key: Any) -> dict[Any, OSError]:
        errors: dict[Any, OSError] = {}
        if self._directories is None:
            return errors
        for ts in self.state.tasks[key].dependencies:
            try:
                self._directories.check(ts.key)
            except OSError as error:
                if error.errno not in SCARCE:
                    errors[ts.key] = error
        return errors

    def _drop_inputs(self, lost: dict[Any, OSError]) -> None:
        """Drop results that no task is reading."""
        for key, error in lost.items():
            ts = self.state.tasks.get(key)
            if ts is not None and not any(dep.state in _READING for dep in ts.dependents):
                self._drop_result(key, error)

    def _drop_result(self, key: Any, error: OSError) -> None:
        logger.warning("dropping the spilled result %s: %s", key, error)
        stimulus = f"mars-unreadable-{time.time()}"
        self.handle_stimulus(RemoveReplicasEvent(keys=[key], stimulus_id=stimulus))

    def _drop_unreadable(self, keys: Collection[Any]) -> None:
        """Drop results whose files cannot be read: the scheduler has them computed again.

        Raises ``OSError`` if the file may be readable later, or a task here needs the result: the
        receiver asks again.
        """
        if self._directories is None:
            return
        for key in keys:
            try:
                self._directories.check(key)
            except OSError as error:
                ts = self.state.tasks.get(key)
                is_input = ts is None or any(dep.state not in _ELSEWHERE for dep in ts.dependents)
                if is_input or error.errno in SCARCE:
                    raise
                self._drop_result(key, error)

    async def send_results(
        self, comm: Any, keys: Collection[Any], client: str, place: dict[str, Any]
    ) -> Any:
        """Send results to a client, as handles of shared memory if it can open them."""
        self._peers.introduce(comm, client, place)
        return await self.get_data(comm, keys, who=client)

    def _size(self, key: Any) -> int:
        ts = self.state.tasks.get(key)
        return 0 if ts is None else ts.nbytes or 0

    def _resident(self) -> int:
        return self.monitor.get_process_memory()

    def _taken(self, worker: distributed.Worker) -> dict[str, float]:
        return self._usage()._asdict()

    def _full(self, worker: distributed.Worker) -> str | None:
        return self.spill_manager.full

    def _room(self, worker: distributed.Worker) -> dict[str, Any]:
        spilled = self._directories
        paths = [self.local_directory] if spilled is None else spilled.directories.folders
        return {"disks": rooms(paths), "limit": self.spill_manager.limit}

    def _described(self, worker: distributed.Worker) -> dict[str, Any]:
        return environment()

    def _placed(self, worker: distributed.Worker) -> dict[str, Any] | None:
        return None if self.shared_results is None else introduction()

    _running: RunningTasks | None = None
    _retrying: asyncio.TimerHandle | None = None
    _cleared = False
    """Whether its resources are closed."""

    def _admit(self, baseline: int | None, record: str | None) -> None:
        if record is not None and isinstance(self.state, MarsWorkerState):
            self._running = self.state.record = RunningTasks(record)
            if self.shared_results is not None:
                self.shared_results.pool.report = self._running.tell_segments
        limit = self.memory_manager.memory_limit
        if not limit or not isinstance(self.state, MarsWorkerState):
            return
        nbytes = self.monitor.get_process_memory() if baseline is None else baseline
        margin = int(memory_ledger.HARD * limit) - int(SOFT * limit)
        self.state.admission = Admission(max(0, int(SOFT * limit) - nbytes), margin)
        self.state.make_room = self._make_room
        self.state.crowded = self._crowded

    def _join(self, ledger: tuple[str, int] | None) -> LedgerView | None:
        """Open the ledger of the host, which admission and pausing use."""
        state, manager, monitor = self.state, self.memory_manager, self.monitor
        if ledger is None or not isinstance(state, MarsWorkerState) or state.admission is None:
            return None
        share = LedgerView(*ledger)
        state.admission.host = share
        state.ask_again = self._schedule_retry
        measure, pause = monitor.get_process_memory, manager._maybe_pause_or_unpause

        def report() -> int:
            resident = measure()
            share.tell(resident=resident)
            return resident

        def pause_or_unpause(worker: distributed.Worker, memory: int) -> None:
            # It may use free memory of other processes, so it pauses only with the whole host.
            pause(worker, 0 if share.within(memory_ledger.SOFT) else memory)

        monitor.get_process_memory = report  # type: ignore[method-assign]
        manager._maybe_pause_or_unpause = pause_or_unpause  # type: ignore[method-assign]
        state.admission.baseline = report()
        return share

    def _crowded(self) -> bool:
        """Return whether tasks of unknown size must wait; if so, pause.

        Until the memory is looked at the next time, many could start. While results are written, or
        without room on the disks, the nanny would restart the process.
        """
        manager, spilling = self.memory_manager, self.spill_manager
        share, limit = manager.memory_pause_fraction, manager.memory_limit
        if (spilling.full is None and not spilling.moves) or not share or not limit:
            return False
        memory = self.monitor.get_process_memory()
        if memory <= share * limit or (
            self.share is not None and self.share.within(memory_ledger.SOFT)
        ):
            return False
        asyncio.get_running_loop().call_soon(self._pause)
        return True

    def _pause(self) -> None:
        """Pause, or try the next task again if memory is free by now."""
        memory = self.monitor.get_process_memory()
        self.memory_manager._maybe_pause_or_unpause(self, memory)
        if self.status is Status.running:
            self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-crowded"))

    def _schedule_retry(self) -> None:
        if self._retrying is None:
            self._retrying = asyncio.get_running_loop().call_later(_RETRY, self._retry)

    def _retry(self) -> None:
        self._retrying = None
        admission: Any = self.state.admission  # type: ignore[attr-defined]
        admission.waits = False
        if self.status not in ENDED:
            self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-host"))
        if self.share is not None and not admission.waits:  # no task waits any more
            self.share.tell(waits=0)

    def _write_to(self, folders: Sequence[str], parallel: int, *, in_background: bool) -> None:
        self.metrics[FULL] = self._full
        self.metrics[ROOM] = self._room
        if in_background:
            # Not in its own directory, which is removed before it closes.
            beside = os.path.dirname(self.local_directory)
            self._directories = Directories(folders or [beside], parallel)
            self.spill_manager.take_over(self._directories, self.local_directory)
            self.memory_manager._spill = self._relieve  # type: ignore[method-assign]
        elif folders:
            self._directories = Directories(folders, parallel)
            self.data._slow_uncached.d = self._directories  # type: ignore[attr-defined]

    async def _relieve(self, worker: Any, memory: int) -> None:
        """Spill results until the process is below its target."""
        manager = self.memory_manager
        share = manager.memory_target_fraction or manager.memory_spill_fraction
        excess = int(memory - share * (manager.memory_limit or 0))
        freeing = asyncio.ensure_future(self.spill_manager.free(excess))
        # Tasks continue meanwhile. A late pause could let the nanny restart the process first.
        while not (await asyncio.wait([freeing], timeout=manager.memory_monitor_interval))[0]:
            manager._maybe_pause_or_unpause(worker, worker.monitor.get_process_memory())
        await freeing

    def _make_room(self, nbytes: int) -> None:
        self._wanted = max(self._wanted, nbytes)
        if self._spilling is None or self._spilling.done():
            self._spilling = asyncio.ensure_future(self._spill())

    async def _spill(self) -> None:
        """Spill results, then try the next task again."""
        state: Any = self.state
        while self._wanted:
            try:
                freed = await self.spill_manager.free(self._wanted)
            except Exception:
                logger.exception("results could not be spilled")
                freed = 0
            if self.status in ENDED:
                return
            # The excess is computed again: results may have been read back meanwhile.
            self._wanted = 0
            state.admission.stuck = freed == 0
            state.full = self.spill_manager.full
            state.admission.full = state.full is not None
            self.handle_stimulus(MemoryFreedEvent(stimulus_id="marsdask-spilled"))
            # Spilling may succeed later, when other files are deleted.
            state.admission.stuck = False

    def start_http_server(self, *args: Any, **options: Any) -> None:
        """Serve metrics, for clients with the token; with TLS, else with a certificate.

        A worker that has joined by a token encrypts the port as all others.
        """
        with dask.config.set(dashboard_tls(self.security, "worker")):
            super().start_http_server(*args, **options)
        server: Any = self.http_server
        server.ssl_options = verify_clients(server.ssl_options, self._token, self.security)
        if server.ssl_options is None and self._token is not None:
            server.ssl_options = joined_context(self.security, "worker", self._token)
        protect(self.http_application, self._token, server)
        publish(self, of_worker)

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen, and set the address that others use."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None:
            listener: Any = self.listeners[0]
            self.contact_address = self._address = self._advertised(listener.contact_address)

    def _advertised(self, address: str) -> str:
        protocol, _, _ = address.partition("://")
        _, port = get_address_host_port(address)
        return f"{protocol}://{self.advertise}:{port}"

    async def _introduction(self) -> dict[str, Any]:
        """Return the registration, with the nanny's advertised address."""
        data = await super()._introduction()
        if self.advertise is not None and data["nanny"]:
            data["nanny"] = self._advertised(data["nanny"])
        return data

    def __repr__(self) -> str:
        return super().__repr__().replace(type(self).__name__, "Worker", 1)  # the name in logs

    def handle_stimulus(self, *stims: StateMachineEvent) -> None:
        """Handle events; if one fails, distributed closes the worker soon afterwards.

        Any task of this worker may be the cause, so all are suspected. A task that repeats this is
        not retried forever.
        """
        try:
            super().handle_stimulus(*stims)
        except Exception:
            if self.status not in ENDED and not self.broken:
                self.broken = True
                if self._running is not None:
                    self.state.record = None  # type: ignore[attr-defined]
                    self._running.disclaim()
            raise

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close, and remove spilled files; the nanny restarts a broken worker."""
        if self.broken:
            options |= {"nanny": False, "executor_wait": False}
        result = await super().close(*args, **options)
        if self.status is not Status.closed:  # it continues with another supervisor
            return result
        if self._cleared:  # a lost connection may close it a second time
            return result
        self._cleared = True
        if self._retrying is not None:
            self._retrying.cancel()
        if self.share is not None:
            self.share.close()
        if self._running is not None:
            self.state.record = None  # type: ignore[attr-defined]
            self._running.close()
        await self.spill_manager.close()
        if self.shared_results is not None:
            self.shared_results.pool.close()
            MAPPINGS.close()
        if self._directories is not None:
            self._directories.close()
        if self.broken and self.nanny:
            os._exit(1)  # other threads may still run; exit code 0 would mean a regular end
        return result


def _set_apart(*, with_nanny: bool) -> None:
    """Have what is meant for the process that started this one end there."""
    forget_safe_path()
    if with_nanny and hasattr(os, "setpgid"):
        # Ctrl-C and the end of a container reach the whole process group, but the nanny ends
        # its worker.
        os.setpgid(0, 0)
