"""The client's end of a job."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from marsdask.scheduler.base import Done
from marsdask.scheduler.remote.job import RemoteJob


class FakeScheduler:
    """Counts references as :class:`~marsdask.scheduler.dask.DaskScheduler` does."""

    client = None

    def __init__(self):
        self.references: Counter[Any] = Counter()
        self.running: set[RemoteJob] = set()
        self.held = None
        self.claimed: list[Any] = []

    def claim(self, job, keys):
        self.claimed.append(job)
        self.references.update(keys)
        if self.held is not None:
            self.held()

    def release(self, keys):
        self.references.subtract(keys)

    def forget(self, handle, hold):
        if handle not in self.running:
            return False
        self.running.discard(handle)
        if not hold:
            self.release(handle.keys)
        return True


def test_cancelled_as_it_ends():
    """Its results are released once, because others may hold them."""
    scheduler: Any = FakeScheduler()
    job = RemoteJob(scheduler, ())
    scheduler.running.add(job)
    scheduler.held = job.cancel
    outcome = pickle.dumps((Done({}, ("a", "b")), None, None, None))
    job._ended_there({"state": "done", "outcome": outcome})
    assert job.state == "cancelled"
    assert set(scheduler.references.values()) == {0}


def failed(error):
    """Return the news of a job that failed."""
    return {"state": "failed", "outcome": pickle.dumps((None, error, "a", None))}


@pytest.mark.parametrize(
    ("news", "state"),
    [
        (failed(ValueError()), "failed"),
        ({"state": "cancelled", "outcome": b""}, "cancelled"),
        ({"state": "done", "outcome": pickle.dumps((Done({}, ()), None, None, None))}, "done"),
    ],
)
def test_the_supervisor_is_told_that_the_end_is_known(news, state):
    """Until then it has to remember the job."""
    scheduler: Any = FakeScheduler()
    job = RemoteJob(scheduler, ())
    job.id = "j"
    scheduler.running.add(job)
    job._ended_there(news)
    assert job.state == state
    assert scheduler.claimed == ["j"]


@pytest.mark.parametrize("outcome", [b"", pickle.dumps((Done({}, ("a",)), None, None, None))])
def test_a_cancelled_job_is_claimed(outcome):
    """The supervisor may forget it, and the results that it had are released."""

    async def mars_cancel(job):
        return outcome

    async def main():
        scheduler: Any = FakeScheduler()
        job = RemoteJob(scheduler, ())
        job._client = SimpleNamespace(scheduler=SimpleNamespace(mars_cancel=mars_cancel))
        job.id = "j"
        await job._stop()
        assert scheduler.claimed == ["j"]
        assert not any(scheduler.references.values())

    asyncio.run(main())


def test_an_outcome_that_is_forgotten():
    """The error says what happened, and what to do."""
    scheduler: Any = FakeScheduler()
    job = RemoteJob(scheduler, ())
    scheduler.running.add(job)
    with pytest.raises(RuntimeError, match="execute it again"):
        job._ended_there({"state": "done", "outcome": b""})
