"""Change the number of a cluster's workers: those that end move their results to others first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine
from typing import Any, Final, Protocol

from distributed.core import Status

logger: Final = logging.getLogger(__name__)

#: Seconds in which running tasks of workers that end may finish; later ones run again elsewhere.
_PATIENCE = 60.0

#: Seconds between two looks at running tasks.
_PAUSE = 0.1


class CannotScale(RuntimeError):
    """The number of workers cannot be changed; nothing has been lost."""


class Scaler(Protocol):
    """Starts and ends hosts of workers, such as the pods of a Kubernetes cluster.

    Its methods raise :class:`CannotScale` if that is impossible.
    """

    async def count(self) -> int:
        """Return how many hosts are asked for; some of them may be starting."""
        ...

    async def leaving(self, count: int, hosts: Collection[str]) -> Collection[str]:
        """Return which of ``hosts``, names of workers' hosts, end when ``count`` of them remain."""
        ...

    async def scale(self, count: int) -> None:
        """Start or end hosts, until there are ``count``."""
        ...


class Rescaling:
    """Rescales the cluster of ``server``, a supervisor, with ``scaler``.

    Without a scaler somebody else starts and ends hosts, and asks to :meth:`vacate` them first.
    """

    def __init__(self, server: Any, scaler: Scaler | None) -> None:
        self.server = server
        self.scaler = scaler
        self._vacated: list[str] = []
        self.target: int | None = None
        self.state = "idle"
        self.error: str | None = None
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self, count: int) -> asyncio.Task[None]:
        """Begin to rescale, after a change that has not ended."""
        return self._begin(self.rescale(count), count)

    def start_vacating(self, names: Collection[str]) -> asyncio.Task[None]:
        """Begin to vacate hosts, after a change that has not ended."""
        return self._begin(self.vacate(names), None)

    def _begin(self, change: Coroutine[Any, Any, None], count: int | None) -> asyncio.Task[None]:
        self._task = asyncio.ensure_future(change)
        self._task.add_done_callback(_retrieve)
        self.target, self.state, self.error = count, "moving", None
        return self._task

    def progress(self) -> dict[str, Any]:
        """Return the state: idle, moving results, scaling, done, or failed with its error."""
        return {
            "new_scale": self.target,
            "count": len(self.server.workers),
            "state": self.state,
            "error": self.error,
        }

    async def rescale(self, count: int) -> None:
        """Move results off the workers that will end, then start or end hosts."""
        if self.scaler is None:
            raise CannotScale("nothing here starts and ends workers")
        async with self._lock:
            self.target, self.state, self.error = count, "moving", None
            retired: list[str] = []
            try:
                hosts = self.hosts()
                names = await self.scaler.leaving(count, hosts.keys())
                retired = [address for name in names for address in hosts.get(name, ())]
                await self._retire(retired)
                self.state = "scaling"
                await self.scaler.scale(count)
            except BaseException as error:
                self._restore(retired)
                self.state, self.error = "failed", str(error) or repr(error)
                failure = {"action": "cannot-rescale", "reason": self.error}
                self.server.log_event("supervisor", failure)
                raise
            self.state = "done"

    async def vacate(self, names: Collection[str]) -> None:
        """Move results off the workers of hosts that somebody ends; all others get tasks."""
        async with self._lock:
            self.target, self.state, self.error = None, "moving", None
            hosts = self.hosts()
            leaving = [address for name in names for address in hosts.get(name, ())]
            self._restore([one for one in self._vacated if one not in leaving])
            self._vacated = leaving
            try:
                await self._retire(leaving)
            except BaseException as error:
                self._restore(leaving)
                self.state, self.error = "failed", str(error) or repr(error)
                raise
            self.state = "done"

    def hosts(self) -> dict[str, list[str]]:
        """Return the addresses of workers by the name of their host."""
        hosts: dict[str, list[str]] = {}
        for address in self.server.workers:
            facts = self.server.nodes.told.get(address, {})
            name = facts.get("k8s_pod_name") or facts.get("host_name")
            if name is not None:
                hosts.setdefault(name, []).append(address)
        return hosts

    async def _retire(self, addresses: Collection[str]) -> None:
        """Let workers finish their tasks and move their results; they get no others."""
        if not addresses:
            return
        logger.info("moving the results of %s to other workers", ", ".join(addresses))
        await self._move(addresses)
        deadline = asyncio.get_running_loop().time() + _PATIENCE
        if not self._busy(addresses):
            return
        # No event tells of it for some workers only, and this is rare.
        while self._busy(addresses) and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_PAUSE)
        await self._move(addresses)

    def _busy(self, addresses: Collection[str]) -> bool:
        workers = self.server.workers
        return any(workers[address].processing for address in addresses if address in workers)

    async def _move(self, addresses: Collection[str]) -> None:
        # They stay connected: without `remove`, so that they do not join again before they end.
        retired = await self.server.retire_workers(
            workers=list(addresses), remove=False, close_workers=False
        )
        stuck = [
            address
            for address in addresses
            if address in self.server.workers and address not in retired
        ]
        if stuck:
            raise CannotScale(
                f"no other worker has room for the results of {', '.join(stuck)}: delete results, "
                "or keep more workers"
            )

    def _restore(self, addresses: Collection[str]) -> None:
        """Let workers get tasks again."""
        for address in addresses:
            ws = self.server.workers.get(address)
            stream = self.server.stream_comms.get(address)
            if ws is not None and stream is not None and ws.status is Status.closing_gracefully:
                # The worker confirms, and the supervisor then counts it as running.
                message = {"op": "worker-status-change", "status": Status.running.name}
                stream.send({**message, "stimulus_id": "rescaling-failed"})


def _retrieve(task: asyncio.Task[None]) -> None:
    """Log the error of a change that nobody waits for."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("cannot rescale: %s", error)
