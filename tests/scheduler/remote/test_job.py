"""The client's end of a job."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

from marsdask.scheduler.base import Done
from marsdask.scheduler.remote.job import RemoteJob


class FakeScheduler:
    """Counts references as :class:`~marsdask.scheduler.dask.DaskScheduler` does."""

    client = None

    def __init__(self):
        self.references: Counter[Any] = Counter()
        self.running: set[RemoteJob] = set()
        self.held = None

    def claim(self, job, keys):
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
