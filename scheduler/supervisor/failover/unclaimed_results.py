"""Results whose clients will request them again.

Workers bring them after a failover, or the connection of a client broke.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

from ...base import Key
from ...cluster.leader import retention
from .generations import Generations, WorkerHistory

logger: Final = logging.getLogger(__name__)

#: The keys in a worker's registration: its results, and the supervisor that it served last.
HELD, SERVED = "mars_held", "mars_served"

#: Timeout for the end of a closed connection, in seconds.
_ENDING = 10.0

#: The client that holds what workers have brought; what a client held, one that is named after it.
_HOLDER = "marsdask-orphans"

#: How the names of clients begin that reconnect: with their class, as all clients' names do.
_RECONNECTING = "ReconnectingClient-"

#: Number of removed workers of which it is known that others may report them as cut off.
_REMEMBERED = 1000


class UnclaimedResults(SchedulerPlugin):
    """Accepts results that arrive with workers; graphs that name them find them computed.

    Results that no client requests in time are dropped.
    """

    name = "marsdask-orphans"

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self._followers: set[str] = set()
        self._connected: dict[str, asyncio.Event] = {}
        """An event of each client, set when its connection ends."""
        self._removed: dict[str, None] = {}
        """Removed workers that have not returned, the earliest first."""
        self._dropping: dict[str, asyncio.TimerHandle] = {}
        """The timeouts of the clients that hold results."""
        self.generations = Generations(
            scheduler.id, scheduler.tasks.__contains__, scheduler.failover.recent
        )
        scheduler.add_plugin(self)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Record the results of a worker, before it receives any message."""
        extra = scheduler.workers[worker].extra
        report = extra.pop(HELD, None)
        history = WorkerHistory.parse(extra.pop(SERVED, {}))
        results: dict[Key, int] = dict(report or ())
        self._tell_others(worker)
        if history.supervisor == scheduler.id:  # it may have missed that others returned
            for peer in (history.removed | history.lately) & scheduler.workers.keys():
                scheduler.worker_send(worker, {"op": "mars-returned", "worker": peer})
        if report is not None:
            self._followers.add(worker)
        early = scheduler.failover.settling()
        valid = self.generations.returns(worker, history, results, early=early)
        if results:
            self._adopt(worker, {key: results[key] for key in valid})
            self._free(worker, results.keys() - valid)
            logger.info("%s joins with %d results of %d", worker, len(valid), len(results))
        for late, keys in self.generations.outdated().items():
            logger.warning("%s had been cut off: dropping %d results", late, len(keys))
            self._free(late, keys)
        scheduler.failover.worker_joined(worker)

    def _tell_others(self, worker: str) -> None:
        """Tell workers that one is back, so that they do not report it as cut off.

        It may be another process with the same address, which was never cut off.
        """
        if worker in self._removed:
            del self._removed[worker]
            for follower in self._followers:
                self.scheduler.worker_send(follower, {"op": "mars-returned", "worker": worker})

    def _adopt(self, worker: str, held: dict[Key, int]) -> None:
        scheduler = self.scheduler
        existing_keys = [key for key in held if key in scheduler.tasks]
        new = {key: nbytes for key, nbytes in held.items() if key not in scheduler.tasks}
        if new:
            scheduler.update_data(
                who_has={key: [worker] for key in new}, nbytes=new, client=_HOLDER
            )
            self._drop_later(_HOLDER)
        # Further replicas are added; they are dropped if the task is about to run again.
        scheduler.add_keys(worker=worker, keys=existing_keys)

    def _free(self, worker: str, keys: Iterable[Key]) -> None:
        """Drop results of a worker, which may not be what their names stand for."""
        names = list(keys)
        if not names:
            return
        stimulus = f"marsdask-outdated-{time.time()}"
        message = {"op": "free-keys", "keys": names, "stimulus_id": stimulus}
        self.scheduler.worker_send(worker, message)
        for key in names:
            self.scheduler.release_worker_data(key, worker, stimulus)

    def leave(self, worker: str, stimulus: str) -> None:
        """Record what a worker holds that is about to be removed, and may return."""
        results = [ts.key for ts in self.scheduler.workers[worker].has_what]
        self.generations.leave(worker, results, stimulus)

    def transition(
        self, key: Key, start: str, finish: str, *args: Any, stimulus_id: str, **options: Any
    ) -> None:
        """Record new generations of results."""
        self.generations.transition(key, finish, stimulus_id)

    def hold(self, client: str, *states: str) -> None:
        """Keep the results of a client that will request them again, or those in such states."""
        state = self.scheduler.clients.get(client)
        if state is None:
            return
        tasks = [ts for ts in state.wants_what if not states or ts.state in states]
        if not tasks:
            return
        name = f"{_HOLDER}-{client}"
        self.scheduler.client_desires_keys(keys=(), client=name)
        holder = self.scheduler.clients[name]
        for ts in tasks:
            # Not as other clients do: that reports to the client, whose connection may be closed.
            ts.who_wants.add(holder)
            holder.wants_what.add(ts)
        self._drop_later(name)

    def disconnected(self, client: str) -> None:
        """Keep the computed results of a client whose connection broke, if it reconnects.

        Its tasks do not continue: it may have ended.
        """
        if client.startswith(_RECONNECTING) and self.scheduler.status is Status.running:
            self.hold(client, "memory")

    @contextlib.asynccontextmanager
    async def only_connection(self, client: str) -> AsyncIterator[None]:
        """Connect a client after its earlier connection has ended, and keep its results.

        Possibly only the client has noticed that the earlier connection broke. Its end would
        otherwise remove the client.
        """
        while (ended := self._connected.get(client)) is not None:
            self.hold(client)
            if (stream := self.scheduler.client_comms.get(client)) is not None:
                stream.abort()
            async with asyncio.timeout(_ENDING):
                await ended.wait()
        self._connected[client] = asyncio.Event()
        try:
            yield
        finally:
            self._connected.pop(client).set()

    def _drop_later(self, holder: str) -> None:
        if (earlier := self._dropping.get(holder)) is not None:
            earlier.cancel()
        loop = asyncio.get_running_loop()
        self._dropping[holder] = loop.call_later(retention(), self._drop, holder)

    def remove_worker(self, scheduler: Any, worker: str, **options: Any) -> None:
        """Forget a worker."""
        self._followers.discard(worker)
        self._removed[worker] = None
        if len(self._removed) > _REMEMBERED:
            del self._removed[next(iter(self._removed))]

    def follows(self, worker: str) -> bool:
        """Return whether a worker follows supervisors, and will return to this one."""
        return worker in self._followers

    def update_graph(self, scheduler: Any, *, tasks: Iterable[Key], **options: Any) -> None:
        """Release the results that a graph defines, or that clients want, once it holds them.

        It only reads the others: their client may not have requested them yet.
        """
        if self._dropping:
            defined = set(scheduler.defined)
            asyncio.get_running_loop().call_soon(self._hand_over, list(tasks), defined)

    def _hand_over(self, keys: list[Key], defined: set[Key]) -> None:
        tasks = self.scheduler.tasks
        existing = [tasks[key] for key in keys if key in tasks]
        for name in self._dropping:
            holder = self.scheduler.clients[name]
            own = [ts for ts in existing if ts in holder.wants_what]
            mine = [ts.key for ts in own if ts.run_spec or ts.key in defined or self._wanted(ts)]
            self.scheduler.client_releases_keys(keys=mine, client=name)

    def _wanted(self, ts: Any) -> bool:
        """Return whether a client wants a result that does not only hold it for others."""
        return any(state.client_key not in self._dropping for state in ts.who_wants)

    def _drop(self, *holders: str) -> None:
        """Release what clients hold for others, or all of them do."""
        for name in holders or list(self._dropping):
            self._dropping.pop(name).cancel()
            self.scheduler.remove_client(name)

    async def close(self) -> None:
        """Forget the timeouts."""
        for timeout in self._dropping.values():
            timeout.cancel()
