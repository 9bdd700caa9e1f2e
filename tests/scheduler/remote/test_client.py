"""A session's side of a supervisor."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from marsdask.scheduler.cluster.join import JoinToken
from marsdask.scheduler.errors import InvalidAddress
from marsdask.scheduler.remote import client
from marsdask.scheduler.remote.client import SupervisorScheduler, comm_address
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


def interrupt(*args, **options):
    raise KeyboardInterrupt


def test_an_interrupted_close_ends_the_local_cluster(monkeypatch):
    """A second ``close`` has nothing left to do."""
    with beside({}) as cluster:
        scheduler = SupervisorScheduler(cluster.scheduler_address)
        local: Any = Mock()
        scheduler._local = local
        with monkeypatch.context() as patched:
            patched.setattr(scheduler.client, "close", interrupt)
            with pytest.raises(KeyboardInterrupt):
                scheduler.close()
        local.close.assert_called_once_with()
        scheduler.client.close()


def test_an_interrupted_start_ends_the_local_cluster(monkeypatch):
    """Nobody else has the scheduler, so nobody else could close it."""
    ended: list[SupervisorScheduler] = []

    def end(scheduler):
        ended.append(scheduler)

    monkeypatch.setattr(client, "identity", interrupt)
    monkeypatch.setattr(SupervisorScheduler, "_end_local", end)
    with beside({}) as cluster, pytest.raises(KeyboardInterrupt):
        SupervisorScheduler(cluster.scheduler_address)
    (scheduler,) = ended
    assert scheduler.client.status == "closed"


@pytest.mark.parametrize(
    ("address", "comm"),
    [
        ("http://host:7005", "ws://host:7005"),
        ("https://host:7005/", "wss://host:7005"),
        ("http://proxy/team/mars/", "ws://proxy/team/mars/"),
        ("http://proxy/team/mars", "ws://proxy/team/mars"),
        ("tcp://host:8786", "tcp://host:8786"),
    ],
)
def test_the_address_below_a_proxy(address, comm):
    """Its path is kept as it is given, with or without a slash at the end."""
    assert comm_address(address) == comm


def test_addresses_of_no_web_service():
    """The error says which part is wrong, and at once."""
    with beside({}) as cluster:
        port = cluster.scheduler_address.rpartition(":")[2]
        with pytest.raises(InvalidAddress, match=r"does not speak HTTP\. Give the web port"):
            SupervisorScheduler(f"http://127.0.0.1:{port}")
    with pytest.raises(InvalidAddress, match="the name does not resolve"):
        SupervisorScheduler("http://no-such-host.invalid:7005")


def test_a_join_token_stays_here():
    """It proves that the port uses TLS: it is sent to no other one."""
    token = str(JoinToken("secret", "0" * 64, 7001))
    with pytest.raises(ValueError, match="give https://"):
        SupervisorScheduler("http://127.0.0.1:1", token=token)
