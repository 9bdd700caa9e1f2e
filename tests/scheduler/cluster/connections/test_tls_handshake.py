"""TLS with peers that go away before the handshake."""

import asyncio
import socket
import ssl

import pytest
from distributed.comm import connect, listen
from distributed.comm.core import CommClosedError
from distributed.comm.tcp import TLSConnector
from distributed.comm.ws import WSSConnector
from tornado import tcpclient
from tornado.iostream import IOStream

from marsdask.scheduler.cluster import leader  # noqa: F401
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.loop import HOST, run


@pytest.fixture(scope="module")
def security(tmp_path_factory):
    """Make certificates once."""
    return make(tmp_path_factory.mktemp("certificates")).security


@pytest.fixture
def going(monkeypatch):
    """Have the peers of so many connections go before the handshake."""
    start = tcpclient._Connector.start
    left: list[bool] = []

    async def started(self, *args, **options):
        if not left:
            return await start(self, *args, **options)
        left.pop()
        stream = IOStream(socket.socket())
        stream.close()
        return socket.AF_INET, (HOST, 0), stream

    monkeypatch.setattr(tcpclient._Connector, "start", started)
    return left


async def nothing(comm):
    """Serve a connection that only shakes hands."""


@needs_openssl
def test_it_is_tried_again(security, going):
    """As distributed does with any connection that breaks while it is made."""

    async def check():
        listener = await listen(f"tls://{HOST}", nothing, **security.get_listen_args("worker"))
        going.append(True)
        arguments = security.get_connection_args("worker")
        comm = await connect(listener.contact_address, **arguments)
        await comm.close()
        listener.stop()
        assert not going

    run(check)


@needs_openssl
@pytest.mark.parametrize(
    ("connector", "name"),
    [(TLSConnector, None), (TLSConnector, "localhost"), (WSSConnector, None)],
)
def test_a_closed_connection_is_what_it_is(security, going, connector, name):
    """A single attempt raises a connection error, so another worker is tried."""
    going.append(True)
    arguments = security.get_connection_args("worker") | {"server_hostname": name}
    with pytest.raises(CommClosedError, match="before the TLS handshake"):
        asyncio.run(connector().connect(f"{HOST}:1", **arguments))


def test_other_errors_stay_what_they_are():
    """An address that is none is not tried again and again."""
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(
            TLSConnector().connect("127.0.0.1:no", ssl_context=ssl.create_default_context())
        )
