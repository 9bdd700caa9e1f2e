"""``mars-web`` and the supervisor that it finds."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Security

from marsdask.scheduler.cli import discovery, find_supervisor, web
from marsdask.scheduler.cli.sizes import ConfigError
from marsdask.scheduler.cli.web import WebService
from marsdask.scheduler.cluster.leader import with_scheme
from marsdask.scheduler.errors import NoSupervisor


def service(**options):
    """Return a service of which only what a test needs is there."""
    made: Any = object.__new__(WebService)
    made.settings = SimpleNamespace(
        supervisors=[], security=Security(), host="127.0.0.1", port=80, join=None
    )
    made._known = []
    vars(made).update(options)
    return made


def test_the_supervisor_of_this_host_has_ended(monkeypatch):
    """Visitors get the same error as for any supervisor that does not answer."""
    monkeypatch.setattr(discovery, "on_this_host", list)
    with pytest.raises(NoSupervisor, match="-s"):
        asyncio.run(service().find())


def test_the_one_that_was_found_is_not_left(monkeypatch):
    """While the supervisor runs, no other one is searched; after its end one is."""
    here, active = ["first:1"], {"tcp://first:1"}

    async def found(endpoints, *args, **options):
        for one in endpoints:
            if with_scheme(one, Security()) in active:
                return with_scheme(one, Security())
        raise NoSupervisor

    async def looked(address, *args):
        return {"id": address}

    monkeypatch.setattr(discovery, "on_this_host", lambda: list(here))
    monkeypatch.setattr(find_supervisor, "active_supervisor", found)
    monkeypatch.setattr(web, "identify", looked)

    async def main():
        shown = service()
        assert (await shown.find())[0] == "tcp://first:1"
        here.insert(0, "second:1")
        active.add("tcp://second:1")
        assert (await shown.find())[0] == "tcp://first:1"
        active.remove("tcp://first:1")
        with pytest.raises(NoSupervisor, match="first:1 does not answer"):
            await shown.find()
        here.remove("first:1")
        assert (await shown.find())[0] == "tcp://second:1"

    asyncio.run(main())


def test_a_taken_port(monkeypatch, caplog):
    """The command says which address it is and what to change, and which supervisor it shows."""

    async def found(*args, **options):
        return "tcp://here:1"

    def taken(host, port):
        raise OSError("in use")

    monkeypatch.setattr(discovery, "on_this_host", lambda: ["here:1"])
    monkeypatch.setattr(find_supervisor, "active_supervisor", found)
    caplog.set_level("INFO")
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:80 .*in use.*-p"):
        asyncio.run(service(relay=SimpleNamespace(listen=taken)).start())
    assert "tcp://here:1, which runs on this host" in caplog.text
