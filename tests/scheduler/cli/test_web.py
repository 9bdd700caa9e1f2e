"""``mars-web`` and the supervisor that it finds."""

import asyncio
import ssl
from types import SimpleNamespace
from typing import Any, cast

import dask.config
import pytest
from distributed import Security

from marsdask.scheduler.cli import discovery, find_supervisor, web
from marsdask.scheduler.cli.serve import MISUSED, serve
from marsdask.scheduler.cli.sizes import ConfigError
from marsdask.scheduler.cli.web import WebService
from marsdask.scheduler.cluster.authority import Authority
from marsdask.scheduler.cluster.leader import with_scheme
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.web.authentication import Token


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


@pytest.fixture(scope="module")
def authority():
    return Authority.new()


def of_roles(authority, *roles):
    """Return certificates in memory, as options of one who has them for some roles only."""
    options: dict[str, Any] = {"tls_ca_file": authority.certificate.decode()}
    for role in roles:
        certificate, key = (part.decode() for part in authority.issue(role))
        options |= {f"tls_{role}_cert": certificate, f"tls_{role}_key": key}
    return Security(require_encryption=True, **options)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_it_opens_no_closed_cluster(authority, host):
    """With a certificate it would let in everybody who has none, on this host too."""

    def made(*roles, token=None):
        security = of_roles(authority, *roles) if roles else Security()
        given: Any = SimpleNamespace(security=security, token=token, join=None)
        relay = service(settings=SimpleNamespace(**vars(given), host=host))._relay()
        return relay._server.ssl_options

    for words in ("--web-token-file", "--tls-ca-file, --tls-cert and --tls-key"):
        with pytest.raises(ConfigError, match=words):
            made("client")
    token = Token("hush-hush-hush-hush")
    assert made("client", token=token) is None, "a token closes it"
    assert made("client", "scheduler").verify_mode is ssl.CERT_REQUIRED
    assert made("client", "scheduler", token=token).verify_mode is ssl.CERT_NONE
    assert made() is None, "everybody reaches such supervisors anyway"


def test_the_command_ends(authority, tmp_path, monkeypatch, capsys):
    """In one line, before it listens; nothing of what the supervisors have passes through it."""
    certificate, key = authority.issue("client")
    files = {"ca-file": authority.certificate, "client.cert": certificate, "client.key": key}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.delenv("MARS_WEB_TOKEN", raising=False)
    config = {f"distributed.comm.tls.{name}": str(tmp_path / name) for name in files}
    with dask.config.set(config):
        security = Security()
    settings = SimpleNamespace(security=security, token=None, join=None, host="127.0.0.1")
    settings.tell_spare_ports = lambda processes: None
    assert serve("mars-web", lambda: WebService(cast(Any, settings))) == MISUSED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mars-web: error: ")
    assert "--web-token-file" in line
