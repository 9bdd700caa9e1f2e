"""The record of running tasks, as the nanny reads it."""

import os

import pytest

from marsdask.scheduler.worker.running_tasks import RunningTasks, RunningTasksRecord

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs memory files")


def test_what_runs():
    """It is there as long as it runs, whatever happens to the writer; before, it is unknown."""
    record = RunningTasksRecord.start()
    assert record is not None
    assert record.read() is None
    running = RunningTasks(record.path)
    assert record.read() == []
    running.begin(("x" * 10_000, 1))
    running.begin("y")
    running.end(("x" * 10_000, 1))
    assert record.read() == ["y"]
    running.disclaim()
    assert record.read() is None, "nor is it known if the writer says so"
    running.close()
    RunningTasks(record.path).close()
    assert record.read() == [], "the next process runs nothing yet"
    record.close()
