"""Replicas that share memory are kept; others are dropped as distributed does."""

from __future__ import annotations

import distributed
import pytest

from marsdask.scheduler.dask import PLACE
from marsdask.scheduler.storage.shared import SHARE_FROM
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.supervisor.replicas import holders
from tests.cluster.loop import cluster, run, supervised

#: Workers of one process all have its memory, which a run of many tests makes large.
LIMIT = 1 << 40


@pytest.mark.parametrize(
    ("nbytes", "places", "limit", "left"),
    [
        (SHARE_FROM, "aab", LIMIT, [0, 1]),
        (SHARE_FROM, "aaa", LIMIT, [0, 1, 2]),
        (SHARE_FROM, "abb", LIMIT, [1, 2]),
        (SHARE_FROM, "abc", LIMIT, None),
        (SHARE_FROM, [None, None, None], LIMIT, None),
        (SHARE_FROM // 2, "aaa", LIMIT, None),
        (SHARE_FROM, "aaa", 1, None),
    ],
)
def test_what_is_in_memory_once_stays(nbytes, places, limit, left):
    """Of workers that share memory all keep a large result, while they have memory to spare."""

    async def main():
        workers = [{"nthreads": 1, "memory_limit": LIMIT}] * 3
        async with cluster(Supervisor, distributed.Worker, workers=workers) as (server, client):
            states = [server.workers[worker.address] for worker in server.test_workers]
            for ws, place in zip(states, places, strict=True):
                ws.extra[PLACE] = place
                ws.memory_limit = limit
            manager = server.extensions["amm"]
            manager.stop()
            data = await client.scatter(bytes(nbytes), broadcast=True)
            task = server.tasks[data.key]
            assert len(task.who_has) == 3
            dropped: set[int] = set()

            def enact():
                dropped.update(map(states.index, manager.pending[task][1]))

            manager._enact_suggestions = enact  # it would tell the workers
            manager.run_once()
            if left is None:
                assert len(dropped) == 2
            else:
                assert dropped == {0, 1, 2} - set(left)

    run(main)


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
