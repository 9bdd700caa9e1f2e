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

from ...cluster.arbiter import Arbiter, configured
from ...cluster.leader import (
    PATIENCE,
    SupervisorRole,
    probe,
    query_role,
    retention,
    timeout,
    with_scheme,
)
from . import shuffle_runs  # noqa: F401 - imported for its effect
from .arbitration import Arbitration
from .epoch import OtherSupervisor, TakeoverAction, Vote, checked, decide, is_lost, next_epoch
from .generations import WorkerHistory

logger: Final = logging.getLogger(__name__)

#: Seconds in which workers may join after a takeover, before clients are accepted.
_SETTLING = 20.0


class Failover:
    """Decides the role of one supervisor among those at ``endpoints``, in order of precedence.

    Its own endpoint is the one where a scheduler with its own id answers.
    """

    def __init__(
        self, supervisor: Any, endpoints: Sequence[str], arbiter: Arbiter | None = None
    ) -> None:
        self.supervisor = supervisor
        self.patience = timeout()
        self._arbitration = Arbitration(
            supervisor, arbiter or configured(self.patience), self.patience
        )
        self._tenure = self._arbitration.tenure
        self.interval = self.patience / 10
        self.epoch = 0
        self.seen = 0
        """The highest known epoch."""
        self._leads = False
        """Whether it became active, and has not ended that; its tenure may have ended."""
        self._releases = False
        self._served = False
        """Whether a worker has ever joined."""
        self._expiry: asyncio.TimerHandle | None = None
        self._expired: asyncio.Task[None] | None = None
        self._recent_until = -math.inf
        """When workers have brought what they held for an earlier supervisor, if it is active."""
        self.leader: str | None = None
        """The address of the active supervisor, if known."""
        self._peers = {endpoint: OtherSupervisor(rank) for rank, endpoint in enumerate(endpoints)}
        self._mine: str | None = None
        self._leading: str | None = None
        """The endpoint of the last active supervisor."""
        self._previous = WorkerHistory()
        """The active supervisor at the last poll."""
        self._workers: tuple[str, ...] = ()
        """The workers of the active supervisor at the last poll."""
        self._expected: set[str] = set()
        self._settled = asyncio.Event()
        self._known = asyncio.Event()
        """Set while any supervisor is active."""
        self._task: asyncio.Task[None] | None = None

    @property
    def active(self) -> bool:
        """Whether this supervisor is the active one now."""
        return self._leads and self._tenure.left > 0

    def role(self, *, epoch: int = 0, active: bool = False) -> dict[str, Any]:
        """Return this role to another supervisor, or to a worker of a higher ``epoch``.

        ``active``: another one is active, and asks this one to promise not to be.
        """
        consents = active and not self._leads
        if consents:
            self._tenure.promise()
        self.seen = max(self.seen, epoch)
        if self.active and self._task is None and self.seen > self.epoch:
            self.epoch = next_epoch([self.seen])
        return {
            "id": self.supervisor.id,
            "active": self.active,
            "epoch": self.epoch,
            "workers": list(self.supervisor.workers),
            "removed": self.supervisor.unclaimed_results.generations.absent,
            "consents": consents,
        }

    def start(self) -> None:
        """Start to poll the others; a single supervisor is active at once."""
        if len(self._peers) < 2:
            self._tenure.confirm(math.inf)
            self._activate(next_epoch([self.seen]))
            self._settled.set()
        else:
            self._task = asyncio.ensure_future(self._poll_forever())

    async def stop(self) -> None:
        """Stop polling, and give up the active role."""
        self._releases = self._releases or self.active
        self._leads = False
        self._tenure.end()
        self._known.clear()
        if self._expiry is not None:
            self._expiry.cancel()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def release(self) -> None:
        """Tell the arbiter that this supervisor has ended, so that another one need not wait."""
        if self._releases and len(self._peers) > 1:
            await self._arbitration.release()

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
        self._served = True
        self._expected.discard(worker)
        if self.active and not self._expected:
            self._settled.set()

    async def _poll_forever(self) -> None:
        before = time.monotonic()
        while not self.supervisor.deposed:
            polled = False
            try:
                await self._poll(time.monotonic() - before)
                before, polled = time.monotonic(), True
            except Exception:
                logger.exception("error while polling the other supervisors")
            try:
                if not await self._keeps():  # also if the answer of another one is an error
                    await self.supervisor.step_down()
                    return
                if polled:
                    mine = self._mine_now()
                    await self._act(decide(mine, self._rank, self._others, self.patience))
            except Exception:
                logger.exception("error after polling the other supervisors")
            await asyncio.sleep(self.interval)

    async def _act(self, decision: TakeoverAction) -> None:
        if decision is TakeoverAction.STEP_DOWN:
            await self.supervisor.step_down()
        elif decision is TakeoverAction.TAKE_OVER:
            epoch = await self._permitted()
            if epoch is not None:
                self._take_over(epoch)
                await self._fence(self._workers)
        elif decision is TakeoverAction.STAY and self.seen > self.epoch and self._alone:
            if self._served and not self._hears_workers():
                await self.supervisor.step_down("another supervisor was active since, and is lost")
            else:
                # All supervisors were restarted, and workers know an earlier epoch.
                self.epoch = next_epoch([self.seen])

    def _hears_workers(self) -> bool:
        """Return whether a worker has sent a heartbeat lately."""
        since = time.time() - self.patience
        return any(ws.last_seen > since for ws in self.supervisor.workers.values())

    @property
    def _others(self) -> list[OtherSupervisor]:
        return [peer for endpoint, peer in self._peers.items() if endpoint != self._mine]

    @property
    def _alone(self) -> bool:
        """Whether all others are known not to be active."""
        return all(
            peer.refused or (peer.role is not None and not peer.role.active)
            for peer in self._others
        )

    @property
    def _rank(self) -> int:
        return len(self._peers) if self._mine is None else self._peers[self._mine].rank

    def _mine_now(self) -> SupervisorRole:
        supervisor = self.supervisor
        return SupervisorRole(
            supervisor.id,
            supervisor.address,
            self.active,
            self.epoch,
            ours=True,
            workers=tuple(supervisor.workers),
        )

    async def _poll(self, passed: float) -> None:
        """Query all the others at once, ``passed`` seconds after the last poll."""
        endpoints = [endpoint for endpoint in self._peers if endpoint != self._mine]
        await asyncio.gather(*(self._ask(one, self._peers[one], passed) for one in endpoints))
        roles = {one: self._peers[one].role for one in endpoints}
        active = {one: role for one, role in roles.items() if role is not None and role.active}
        if active and not self.active:
            self._leading = max(active, key=lambda one: active[one].epoch)
            first = active[self._leading]
            self.leader, self._workers = first.address, first.workers
            self._previous = WorkerHistory(first.id, first.epoch, frozenset(first.removed))
        if self._leads and self._tenure.limited:
            self._tenure.consent(peer.consented for peer in self._others)
            self._watch()
        if active or self.active:
            self._known.set()
        else:
            self._known.clear()
        self.seen = max([self.seen, *(role.epoch for role in active.values())])

    async def _ask(self, endpoint: str, peer: OtherSupervisor, passed: float) -> None:
        address = with_scheme(endpoint, self.supervisor.security)
        began, moment = time.monotonic(), self._tenure.clock()
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
        if peer.role.consents:
            peer.consented = moment

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
            answer = await self._role_of(peer)
        return SupervisorRole(
            answer["id"],
            address,
            answer["active"],
            answer["epoch"],
            ours=True,
            workers=tuple(answer["workers"]),
            removed=tuple(answer.get("removed", ())),
            consents=answer.get("consents", False),
        )

    async def _role_of(self, peer: Any) -> dict[str, Any]:
        answer: dict[str, Any]
        if self._tenure.limited and self.active:
            with contextlib.suppress(TypeError):  # an older supervisor cannot promise
                answer = await peer.mars_role(epoch=self.epoch, active=True)
                return answer
        answer = await peer.mars_role(epoch=self.epoch)
        return answer

    async def _is_lost(self) -> bool:
        """Return whether the active supervisor is lost, by its address and by its workers."""
        self._expected = set(self._workers)
        votes = await asyncio.gather(*(self._witness(worker) for worker in self._workers))
        verdict = is_lost(votes, ended=self._leader_ended)
        if not verdict:
            logger.warning(
                "%d of the %d workers of the active supervisor are connected to it, %d do not hear "
                "it, %d do not answer: remaining a standby",
                votes.count(Vote.SERVED),
                len(votes),
                votes.count(Vote.SILENT),
                votes.count(Vote.UNKNOWN),
            )
        return verdict

    @property
    def _leader_ended(self) -> bool:
        """Whether the active supervisor has certainly ended, or there has been none."""
        peer = self._peers.get(self._leading or "")
        return peer is None or peer.refused or peer.role is not None

    async def _witness(self, worker: str) -> Vote:
        arguments = self.supervisor.security.get_connection_args("scheduler")
        try:
            async with (
                asyncio.timeout(self.patience / 5),
                rpc(worker, connection_args=arguments) as peer,
            ):
                await probe(worker)
                answer: dict[str, Any] = await peer.mars_witness()
            self.seen = max(self.seen, checked(answer["epoch"]))
        except (ConnectionRefusedError, AttributeError):
            # It has ended, or is a stock worker, which will end.
            self._expected.discard(worker)
            return Vote.ENDED
        except (OSError, ValueError):  # it may be slow, or not tell the truth
            return Vote.UNKNOWN
        recent = answer["served"] and answer["silence"] < self.patience
        return Vote.SERVED if recent else Vote.SILENT

    async def _permitted(self) -> int | None:
        """Return the epoch in which this supervisor may become active, ``None`` if it may not."""
        if self._arbitration.arbiter is None:
            if not await self._is_lost():
                return None
            self._tenure.confirm(math.inf)
            return next_epoch([self.seen])
        self._expected = set(self._workers)
        has_ended = self._leading is not None and self._leader_ended
        ended = self._previous.supervisor if has_ended else None
        return await self._arbitration.take(next_epoch([self.seen]), ended=ended)

    async def _keeps(self) -> bool:
        """Return whether the arbiter leaves this supervisor active; also if it does not answer."""
        if not self._leads:
            return True
        active = await self._arbitration.keeps(self.epoch)
        self._watch()
        return active

    def _watch(self) -> None:
        """Step down when the tenure ends."""
        if self._expiry is not None:
            self._expiry.cancel()
        if self._leads and self._tenure.limited:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(max(0.0, self._tenure.left), self._expire)

    def _expire(self) -> None:
        if self.active:
            self._watch()
        elif self._leads:
            why = "neither the arbiter nor all other supervisors have let it continue"
            self._expired = asyncio.ensure_future(self.supervisor.step_down(why))

    async def _fence(self, workers: Sequence[str]) -> None:
        """Tell workers the new epoch, so that they obey no earlier supervisor."""
        arguments = self.supervisor.security.get_connection_args("scheduler")

        async def tell(worker: str) -> None:
            with contextlib.suppress(OSError, AttributeError):
                async with (
                    asyncio.timeout(self.patience / 5),
                    rpc(worker, connection_args=arguments) as peer,
                ):
                    await probe(worker)
                    await peer.mars_fence(epoch=self.epoch)

        await asyncio.gather(*map(tell, workers))

    def recent(self) -> bool:
        """Return whether it has just become active, so that workers bring earlier results."""
        return self.active and time.monotonic() < self._recent_until

    def settling(self) -> bool:
        """Return whether workers that join now were left by an earlier supervisor.

        One that was restarted has heard of none, nor of its workers.
        """
        alone = self._task is None or self._leading is None
        return self.recent() if alone else not self._settled.is_set()

    def _activate(self, epoch: int) -> None:
        self.epoch = epoch
        self._recent_until = time.monotonic() + retention()
        self._leads, self.leader = True, self.supervisor.address
        self._announce()
        self._known.set()
        self._watch()

    def _announce(self) -> None:
        """Tell plugins; it is no event, as programs expect none of a scheduler that starts."""
        for name, plugin in list(self.supervisor.plugins.items()):
            try:
                plugin.log_event("supervisor", {"action": "activated", "epoch": self.epoch})
            except Exception:
                logger.exception("error in the plugin %s", name)

    def _take_over(self, epoch: int) -> None:
        self.supervisor.unclaimed_results.generations.succeed(self._previous)
        self._activate(epoch)
        logger.info("the supervisor at %s is active", self.supervisor.address)
        if not self._expected:
            self._settled.set()
        else:
            asyncio.get_running_loop().call_later(_SETTLING, self._settled.set)
