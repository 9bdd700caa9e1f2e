"""Timers go on at once after the clock was set back: its hour is a number in these tests."""

import asyncio
import time
from functools import partial
from typing import Any

import distributed.batched
import pytest
from distributed.batched import BatchedSend
from tornado.ioloop import PeriodicCallback

from marsdask.scheduler import clock
from marsdask.scheduler.clock import ClockWatch
from tests.cluster.loop import run

HOUR = 3600.0


class HostClock:
    """The clock of this host, and the seconds that it is ahead."""

    ahead = 0.0
    _real = staticmethod(time.time)

    def __call__(self):
        return self._real() + self.ahead


@pytest.fixture
def host(monkeypatch):
    """Replace the clock of this host by one that is an hour ahead."""
    found = HostClock()
    found.ahead = HOUR
    monkeypatch.setattr(time, "time", found)
    monkeypatch.setattr(distributed.batched, "time", found)
    return found


class RecordingComm:
    """A connection that keeps messages; ``written`` is called with each batch of them."""

    def __init__(self, written):
        self.written = written

    def closed(self):
        return False

    async def write(self, messages, **options):
        self.written(messages)
        return 1

    async def close(self):
        pass

    def abort(self):
        pass


def started(*names, calls, streams=tuple):
    """Return callbacks that note their names in a queue, and a watch that does not look itself."""
    callbacks = {name: PeriodicCallback(partial(calls.put_nowait, name), 1) for name in names}
    for one in callbacks.values():
        one.start()
    watch = ClockWatch(callbacks, streams)
    watch.start()
    watch.stop()
    return callbacks, watch


def drain(queue):
    """Forget what is in a queue."""
    while not queue.empty():
        queue.get_nowait()


def test_periodic_callbacks_are_called_again(host):
    """Of those that run; one that was stopped stays so."""

    async def main():
        calls: asyncio.Queue[str] = asyncio.Queue()
        callbacks, watch = started("beat", "stopped", calls=calls)
        callbacks["stopped"].stop()
        await calls.get()
        host.ahead = 0.0
        drain(calls)
        await calls.get()  # it was due, and is due again in an hour
        watch.look()
        assert [await calls.get() for _ in range(3)] == ["beat"] * 3
        assert not callbacks["stopped"].is_running()
        callbacks["beat"].stop()

    run(main)


def test_one_that_runs_meanwhile_is_not_started_twice(host):
    """Its end schedules nothing more, as another one has taken its place."""

    async def main():
        begun, go, count = asyncio.Event(), asyncio.Event(), 0

        async def slow():
            nonlocal count
            count += 1
            begun.set()
            await go.wait()

        callbacks = {"slow": PeriodicCallback(slow, 1)}
        callbacks["slow"].start()
        watch = ClockWatch(callbacks)
        watch.start()
        await begun.wait()
        old, host.ahead = callbacks["slow"], 0.0
        watch.look()
        assert callbacks["slow"] is not old
        assert not old.is_running()
        callbacks["slow"].stop()
        go.set()
        await asyncio.sleep(0)
        assert count == 1
        watch.stop()

    run(main)


def test_streams_send_again(host):
    """A message that waits for the end of the interval, an hour away, is sent now."""

    async def main():
        sent: asyncio.Queue[str] = asyncio.Queue()

        def written(messages):
            host.ahead = 0.0  # right after the stream has set its next deadline
            for message in messages:
                sent.put_nowait(message)

        stream: Any = BatchedSend(interval="1ms")
        stream.start(RecordingComm(written))
        _, watch = started(calls=asyncio.Queue(), streams=lambda: [stream, None])
        stream.send("first")
        assert await sent.get() == "first"
        stream.send("second")
        assert stream.next_deadline > time.time() + HOUR / 2
        watch.look()
        assert await sent.get() == "second"
        await stream.close()

    run(main)


def test_the_watch_looks_by_itself(host, monkeypatch, caplog):
    """Until it is stopped, and while the clock is set forward or runs slow it does nothing."""
    monkeypatch.setattr(clock, "_PAUSE", 0.001)

    async def main():
        calls: asyncio.Queue[str] = asyncio.Queue()
        callbacks, watch = started("beat", calls=calls)
        watch.start()
        old = callbacks["beat"]
        for ahead in (2 * HOUR, 2 * HOUR - 0.9):
            host.ahead = ahead
            for _ in range(3):
                await calls.get()
        assert callbacks["beat"] is old
        assert not caplog.records
        host.ahead = 0.0
        drain(calls)
        for _ in range(3):  # the old one is due once, and then in an hour
            await calls.get()
        assert callbacks["beat"] is not old
        assert watch.is_running()
        watch.stop()
        assert not watch.is_running()
        callbacks["beat"].stop()

    run(main)
    (record,) = caplog.records
    assert "the clock was set back by 7199 s" in record.getMessage()
