"""A worker that reconnects: it keeps its results and joins the next supervisor.

distributed's worker ends with the connection to its scheduler. This one drops unfinished tasks,
searches for the active supervisor, and registers there with its results.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
import weakref
from collections.abc import Sequence
from typing import Any, Final

import distributed
from distributed.batched import BatchedSend
from distributed.comm import connect
from distributed.core import Status, rpc
from distributed.versions import get_versions
from distributed.worker_state_machine import FreeKeysEvent
from tornado.ioloop import PeriodicCallback

from .. import clock
from ..cluster.connections.roles import check_role, supervisors_only
from ..cluster.leader import SupervisorRole, SupervisorTimeout, find_leader, retention, timeout
from ..errors import NoSupervisor

logger: Final = logging.getLogger(__name__)

#: Seconds between two searches for an active supervisor.
_PAUSE = 0.2

#: Timeout of the registration with a supervisor, in seconds.
_PATIENCE = 30.0

#: Timeout of a heartbeat that is under way when the worker closes, in seconds.
_LAST_HEARTBEAT = 2.0

#: Reasons for closing a worker. It reconnects after the first two and the last one.
_FORGOTTEN = ("worker-heartbeat-missing", "worker-heartbeat-error")
_LOST = "worker-handle-scheduler-connection-broken"
_CLOSED = "scheduler-close"

#: States in which the worker follows a supervisor.
_RUNNING = (Status.running, Status.paused)

#: States of a closing or closed worker.
ENDED = (Status.closing, Status.closed, Status.failed)


#: Names of the tasks of Dask's peer-to-peer shuffles whose data is not in their results.
_SHUFFLES = ("shuffle-transfer", "rechunk-transfer", "hash-join-transfer", "shuffle-barrier")


def of_shuffle(key: Any) -> bool:
    """Return whether a result is only the number of a shuffle's run, which its supervisor led."""
    name = key[0] if isinstance(key, tuple) else key
    return isinstance(name, str) and any(part in name for part in _SHUFFLES)


class ReconnectingWorker(distributed.Worker):
    """A Dask worker that switches between ``supervisors``; without any it behaves as usual."""

    def __init__(self, *args: Any, supervisors: Sequence[str] = (), **options: Any) -> None:
        self.supervisors = tuple(supervisors)
        self.epoch = 0
        """The highest epoch of its supervisors; it refuses lower ones."""
        self._served = False
        self._last: SupervisorRole | None = None
        """The supervisor that it served last."""
        self._removed: dict[str, float] = {}
        """The workers that this supervisor has removed, and the monotonic times of that."""
        self._left = 0.0
        """When it was left."""
        self._replaced = False
        """Whether it was left because another one had taken over."""
        self._asked: str | None = None
        self._heartbeat_lock = asyncio.Lock()
        patience = timeout()
        self._interval = patience / 5
        self._silence = SupervisorTimeout(self._interval)
        super().__init__(*args, **options)
        clock.watch(self.periodic_callbacks, lambda: [self.batched_stream])
        self.handlers["mars_witness"] = self.witness
        self.handlers["mars_fence"] = self.fence
        if self.supervisors:
            self.stream_handlers["close"] = self._close_on_request
            self.stream_handlers["remove-worker"] = self._other_removed
            self.stream_handlers["mars-returned"] = self._other_returned
            watch = PeriodicCallback(self._watch, self._interval * 1000)
            self.periodic_callbacks["mars-watch"] = watch

    broken = False
    """Whether an event failed and the state may be wrong: the worker ends."""

    def witness(self) -> dict[str, Any]:
        """Return when the worker last heard from its supervisor, for one that may take over."""
        return {"served": self._served, "silence": self._silence.seconds, "epoch": self.epoch}

    def fence(self, comm: Any, *, epoch: int) -> None:
        """Obey no supervisor of a lower epoch from now on."""
        check_role(comm, "scheduler")
        if epoch > self.epoch:
            self.epoch = epoch
            if self._served:
                logger.warning("leaving %s: another supervisor has taken over", self.scheduler.addr)
                self._replaced = True
                self._leave()

    async def _register_with_scheduler(self) -> None:
        """Register with the active supervisor, with all results if it accepts them."""
        if not self.supervisors:
            await super()._register_with_scheduler()
            return
        for name in ("keep-alive", "heartbeat"):
            self.periodic_callbacks[name].stop()
        if self.contact_address is None:
            self.contact_address = self.address
        deadline = time.monotonic() + retention()
        while self.status not in ENDED:
            leader = await self._find()
            if leader is not None and await self._register_with(leader):
                break
            if time.monotonic() > deadline:
                addresses = ", ".join(self.supervisors)
                raise NoSupervisor(f"no active supervisor at {addresses} within {retention():g} s")
            await asyncio.sleep(_PAUSE)
        else:  # it was closed meanwhile
            return
        for name in ("keep-alive", "heartbeat"):
            self.periodic_callbacks[name].start()

    def start_periodic_callbacks(self) -> None:
        """Start the periodic callbacks, unless the worker was closed before it had registered."""
        if self.status not in ENDED:
            super().start_periodic_callbacks()

    async def _find(self) -> SupervisorRole | None:
        """Return the active supervisor, unless its epoch is lower than one that was served."""
        arguments = self.security.get_connection_args("worker")
        leader = await find_leader(self.supervisors, arguments, self._interval + 1)
        if leader is None or not leader.ours or leader.epoch >= self.epoch:
            return leader
        logger.warning("refusing %s: its epoch %d has ended", leader.address, leader.epoch)
        # It steps down, or takes a higher epoch if no other supervisor exists.
        with contextlib.suppress(OSError):
            async with (
                asyncio.timeout(_PATIENCE),
                rpc(leader.address, connection_args=arguments) as peer,
            ):
                await peer.mars_role(epoch=self.epoch)
        return None

    async def _register_with(self, found: SupervisorRole) -> bool:
        """Register with a supervisor; return whether it has accepted this worker."""
        if not found.ours and self.state.tasks:
            self._drop(list(self.state.tasks))
        if self.scheduler.addr != found.address:
            self.scheduler = self.rpc(found.address)
        try:
            with supervisors_only():
                comm = await connect(found.address, **self.connection_args)
        except OSError:
            return False
        try:
            comm.name = "Worker->Scheduler"
            comm._server = weakref.ref(self)
            introduction = await self._introduction()
            # A supervisor that is suspended must not delay joining its successor.
            async with asyncio.timeout(_PATIENCE):
                await comm.write(introduction, serializers=["msgpack"])
                response = await comm.read(deserializers=["msgpack"])
        except OSError:  # TimeoutError is one
            comm.abort()
            return False
        if response["status"] != "OK":
            logger.info("%s: %s", found.address, response.get("message"))
            await comm.close()
            if response.get("mismatch"):
                raise ImportError(response["message"])
            return False
        overtaken = found.ours and found.epoch < self.epoch  # another one is active by now
        if overtaken or self.status in ENDED:
            comm.abort()
            return False
        self.epoch, self._served, self._replaced = found.epoch, True, False
        if self._last is None or self._last.id != found.id:
            self._removed.clear()
        self._last = found
        self._silence.answered()
        await self._begin(comm, response)
        self._report_since(introduction["extra"]["mars_held"])
        return True

    async def _introduction(self) -> dict[str, Any]:
        """Return the data of a registration: distributed's, and the results."""
        return {
            "op": "register-worker",
            "reply": False,
            "address": self.contact_address,
            "status": self.status.name,
            "nthreads": self.state.nthreads,
            "name": self.name,
            "now": time.time(),
            "resources": self.state.total_resources,
            "memory_limit": self.memory_manager.memory_limit,
            "local_directory": self.local_directory,
            "services": self.service_ports,
            "nanny": self.nanny,
            "pid": os.getpid(),
            "versions": get_versions(),
            "metrics": await self._measured(),
            "extra": await self.get_startup_information()
            | {"mars_held": self._held(), "mars_served": self._history()},
            "stimulus_id": f"worker-connect-{time.time()}",
            "server_id": self.id,
        }

    def _held(self) -> list[tuple[Any, int]]:
        """Return the keys of the results and their sizes."""
        return [(key, ts.get_nbytes()) for key, ts in self.state.tasks.items() if key in self.data]

    def _report_since(self, held: list[tuple[Any, int]]) -> None:
        """Report results that were stored after the registration was sent."""
        reported_keys = {key for key, _ in held}
        keys = [key for key, _ in self._held() if key not in reported_keys]
        if keys:
            self.batched_send(
                {"op": "add-keys", "keys": keys, "stimulus_id": f"since-{time.time()}"}
            )

    def _history(self) -> dict[str, Any]:
        """Return what the next supervisor must know to judge the results."""
        last = self._last
        if last is None:
            return {}
        # Who left it for another one, as this worker did soon after, was not cut off by it.
        together = self._left - self._interval
        removals = [worker for worker, when in self._removed.items() if when < together]
        return {
            "supervisor": last.id,
            "epoch": last.epoch,
            "removed": removals,
            "lately": list(self._removed.keys() - set(removals)),
            "left": self._replaced,
        }

    def _other_removed(self, worker: str, stimulus_id: str) -> None:
        self._removed[worker] = time.monotonic()
        self._handle_remove_worker(worker, stimulus_id)

    def _other_returned(self, worker: str) -> None:
        self._removed.pop(worker, None)

    async def _measured(self) -> dict[str, Any]:
        """Return the metrics without the spans of an earlier supervisor.

        Spans that are collected here, but not sent, would make the next heartbeat fail.
        """
        spans = self.extensions.get("spans")
        if spans is not None:
            spans.heartbeat()
        metrics: dict[str, Any] = await self.get_metrics()
        if spans is not None:
            spans.heartbeat()
        return metrics

    async def _begin(self, comm: Any, response: dict[str, Any]) -> None:
        if response.get("warning"):
            logger.warning(response["warning"])
        self.scheduler_delay = response["time"] - time.time()
        self.batched_stream.start(comm)
        if self.status is Status.init:
            self.status = Status.running
        else:  # it may have paused, or continued, since the registration was sent
            self._send_worker_status_change(f"worker-connect-{time.time()}")
        plugins = response["worker-plugins"].items()
        await asyncio.gather(
            *(self.plugin_add(name=name, plugin=plugin) for name, plugin in plugins)
        )
        logger.info("Registered with %s", self.scheduler.addr)
        self.loop.add_callback(self.handle_scheduler, comm)

    async def handle_scheduler(self, comm: Any) -> None:
        """Follow a supervisor while it is connected, then continue with the next one."""
        if not self.supervisors:
            await super().handle_scheduler(comm)
            return
        try:
            await self.handle_stream(comm)
        except Exception:
            logger.exception("the connection to %s broke", self.scheduler.addr)
        if self.broken:  # distributed closes it
            return
        if self.status not in _RUNNING:
            await self.close(reason=_LOST)
            return
        logger.warning("lost the supervisor at %s", self.scheduler.addr)
        self._served, self._left = False, time.monotonic()
        tasks = self.state.tasks.items()
        self._drop([key for key, ts in tasks if ts.state != "memory" or of_shuffle(key)])
        self.batched_stream = BatchedSend(interval="2ms", loop=self.loop)
        try:
            await self._register_with_scheduler()
            if self.status not in ENDED:
                await self._inform_nanny()
        except NoSupervisor as error:
            logger.error("%s: stopping this process", error)  # noqa: TRY400 - one line is enough
            await self.close(reason=_LOST)
        except Exception:
            logger.exception("found no supervisor to continue with")
            await self.close(reason=_LOST)

    def _drop(self, keys: list[Any]) -> None:
        self.handle_stimulus(FreeKeysEvent(keys=keys, stimulus_id=f"lost-{time.time()}"))

    async def _inform_nanny(self) -> None:
        address: Any = self.nanny
        if address:
            async with self.rpc(address) as nanny:
                await nanny.mars_follow(address=self.scheduler.addr)

    async def _close_on_request(self, reason: str = "", **options: Any) -> None:
        """Close on request, but not because the supervisor closes."""
        if reason != _CLOSED:
            await self.close(reason=reason, **options)

    async def heartbeat(self) -> None:
        """Send a heartbeat to the supervisor."""
        self._asked = self.scheduler.addr
        async with self._heartbeat_lock:
            await super().heartbeat()

    def _update_latency(self, latency: float) -> None:
        """Record an answer."""
        self._silence.answered()
        super()._update_latency(latency)

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close; if the supervisor does not know this worker, disconnect from it instead."""
        forgotten = options.get("reason") in _FORGOTTEN
        if self.supervisors and forgotten and self.status in _RUNNING:
            if self._asked == self.scheduler.addr:
                self._leave()
            return None
        if not forgotten and self.status in _RUNNING:
            await self._end_heartbeats()
        return await super().close(*args, **options)

    async def _end_heartbeats(self) -> None:
        """Await the answer to the last heartbeat: closed connections would be logged as errors."""
        self.periodic_callbacks["heartbeat"].stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_HEARTBEAT), self._heartbeat_lock:
                pass

    async def _watch(self) -> None:
        """Leave a supervisor that does not answer, once another one is active."""
        if not self._served:
            return
        self._silence.missed(self._interval)
        heartbeat: Any = self.periodic_callbacks["heartbeat"]
        if self._silence.seconds < max(timeout(), 3 * heartbeat.callback_time / 1000):
            return
        endpoints = [endpoint for endpoint in self.supervisors if endpoint != self.scheduler.addr]
        arguments = self.security.get_connection_args("worker")
        leader = await find_leader(endpoints, arguments, self._interval + 1)
        if leader is not None and leader.epoch > self.epoch and self._served:
            logger.warning("%s does not answer; %s does", self.scheduler.addr, leader.address)
            self._replaced = True
            self._leave()

    def _leave(self) -> None:
        """Close the connection: :meth:`handle_scheduler` continues from there."""
        addr = self.scheduler.addr
        self.batched_stream.abort()
        self.rpc.remove(addr)
