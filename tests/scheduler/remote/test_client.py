"""A session's side of a supervisor."""

from __future__ import annotations

import pytest

from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.remote.reconnect import ReconnectingClient
from tests.cluster.loop import beside


class Unloadable:
    """A value that opens a file when it is unpickled."""

    def __reduce__(self):
        return open, ("/no/such/file",)


@pytest.mark.parametrize(("function", "argument"), [(open, "/no/such/file"), (Unloadable, None)])
def test_errors_that_are_no_lost_connection(function, argument, monkeypatch):
    """A task's own ``OSError``, or a value's, is raised without waiting for another supervisor."""

    async def resumed(self, generation):
        raise AssertionError("it waits")

    monkeypatch.setattr(ReconnectingClient, "resumed", resumed)
    with beside({}) as cluster:
        scheduler = SupervisorScheduler(cluster.scheduler_address)
        arguments = () if argument is None else (argument,)
        future = scheduler.client.submit(function, *arguments)
        future.exception(60)
        scheduler._held.add(future.key, future)
        with pytest.raises(FileNotFoundError):
            scheduler.gather([future.key])
        scheduler.close()
