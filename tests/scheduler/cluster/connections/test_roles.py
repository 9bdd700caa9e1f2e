"""The roles of peers: others are refused before anything is sent to them or read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import ssl
from pathlib import Path
from typing import Any, Self

import pytest
from distributed.comm import connect, listen
from distributed.comm.core import BaseListener
from distributed.core import rpc

from marsdask.scheduler.cluster import join
from marsdask.scheduler.cluster.authority import Authority
from marsdask.scheduler.cluster.connections.roles import WrongRole, supervisors_only
from marsdask.scheduler.cluster.leader import identify
from marsdask.scheduler.web.authentication import Token
from marsdask.scheduler.web.relay import Relay
from marsdask.scheduler.web.web_client import web_security
from tests.cluster.loop import HOST, run


@pytest.fixture(scope="module")
def authority():
    return Authority.new()


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def arguments(authority, role="client"):
    """Return what a process of this role connects with."""
    return authority.security().get_connection_args(role)


@contextlib.asynccontextmanager
async def serving(authority, role, monkeypatch, path):
    """Listen with the certificate of a role; the greeting of each connection is a pickle."""
    greeting = BaseListener.on_connection

    async def greet(self: Any, comm: Any, overrides: Any = None) -> None:
        comm.handshake_info = lambda: {"evil": Evil(path)}
        await greeting(self, comm, overrides)

    async def accept(comm):
        await comm.read()

    monkeypatch.setattr(BaseListener, "on_connection", greet)
    options = authority.security().get_listen_args("scheduler")
    certificate, key = authority.issue(role)
    files = Path(path).parent / "certificate"
    files.write_bytes(certificate + key)
    options["ssl_context"].load_cert_chain(files)
    async with listen(f"tls://{HOST}:0", accept, **options) as at:
        yield at.contact_address


async def by_connect(address, authority):
    """Connect as a client does to its supervisor."""
    with supervisors_only():
        await connect(address, timeout=5, **arguments(authority))


async def by_identify(address, authority):
    """Ask for the identity."""
    await identify(address, arguments(authority))


async def by_rpc(address, authority):
    """Call a server, supervisor or worker."""
    async with rpc(address, connection_args=arguments(authority), timeout=5) as peer:
        try:
            await peer.identity()
        except WrongRole as error:  # distributed has put another message before
            raise error.__cause__ or error from None


@pytest.mark.parametrize(
    ("ask", "role"),
    [
        (by_connect, "worker"),
        (by_connect, "web"),
        (by_identify, "worker"),
        (by_identify, "client"),
        (by_rpc, "client"),
        (by_rpc, "web"),
    ],
)
def test_nothing_is_unpickled(authority, monkeypatch, tmp_path, ask, role):
    """What distributed reads first is read only from those who may send it."""
    path = str(tmp_path / "executed")

    async def check():
        async with serving(authority, role, monkeypatch, path) as address:
            with pytest.raises(WrongRole, match=f"is for a {role}, not for a scheduler"):
                await ask(address, authority)

    run(check)
    assert not os.path.exists(path)
    pickle.loads(pickle.dumps(Evil(path)))
    assert os.path.exists(path)


class HttpsPort:
    """An HTTPS server that shows the certificate of a role, and keeps what it gets."""

    def __init__(self, authority: Authority, role: str, tmp_path: Path) -> None:
        self.got = b""
        certificate, key = authority.issue(role)
        files = tmp_path / "certificate"
        files.write_bytes(certificate + key)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(files)
        self._authority = authority

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, HOST, 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *caught: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            got = await reader.readuntil(b"\r\n\r\n")
            if b"/ca.pem" in got:
                body = self._authority.certificate
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()
            else:
                self.got += got
        writer.close()


def session(place, token):
    """Ask as ``new_session`` does."""
    web_security(f"https://{place}", Token(str(token)))


def worker(place, token):
    """Ask as ``mars-worker --join`` does."""
    join.join(place, token)


@pytest.mark.parametrize("role", ["worker", "client", "web"])
@pytest.mark.parametrize("ask", [session, worker])
def test_no_token_is_sent(authority, tmp_path, ask, role):
    """Whoever has stolen the key of a worker does not get the token of the cluster."""

    async def check():
        async with HttpsPort(authority, role, tmp_path) as port:
            token = join.JoinToken("hush-hush-hush-hush", authority.fingerprint, port.port)
            asking = asyncio.to_thread(ask, f"{HOST}:{port.port}", token)
            if role == "web":
                with contextlib.suppress(OSError):
                    await asking
                assert b"hush" in port.got
            else:
                with pytest.raises(PermissionError, match=f"for a {role}, not for a scheduler"):
                    await asking
                assert port.got == b""

    run(check)


def test_mars_web_sends_no_token(authority, tmp_path):
    """It relays to supervisors only."""

    async def check():
        async with HttpsPort(authority, "worker", tmp_path) as port:

            async def find():
                return f"tls://{HOST}:1", {"services": {"dashboard": port.port}}

            token = Token("hush-hush-hush-hush")
            relay = Relay(find, arguments(authority), token=token)
            relay.listen(HOST, 0)
            reader, writer = await asyncio.open_connection(HOST, relay.port)
            shown = f"Host: {HOST}\r\nAuthorization: {token.header}\r\n\r\n"
            writer.write(b"GET /api HTTP/1.1\r\n" + shown.encode())
            answer = await reader.readuntil(b"\r\n")
            writer.close()
            await relay.close()
            assert b" 502 " in answer
            assert port.got == b""

    run(check)
