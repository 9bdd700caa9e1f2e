"""TLS with peers that go away before the handshake."""

import pytest
from distributed.comm import connect, listen
from distributed.comm.core import CommClosedError
from distributed.comm.tcp import TLSConnector
from tornado import tcpclient

from marsdask.scheduler import standing  # noqa: F401
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
        family, address, stream = await start(self, *args, **options)
        if left:
            left.pop()
            stream.close()
        return family, address, stream

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
def test_a_closed_connection_is_what_it_is(security, going):
    """One try ends in an error of connections, which whoever asks others instead knows."""

    async def check():
        listener = await listen(f"tls://{HOST}", nothing, **security.get_listen_args("worker"))
        going.append(True)
        address = listener.contact_address.removeprefix("tls://")
        with pytest.raises(CommClosedError, match="not idle"):
            await TLSConnector().connect(address, **security.get_connection_args("worker"))
        listener.stop()

    run(check)
