"""A session's side of a supervisor."""

from __future__ import annotations

import pytest
from distributed import SpecCluster

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.supervisor.client import SupervisorScheduler
from marsdask.scheduler.supervisor.resuming import ResumingClient
from marsdask.scheduler.worker import MarsWorker

HERE = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}


class Unloadable:
    """A value that opens a file when it is unpickled."""

    def __reduce__(self):
        return open, ("/no/such/file",)


@pytest.mark.parametrize(("function", "argument"), [(open, "/no/such/file"), (Unloadable, None)])
def test_errors_that_are_no_lost_connection(function, argument, monkeypatch):
    """A task's own ``OSError``, or a value's, is raised without waiting for another supervisor."""

    async def resumed(self, generation):
        raise AssertionError("it waits")

    monkeypatch.setattr(ResumingClient, "resumed", resumed)
    workers = {0: {"cls": MarsWorker, "options": {"host": "127.0.0.1", "nthreads": 1}}}
    with SpecCluster(scheduler={"cls": Supervisor, "options": HERE}, workers=workers) as cluster:
        scheduler = SupervisorScheduler(cluster.scheduler_address)
        arguments = () if argument is None else (argument,)
        future = scheduler.client.submit(function, *arguments)
        future.exception(60)
        scheduler._held.add(future.key, future)
        with pytest.raises(FileNotFoundError):
            scheduler.gather([future.key])
        scheduler.close()
