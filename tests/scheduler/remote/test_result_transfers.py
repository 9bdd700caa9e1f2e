"""Results of clients come from the workers, or in parts through the supervisor."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marsdask.scheduler.remote import result_transfers
from marsdask.scheduler.remote.reconnect import ReconnectingClient
from marsdask.scheduler.remote.result_transfers import ResultTransfers, parts
from marsdask.scheduler.storage import shared_segment
from marsdask.scheduler.storage.shared_handle import SharedHandle
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker, shared_transfers
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import HOST, cluster, run

KIB = 1 << 10
PART = 256 * KIB
COUNT, NBYTES = 40, 64 * KIB


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(result_transfers, "PART", PART)


def block(number, nbytes=NBYTES):
    return np.full(nbytes // 8, number, float)


@asynccontextmanager
async def measured(address, *workers):
    """Start a cluster; give the supervisor, its client, and the bytes of its answers."""
    options = {"workers": workers or ({}, {}), "web": (HOST, 0)}
    async with (
        cluster(Supervisor, MarsWorker, **options) as (server, _),
        ReconnectingClient(address(server), asynchronous=True, set_as_default=False) as client,
    ):
        gather, answers = server.gather, []

        async def counted(keys, serializers=None):
            answer = await gather(keys=keys, serializers=serializers)
            answers.append(sum(server.tasks[key].nbytes for key in answer.get("data", ())))
            return answer

        server.handlers["gather"] = counted
        yield server, client, answers


def straight(server):
    return server.address


def web(server):
    return f"ws://{server.web_address}"


async def fetched(client):
    """Compute more than a limit, and fetch it; return the number of bytes."""
    futures = client.map(block, range(COUNT))
    values = await client.gather(futures)
    assert all(np.array_equal(value, block(number)) for number, value in enumerate(values))
    return sum(value.nbytes for value in values)


@pytest.fixture
def patience(monkeypatch):
    """Workers of a busy machine answer late."""
    monkeypatch.setattr(result_transfers, "_REACH", DEADLINE)


@pytest.mark.usefixtures("patience")
def test_the_supervisor_passes_no_results_on():
    """A client that reaches the workers asks them, in parts."""

    async def main():
        async with measured(straight) as (server, client, answers):
            nbytes = await fetched(client)
            assert not answers
            sent = [worker.transfer_outgoing_bytes_total for worker in server.test_workers]
            assert nbytes <= sum(sent) < nbytes + COUNT * KIB
            assert all(sent)
            requests = [worker.transfer_outgoing_count_total for worker in server.test_workers]
            assert sum(requests) >= nbytes / PART

    run(main)


@pytest.mark.parametrize("address", [web, straight])
def test_the_supervisor_passes_parts_on(address):
    """Through the web port, or where the client must not ask workers, it holds a part at a time."""

    async def main():
        async with measured(address) as (_, client, answers):
            if address is straight:
                client.direct_to_workers = False
            nbytes = await fetched(client)
            assert nbytes <= sum(answers) < nbytes + COUNT * KIB
            assert max(answers) <= PART < nbytes / 8

    run(main)


@pytest.mark.parametrize("silent", [False, True])
def test_another_process_at_the_address(silent, monkeypatch):
    """Its results are not taken for those of the worker; the supervisor sends them instead."""
    monkeypatch.setattr(result_transfers, "_REACH", 0.01)

    async def main():
        async with measured(straight, {}) as (server, client, answers):
            (worker,) = server.test_workers

            async def identity():
                if silent:
                    await client.loop.asyncio_loop.create_future()
                return {"id": "another"}

            worker.handlers["identity"] = identity
            assert await fetched(client) <= sum(answers)
            assert worker.transfer_outgoing_count_total == len(answers)

    run(main)


def test_a_result_that_is_lost_is_computed_again():
    """Also if the worker that the supervisor names has it no more."""

    async def main():
        async with measured(straight, {}) as (server, client, _):
            future = client.submit(block, 1)
            await future
            (worker,) = server.test_workers
            del worker.data[future.key]
            await worker.close()
            async with MarsWorker(server.address, host=HOST, nthreads=1):
                assert np.array_equal(await client.gather(future), block(1))

    run(main)


class SimulatedWorkers:
    """A client whose workers all answer ``identity``, and no other request as they should.

    A worker is busy at each request, or frozen.
    """

    id, direct_to_workers = "client", None

    def __init__(self, count, *, silent=(), busy=False):
        self.ids = {f"tcp://{number}:1": f"id-{number}" for number in range(count)}
        self.silent, self.busy, self.probed = set(silent), busy, []
        self.scheduler = SimpleNamespace(
            address="tcp://supervisor:1", mars_holders=self.holders, gather=self.gather
        )
        self.rpc = self
        self.aborted = 0

    def __call__(self, address):
        async def identity():
            self.probed.append(address)
            await asyncio.sleep(0)
            return {"id": None if address in self.silent else self.ids[address]}

        return SimpleNamespace(identity=identity)

    async def holders(self, keys):
        places = [[address] for address in self.ids]
        holders = {key: places[number % len(places)] for number, key in enumerate(keys)}
        return {"holders": holders, "sizes": dict.fromkeys(keys, 8), "ids": self.ids}

    async def gather(self, keys):
        return {"status": "OK", "data": dict.fromkeys(keys, "supervisor")}

    async def connect(self, address):
        return self

    def reuse(self, address, comm):
        pass

    async def write(self, message, **options):
        pass

    async def read(self, **options):
        if not self.busy:
            await asyncio.get_running_loop().create_future()
        return {"status": "busy"}

    async def close(self):
        pass

    def abort(self):
        self.aborted += 1


@pytest.mark.parametrize("busy", [False, True])
def test_a_worker_that_freezes_after_its_id(busy, monkeypatch):
    """It is given up, also if it is busy for good; the supervisor sends the results."""
    monkeypatch.setattr(result_transfers, "_AGAIN", 0.02)
    client = SimulatedWorkers(2, busy=busy)

    async def main():
        async with asyncio.timeout(5):
            return await ResultTransfers(client).gather(["a", "b", "c"])

    values = asyncio.run(main())["data"]
    assert values == dict.fromkeys("abc", "supervisor")
    assert busy or client.aborted == 2


@pytest.fixture
def now(monkeypatch):
    """Return the time, in a list."""
    found = [1000.0]
    monkeypatch.setattr(result_transfers, "time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def test_a_client_that_reaches_no_worker(now):
    """It asks a few, not all of them, and more and more rarely."""
    client = SimulatedWorkers(100)
    client.silent = set(client.ids)
    keys = [f"k{number}" for number in range(100)]
    asked: list[tuple[float, int]] = []

    async def main():
        transfers = ResultTransfers(client)
        for _ in range(12 * 60):
            answers = await asyncio.gather(transfers.gather(keys), transfers.gather(keys))
            assert all(one["data"] == dict.fromkeys(keys, "supervisor") for one in answers)
            if client.probed:
                asked.append((now[0] - 1000.0, len(client.probed)))
                client.probed.clear()
            now[0] += 60.0

    asyncio.run(main())
    assert {count for _, count in asked} == {2 * result_transfers._FEW}
    times = [time for time, _ in asked]
    pauses = [later - time for time, later in pairwise(times)]
    assert pauses[:7] == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 3600.0]
    assert set(pauses[7:]) == {3600.0}


def test_a_worker_that_answers_later(now, monkeypatch):
    """Then all are asked; one that remains silent is asked rarely, and forgotten in the end."""
    monkeypatch.setattr(ResultTransfers, "_from_worker", lambda *some: asyncio.sleep(0))
    client = SimulatedWorkers(20)
    client.silent = set(client.ids)

    async def main():
        transfers = ResultTransfers(client)
        await transfers.gather(list("abcdefghijklmnopqrst"))
        client.silent = {"tcp://3:1"}
        now[0] += 60.0
        client.probed.clear()
        await transfers.gather(list("abcdefghijklmnopqrst"))
        assert sorted(client.probed) == sorted(client.ids)
        assert set(transfers._silent) == client.silent
        del client.ids["tcp://3:1"]
        now[0] += 3 * result_transfers._RARELY
        await transfers.gather(["a"])
        assert not transfers._silent

    asyncio.run(main())


@pytest.mark.skipif(shared_segment.problem() is not None, reason=str(shared_segment.problem()))
@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.usefixtures("patience")
def test_a_client_of_the_host_opens_shared_memory(opens, monkeypatch):
    """It maps the worker's segment, as its own; if that fails, it gets a copy."""
    opening, opened = SharedHandle.open, []

    def counted(handle):
        opened.append(handle)
        if not opens:
            raise OSError("no descriptor is free")
        return opening(handle)

    monkeypatch.setattr(SharedHandle, "open", counted)

    async def main():
        async with measured(straight, {}) as (server, client, answers):
            made = block(3, 8 << 20)
            value = await client.gather(client.submit(block, 3, made.nbytes))
            assert np.array_equal(value, made)
            assert len(opened) == 2, "the worker, and the client"
            assert bool(answers) != opens
            value[:4] = -1
            (worker,) = server.test_workers
            (stored,) = worker.data.values()
            assert np.array_equal(stored, made)
            assert bool(worker._peers._failed) != opens

    run(main)


def pair(nbytes):
    return block(1, nbytes), block(2, nbytes)


@pytest.mark.skipif(shared_segment.problem() is not None, reason=str(shared_segment.problem()))
@pytest.mark.usefixtures("patience")
def test_a_shared_value_of_which_a_part_is_kept():
    """Its identity may be that of a later value, which a worker of this process would mix up."""

    async def main():
        async with measured(straight, {}) as (_, client, _):
            kept, _ = await client.gather(client.submit(pair, 8 << 20))
            assert not shared_transfers._unclaimed
            assert kept[0] == 1

    run(main)


@given(st.lists(st.integers(0, 2 * PART), max_size=20))
@settings(max_examples=30)
def test_parts(sizes):
    """Each key is in one part, in order; a part is small, or one key."""
    found = list(parts(range(len(sizes)), dict(enumerate(sizes))))
    assert [key for part in found for key in part] == list(range(len(sizes)))
    assert all(part for part in found)
    for part in found:
        assert len(part) == 1 or sum(sizes[key] for key in part) <= result_transfers.PART
