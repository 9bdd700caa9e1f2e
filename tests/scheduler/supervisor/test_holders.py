"""Where a supervisor says that results are."""

from __future__ import annotations

from marsdask.scheduler.supervisor.holders import holders
from tests.cluster.loop import run, supervised


def test_sizes_holders_and_ids():
    """Of results that are in memory; others are left out."""

    async def main():
        async with supervised({}, {}) as (server, client):
            futures = await client.scatter({"a": b"abc", "b": 5}, broadcast=True)
            lone = client.submit(bytes, 1000)
            await lone
            told = holders(server, ["a", "b", lone.key, "unknown"])
            addresses = {ws.address: ws.server_id for ws in server.workers.values()}
            assert told["ids"] == addresses
            assert {*told["holders"]["a"]} == {*addresses}
            assert len(told["holders"][lone.key]) == 1
            assert told["sizes"] == {k: server.tasks[k].nbytes for k in ("a", "b", lone.key)}
            assert told["sizes"][lone.key] >= 1000
            del futures

    run(main)
