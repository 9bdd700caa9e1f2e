"""HEAD: what GET says, without its body, of pages of ours and of Dask's, and of the interface."""

import pytest

from tests.cluster.loop import run
from tests.scheduler.web.test_relay import UPGRADE, either

PATHS = (
    "/",
    "/health",
    "/json/counts.json",
    "/info/main/workers.html",
    "/api/cluster/nodes?role=1",
    "/api/worker?action=count",
    "/api/nowhere",
    "/nowhere",
)

#: What differs from one answer to the next.
PASSING = {"Date", "Content-Length", "Etag"}


@pytest.mark.parametrize("relay", [False, True], ids=["supervisor", "mars-web"])
def test_head(relay):
    """It has the status and the headers of GET; where there is a page it opens no websocket."""

    async def main():
        async with either(relay) as (_, visit):
            for path in PATHS:
                full, bare = await visit(path), await visit(path, "HEAD")
                assert (bare.code, bare.body) == (full.code, b""), path
                assert set(bare.headers) == set(full.headers), path
                for name in set(full.headers) - PASSING:
                    assert bare.headers[name] == full.headers[name], (path, name)
            full, bare = await visit("/"), await visit("/", "HEAD", **UPGRADE)
            assert (bare.code, bare.headers["Content-Length"]) == (200, str(len(full.body)))
            assert (await visit("/api/cluster/nodes", "DELETE")).code == 405
            assert (await visit("/api/session/one/task/two", "HEAD")).code == 404

    run(main)
