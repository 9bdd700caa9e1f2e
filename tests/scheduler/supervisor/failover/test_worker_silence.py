"""Workers are restarted when they are silent, not when the supervisor did not listen."""

from __future__ import annotations

import dask.config
import pytest
from distributed import scheduler

from marsdask.scheduler.supervisor.failover import worker_silence
from tests.cluster.loop import run, supervised

TTL, LOOK = 300.0, 30.0

#: Such a worker sends no heartbeat by itself.
STILL = {"heartbeat_interval": "1h"}


class Clocks:
    """The time of day, and the one that is never set."""

    time, monotonic = 1e9, 0.0

    def advance(self, time, monotonic):
        """Let time pass."""
        self.time += time
        self.monotonic += monotonic


@pytest.fixture
def clocks(monkeypatch):
    """Return the clocks of the supervisor, which only tests advance."""
    now = Clocks()
    monkeypatch.setattr(scheduler, "time", lambda: now.time)
    monkeypatch.setattr(worker_silence, "time", lambda: now.time)
    monkeypatch.setattr(worker_silence, "monotonic", lambda: now.monotonic)
    return now


def watched(check):
    """Run ``check(look, quiet, loud)`` with two workers that send heartbeats when it says so.

    ``look`` returns the workers that the supervisor would restart.
    """

    async def main():
        with dask.config.set({"distributed.scheduler.worker-ttl": f"{TTL} s"}):
            async with supervised(STILL, STILL) as (server, _):
                restarted = []

                async def restart(workers, **options):
                    restarted.extend(workers)

                async def look():
                    restarted.clear()
                    await server.check_worker_ttl()
                    return list(restarted)

                server.periodic_callbacks["worker-ttl"].stop()
                server.restart_workers = restart
                await check(look, *server.test_workers)

    run(main)


JUMPS = {"frozen": (3600.0, 3600.0), "suspended": (3600.0, 0.0), "set-back": (-3600.0, 0.0)}


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("heard", [False, True], ids=["before", "since"])
def test_workers_that_could_not_be_heard_are_kept(clocks, jump, heard):
    """Their last heartbeat came before the last look, or since; and they are silent for no more."""

    async def check(look, *workers):
        assert not await look()
        if heard:
            clocks.advance(LOOK / 2, LOOK / 2)
            for worker in workers:
                await worker.heartbeat()
        clocks.advance(*JUMPS[jump])
        assert not await look(), "their heartbeats wait in the sockets"
        for _ in range(20):
            clocks.advance(LOOK, LOOK)
            for worker in workers:
                await worker.heartbeat()
            assert not await look()
        rounds = 0
        while not await look():
            clocks.advance(LOOK, LOOK)
            rounds += 1
        assert rounds == TTL // LOOK + 1

    watched(check)


@pytest.mark.parametrize("jump", [(0.0, 0.0), *JUMPS.values()], ids=["none", *JUMPS])
def test_a_silent_worker_is_restarted(clocks, jump):
    """After its time to live; a jump of the clock in between makes no more than two looks."""

    async def check(look, quiet, loud):
        await quiet.heartbeat()
        rounds, found = 0, await look()
        while not found:
            if rounds == 5:
                clocks.advance(*jump)
            clocks.advance(LOOK, LOOK)
            await loud.heartbeat()
            found = await look()
            rounds += 1
        assert found == [quiet.address]
        assert abs(rounds - (TTL // LOOK + 1)) <= 2

    watched(check)


@pytest.mark.parametrize("ttl", [None, "10 ms", "300 s"])
def test_how_often_it_looks(ttl):
    """Ten times in a time to live, which is 5 seconds at least; never if there is none."""

    async def main():
        with dask.config.set({"distributed.scheduler.worker-ttl": ttl}):
            async with supervised() as (server, _):
                found = server.periodic_callbacks.get("worker-ttl")
                assert (found and found.callback_time) == {
                    None: None,
                    "10 ms": 500.0,
                    "300 s": 30_000.0,
                }[ttl]

    run(main)
