"""A client that outlives its supervisor: it goes on with the next one and sends its graphs again.

distributed's client cancels every future when the connection breaks. Names of tasks are the same
wherever they are computed, so this one keeps its futures: what was computed is found with the
workers, what was not is asked for again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterable
from typing import Any

from distributed import Client
from distributed.comm.ws import WS
from tornado.ioloop import PeriodicCallback

from ..cluster.leader import (
    Standing,
    ask,
    keep,
    leader,
    timeout,
    understood,
    with_scheme,
)
from ..errors import NoSupervisor, ResultLost

logger = logging.getLogger(__name__)

#: Seconds between two looks for an active supervisor.
_PAUSE = 0.2

#: Seconds that a supervisor has to let a client in, which waits for the workers of the one before.
_WELCOME = 30.0

#: Seconds that workers have to bring results to a supervisor that was started anew.
_ARRIVING = 5.0

#: Seconds that a supervisor has to take note that a client leaves.
FAREWELL = 5.0

#: Graphs among which those that have ended are not looked for.
_FEW = 8

#: States of futures that were computed; one that is lost may be there again.
_DONE = ("finished", "lost")


class ResumingClient(Client):
    """A dask client whose futures live on when another supervisor takes over."""

    scheduler: Any  # distributed gives it one when it starts

    def __init__(self, *args: Any, **options: Any) -> None:
        self.generation = 0
        """How often it has gone on with another supervisor, or with the same one anew."""
        self._standing: Standing | None = None
        self._left = ""
        """The address of the supervisor that went last."""
        self._away = False
        """Whether that one is gone, and no other has been gone on with yet."""
        self._candidates: list[str] = []
        self._graphs: list[dict[str, Any]] = []
        self._graphs_lock = threading.Lock()
        self._look_again = _FEW
        self._missed: set[Any] = set()
        """Keys of results that were asked for in vain: distributed takes them for pending then."""
        self._changed: asyncio.Event | None = None
        super().__init__(*args, **options)

    async def _start(self, *args: Any, **options: Any) -> Any:
        """Connect to the active one of the supervisors, whichever is asked for."""
        self._changed = asyncio.Event()
        await self._find_active()
        started = await super()._start(*args, **options)
        told: Any = self._scheduler_identity
        if "marsdask" in told:
            self._learn(told)
        if len(self._candidates) > 1:
            watch = PeriodicCallback(self._watch, timeout() / 5 * 1000)
            self._periodic_callbacks["mars-watch"] = watch
            watch.start()
        return started

    async def _close(self, fast: bool = False) -> None:
        """Close; a websocket's own farewell would take longer than the event loop may live."""
        comms = [getattr(self.scheduler_comm, "comm", None)]
        for pooled in (*self.rpc.available.values(), *self.rpc.occupied.values()):
            comms.extend(pooled)
        streams = [comm.sock.stream for comm in comms if isinstance(comm, WS)]
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
        for stream in streams:
            stream.close()

    def close(self, *args: Any, **options: Any) -> Any:
        """Close, and end the event loop's thread also where the client has closed by itself."""
        closed = super().close(*args, **options)
        # A second stop would wait for the lock of whoever starts a client: the collector, which
        # closes again, may run in that one's thread.
        stop = not self._is_finalizing() and self._loop_runner.is_started()
        if stop and not self.asynchronous and self.status == "closed":
            self._loop_runner.stop()
        return closed

    async def _find_active(self) -> None:
        """Go where the supervisor at the given address leads, until one answers that is active.

        During a takeover that is nowhere for a while, so it is asked on; in the end it is left to
        that one to let the client in or to say why not.
        """
        given = asked = self._start_arg
        deadline = time.monotonic() + self._timeout
        while isinstance(asked, str) and time.monotonic() < deadline:
            try:
                found = await ask(asked, self.connection_args)
            except OSError:
                if asked == given:
                    return
                asked = given
            else:
                if found.active:
                    self._start_arg = asked
                    return
                if found.leader is not None:
                    asked = with_scheme(found.leader, self.security)
            await asyncio.sleep(_PAUSE)

    async def _ensure_connected(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Connect; one that has come to stand by meanwhile is as good as gone."""
        try:
            await super()._ensure_connected(timeout=timeout)
        except ImportError as error:  # distributed's, for whatever a client is refused for
            found = await ask(self.scheduler.address, self.connection_args)
            if found.active:
                raise
            raise ConnectionError(str(error)) from None

    def _learn(self, identity: dict[str, Any]) -> None:
        address: str = self.scheduler.address
        self._standing = understood(identity, address)
        others = [with_scheme(one, self.security) for one in identity["marsdask"]["supervisors"]]
        # The first may be a door that others cannot be reached by, and always leads to one.
        self._candidates = list(dict.fromkeys([*self._candidates[:1], address, *others]))

    @property
    def abandoned(self) -> str:
        """What to say when no supervisor is found to go on with."""
        known = ", ".join(self._candidates)
        left = self._left or self.scheduler.address
        return (
            f"the supervisor at {left} is gone, and in {keep():g} s (marsdask.failover.keep) "
            f"none was active at {known}: start one, and a new session"
        )

    async def resumed(self, generation: int) -> bool:
        """Wait until it has gone on since ``generation``; whether it has."""
        deadline = time.monotonic() + keep()
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
                    self._graphs = [graph for graph in self._graphs if self._is_pending(graph)]
                    self._look_again = max(_FEW, 2 * len(self._graphs))
        elif msg["op"] == "report-key":
            self._missed.add(msg["key"])
        super()._send_to_scheduler(msg)

    def _is_pending(self, graph: dict[str, Any]) -> bool:
        states = (self.futures.get(key) for key in graph["keys"])
        return any(state is not None and state.status == "pending" for state in states)

    async def _reconnect(self) -> None:
        """Go on with the active supervisor."""
        if self._standing is None:  # a stock scheduler
            await super()._reconnect()
            return
        self.status, self._away = "connecting", True
        self.scheduler_comm = None
        self._left = self.scheduler.address
        self.rpc.remove(self.scheduler.address)
        logger.warning("lost the supervisor at %s", self.scheduler.address)
        try:
            await self._go_on()
        except (OSError, ImportError) as error:
            logger.error("%s", error)  # noqa: TRY400 - its traceback says no more
            self._give_up(list(self.futures), self.abandoned)
            await self._close()

    async def _go_on(self) -> None:
        assert self._standing is not None
        deadline = time.monotonic() + keep()
        while True:
            found = await leader(self._candidates, self.connection_args)
            if found is not None and found.epoch >= self._standing.epoch:
                self.scheduler = self.rpc(found.address)
                waiting: list[dict[str, Any]] = []
                try:
                    # One that took over lets nobody in before its workers have come.
                    async with asyncio.timeout(min(keep(), _WELCOME)):
                        await self._arrived()
                        waiting, self._pending_msg_buffer[:] = list(self._pending_msg_buffer), []
                        await self._ensure_connected(timeout=keep())
                        await self._resume(waiting)
                except OSError:
                    self._pending_msg_buffer[:0] = waiting
                    if self.scheduler_comm is not None:  # it was let in, and then left alone
                        self.scheduler_comm.abort()
                        self.scheduler_comm, self.status = None, "connecting"
                else:
                    return
            if time.monotonic() > deadline:
                raise ConnectionError(f"no active supervisor at {', '.join(self._candidates)}")
            await asyncio.sleep(_PAUSE)

    async def _arrived(self) -> None:
        """Wait until workers have brought what was computed, or have had the time to."""
        deadline = time.monotonic() + min(_ARRIVING, keep() / 4)
        missing, _ = self._wanted()
        while True:
            found = await self.scheduler.who_has(keys=missing)
            missing = [key for key in missing if not found[key]]
            if not missing or time.monotonic() > deadline:
                return
            await asyncio.sleep(_PAUSE)

    def _wanted(self) -> tuple[list[Any], list[dict[str, Any]]]:
        """Return keys that were computed, and the graphs that have not ended, with theirs."""
        with self._graphs_lock:
            self._graphs = graphs = [one for one in self._graphs if self._is_pending(one)]
        again = {key for graph in graphs for key in graph["keys"]}
        computed = [
            key
            for key, state in list(self.futures.items())
            if state.status in _DONE or (state.status == "pending" and key in self._missed)
        ]
        return [key for key in computed if key not in again], graphs

    async def _resume(self, waiting: list[dict[str, Any]]) -> None:
        """Claim what was computed, send again what was not, then what has waited meanwhile."""
        wanted, graphs = self._wanted()
        holders = await self.scheduler.who_has(keys=wanted)
        self._learn(await self.scheduler.identity(n_workers=0))
        held = [key for key in wanted if key in self.futures and holders[key]]
        lost = [key for key in wanted if not holders[key]]
        if held:
            self._send_to_scheduler_safe({"op": "client-desires-keys", "keys": held})
        for message in [*graphs, *(one for one in waiting if one["op"] != "update-graph")]:
            self._send_to_scheduler_safe(message)
        why = f"the supervisor at {self._left} is gone, and no worker that is left has it"
        self._give_up(lost, why)
        logger.warning(
            "continuing with the supervisor at %s: kept %d results, lost %d, resubmitted %d graphs",
            self.scheduler.address,
            len(held),
            len(lost),
            len(graphs),
        )
        self._missed.clear()
        self.generation += 1
        self._away = False
        assert self._changed is not None
        self._changed.set()
        self._changed = asyncio.Event()

    async def _gather_remote(self, direct: bool, local_worker: bool) -> dict[str, Any]:
        """Fetch results, but from no supervisor to which workers are still bringing them."""
        if self._away and not await self.resumed(self.generation):
            raise NoSupervisor(self.abandoned)
        response: dict[str, Any] = await super()._gather_remote(direct, local_worker)
        return response

    def _give_up(self, keys: Iterable[Any], why: str) -> None:
        for key in keys:
            state = self.futures.get(key)
            if state is not None:
                state.set_error(ResultLost(key, why), None)

    async def _watch(self) -> None:
        """Leave a supervisor that does not answer, once another has taken its place."""
        if self.status != "running" or self._standing is None:
            return
        address = self.scheduler.address
        try:
            async with asyncio.timeout(timeout()):
                await self.scheduler.identity(n_workers=0)
        except TimeoutError:
            others = [one for one in self._candidates if one != address]
            found = await leader(others, self.connection_args)
            if found is not None and found.epoch > self._standing.epoch and self.scheduler_comm:
                logger.warning("%s does not answer; %s does", address, found.address)
                self.scheduler_comm.abort()
                self.rpc.remove(address)
        except OSError:  # the connection's own end is seen elsewhere
            return
