"""A client that reconnects to the next supervisor and resubmits its graphs.

distributed's client cancels every future when the connection breaks. Task names are the same on
every supervisor, so this client keeps its futures: workers still hold computed results, and the
others are requested again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterable
from typing import Any, Final

from distributed import Client
from distributed.comm.ws import WS
from distributed.utils import LoopRunner
from tornado.ioloop import PeriodicCallback

from .. import clock
from ..cluster.connections.roles import supervisors_only
from ..cluster.leader import (
    SupervisorRole,
    find_leader,
    parse_role,
    query_role,
    retention,
    timeout,
    with_scheme,
)
from ..errors import NoSupervisor, ResultLost
from .result_transfers import ResultTransfers

logger: Final = logging.getLogger(__name__)

#: Seconds between two searches for an active supervisor.
_PAUSE = 0.2

#: Timeout for registering with a supervisor, which first waits for its predecessor's workers.
_WELCOME = 30.0

#: Seconds in which workers may bring results to a restarted supervisor.
_ARRIVING = 5.0

#: Timeout for the supervisor's confirmation that a client leaves, in seconds.
FAREWELL = 5.0

#: Up to this many graphs, finished ones are not removed.
_FEW = 8

#: Up to this many finished graphs are kept that pending ones may need.
_NEEDED = 1000

#: States of computed futures; a lost result may reappear.
_DONE = ("finished", "lost")


class ReconnectingClient(Client):
    """A Dask client whose futures survive a change of the supervisor."""

    scheduler: Any  # distributed sets it at the start

    def __init__(self, *args: Any, **options: Any) -> None:
        self.generation = 0
        """The number of reconnections, to another supervisor or to a restarted one."""
        self._role: SupervisorRole | None = None
        self._left = ""
        """The address of the last supervisor that was lost."""
        self._away = False
        """Whether that supervisor is lost and the client has not reconnected."""
        self._deferred: list[dict[str, Any]] = []
        """The messages from that time, in their order."""
        self._candidates: list[str] = []
        self._graphs: list[dict[str, Any]] = []
        """The messages of graphs that may have to be sent again."""
        self._early: set[Any] = set()
        """Their keys that were released before they were computed: later graphs may need them."""
        self._graphs_lock = threading.Lock()
        self._look_again = _FEW
        self._missed: set[Any] = set()
        """Keys of lost results that were requested: distributed treats them as pending then."""
        self._changed: asyncio.Event | None = None
        super().__init__(*args, **options)

    async def _start(self, *args: Any, **options: Any) -> Any:
        """Connect to the active supervisor, whichever is given."""
        self._changed = asyncio.Event()
        self._transfers = ResultTransfers(self)
        await self._find_active()
        clock.watch(self._periodic_callbacks, lambda: [self.scheduler_comm])
        client = await super()._start(*args, **options)
        identity: Any = self._scheduler_identity
        if "marsdask" in identity:
            self._learn(identity)
        if len(self._candidates) > 1:
            watch = PeriodicCallback(self._watch, timeout() / 5 * 1000)
            self._periodic_callbacks["mars-watch"] = watch
            watch.start()
        return client

    async def _close(self, fast: bool = False) -> None:
        """Close; a websocket's closing handshake would outlast the event loop."""
        streams = _streams([getattr(self.scheduler_comm, "comm", None), *self._pooled()])
        try:
            async with asyncio.timeout(FAREWELL):
                await super()._close(fast=fast)
        except TimeoutError:
            logger.warning(
                "%s did not confirm within %g s that this client leaves: closing the connection",
                self._start_arg,
                FAREWELL,
            )
            if self.scheduler_comm is not None:
                self.scheduler_comm.abort()
            await super()._close(fast=True)
        self._deferred.clear()
        for stream in streams:
            stream.close()

    def _pooled(self, address: str | None = None) -> list[Any]:
        """Return the connections to an address, or to all."""
        pools = (self.rpc.available, self.rpc.occupied)
        return [
            comm
            for pool in pools
            for peer, comms in pool.items()
            if address in (None, peer)
            for comm in comms
        ]

    def _disconnect(self, address: str) -> None:
        """End the connections to a lost supervisor, which confirms no closing handshake."""
        for stream in _streams(self._pooled(address)):
            stream.close()
        self.rpc.remove(address)

    def close(self, *args: Any, **options: Any) -> Any:
        """Close, and end the event loop's thread even if the client is already closed."""
        result = super().close(*args, **options)
        # A second stop would wait for the lock of a thread that starts a client. The garbage
        # collector may close this client in that thread: a deadlock.
        stop = not self._is_finalizing() and self._loop_runner.is_started()
        if stop and not self.asynchronous and self.status == "closed":
            self._loop_runner.stop()
        return result

    def __del__(self) -> None:
        """Close; in another thread if the garbage collector may have come while a client starts."""
        close: Any = super().__del__
        # The lock is not reentrant, and this thread may be the one that holds it.
        if LoopRunner._lock.locked() and not self._is_finalizing():
            threading.Thread(target=close, name="Closing client", daemon=True).start()
        else:
            close()

    async def _find_active(self) -> None:
        """Ask the given supervisor for the active one, until one answers.

        During a takeover none is active, so the request is repeated. At last, the given one accepts
        the client or reports the cause.
        """
        start = address = self._start_arg
        deadline = time.monotonic() + self._timeout
        while isinstance(address, str) and time.monotonic() < deadline:
            try:
                role = await query_role(address, self.connection_args)
            except OSError:
                if address == start:
                    return
                address = start
            else:
                if role.active:
                    self._start_arg = address
                    return
                if role.leader is not None:
                    address = with_scheme(role.leader, self.security)
            await asyncio.sleep(_PAUSE)

    async def _ensure_connected(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Connect; a supervisor that became a standby counts as lost."""
        try:
            with supervisors_only():
                await super()._ensure_connected(timeout=timeout)
        except ImportError as error:  # distributed raises it whenever a client is refused
            role = await query_role(self.scheduler.address, self.connection_args)
            if role.active:
                raise
            raise ConnectionError(str(error)) from None

    def _learn(self, identity: dict[str, Any]) -> None:
        address: str = self.scheduler.address
        self._role = parse_role(identity, address)
        endpoints = [
            with_scheme(endpoint, self.security) for endpoint in identity["marsdask"]["supervisors"]
        ]
        # The first address may be a web service, which always leads to the active supervisor.
        self._candidates = list(dict.fromkeys([*self._candidates[:1], address, *endpoints]))

    @property
    def abandoned(self) -> str:
        """The message if no supervisor is found."""
        addresses = ", ".join(self._candidates)
        former = self._left or self.scheduler.address
        return (
            f"lost the supervisor at {former}, and in {retention():g} s (marsdask.failover.keep) "
            f"none was active at {addresses}: start one, and a new session"
        )

    async def resumed(self, generation: int) -> bool:
        """Wait until the client has reconnected since ``generation``; return whether it has."""
        deadline = time.monotonic() + retention()
        while self.generation == generation:
            assert self._changed is not None
            wait = deadline - time.monotonic()
            if self.status in ("closing", "closed") or wait <= 0:
                return False
            try:
                async with asyncio.timeout(min(wait, 1)):
                    await self._changed.wait()
            except TimeoutError:
                continue
        return True

    def _send_to_scheduler(self, msg: dict[str, Any]) -> None:
        if msg["op"] == "update-graph":
            with self._graphs_lock:
                self._graphs.append(msg)
                if len(self._graphs) >= self._look_again:
                    self._forget_graphs()
                    self._look_again = max(_FEW, 2 * len(self._graphs))
                # With the lock: the graphs that _resume reads are sent or deferred once it sends.
                super()._send_to_scheduler(msg)
            return
        if msg["op"] == "report-key":
            self._missed.add(msg["key"])
        super()._send_to_scheduler(msg)

    def _send_to_scheduler_safe(self, msg: dict[str, Any]) -> None:
        """Send a message, or defer it while this client reconnects."""
        if self._away and self.status in ("connecting", "running"):
            self._deferred.append(msg)
            return
        if self._deferred:  # the client closes
            self._send_deferred()
        super()._send_to_scheduler_safe(msg)

    def _send_deferred(self) -> None:
        for message in self._deferred:
            super()._send_to_scheduler_safe(message)
        self._deferred.clear()

    def _release_key(self, key: Any) -> None:
        """Release a key, and remember whether it was pending."""
        state = self.futures.get(key)
        if self._graphs and state is not None and state.status == "pending":
            self._early.add(key)
        super()._release_key(key)

    def _forget_graphs(self) -> None:
        """Forget graphs that are not pending, and that no pending one can need."""
        graphs: list[dict[str, Any]] = []
        count = 0
        for graph in reversed(self._graphs):
            pending = self._is_pending(graph)
            if not pending and graphs and count < _NEEDED:
                pending = not self._early.isdisjoint(graph["keys"])
                count += pending
            if pending:
                graphs.append(graph)
        self._graphs = graphs[::-1]
        self._early.intersection_update(key for graph in graphs for key in graph["keys"])

    def _is_pending(self, graph: dict[str, Any]) -> bool:
        states = (self.futures.get(key) for key in graph["keys"])
        return any(state is not None and state.status == "pending" for state in states)

    async def _reconnect(self) -> None:
        """Reconnect to the active supervisor."""
        if self._role is None:  # a stock scheduler
            await super()._reconnect()
            return
        self.status, self._away = "connecting", True
        self.scheduler_comm = None
        self._left = self.scheduler.address
        self._disconnect(self.scheduler.address)
        logger.warning("lost the supervisor at %s", self.scheduler.address)
        try:
            await self._go_on()
        except Exception as error:  # whatever it is, nothing may stay deferred for ever
            foreseen = isinstance(error, OSError | ImportError)
            logger.error("%s", error, exc_info=not foreseen)  # noqa: TRY400 - its traceback says no more
            self._give_up(list(self.futures), self.abandoned)
            await self._close()

    async def _go_on(self) -> None:
        assert self._role is not None
        deadline = time.monotonic() + retention()
        while True:
            leader = await find_leader(self._candidates, self.connection_args)
            if leader is not None and leader.epoch >= self._role.epoch:
                self.scheduler = self.rpc(leader.address)
                try:
                    # A supervisor that took over accepts clients only after its workers have come.
                    async with asyncio.timeout(min(retention(), _WELCOME)):
                        await self._arrived()
                        await self._ensure_connected(timeout=retention())
                        await self._resume()
                except OSError:
                    if self.scheduler_comm is not None:  # it was accepted, and then disconnected
                        self.scheduler_comm.abort()
                        self.scheduler_comm, self.status = None, "connecting"
                else:
                    return
            if time.monotonic() > deadline:
                raise ConnectionError(f"no active supervisor at {', '.join(self._candidates)}")
            await asyncio.sleep(_PAUSE)

    async def _arrived(self) -> None:
        """Wait until workers have brought their results, or until the timeout."""
        deadline = time.monotonic() + min(_ARRIVING, retention() / 4)
        keys, _ = self._wanted()
        while True:
            holders = await self.scheduler.who_has(keys=keys)
            keys = [key for key in keys if not holders[key]]
            if not keys or time.monotonic() > deadline:
                return
            await asyncio.sleep(_PAUSE)

    def _wanted(self) -> tuple[list[Any], list[dict[str, Any]]]:
        """Return the computed keys, and the unfinished graphs with their keys."""
        with self._graphs_lock:
            self._forget_graphs()
            graphs = list(self._graphs)
        again = {key for graph in graphs for key in graph["keys"]}
        computed = [
            key
            for key, state in list(self.futures.items())
            if state.status in _DONE or (state.status == "pending" and key in self._missed)
        ]
        return [key for key in computed if key not in again], graphs

    async def _resume(self) -> None:
        """Claim computed results, resubmit the other graphs, then send deferred messages."""
        keys, graphs = self._wanted()
        holders = await self.scheduler.who_has(keys=keys)
        self._learn(await self.scheduler.identity(n_workers=0))
        # No await from here on, so that nothing else is sent or deferred.
        available = [key for key in keys if key in self.futures and holders[key]]
        self._resend(available, graphs)
        unavailable = [key for key in keys if not holders[key]]
        why = f"the supervisor at {self._left} was lost, and no remaining worker has the result"
        self._give_up(unavailable, why)
        logger.warning(
            "continuing with the supervisor at %s: kept %d results, lost %d, resubmitted %d graphs",
            self.scheduler.address,
            len(available),
            len(unavailable),
            len(graphs),
        )
        self._claim_pending(graphs)
        self._missed.clear()
        self.generation += 1
        self._away = False
        assert self._changed is not None
        self._changed.set()
        self._changed = asyncio.Event()

    def _resend(self, held: list[Any], graphs: list[dict[str, Any]]) -> None:
        """Claim results, send earlier graphs again, and then what was deferred."""
        send = super()._send_to_scheduler_safe
        if held:
            send({"op": "client-desires-keys", "keys": held})
        deferred = set(map(id, self._deferred))
        earlier = [graph for graph in graphs if id(graph) not in deferred]
        for graph in earlier:
            send(graph)
        self._send_deferred()
        # Other graphs may need them; what none needs would be held until this client leaves.
        unused = [key for graph in earlier for key in graph["keys"] if key not in self.futures]
        if unused:
            send({"op": "client-releases-keys", "keys": unused})

    def _claim_pending(self, graphs: list[dict[str, Any]]) -> None:
        """Request pending results of others' graphs; an unknown one is cancelled then."""
        # A future is created before its graph is sent, both with this lock.
        with self._refcount_lock, self._graphs_lock:
            again = {key for graph in (*graphs, *self._graphs) for key in graph["keys"]}
            claimed = [
                key
                for key, state in list(self.futures.items())
                if state.status == "pending" and key not in again and key not in self._missed
            ]
        if claimed:
            send = super()._send_to_scheduler_safe
            send({"op": "client-desires-keys", "keys": claimed})
            for key in claimed:
                send({"op": "report-key", "key": key})

    def _gather_remote(self, direct: bool, local_worker: bool) -> asyncio.Task[dict[str, Any]]:  # type: ignore[override]
        """Start to fetch results; later requests join until they are asked for.

        None joins a task that ends before, for example by a Ctrl-C.
        """
        task = asyncio.ensure_future(self._fetch(direct, local_worker))
        task.add_done_callback(self._fetched)
        return task

    def _fetched(self, task: asyncio.Task[dict[str, Any]]) -> None:
        if self._gather_future is task:
            self._gather_keys = self._gather_future = None

    async def _fetch(self, direct: bool, local_worker: bool) -> dict[str, Any]:
        """Fetch results, but not while workers still bring them to a new supervisor.

        They come from the workers, where this client reaches them.
        """
        if self._away and not await self.resumed(self.generation):
            raise NoSupervisor(self.abandoned)
        if self._role is None or direct or local_worker:
            response: dict[str, Any] = await super()._gather_remote(direct, local_worker)
            return response
        async with self._gather_semaphore:
            # Later requests are not added to this one.
            keys = list(self._gather_keys or ())
            self._gather_keys = self._gather_future = None
            return await self._transfers.gather(keys)

    def _give_up(self, keys: Iterable[Any], why: str) -> None:
        for key in keys:
            state = self.futures.get(key)
            if state is not None:
                state.set_error(ResultLost(key, why), None)

    async def _watch(self) -> None:
        """Leave a supervisor that does not answer, once another one is active."""
        if self.status != "running" or self._role is None:
            return
        address = self.scheduler.address
        try:
            async with asyncio.timeout(timeout()):
                await self.scheduler.identity(n_workers=0)
        except TimeoutError:
            endpoints = [endpoint for endpoint in self._candidates if endpoint != address]
            leader = await find_leader(endpoints, self.connection_args)
            if leader is not None and leader.epoch > self._role.epoch and self.scheduler_comm:
                logger.warning("%s does not answer; %s does", address, leader.address)
                self.scheduler_comm.abort()
                self._disconnect(address)
        except OSError:  # the end of the connection is handled elsewhere
            return


def _streams(comms: Iterable[Any]) -> list[Any]:
    """Return the TCP streams of those connections that are websockets."""
    return [comm.sock.stream for comm in comms if isinstance(comm, WS)]
