"""The number of workers follows the load: a simulator with a clock of its own."""

import asyncio
import logging
import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import dask.config
import pytest

from marsdask.scheduler.cluster import autoscale
from marsdask.scheduler.cluster.autoscale import AutoscaleLimits, AutoscalePolicy
from marsdask.scheduler.cluster.scaling import CannotScale
from tests.cluster.loop import run
from tests.scheduler.cluster.test_scaling import scaled

LIMITS = AutoscaleLimits(least=1, most=8, backlog=20, idle=40)


def simulate(load, seconds, limits=LIMITS, joining=5, asked=1, joined=None):
    """Return the changes, [(second, number)], for a load by second; workers join later."""
    policy = AutoscalePolicy(limits)
    joined = asked if joined is None else joined
    changes: list[tuple[int, int]] = []
    arriving: list[tuple[int, int]] = []
    for now in range(seconds):
        joined = next((number for when, number in arriving if when == now), joined)
        target = policy.decide(float(now), asked, joined, load(now))
        if target is not None:
            asked = target
            changes.append((now, target))
            arriving.append((now + joining, target))
    return changes


def test_a_backlog_starts_workers_and_idle_time_ends_them():
    """Each after its time, once, within the limits."""
    load = lambda now: 5 if 10 <= now < 200 else 0
    assert simulate(load, 400) == [(30, 5), (240, 1)]
    assert simulate(lambda now: 100, 100) == [(20, 8)]
    assert simulate(lambda now: 0, 100, asked=3) == [(40, 1)]


def test_short_peaks_and_lulls_change_nothing():
    """A load that alternates faster than the times never flaps."""
    assert simulate(lambda now: 8 if now % 30 < 15 else 0, 2000) == []
    assert simulate(lambda now: 0 if now % 60 < 30 else 4, 2000, asked=4) == []


def test_peaks_within_a_load_count_as_little_as_they_last():
    """More are started as were needed all the time; as many stay as were needed at any time."""
    assert simulate(lambda now: 3 if now < 15 else 8, 30) == [(20, 3)]
    assert simulate(lambda now: 3 if now < 5 else 1, 50, asked=4) == [(40, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_any_load_never_flaps(seed):
    """Changes are as far apart as the times ask for, and never leave the limits."""
    draw = random.Random(seed)
    level = 0
    loads = []
    for _ in range(3000):
        level = draw.randrange(12) if draw.random() < 0.02 else level
        loads.append(max(0, level + draw.randrange(-1, 2)))
    changes = simulate(loads.__getitem__, len(loads), joining=draw.randrange(1, 60))
    assert changes
    assert all(LIMITS.least <= number <= LIMITS.most for _, number in changes)
    for (before, old), (now, new) in pairwise(changes):
        assert now - before >= (LIMITS.backlog if new > old else LIMITS.idle)


def test_a_number_out_of_the_limits_is_mended_at_once():
    """For instance after the limits have changed."""
    assert simulate(lambda now: 4, 3, asked=20) == [(0, 8)]
    assert simulate(lambda now: 0, 3, AutoscaleLimits(2, 8), asked=0) == [(0, 2)]


def test_workers_that_start_are_waited_for():
    """For five minutes: neither are they ended, nor are others asked for."""
    assert simulate(lambda now: 0, 300, asked=4, joined=0) == []
    assert simulate(lambda now: 8, 300, asked=4, joined=2) == []
    assert simulate(lambda now: 8, 330, asked=4, joined=2) == [(320, 8)]


CONFIGURED: Any = {"enabled": True, "min-workers": 1, "max-workers": 4}


def test_the_configuration():
    """Mars's names, from a file or the environment; off unless it is enabled."""
    assert AutoscaleLimits.configured() is None
    with dask.config.set({"marsdask.autoscale": CONFIGURED | {"worker_idle_timeout": "1m"}}):
        assert AutoscaleLimits.configured() == AutoscaleLimits(1, 4, 20.0, 60.0)
    with (
        dask.config.set({"marsdask.autoscale": CONFIGURED | {"max-workers": -1}}),
        pytest.raises(ValueError, match="exceeds max-workers"),
    ):
        AutoscaleLimits.configured()


def test_a_supervisor_scales_itself(monkeypatch):
    """An idle one ends hosts by the same way as a person: what they hold is moved first."""
    monkeypatch.setattr(autoscale, "_ROUND", 0.01)

    async def main():
        settings = CONFIGURED | {"worker-idle-timeout": "1ms"}
        with dask.config.set({"marsdask.autoscale": settings}):
            async with scaled() as (server, client, _, scaler):
                sent = await client.scatter({"x": 1}, workers=[server.test_workers[2].address])
                await asyncio.wait_for(scaler.asked.wait(), 60)
                async with asyncio.timeout(60):
                    while not scaler.calls:  # noqa: ASYNC110 - the call has begun
                        await asyncio.sleep(0)
                assert scaler.calls == [1]
                assert await client.gather(sent) == {"x": 1}

    run(main)


def test_no_answer_of_the_scaler_is_told_once(caplog):
    """The number stays; the next answer counts."""

    class SilentScaler:
        async def count(self):
            raise CannotScale("no right")

    rescaling = SimpleNamespace(state="idle", scaler=SilentScaler())
    server = SimpleNamespace(failover=SimpleNamespace(active=True), rescaling=rescaling)
    watcher = autoscale.Autoscaler(server, LIMITS)

    async def main():
        await watcher.look()
        await watcher.look()

    with caplog.at_level(logging.WARNING, "marsdask"):
        run(main)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["cannot tell the number of workers: no right"]


@pytest.mark.parametrize(
    ("workers", "hosts", "queued", "wanted"),
    [(4, 2, 1, 3), (2, 2, 0, 5), (0, 0, 1, 1), (0, 0, 0, 0)],
)
def test_the_load_is_counted_in_hosts(workers, hosts, queued, wanted):
    """Dask counts worker processes; without any, what waits needs one host."""
    server = SimpleNamespace(
        workers=range(workers), unrunnable={}, queued=range(queued), adaptive_target=lambda: 5
    )
    assert autoscale.Autoscaler(server, LIMITS)._wanted(hosts) == wanted


def test_where_nothing_scales(caplog):
    """A supervisor whose workers somebody else starts says so."""
    server = SimpleNamespace(rescaling=SimpleNamespace(scaler=None))
    with (
        dask.config.set({"marsdask.autoscale": CONFIGURED}),
        caplog.at_level(logging.WARNING, "marsdask"),
    ):
        assert autoscale.start(server) is None
    assert "ignoring marsdask.autoscale" in caplog.text
