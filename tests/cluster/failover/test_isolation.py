"""A standby that is cut off takes nothing over; one that the workers need does."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from types import SimpleNamespace

import dask.config
import pytest
from distributed import Client

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.supervisor.failover import standby as standbys
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, run, side_by_side, until

#: A supervisor is taken for dead soon.
FAST = {"marsdask.failover.timeout": "0.5s"}


@asynccontextmanager
async def three():
    """Start an active supervisor with two workers and a client, and a standby that knows them."""
    active, standby = side_by_side()
    async with active:
        workers = [
            MarsWorker(active.address, host=HOST, nthreads=1, supervisors=active.supervisors)
            for _ in range(2)
        ]
        client = Client(active.address, asynchronous=True, set_as_default=False)
        async with workers[0], workers[1], client, standby:
            await polled(standby, "_poll")
            assert len(standby.failover._workers) == 2
            yield SimpleNamespace(active=active, standby=standby, workers=workers, client=client)


async def polled(supervisor, method, times=2):
    """Wait until the supervisor has done this some times from now on."""
    failover, done = supervisor.failover, asyncio.Semaphore(0)
    original = getattr(failover, method)

    async def noted(*args):
        result = await original(*args)
        done.release()
        return result

    setattr(failover, method, noted)
    for _ in range(times):
        await done.acquire()
    setattr(failover, method, original)


async def unreachable(*args, **options):
    """Answer as a network that is cut: not at all."""
    raise TimeoutError


def isolate(monkeypatch, cluster):
    """Cut the supervisors from each other."""
    for one in (cluster.active, cluster.standby):
        monkeypatch.setattr(one.failover, "_answer", unreachable)


def heal(monkeypatch, cluster):
    monkeypatch.undo()
    return polled(cluster.standby, "_poll")


def test_an_isolated_standby(monkeypatch):
    """It waits, however long nobody answers, and what clients have is there afterwards."""

    async def main():
        async with three() as cluster:
            (kept,) = await cluster.client.scatter([42])
            isolate(monkeypatch, cluster)
            monkeypatch.setattr(standbys, "probe", unreachable)
            await polled(cluster.standby, "_permitted")
            assert cluster.standby.standby
            await heal(monkeypatch, cluster)
            assert not cluster.active.deposed
            assert cluster.standby.failover.leader.endswith(cluster.active.supervisors[0])
            assert await cluster.client.gather(kept) == 42

    with dask.config.set(FAST):
        run(main)


def test_a_standby_that_was_isolated_from_the_start(monkeypatch):
    """It knows no workers, so it becomes active; with the network it yields to who has some."""

    async def main():
        active, standby = side_by_side()
        cluster = SimpleNamespace(active=active, standby=standby)
        async with (
            active,
            MarsWorker(active.address, host=HOST, nthreads=1, supervisors=active.supervisors),
        ):
            isolate(monkeypatch, cluster)
            async with standby:
                await standby.failover._known.wait()
                assert standby.failover.epoch > active.failover.epoch
                monkeypatch.undo()
                await standby.finished()
                assert standby.deposed
                assert not active.deposed

    with dask.config.set(FAST):
        run(main)


def test_workers_that_hear_nothing(monkeypatch):
    """They go over to the standby, and obey the other one no more, which steps down."""

    async def main():
        async with three() as cluster:
            isolate(monkeypatch, cluster)
            for worker in cluster.workers:
                told = {"served": True, "silence": 99.0, "epoch": worker.epoch}
                worker.handlers["mars_witness"] = lambda told=told: told
            standby = cluster.standby
            await until(lambda: len(standby.workers) == 2, standby)
            assert {worker.epoch for worker in cluster.workers} == {standby.failover.epoch}
            monkeypatch.undo()
            await cluster.active.finished()
            assert cluster.active.deposed

    with dask.config.set(FAST):
        run(main)


@pytest.mark.skipif(os.name == "nt", reason="files are locked on Unix only")
def test_an_arbiter_decides(monkeypatch, tmp_path):
    """Against the witnesses while the active one renews; who has lost the tenure steps down."""
    path = tmp_path / "active"

    async def main():
        async with three() as cluster:
            active, standby = cluster.active, cluster.standby
            assert json.loads(path.read_text())["holder"] == active.id
            isolate(monkeypatch, cluster)
            for worker in cluster.workers:
                told = {"served": False, "silence": 99.0, "epoch": worker.epoch}
                worker.handlers["mars_witness"] = lambda told=told: told
            await polled(standby, "_permitted")
            assert standby.standby
            monkeypatch.setattr(active.failover._arbitration.arbiter, "renew", lambda *args: True)
            await standby.failover._known.wait()
            assert json.loads(path.read_text())["holder"] == standby.id
            monkeypatch.undo()
            await active.finished()
            assert active.deposed

    with dask.config.set({**FAST, "marsdask.failover.arbiter": str(path)}):
        run(main)


@pytest.mark.skipif(os.name == "nt", reason="files are locked on Unix only")
def test_an_arbiter_is_told_who_has_ended(monkeypatch, tmp_path):
    """By its name: another one may have the tenure by now."""
    asked = []

    async def asks(epoch, *, ended):
        asked.append(ended)

    async def main():
        active, standby = side_by_side()
        async with active, standby:
            await polled(standby, "_poll")
            failover = standby.failover
            monkeypatch.setattr(failover._arbitration, "take", asks)
            leader = failover._peers[failover._leading]
            for refused in (False, True):
                leader.role, leader.refused = None, refused
                await failover._permitted()
            assert asked == [None, active.id]

    with dask.config.set({**FAST, "marsdask.failover.arbiter": str(tmp_path / "active")}):
        run(main)


#: An epoch after that of any supervisor that starts now.
HIGHER = 2**50


class FencedWorker(MarsWorker):
    """A worker that another supervisor fences while it registers with the first one."""

    fences = 1

    async def _introduction(self):
        found = await super()._introduction()
        if self.fences:
            self.fences -= 1
            self.fence(None, epoch=HIGHER)
        return found


def test_a_fence_during_a_registration():
    """The worker does not serve the supervisor of a lower epoch, which takes a higher one."""

    async def main():
        async with Supervisor(host=HOST, dashboard_address=f"{HOST}:0") as alone:
            worker = FencedWorker(alone.address, host=HOST, supervisors=[alone.address])
            async with worker:
                assert worker.fences == 0
                assert alone.failover.epoch == worker.epoch > HIGHER

    run(main)
