"""Any ``distributed.Client`` as a scheduler: it submits graphs and keeps results as Futures.

A stock cluster orders tasks by ``dask.order`` instead of the hints. It reports only requested keys,
so events count only these.
"""

from __future__ import annotations

import asyncio
import atexit
import math
import os
import threading
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future, KilledWorker, Security, default_client
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError, connect
from distributed.scheduler import NoValidWorkerError, NoWorkerError

from .base import (
    Callback,
    Capabilities,
    ChunkInfo,
    Handle,
    Hint,
    Key,
    Machine,
    TaskGraph,
    annotations_of,
    describe,
)
from .cluster.connections.roles import supervisors_only
from .cluster.failures import clear
from .dask_graph import cull
from .errors import FORKED, ResultLost, SchedulerClosed, Unreachable
from .events import GraphSubmitted, TaskDone, TaskFailed
from .inprocess.results import ReferenceTable
from .inprocess.single_handle import Submission

#: Timeout for an answer of an address, in seconds.
PATIENCE = 10.0

#: Additional seconds in which distributed may report the cause itself.
_GRACE = 0.5

#: Timeout for closing clients when the interpreter exits, in seconds.
_LAST = 2.0

#: Share of the workers' memory that plans may use.
SHARE = 0.75

#: Key under which a worker reports where its results can be opened, ``None`` if nowhere.
PLACE = "mars_place"

#: Key under which a worker reports where it spills: the free bytes of each disk, and its limit.
ROOM = "mars_room"


class DaskScheduler:
    """Runs graphs on a cluster.

    ``client`` is a ``distributed.Client`` (never closed here), an address, or ``None`` for Dask's
    current client. For an address a client is opened (within ``connect_timeout`` seconds, with
    ``security``) and closed with the scheduler. Graphs may refer to other keys of this client, such
    as those of persisted collections. All callbacks of handles run on one thread of distributed, so
    they must not wait for another handle.
    """

    name = "dask"
    capabilities = Capabilities(locality=True, spill=True, resilient=True)
    client_class: type[Client] = Client
    """The class of the client for an address."""

    def __init__(
        self,
        client: Client | str | None = None,
        *,
        connect_timeout: float = PATIENCE,
        security: Security | None = None,
    ) -> None:
        self._owns_client = isinstance(client, str)
        if isinstance(client, str):
            client = _connected(client, connect_timeout, security or Security(), self.client_class)
        self._client: Client = default_client() if client is None else client
        if self._client.asynchronous:
            raise ValueError(
                "an asynchronous client cannot be a scheduler, whose methods block; "
                "make one with asynchronous=False"
            )
        # One Future for each reference: distributed counts them, and releasing one never blocks.
        self._held: ReferenceTable[Future[Any]] = ReferenceTable(Future.release)
        self._running: set[Submission] = set()
        self._closed = False
        self._pid = os.getpid()
        if self._owns_client:
            _open.add(self)

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        *,
        hints: Mapping[Key, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> Handle:
        """Send the part of the graph that the cluster does not have yet."""
        self._check_open()
        handle = _ClusterSubmission(self, keys, callbacks)
        with self._held.exclusive() as entries:
            self._check_open()
            tasks, inputs = cull(graph, handle.keys, _Available(self._client))
            # Hold these keys: a release in between would make the cluster forget them before it
            # reads the graph. Messages to the cluster keep their order.
            pins = [self._future(key) for key in inputs]
            outputs = [key for key in handle.keys if key in tasks]
            if outputs:
                pins += self._client.get(annotated(tasks, hints or {}), outputs, sync=False)
            for key in handle.keys:
                self._held.add(key, self._future(key))
            self._running.add(handle)
            futures = {key: entries[key][-1] for key in handle.keys}
            del pins
        handle.watch(futures)
        return handle

    def _check_open(self) -> None:
        """Raise SchedulerClosed if it is closed, or if only the parent has the client's thread."""
        if self._is_inherited():
            raise SchedulerClosed(FORKED)
        if self._closed:
            raise SchedulerClosed("the scheduler is closed")

    def _is_inherited(self) -> bool:
        return os.getpid() != self._pid

    def _future(self, key: Any) -> Future[Any]:
        return Future(key, self._client)

    def hold(self, keys: Iterable[Key]) -> None:
        """Take one reference of each key that the cluster holds for this client."""
        with self._held.exclusive():
            key: Any
            state: Any = "memory"
            for key in keys:
                self._held.add(key, Future(key, self._client, state=state))

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        """Fetch held results."""
        if not keys:
            return []
        self._check_open()
        return self._values(self._held.get(keys))

    def _values(self, futures: Any) -> list[Any]:
        try:
            values: list[Any] = self._client.gather(futures)
        except FutureCancelledError as error:
            raise ResultLost(error.key) from None
        except (KilledWorker, NoWorkerError, NoValidWorkerError) as error:
            raise clear(error) from None
        return values

    @property
    def client(self) -> Client:
        """The client of all requests."""
        return self._client

    def machine(self) -> Machine:
        """Return the current resources of the cluster's workers."""
        return cluster_machine(self._client.scheduler_info()["workers"].values())

    def futures(self, keys: Sequence[Key]) -> list[Future[Any]]:
        """Return new Futures of held results, for Dask."""
        # A submission, which has the lock, pickles functions that refer to results.
        return [self._future(future.key) for future in self._held.held(keys)]

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        """Describe held results with one task each, which the cluster runs where the data are."""
        if not keys:
            return []
        self._check_open()
        return self._values(self._client.map(describe, self._held.get(keys), pure=False))

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one Future of each key."""
        self._held.release(keys)

    def forget(self, handle: Submission, hold: bool) -> bool:
        """Forget a submission that ends and, unless ``hold``, its results; False if done before."""
        with self._held.exclusive():
            if handle not in self._running:
                return False
            self._running.discard(handle)
        if not hold and handle.keys:
            self.release(handle.keys)
            # A new submission of a failed key would find the old failure until the client releases
            # it.
            with suppress(OSError):  # the loop may be closing
                self._client.sync(_pass, callback_timeout=PATIENCE)
        return True

    def close(self) -> None:
        """Cancel and release everything; close the client if it was opened here."""
        if self._is_inherited():
            self._closed = True
            return
        with self._held.exclusive():
            if self._closed:
                return
            self._closed = True
            handles = list(self._running)
        for handle in handles:
            handle.cancel()
        self._held.clear()
        if self._owns_client:
            self._client.close()

    def leave(self) -> None:
        """Close the client that was opened here, when the interpreter exits."""
        if self._is_inherited():
            return
        with suppress(Exception):
            self._client.close(timeout=_LAST)


#: Schedulers that opened a client. A client that is not closed warns about each open socket.
_open: weakref.WeakSet[DaskScheduler] = weakref.WeakSet()


@atexit.register
def _leave() -> None:
    for scheduler in list(_open):
        scheduler.leave()


def _connected(
    address: str, seconds: float, security: Security, client_class: type[Client]
) -> Client:
    # A client that cannot connect leaves its loop's thread behind, so check the address first.
    identity(address, seconds, security)
    return client_class(address, set_as_default=False, timeout=seconds, security=security)


def identity(
    cluster: Client | str, seconds: float = PATIENCE, security: Security | None = None
) -> Mapping[str, Any]:
    """Return the identity of a cluster's scheduler."""
    if not isinstance(cluster, str):
        return cluster.scheduler_info(n_workers=0)
    if cluster.startswith("inproc://"):  # only the client's own loop can ask
        return {}
    with ThreadPoolExecutor(1) as apart:  # the caller may run inside an event loop
        try:
            return apart.submit(
                asyncio.run, _greet(cluster, seconds, security or Security())
            ).result()
        except ValueError as error:  # an invalid address is reported in one line
            raise error.with_traceback(None) from None
        except Exception as error:  # noqa: BLE001 - another server may send any answer
            raise Unreachable(cluster, seconds, _reason(error)) from None


def _reason(error: BaseException | None) -> str:
    """Return the operating system's message: the last one in a chain of causes."""
    words = ""
    while error is not None:
        words, error = str(error) or words, error.__cause__
    return words or "the server there does not answer"


async def _greet(address: str, seconds: float, security: Security) -> dict[str, Any]:
    # distributed waits forever for the greeting of a server that accepts its connection. Where no
    # server listens, distributed reports the cause within its own timeout.
    async with asyncio.timeout(seconds + _GRACE):
        with supervisors_only():
            peer = await connect(address, seconds, **security.get_connection_args("client"))
        await peer.write({"op": "identity", "n_workers": 0, "reply": True})
        identity: dict[str, Any] = await peer.read()
    await peer.close()
    with suppress(CommClosedError, asyncio.TimeoutError):
        # A websocket is closed only after the server has agreed.
        await asyncio.wait_for(peer.read(), seconds)
    return identity


class _ClusterSubmission(Submission):
    def __init__(
        self, scheduler: DaskScheduler, keys: Collection[Key], callbacks: Iterable[Callback]
    ) -> None:
        super().__init__(keys, callbacks)
        self._scheduler = scheduler
        self._missing: set[Key] = set()
        self._progress = threading.Lock()

    def watch(self, futures: Mapping[Key, Future[Any]]) -> None:
        """Follow the wanted futures to the end."""
        pending = [future for future in futures.values() if future.status != "finished"]
        self._missing = {future.key for future in pending}
        self.emit(GraphSubmitted(len(pending)))
        if not pending and self._scheduler.forget(self, hold=True):
            self.finish("done")
        for future in pending:
            future.add_done_callback(self._arrived)

    def _arrived(self, future: Future[Any]) -> None:
        if self.state != "running":
            return
        if future.status != "finished":
            self._fail(future)
            return
        with self._progress:
            if future.key not in self._missing:
                return
            self._missing.discard(future.key)
            last = not self._missing
        # A cluster reports neither size nor duration of a task without another request.
        self.emit(TaskDone(future.key, 0, 0.0))
        if last and self._scheduler.forget(self, hold=True):
            self.finish("done")

    def _fail(self, future: Future[Any]) -> None:
        error: BaseException
        if future.status == "error":
            error = clear(future.exception()).with_traceback(future.traceback())
            failed = self._blamed(future)
        else:
            error, failed = ResultLost(future.key), future.key
        if self._scheduler.forget(self, hold=False):
            self.emit(TaskFailed(failed, error))
            self.finish("failed", error, failed)

    def _blamed(self, future: Future[Any]) -> Key:
        client = future.client
        try:
            # A caller that waits for the handle must not wait for the cluster's answer, too.
            ask = client.scheduler.get_error_cause
            key = client.sync(ask, keys=[future.key], callback_timeout=PATIENCE)
        except OSError:
            return future.key
        return tuple(key) if isinstance(key, list) else key or future.key

    def cancel(self) -> None:
        """Release the futures; the cluster drops results that no other client wants."""
        if self._scheduler.forget(self, hold=False):
            self.finish("cancelled")


class _Available:
    """The keys that a client holds and that have not failed."""

    def __init__(self, client: Client) -> None:
        self._futures = client.futures

    def __contains__(self, key: Key) -> bool:
        state = self._futures.get(key)
        return state is not None and state.status in ("pending", "finished")


def cluster_machine(workers: Collection[Mapping[str, Any]], batch: int | None = None) -> Machine:
    """Return the combined machine of workers, according to their registrations and heartbeats."""
    limits = ((worker["nthreads"], worker["memory_limit"]) for worker in workers)
    machine = combined_machine(limits, batch)
    spill = None if machine.memory is None else spill_room(workers)
    return replace(machine, shared_memory=can_share_memory(workers), spill=spill)


def combined_machine(
    workers: Iterable[tuple[int, int | None]], batch: int | None = None
) -> Machine:
    """Return the combined machine of workers with these threads and bytes.

    A task that exceeds the workers' share of memory for tasks runs alone on a worker. The planner
    therefore refuses only tasks that exceed the largest worker.
    """
    machines = list(workers)
    limits = [limit for _, limit in machines if limit]
    if not machines or len(limits) < len(machines):
        return Machine(max(1, sum(threads for threads, _ in machines)), batch=batch)
    memory = int(SHARE * sum(limits))
    return Machine(
        sum(threads for threads, _ in machines),
        memory,
        max(limits),
        batch,
        smallest=int(SHARE * min(limits)),
        slots=min(threads for threads, _ in machines),
    )


def can_share_memory(workers: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether workers can open each other's results, according to their registration."""
    places = [worker.get(PLACE) for worker in workers]
    return bool(places) and places[0] is not None and all(place == places[0] for place in places)


def spill_room(workers: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the bytes that workers may spill; ``None`` if some do not report it, as stock ones.

    Workers of one host may spill to the same disks.
    """
    disks: dict[tuple[str, str], int] = {}
    limits = 0.0
    for worker in workers:
        room = worker["metrics"].get(ROOM)
        if room is None:
            return None
        disks |= {(worker["host"], disk): free for disk, free in room["disks"].items()}
        limits += math.inf if room["limit"] is None else room["limit"]
    return int(min(sum(disks.values()), limits))


def annotated(graph: dict[Key, Any], hints: Mapping[Key, Hint]) -> HighLevelGraph:
    """Return the graph with its hints as annotations, which reach the cluster's task states."""
    peaks = {key: hints[key].peak for key in graph if key in hints}
    sizes = {key: hints[key].nbytes for key in graph if key in hints}
    own = annotations_of(hints)
    annotations: dict[str, Any] = {name: values.get for name, values in own.items()}
    if peaks:
        annotations |= {"mars_mem": peaks.get, "mars_out": sizes.get}
    bands = {key: hint.affinity for key, hint in hints.items() if hint.affinity is not None}
    if bands:
        annotations["mars_band"] = bands.get
    layer = MaterializedLayer(graph, annotations=annotations or None)
    return HighLevelGraph({"marsdask": layer}, {"marsdask": set()})


async def _pass() -> None:
    """Do nothing, after all earlier callbacks of the event loop."""
