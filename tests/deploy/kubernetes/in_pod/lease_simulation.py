"""Supervisors without a network, on an event loop whose time is computed, and their Lease."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import random
import selectors
from contextvars import ContextVar
from types import SimpleNamespace
from unittest import mock

from marsdask.deploy.kubernetes.client import AlreadyExists
from marsdask.deploy.kubernetes.in_pod.account import PodAccount
from marsdask.deploy.kubernetes.in_pod.lease import LeaseArbiter
from marsdask.scheduler.cluster import leader
from marsdask.scheduler.cluster.leader import SupervisorRole
from marsdask.scheduler.supervisor.failover import arbitration, epoch, standby
from tests.deploy.kubernetes.store import merged

#: The process that runs a task.
HERE: ContextVar[Process] = ContextVar("here")

_ASYNCIO = {name: getattr(asyncio, name) for name in dir(asyncio) if not name.startswith("__")}


class SimulatedArbiter(LeaseArbiter):
    """An arbiter whose questions are sent by the simulation."""

    def _ask(self, questions):
        return questions


class Process:
    """A supervisor's process, which may be frozen, and end."""

    def __init__(self, world, name, arbiter=None):
        self.world, self.name, self.address = world, name, f"tcp://{name}:1"
        self.id = f"{name}-{world.dice.random()}"
        self.workers, self.deposed, self.ended = {}, False, False
        self.security = SimpleNamespace(tls_ca_file=None, get_connection_args=lambda role: self)
        generations = SimpleNamespace(absent=[], succeed=lambda previous: None)
        self.unclaimed_results = SimpleNamespace(generations=generations)
        patience = leader.timeout()
        self.arbiter = arbiter or SimulatedArbiter(
            PodAccount("n", "", name), "x", patience, self.clock
        )
        self.arbiter.lasts = world.lasts or self.arbiter.lasts
        self.lock = asyncio.Lock()
        self.failover = standby.Failover(self, ["a:1", "b:1"], self.arbiter)
        self.failover._tenure.clock = self.clock

    def clock(self):
        """Return this host's time, which runs at its own speed."""
        return 1000.0 + self.world.loop.time() * self.world.speeds[self.name]

    def start(self):
        self.world.processes[self.name] = self
        HERE.set(self)
        self.failover.start()

    def log_event(self, topic, msg):
        """Nobody reads it."""

    async def step_down(self, why=""):
        if not self.deposed:
            self.deposed = True
            await self.failover.stop()
            await self.failover.release()
            Process(self.world, self.name, self.arbiter).start()

    async def thaw(self):
        """Wait while the process is frozen."""
        await asyncio.sleep(self.world.lasting(f"freeze {self.name}"))


class World:
    """Two processes, the Lease, and what is broken for which time: (begin, end, what).

    ``eager``: a standby wants to take over at any time, so that the Lease alone prevents it.
    ``lasts`` is for how long holders rely on the Lease.
    """

    def __init__(self, faults, speeds, seed, eager=False, lasts=None):
        self.eager, self.lasts = eager, lasts
        self.faults, self.dice = list(faults), random.Random(seed)
        self.speeds = dict(zip("ab", speeds, strict=True))
        self.lease, self.version = {"metadata": {"resourceVersion": "0"}}, 0
        self.processes, self.epochs, self.errors = {}, [], []

    def now(self):
        return self.loop.time()

    def lasting(self, *names):
        """Return for how long one of these faults lasts."""
        now = self.now()
        ends = [end for begin, end, name in self.faults if begin <= now < end and name in names]
        return max(ends, default=now) - now

    def check(self):
        """Note if two are active at this moment, or if epochs do not grow."""
        active = [one for one in self.processes.values() if one.failover.active and not one.ended]
        if len(active) > 1:
            self.errors.append(f"at {self.now()} {[one.id for one in active]} are active")
        for one in active:
            if (one.id, one.failover.epoch) not in self.epochs:
                if any(one.failover.epoch <= epoch for _, epoch in self.epochs):
                    self.errors.append(f"at {self.now()} {one.id} has an earlier epoch")
                self.epochs.append((one.id, one.failover.epoch))

    def delay(self):
        slow = self.lasting("slow")
        return self.dice.random() * (self.dice.choice((0.1, 9.0)) if slow else 0.1)

    async def call(self, question, name):
        """Answer questions to Kubernetes; who asks may give up meanwhile."""
        return await asyncio.shield(asyncio.ensure_future(self.answers(HERE.get(), question())))

    async def answers(self, process, questions):
        async with process.lock:
            send, value = questions.send, None
            while True:
                try:
                    change = send(value)
                except StopIteration as end:
                    return end.value
                try:
                    send, value = questions.send, await self.answer(process, copy.deepcopy(change))
                except AlreadyExists as error:
                    send, value = questions.throw, error

    async def answer(self, process, change):
        """Send a request, which may arrive although nobody waits for it any more."""
        sent = asyncio.ensure_future(self.arrival(process.name, change))
        sent.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            async with asyncio.timeout(process.arbiter.lasts / 4):
                return await asyncio.shield(sent)
        finally:
            await process.thaw()

    async def arrival(self, name, change):
        await asyncio.sleep(self.delay())
        if self.lasting("api", f"api {name}", f"cut {name}"):
            raise ConnectionRefusedError
        if change is not None:
            known = change["metadata"]["resourceVersion"]
            if known not in (None, self.lease["metadata"]["resourceVersion"]):
                raise AlreadyExists("conflict")
            self.version += 1
            change["metadata"]["resourceVersion"] = str(self.version)
            self.lease = merged(self.lease, change)
        found = copy.deepcopy(self.lease)
        await asyncio.sleep(self.delay())
        if self.lasting(f"answers {name}"):
            await asyncio.sleep(99)
        return found

    def decide(self, mine, rank, peers, patience):
        if self.eager and not mine.active:
            return epoch.TakeoverAction.TAKE_OVER
        return epoch.decide(mine, rank, peers, patience)

    async def query_role(self, address, caller, patience):
        return SupervisorRole("", address, ours=True)

    @contextlib.asynccontextmanager
    async def rpc(self, address, connection_args):
        """Connect two processes."""
        caller, name = connection_args, address.removeprefix("tcp://").removesuffix(":1")

        async def mars_role(**options):
            await asyncio.sleep(self.delay())
            if self.lasting("net", f"to {name}", "cut a", "cut b"):
                await asyncio.sleep(99)
            peer = self.processes[name]
            if peer.ended:
                raise ConnectionRefusedError
            await peer.thaw()
            found = peer.failover.role(**options)
            await asyncio.sleep(self.delay())
            await caller.thaw()
            return found

        yield SimpleNamespace(mars_role=mars_role)

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)
        await HERE.get().thaw()

    async def crashes(self):
        """End processes, which start again with the fault's end, and know nothing."""
        for begin, end, what in sorted(self.faults):
            if what.startswith("crash"):
                await asyncio.sleep(max(0, begin - self.loop.time()))
                old = self.processes[what[-1]]
                old.ended = True
                await old.failover.stop()
                await asyncio.sleep(max(0, end - self.loop.time()))
                Process(self, old.name).start()

    async def main(self, seconds, quiet):
        for name in "ab":
            Process(self, name).start()
        crashing = asyncio.ensure_future(self.crashes())
        await asyncio.sleep(seconds)
        await crashing
        await asyncio.sleep(quiet)
        found = [one.id for one in self.processes.values() if one.failover.active]
        for one in self.processes.values():
            await one.failover.stop()
        return found

    async def _end(self):
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def run(self, seconds, quiet=60):
        """Return who is active in the end, after a time without faults."""
        self.loop = asyncio.SelectorEventLoop(_Selector(self))
        ours = SimpleNamespace(**{**_ASYNCIO, "sleep": self.sleep})
        change = mock.patch.object
        with contextlib.ExitStack() as stack, contextlib.closing(self.loop):
            for patch in (
                change(standby, "asyncio", ours),
                change(standby, "time", SimpleNamespace(monotonic=self.now)),
                change(standby, "decide", self.decide),
                change(standby, "rpc", self.rpc),
                change(standby, "query_role", self.query_role),
                change(arbitration, "daemon_threads", SimpleNamespace(call=self.call)),
            ):
                stack.enter_context(patch)
            try:
                found = self.loop.run_until_complete(self.main(seconds, quiet))
            finally:
                self.loop.run_until_complete(self._end())
            assert not self.errors, self.errors[0]
            return found


class _Selector(selectors.DefaultSelector):
    """Moves the time instead of waiting."""

    def __init__(self, world):
        super().__init__()
        self._world, self._now = world, 0.0

    def select(self, timeout=None):
        world = self._world
        world.loop.time = lambda: self._now
        world.check()
        self._now += timeout or 0.0
        return super().select(0)
