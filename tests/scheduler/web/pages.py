"""A cluster in one event loop, and somebody who reads its web port."""

import json
from contextlib import asynccontextmanager

from tornado.httpclient import AsyncHTTPClient

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import HOST, cluster


class Visitor:
    """Fetches paths of one server."""

    def __init__(self, base, **options):
        self.base = base
        self._options = options
        self._client = AsyncHTTPClient(force_instance=True)

    async def __call__(self, path, method="GET", body=None, **headers):
        if body is None and method in ("POST", "PUT", "PATCH"):
            body = ""
        return await self._client.fetch(
            self.base + path,
            method=method,
            body=body,
            headers=headers,
            raise_error=False,
            follow_redirects=False,
            request_timeout=DEADLINE,
            **self._options,
        )

    async def json(self, path, method="GET", **options):
        """Return what is answered, which has to be JSON, and the status."""
        answer = await self(path, method, **options)
        assert answer.headers["Content-Type"].startswith("application/json"), answer.body
        return answer.code, json.loads(answer.body)

    def close(self):
        self._client.close()


@asynccontextmanager
async def visited(worker=MarsWorker, *, workers=({}, {}), **options):
    """Start a supervisor with a web port; give it, a client and a visitor."""
    options.setdefault("web", (HOST, 0))
    async with cluster(Supervisor, worker, workers=workers, **options) as (server, client):
        visitor = Visitor(f"http://{server.web_address}")
        try:
            yield server, client, visitor
        finally:
            visitor.close()
