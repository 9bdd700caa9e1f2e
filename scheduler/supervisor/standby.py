"""Failover between supervisors: one is active, the others are standbys and poll it.

Supervisors share no state. Workers resend their results; clients resend unfinished jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Sequence
from typing import Any, Final

from distributed.comm import normalize_address
from distributed.core import rpc

from ..cluster.leader import (
    PATIENCE,
    SupervisorRole,
    probe,
    query_role,
    retention,
    timeout,
    with_scheme,
)
from .epoch import OtherSupervisor, TakeoverAction, decide, next_epoch
from .generations import WorkerHistory

logger: Final = logging.getLogger(__name__)

#: Seconds in which workers may join after a takeover, before clients are accepted.
_SETTLING = 20.0


class Failover:
    """Decides the role of one supervisor among those at ``endpoints``, in order of precedence.

    Its own endpoint is the one where a scheduler with its own id answers.
    """

    def __init__(self, supervisor: Any, endpoints: Sequence[str]) -> None:
        self.supervisor = supervisor
        self.patience = timeout()
        self.interval = self.patience / 10
        self.epoch = 0
        self.seen = 0
        """The highest known epoch."""
        self.active = False
        self._began = -math.inf
        """The time at which it became active."""
        self.leader: str | None = None
        """The address of the active supervisor, if known."""
        self._peers = {endpoint: OtherSupervisor(rank) for rank, endpoint in enumerate(endpoints)}
        self._mine: str | None = None
        self._previous = WorkerHistory()
        """The active supervisor at the last poll."""
        self._workers: tuple[str, ...] = ()
        """The workers of the active supervisor at the last poll."""
        self._expected: set[str] = set()
        self._settled = asyncio.Event()
        self._known = asyncio.Event()
        """Set while any supervisor is active."""
        self._task: asyncio.Task[None] | None = None

    def role(self, *, epoch: int = 0) -> dict[str, Any]:
        """Return this role to another supervisor, or to a worker of a higher ``epoch``."""
        self.seen = max(self.seen, epoch)
        if self.active and self._task is None and self.seen > self.epoch:
            self.epoch = next_epoch([self.seen])
        return {
            "id": self.supervisor.id,
            "active": self.active,
            "epoch": self.epoch,
            "workers": list(self.supervisor.workers),
            "removed": self.supervisor.unclaimed_results.generations.absent,
        }

    def start(self) -> None:
        """Start to poll the others; a single supervisor is active at once."""
        if len(self._peers) < 2:
            self._activate()
            self._settled.set()
        else:
            self._task = asyncio.ensure_future(self._poll_forever())

    async def stop(self) -> None:
        """Stop polling, and give up the active role."""
        self.active = False
        self._known.clear()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def settled(self) -> None:
        """Wait until the previous supervisor's workers have joined, or until the timeout."""
        await self._settled.wait()

    async def elsewhere(self) -> str | None:
        """Return the address of another active supervisor; wait until one is active.

        During a takeover ``leader`` is still the previous one.
        """
        await self._known.wait()
        return None if self.active else self.leader

    def worker_joined(self, worker: str) -> None:
        """Record a worker."""
        self._expected.discard(worker)
        if self.active and not self._expected:
            self._settled.set()

    async def _poll_forever(self) -> None:
        before = time.monotonic()
        while not self.supervisor.deposed:
            try:
                await self._poll(time.monotonic() - before)
                before = time.monotonic()
                await self._act(decide(self._mine_now(), self._rank, self._others, self.patience))
            except Exception:
                logger.exception("error while polling the other supervisors")
            await asyncio.sleep(self.interval)

    async def _act(self, decision: TakeoverAction) -> None:
        if decision is TakeoverAction.STEP_DOWN:
            await self.supervisor.step_down()
        elif decision is TakeoverAction.TAKE_OVER and await self._is_lost():
            self._take_over()
        elif decision is TakeoverAction.STAY and self.seen > self.epoch and self._alone:
            # All supervisors were restarted, and workers know an earlier epoch.
            self.epoch = next_epoch([self.seen])

    @property
    def _others(self) -> list[OtherSupervisor]:
        return [peer for endpoint, peer in self._peers.items() if endpoint != self._mine]

    @property
    def _alone(self) -> bool:
        return not any(peer.role and peer.role.active for peer in self._others)

    @property
    def _rank(self) -> int:
        return len(self._peers) if self._mine is None else self._peers[self._mine].rank

    def _mine_now(self) -> SupervisorRole:
        supervisor = self.supervisor
        return SupervisorRole(supervisor.id, supervisor.address, self.active, self.epoch, ours=True)

    async def _poll(self, passed: float) -> None:
        """Query all the others at once, ``passed`` seconds after the last poll."""
        others = [endpoint for endpoint in self._peers if endpoint != self._mine]
        await asyncio.gather(*(self._ask(one, self._peers[one], passed) for one in others))
        active = [peer.role for peer in self._others if peer.role and peer.role.active]
        if active and not self.active:
            first = max(active, key=lambda role: role.epoch)
            self.leader, self._workers = first.address, first.workers
            self._previous = WorkerHistory(first.id, first.epoch, frozenset(first.removed))
        if active or self.active:
            self._known.set()
        else:
            self._known.clear()
        self.seen = max([self.seen, *(one.epoch for one in active)])

    async def _ask(self, endpoint: str, peer: OtherSupervisor, passed: float) -> None:
        address = with_scheme(endpoint, self.supervisor.security)
        began = time.monotonic()
        peer.refused = False
        try:
            peer.role = await self._answer(address)
        except (OSError, AttributeError) as error:
            peer.role = None
            peer.refused = isinstance(error, ConnectionRefusedError)
            # After a suspension, this process must not consider all others dead.
            peer.silent += min(passed + time.monotonic() - began, 2 * self.patience / 5)
            return
        if peer.role.id == self.supervisor.id:
            self._mine = endpoint
        peer.silent, peer.seen = 0.0, True

    async def _answer(self, address: str) -> SupervisorRole:
        arguments = self.supervisor.security.get_connection_args("scheduler")
        patience = min(PATIENCE, self.patience / 5)
        role = await query_role(address, arguments, patience)
        if not role.ours:
            return role
        async with (
            asyncio.timeout(patience),
            rpc(normalize_address(address), connection_args=arguments) as peer,
        ):
            found = await peer.mars_role(epoch=self.epoch)
        return SupervisorRole(
            found["id"],
            address,
            found["active"],
            found["epoch"],
            ours=True,
            workers=tuple(found["workers"]),
            removed=tuple(found.get("removed", ())),
        )

    async def _is_lost(self) -> bool:
        """Ask the active supervisor's workers whether it still answers them."""
        self._expected = set(self._workers)
        witnesses = await asyncio.gather(*(self._witness(worker) for worker in self._workers))
        heard = [one for one in witnesses if one is not None]
        self.seen = max([self.seen, *(one["epoch"] for one in heard)])
        alive = [one for one in heard if one["served"] and one["silence"] < self.patience]
        if alive:
            logger.warning("%d workers are still connected to the active supervisor", len(alive))
        return not alive

    async def _witness(self, worker: str) -> dict[str, Any] | None:
        arguments = self.supervisor.security.get_connection_args("scheduler")
        try:
            async with (
                asyncio.timeout(self.patience / 5),
                rpc(worker, connection_args=arguments) as peer,
            ):
                await probe(worker)
                found: dict[str, Any] = await peer.mars_witness()
        except (ConnectionRefusedError, AttributeError):
            # It has ended, or is a stock worker, which will end.
            self._expected.discard(worker)
            return None
        except OSError:  # it may be slow
            return None
        return found

    def recent(self) -> bool:
        """Return whether it has just become active, so that workers bring earlier results."""
        return self.active and time.monotonic() < self._began + retention()

    def settling(self) -> bool:
        """Return whether workers that join now were left by an earlier supervisor."""
        return self.recent() if self._task is None else not self._settled.is_set()

    def _activate(self) -> None:
        self.epoch = next_epoch([self.seen])
        self._began = time.monotonic()
        self.active, self.leader = True, self.supervisor.address
        self._known.set()

    def _take_over(self) -> None:
        self.supervisor.unclaimed_results.generations.succeed(self._previous)
        self._activate()
        logger.info("the supervisor at %s is active", self.supervisor.address)
        if not self._expected:
            self._settled.set()
        else:
            asyncio.get_running_loop().call_later(_SETTLING, self._settled.set)
