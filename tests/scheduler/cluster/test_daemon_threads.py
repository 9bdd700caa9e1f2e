"""Calls in threads that nothing waits for."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from marsdask.scheduler.cluster.daemon_threads import call


def test_values_and_errors_come_back():
    """Those of the function, whatever kind of error it is."""

    async def main():
        assert await call(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await call(divmod, 7, 0)
        with pytest.raises(SystemExit):
            await call(sys.exit, 3)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await call(next, iter([]))

    asyncio.run(main())


def test_a_call_that_ends_after_its_loop():
    """Nobody is told, and nothing is raised in the thread."""
    go, threads = threading.Event(), []

    def hang():
        threads.append(threading.current_thread())
        go.wait(60)

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await call(hang)

    asyncio.run(main())
    go.set()
    threads[0].join(60)
    assert not threads[0].is_alive()
