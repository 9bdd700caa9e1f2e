"""Results whose clients will request them again.

Workers bring them after a failover, or the connection of a client broke.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from distributed.diagnostics.plugin import SchedulerPlugin

from ..base import Key
from ..cluster.leader import retention

logger: Final = logging.getLogger(__name__)

#: The key in a worker's registration.
HELD = "mars_held"

#: Timeout for the end of a closed connection, in seconds.
_ENDING = 10.0

#: The name of the client that holds them.
_HOLDER = "marsdask-orphans"


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
        self._dropping: asyncio.TimerHandle | None = None
        scheduler.add_plugin(self)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Record the results of a worker, before it receives any message."""
        scheduler.failover.worker_joined(worker)
        reported = scheduler.workers[worker].extra.pop(HELD, None)
        if reported is not None:
            self._followers.add(worker)
        held: dict[Key, int] = dict(reported or ())
        if not held:
            return
        new = {key: nbytes for key, nbytes in held.items() if self._free(key)}
        scheduler.update_data(who_has={key: [worker] for key in new}, nbytes=new, client=_HOLDER)
        # Further replicas are added; they are dropped if the task is about to run again.
        scheduler.add_keys(worker=worker, keys=[key for key in held if key not in new])
        logger.info("%s joins with %d results", worker, len(held))
        self._drop_later()

    def hold(self, client: str) -> None:
        """Keep the results of a client that will request them again."""
        state = self.scheduler.clients.get(client)
        if state is not None:
            wanted = [ts.key for ts in state.wants_what]
            self.scheduler.client_desires_keys(keys=wanted, client=_HOLDER)
            self._drop_later()

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

    def _drop_later(self) -> None:
        if self._dropping is not None:
            self._dropping.cancel()
        self._dropping = asyncio.get_running_loop().call_later(retention(), self._drop)

    def remove_worker(self, scheduler: Any, worker: str, **options: Any) -> None:
        """Forget a worker."""
        self._followers.discard(worker)

    def follows(self, worker: str) -> bool:
        """Return whether a worker follows supervisors, and will return to this one."""
        return worker in self._followers

    def _free(self, key: Key) -> bool:
        return key not in self.scheduler.tasks

    def update_graph(self, scheduler: Any, *, tasks: Iterable[Key], **options: Any) -> None:
        """Release the results that a graph names, once the graph holds them."""
        if _HOLDER in scheduler.clients:
            asyncio.get_running_loop().call_soon(self._hand_over, list(tasks))

    def _hand_over(self, keys: list[Key]) -> None:
        holder = self.scheduler.clients.get(_HOLDER)
        if holder is None:
            return
        known = self.scheduler.tasks
        mine = [key for key in keys if key in known and known[key] in holder.wants_what]
        self.scheduler.client_releases_keys(keys=mine, client=_HOLDER)

    def _drop(self) -> None:
        holder = self.scheduler.clients.get(_HOLDER)
        if holder is not None:
            self._hand_over([ts.key for ts in holder.wants_what])
            self.scheduler.remove_client(_HOLDER)

    async def close(self) -> None:
        """Forget the timeout."""
        if self._dropping is not None:
            self._dropping.cancel()
