"""``mars-web``'s relay: all methods, websockets, and what it says when nobody is behind it."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from typing import Any

import pytest
from distributed import Client
from distributed.security import Security
from tornado import tcpclient
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

from marsdask.scheduler.cluster.leader import identify
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.web import relay as relay_module
from marsdask.scheduler.web import websocket
from marsdask.scheduler.web.authentication import Token
from marsdask.scheduler.web.relay import Relay
from tests.cluster.loop import HOST, run
from tests.scheduler.web.pages import Visitor, visited

WORD = Token("hush")
SHOWN = {"Authorization": WORD.header}

#: The headers of a request for a websocket.
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@asynccontextmanager
async def relayed(find, token=None):
    """Start a relay; give a visitor of it."""
    relay = Relay(find, {"ssl_context": None}, token=token)
    relay.listen(HOST, 0)
    visitor = Visitor(f"http://{HOST}:{relay.port}")
    try:
        yield visitor
    finally:
        visitor.close()
        await relay.close()


def finder(server):
    """Return what finds a supervisor."""

    async def find():
        return server.address, server.identity(0)

    return find


@asynccontextmanager
async def either(relay, token=None):
    """Start a supervisor and a relay to it; give it and a visitor of the one or the other."""
    async with (
        visited(workers=(), token=token) as (server, _, straight),
        relayed(finder(server), token) as passed,
    ):
        yield server, passed if relay else straight


def test_a_supervisor_of_any_name(monkeypatch):
    """The relay has compared the name that it was asked by; the supervisor's own may have dots."""
    resolve = socket.getaddrinfo

    def resolved(host, *args, **options):
        return resolve(HOST if host == "a.example.com" else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)

    async def main():
        async with visited(workers=()) as (server, _, _):

            async def find():
                _, _, port = server.address.rpartition(":")
                return f"tcp://a.example.com:{port}", server.identity(0)

            async with relayed(find) as visit:
                assert await visit.json("/api/session") == (200, {"sessions": []})
                answer = await visit("/api/session", Host="evil.example.com")
                assert answer.code == 403

    run(main)


def test_every_method_goes_through():
    """The relay passes all requests of the interface, including errors."""

    async def main():
        async with visited(workers=({},)) as (server, _, _), relayed(finder(server)) as visit:
            assert await visit.json("/api/worker?action=count") == (200, 1)
            answer = await visit("/api/session/new", "PUT")
            assert answer.body.decode() == server.address
            code, told = await visit.json(
                "/api/cluster/nodes",
                "POST",
                body="role=1",
                **{"Content-Type": "application/x-www-form-urlencoded"},
            )
            assert (code, len(told["nodes"])) == (200, 1)
            assert await visit.json("/api/session/new", "DELETE") == (200, {})
            code, told = await visit.json("/api/session/new", "DELETE")
            assert (code, told["type"]) == (404, "NotFound")
            assert (await visit.json("/api/worker", "PATCH"))[0] == 501

    run(main)


def test_a_session_goes_through():
    """Messages of a client are copied; it connects to the relay alone."""

    async def main():
        async with visited(workers=({},)) as (server, _, _), relayed(finder(server)) as visit:
            where = visit.base.replace("http", "ws")
            async with Client(where, asynchronous=True, set_as_default=False) as client:
                assert await client.submit(sum, [1, 2]) == 3

    run(main)


def test_the_supervisor_is_shown_the_token():
    """A request with the cookie is relayed with the header."""

    async def main():
        async with (
            visited(workers=(), token=WORD) as (server, _, straight),
            relayed(finder(server), WORD) as visit,
        ):
            assert (await straight("/api/worker")).code == 401
            assert (await visit("/api/worker?action=count")).code == 401
            cookie = {"Cookie": f"marsdask-web={WORD.cookie(2**40)}"}
            assert (await visit.json("/api/worker?action=count", **cookie)) == (200, 0)
            headers = {"extra_conn_args": {"headers": SHOWN}}
            where = visit.base.replace("http", "ws")
            async with Client(
                where, asynchronous=True, set_as_default=False, security=Security(**headers)
            ) as client:
                assert client.scheduler_info(n_workers=0)["type"] == "Scheduler"

    run(main)


def test_a_relay_without_the_token_passes_the_visitors():
    """Without a token of the relay, each visitor needs the supervisor's token."""

    async def main():
        async with (
            visited(workers=(), token=WORD) as (server, _, _),
            relayed(finder(server)) as visit,
        ):
            assert (await visit("/api/worker?action=count")).code == 401
            assert (await visit.json("/api/worker?action=count", **SHOWN)) == (200, 0)

    run(main)


def test_nobody_behind_it(monkeypatch):
    """It says so, as JSON, to pages and websockets alike; one who does not answer is no nobody."""
    port = 0

    async def nobody():
        raise NoSupervisor("no active supervisor at 127.0.0.1:1")

    async def gone():
        return "tcp://127.0.0.1:1", {"services": {"dashboard": 1}}

    async def silent():
        return f"tcp://{HOST}:{port}", {"services": {"dashboard": port}}

    async def main():
        nonlocal port
        monkeypatch.setattr(relay_module, "_PATIENCE", 0.1)
        with socket.create_server((HOST, 0)) as server:
            port = server.getsockname()[1]
            async with relayed(silent) as visit:
                code, told = await visit.json("/api/session")
                assert (code, told["type"]) == (504, "GatewayTimeout")
        for find in (nobody, gone):
            async with relayed(find) as visit:
                for method in ("GET", "DELETE"):
                    code, told = await visit.json("/api/session", method)
                    assert (code, told["type"]) == (502, "BadGateway")
                    assert "no supervisor" in told["message"]
                opening = asyncio.ensure_future(websocket_connect(visit.base.replace("http", "ws")))
                (failed,) = await asyncio.gather(opening, return_exceptions=True)
                assert "502" in str(failed)

    run(main)


@pytest.mark.parametrize("web", ["http", "https"])
def test_one_that_goes_while_it_is_connected_to(web, monkeypatch):
    """With TLS, too, where tornado calls it something else."""
    start = tcpclient._Connector.start

    async def started(self, *args, **options):
        family, address, stream = await start(self, *args, **options)
        if address[1] == port:
            stream.close()
        return family, address, stream

    async def leaving():
        told = {"web": web}
        return f"tcp://{HOST}:{port}", {"services": {"dashboard": port}, "marsdask": told}

    async def main():
        async with relayed(leaving) as visit:
            monkeypatch.setattr(tcpclient._Connector, "start", started)
            code, told = await visit.json("/api/session")
            assert (code, told["type"]) == (502, "BadGateway")
            with pytest.raises(HTTPClientError, match="502"):
                await websocket_connect(visit.base.replace("http", "ws"))

    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        run(main)


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "http://{host}"])
@pytest.mark.parametrize("relay", [False, True], ids=["supervisor", "mars-web"])
def test_pages_do_not_get_in(origin, relay):
    """Pages cannot open websockets, which can run code.

    One whose name leads here since a moment ago would pass for a page of this site.
    """

    async def main():
        async with either(relay) as (_, visit):
            shown = origin.format(host=visit.base.partition("//")[2])
            refused = await visit("/", Origin=shown, **UPGRADE)
            assert refused.code == 403

    run(main)


@pytest.mark.parametrize("relay", [False, True], ids=["supervisor", "mars-web"])
def test_large_requests_are_refused(relay):
    """Requests are limited in size and time."""

    async def main():
        async with either(relay, WORD) as (server, visit):
            large = "x" * (2**20 + 1)
            assert (await visit("/login", "POST", body=large)).code in (400, 413, 599)
            assert server.http_server.conn_params.body_timeout

    run(main)


@pytest.mark.parametrize("relay", [False, True], ids=["supervisor", "mars-web"])
def test_connections_are_looked_after(relay, monkeypatch):
    """The system asks both ends of each websocket now and then whether they are still there."""
    watched: list[Any] = []
    monkeypatch.setattr(websocket, "set_tcp_timeout", watched.append)

    async def main():
        async with either(relay) as (_, visit):
            opened = await websocket_connect(visit.base.replace("http", "ws"))
            # The relay watches two, and the supervisor one.
            assert len(watched) == (3 if relay else 1)
            assert not any(stream.closed() for stream in watched)
            opened.close()

    run(main)


def test_the_first_page():
    """It comes through the relay as it is."""

    async def main():
        async with (
            visited(workers=()) as (server, _, straight),
            relayed(finder(server)) as passed,
        ):
            page, same = await straight("/"), await passed("/")
            assert page.code == same.code == 200
            assert page.body == same.body
            name = "Content-Security-Policy"
            assert page.headers[name] == same.headers[name]
            assert json.loads((await passed("/json/counts.json")).body)["workers"] == 0

    run(main)


def test_what_a_browser_has_already():
    """A cached page gets the status 304."""

    async def main():
        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            path = "/json/counts.json"
            known = {"If-None-Match": (await visit(path)).headers["Etag"]}
            answer = await visit(path, **known)
            assert (answer.code, answer.body) == (304, b"")

    run(main)


@pytest.mark.parametrize(
    ("address", "told", "url"),
    [
        ("tcp://[::1]:1", {}, "http://[::1]:2"),
        ("tls://here:1", {}, "https://here:2"),
        ("tls://here:1", {"web": "http"}, "http://here:2"),
    ],
)
def test_where_the_supervisors_web_service_is(address, told, url):
    """On its host, also by an address of IPv6, and encrypted as it says or as the other port is."""

    async def find():
        return address, {"services": {"dashboard": 2}, "marsdask": told}

    async def main():
        relay = Relay(find, {})
        assert await relay.url("http") == url
        await relay.close()

    run(main)


def test_a_supervisor_without_a_web_service():
    """As a stock scheduler without bokeh: an error of the connection, which a page may show."""

    async def find():
        return "tcp://here:1", {"services": {}}

    async def main():
        relay = Relay(find, {})
        with pytest.raises(ConnectionError, match="tcp://here:1 has no web service"):
            await relay.url("http")
        await relay.close()

    run(main)


def test_nobody_works_for_who_has_left(monkeypatch, caplog):
    """A visit that is given up ends at the supervisor too, and is no fault of its."""

    async def main():
        begun, ended = asyncio.Event(), asyncio.Event()

        async def forever(version):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            monkeypatch.setattr(server.nodes, "later_than", forever)
            _, writer = await asyncio.open_connection(*visit.base[7:].split(":"))
            writer.write(b"GET /api/cluster/nodes?watch=1 HTTP/1.1\r\nHost: here\r\n\r\n")
            await begun.wait()
            writer.close()
            await ended.wait()
            assert (await visit("/health")).code == 200
        assert "no supervisor" not in caplog.text

    run(main)


def test_a_question_that_is_given_up():
    """A cancelled query leaves no websocket open."""

    async def main():
        async with visited(workers=()) as (server, _, _):
            there, asked = asyncio.Event(), asyncio.Event()
            answer = server.handlers["identity"]

            async def find():
                await there.wait()
                return server.address, server.identity(0)

            async def identity(*args, n_workers=-1):
                if n_workers == 0:  # the client beside asks for some of them
                    asked.set()
                return answer(*args, n_workers=n_workers)

            server.handlers["identity"] = identity
            async with relayed(find) as visit:
                with pytest.raises(TimeoutError):
                    await identify(visit.base.replace("http", "ws"), {}, 0.1)
                there.set()
                await asked.wait()

    run(main)


def test_what_is_no_websocket():
    """A websocket at the path of a page gets an error without a traceback."""

    async def main():
        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            code, told = await visit.json("/health", **UPGRADE)
            assert (code, told["traceback"]) == (502, None)

    run(main)


def test_the_supervisor_is_asked_for_once():
    """By the many requests of a page; and anew when it has not answered."""
    asked = []

    async def main():
        async with visited(workers=()) as (server, _, _):

            async def find():
                asked.append(True)
                where = 1 if len(asked) == 1 else server.http_server.port
                return server.address, server.identity(0) | {"services": {"dashboard": where}}

            async with relayed(find) as visit:
                assert (await visit("/health")).code == 502
                answers = await asyncio.gather(*(visit("/health") for _ in range(5)))
                assert [answer.code for answer in answers] == [200] * 5
                assert len(asked) == 2

    run(main)
