"""``mars-web``'s relay: all methods, websockets, and what it says when nobody is behind it."""

import asyncio
import json
from contextlib import asynccontextmanager

from distributed import Client
from distributed.security import Security
from tornado.websocket import websocket_connect

from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.web.guard import Token
from marsdask.scheduler.web.relay import Relay
from tests.cluster.loop import HOST, run
from tests.scheduler.web.pages import Visitor, visited

WORD = Token("hush")
SHOWN = {"Authorization": WORD.header}


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


def test_every_method_goes_through():
    """What the interface takes it takes through the relay, errors included."""

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
    """Somebody with the cookie has shown it; the supervisor behind sees a header."""

    async def main():
        async with (
            visited(workers=(), token=WORD) as (server, _, straight),
            relayed(finder(server), WORD) as visit,
        ):
            assert (await straight("/api/worker")).code == 401
            assert (await visit("/api/worker?action=count")).code == 401
            cookie = {"Cookie": f"marsdask-web={WORD.cookie}"}
            assert (await visit.json("/api/worker?action=count", **cookie)) == (200, 0)
            headers = {"extra_conn_args": {"headers": SHOWN}}
            where = visit.base.replace("http", "ws")
            async with Client(
                where, asynchronous=True, set_as_default=False, security=Security(**headers)
            ) as client:
                assert client.scheduler_info(n_workers=0)["type"] == "Scheduler"

    run(main)


def test_a_relay_without_the_token_passes_the_visitors():
    """Where it has none itself, each visitor shows his own, or is told that one is wanted."""

    async def main():
        async with (
            visited(workers=(), token=WORD) as (server, _, _),
            relayed(finder(server)) as visit,
        ):
            assert (await visit("/api/worker?action=count")).code == 401
            assert (await visit.json("/api/worker?action=count", **SHOWN)) == (200, 0)

    run(main)


def test_nobody_behind_it():
    """It says so, as JSON, to pages and websockets alike."""

    async def nobody():
        raise NoSupervisor("no active supervisor at 127.0.0.1:1")

    async def gone():
        return "tcp://127.0.0.1:1", {"services": {"dashboard": 1}}

    async def main():
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


def test_other_sites_do_not_get_in():
    """A page of another site that opens a websocket here is refused; one of this site is not."""

    async def main():
        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
            key = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
            refused = await visit("/", Origin="http://elsewhere.example", **upgrade, **key)
            assert refused.code == 403

    run(main)


def test_large_requests_are_refused():
    """Nothing that the interface takes is large."""

    async def main():
        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            answer = await visit("/api/cluster/nodes", "POST", body="x" * (2**20 + 1))
            assert answer.code in (400, 413, 599)

    run(main)


def test_the_way_to_the_pages():
    """A browser finds it below a prefix that has lost its slash; programs are redirected."""

    async def main():
        async with visited(workers=()) as (server, _, _), relayed(finder(server)) as visit:
            page = await visit("/", Accept="text/html,*/*")
            assert page.code == 200
            assert b'location.pathname.replace(/\\/?$/, "/") + "status"' in page.body
            answer = await visit("/")
            assert (answer.code, answer.headers["Location"]) == (302, "status")
            assert json.loads((await visit("/json/counts.json")).body)["workers"] == 0

    run(main)
