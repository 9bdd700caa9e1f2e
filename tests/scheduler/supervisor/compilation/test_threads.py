"""Slow calls in threads; ``test_jobs.py`` has those of jobs."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from marsdask.scheduler.supervisor.compilation.threads import CompileThreads


def test_calls_that_overlap_leave_the_switch_interval():
    """It is short while any of them runs, and as it was afterwards."""
    usual = sys.getswitchinterval()
    met, go = threading.Barrier(3), threading.Event()

    def call():
        met.wait(60)
        assert go.wait(60)
        return sys.getswitchinterval()

    async def main():
        threads = CompileThreads()
        calls = [asyncio.ensure_future(threads.call(name, call)) for name in "ab"]
        await asyncio.to_thread(met.wait, 60)
        go.set()
        assert max(await asyncio.gather(*calls)) < usual
        assert not threads._sessions, "a session without calls is forgotten"

    asyncio.run(main())
    assert sys.getswitchinterval() == usual


def test_a_call_that_is_given_up_lets_the_next_one_run():
    """Of the same session, though the thread has not ended."""
    go = threading.Event()

    async def main():
        threads = CompileThreads()
        first = asyncio.ensure_future(threads.call("a", go.wait, 60))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await threads.call("a", abs, -1) == 1

    asyncio.run(main())
    go.set()
