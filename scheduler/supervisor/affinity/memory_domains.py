"""Which workers read each other's results in shared memory.

Workers of one host usually do. Those in containers of their own do not, nor do workers of Dask.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from distributed.scheduler import WorkerState

from ...dask import PLACE


class MemoryDomains:
    """The domains of the workers of a scheduler; a worker that shares no memory has its own."""

    def __init__(self) -> None:
        self._domains: dict[WorkerState, Hashable] = {}
        self._workers: dict[Hashable, dict[WorkerState, None]] = {}

    def of(self, ws: WorkerState) -> Hashable:
        """Return the domain of a worker."""
        domain = self._domains.get(ws)
        if domain is None:
            place = ws.extra.get(PLACE)
            domain = self._domains[ws] = ws.address if place is None else repr(place)
            self._workers.setdefault(domain, {})[ws] = None
        return domain

    def workers(self, domain: Hashable) -> Collection[WorkerState]:
        """Return the workers of a domain, in the order in which they joined."""
        return self._workers.get(domain, {}).keys()

    def leave(self, ws: WorkerState) -> None:
        """Forget a worker that has left."""
        domain = self._domains.pop(ws, None)
        if domain is not None:
            workers = self._workers[domain]
            del workers[ws]
            if not workers:
                del self._workers[domain]
