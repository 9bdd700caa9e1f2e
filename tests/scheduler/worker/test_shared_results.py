"""A worker's results in shared memory, without a worker."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from distributed.spill import SpillBuffer

from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_handle import SharedHandle
from marsdask.scheduler.storage.shared_segment import problem
from marsdask.scheduler.worker.connections import NAME, PeerConnections, introduction
from marsdask.scheduler.worker.shared_results import SharedMemoryComm, SharedResults
from marsdask.scheduler.worker.shared_transfers import SharedTransfer, claim
from marsdask.scheduler.worker.spill_manager import SpillManager

pytestmark = pytest.mark.skipif(problem() is not None, reason=str(problem()))

MIB = 1 << 20
DEADLINE = 60


def in_thread(function, *args):
    return asyncio.ensure_future(asyncio.to_thread(function, *args))


@pytest.fixture
def sharing(tmp_path):
    pool = Pool(64 * MIB)
    yield SharedResults(pool, SpillBuffer(str(tmp_path), 100 * MIB), in_thread, {})
    pool.close()


def ones(nbytes=8 * MIB):
    return np.ones(nbytes // 8)


def test_one_copy_for_all_who_ask(sharing):
    """Two that ask at once get one segment, which then is what the worker has itself."""

    async def main():
        value = sharing.data["x"] = ones()
        one, other = await asyncio.gather(sharing.share("x", value), sharing.share("x", value))
        assert one is other
        assert sharing.data["x"] is not value
        assert sharing.pool.nbytes < 9 * MIB
        assert (
            sharing.data.fast.total_weight == value.nbytes + sharing.data.fast.weights["x"] % 4096
        )
        assert await sharing.share("x", sharing.data["x"]) is one

    asyncio.run(main())


def test_memory_goes_with_the_result(sharing):
    """Deleted or moved to disk, its segment is free for another."""
    for end in (sharing.data.__delitem__, lambda key: sharing.data.evict()):
        sharing.data["x"] = ones()
        # With the loop end its threads, which hold the last thing they were asked for.
        assert asyncio.run(sharing.share("x", sharing.data["x"]))
        end("x")
        sharing.forget("x")
        assert sharing.pool.unused() == sharing.pool.nbytes > 0
        assert sharing.pool.trim() > 0


def test_a_result_deleted_while_it_is_copied(sharing, monkeypatch):
    """Who asked may still open it; the worker keeps neither it nor its successor's place."""
    started, go = threading.Event(), threading.Event()
    publish = sharing.pool.publish

    def slowly(value):
        started.set()
        assert go.wait(DEADLINE)
        return publish(value)

    monkeypatch.setattr(sharing.pool, "publish", slowly)

    async def main():
        value = sharing.data["x"] = ones()
        asking = asyncio.create_task(sharing.share("x", value))
        assert await asyncio.to_thread(started.wait, DEADLINE)
        del sharing.data["x"]
        sharing.forget("x")
        sharing.data["x"] = "another"
        go.set()
        shared = await asking
        assert shared.handle.load().sum() == MIB
        assert sharing.data["x"] == "another"
        again = sharing.data["x"] = np.zeros(MIB)
        assert (await sharing.share("x", again)).handle.load().sum() == 0

    asyncio.run(main())


def test_a_result_that_is_spilled_as_it_is_asked_for(sharing):
    """If a thread removes the copy meanwhile, the value is sent."""

    class Forgetful(dict[Any, Any]):
        looks = 0

        def __contains__(self, key):
            found = super().__contains__(key)
            self.looks += 1
            if self.looks > 1:
                self.pop(key, None)
            return found

    async def main():
        value = sharing.data["x"] = ones()
        assert await sharing.share("x", value)
        sharing._published = Forgetful(sharing._published)
        shared = await sharing.share("x", value)
        assert shared.handle.load().sum() == MIB

    asyncio.run(main())


def test_a_result_that_has_left_memory_is_not_kept_there(sharing):
    """A transfer that has started is completed."""

    async def main():
        value = sharing.data["x"] = ones()
        sharing.data.evict()
        shared = await sharing.share("x", value)
        assert shared.handle.load().sum() == MIB
        del shared

    asyncio.run(main())
    assert not sharing._published
    assert sharing.pool.trim() > 0


def test_what_is_borrowed_weighs_nothing(sharing):
    """It is noticed by its arrival, passed on as long as its owner has it, and spared by spills."""

    async def main():
        owner = Pool(64 * MIB)
        shared = owner.publish(ones())
        assert shared is not None
        handle = shared.handle
        opened, arrive = SharedTransfer(handle).__reduce__()
        value = opened(*arrive)
        sharing.received("x", value)
        assert claim(value) is None
        sharing.data["x"] = value
        assert sharing.data.fast.total_weight < MIB
        passed = await sharing.share("x", value)
        assert passed.handle.token == handle.token
        passed.close()
        sharing.data["y"] = ones(MIB)
        spilling = SpillManager(sharing.data)
        spilling.shared_results = sharing
        assert await spilling.free(2 * MIB) == sharing.data.spilled_total.memory
        assert list(sharing.data.fast) == ["x"]
        await spilling.close()
        sharing.pool.share_from = 0
        owner.close()
        passed = await sharing.share("x", value)
        assert passed.handle.token != handle.token
        assert sharing.data.fast.total_weight > MIB

    asyncio.run(main())


def test_what_is_not_shared(sharing):
    """Small results, and those that no room is left for: the next time there may be some."""

    async def main():
        assert await sharing.share("small", np.ones(10)) is None
        assert await sharing.share("x", ones(80 * MIB)) is None
        sharing.pool.limit = 100 * MIB
        assert await sharing.share("x", ones(80 * MIB)) is not None

    asyncio.run(main())


def test_a_failure_is_not_kept(sharing, monkeypatch):
    """Who asks again is not told of what went wrong before."""
    publish = sharing.pool.publish
    broken = iter([True, False])

    def first_time(value):
        if next(broken):
            raise ValueError("on purpose")
        return publish(value)

    monkeypatch.setattr(sharing.pool, "publish", first_time)

    async def main():
        value = sharing.data["x"] = ones()
        with pytest.raises(ValueError, match="on purpose"):
            await sharing.share("x", value)
        assert await sharing.share("x", value) is not None

    asyncio.run(main())


def test_a_value_that_cannot_be_loaded_here(sharing, monkeypatch):
    """It is in memory twice, and whoever asks gets it."""

    def fail(handle):
        raise MemoryError

    monkeypatch.setattr(SharedHandle, "load", fail)

    async def main():
        value = sharing.data["x"] = ones()
        shared = await sharing.share("x", value)
        assert shared is await sharing.share("x", value)
        assert sharing.data["x"] is value

    asyncio.run(main())


def test_what_lies_in_files_weighs_nothing(tmp_path):
    """Once it does: no memory is freed by moving it to disk, where it is."""
    pool = Pool(64 * MIB, str(tmp_path))
    sharing: Any = SharedResults(pool, SpillBuffer(str(tmp_path), 100 * MIB), in_thread, {})

    async def main():
        value = sharing.data["x"] = ones()
        shared = await sharing.share("x", value)
        assert sharing.data.fast.total_weight < MIB
        assert sharing.borrows("x")
        assert await sharing.share("x", sharing.data["x"]) is shared
        del value, shared
        del sharing.data["x"]
        sharing.forget("x")
        assert not sharing.borrows("x")

    asyncio.run(main())
    assert pool.nbytes > 8 * MIB
    pool.trim()
    assert pool.nbytes == 0
    pool.close()


class FakeWorker:
    """A worker as others call it."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    def __call__(self, address):
        return self

    async def identity(self):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def write(self, message, **options):
        self.message = message

    answers = False

    async def read(self, **options):
        if self.answers:
            return "OK"
        raise OSError("the other end could not read that")


@pytest.mark.parametrize(
    ("answer", "near"),
    [
        ({NAME: introduction()}, True),
        ({NAME: introduction() | {"place": "another"}}, False),
        ({NAME: introduction() | {"format": 0}}, False),
        ({"type": "Worker"}, False),
        (OSError(), False),
        (TimeoutError(), False),
    ],
    ids=["near", "far", "other release", "stock", "gone", "slow"],
)
def test_each_end_of_a_connection_is_asked_once(answer, near):
    """A worker without the entry gets no handles."""

    async def main():
        peer = FakeWorker(answer)
        peers = PeerConnections(peer)
        for _ in range(3):
            assert await peers.near(peer, "tcp://there:1") is near
        assert peer.asked == 1
        assert not await peers.near(peer, "inproc://there")

    asyncio.run(main())


def test_who_cannot_open_is_told_no_more(sharing):
    """An answer that was not confirmed went with values in shared memory."""

    async def main():
        peer = FakeWorker({NAME: introduction(), "id": "one"})
        peers = PeerConnections(peer)
        assert await peers.near(peer, "tcp://there:1")
        comm = SharedMemoryComm(peer, peers, sharing)
        sharing.data["x"] = ones()
        message = {"status": "OK", "data": {"x": WrappedData(sharing.data["x"]), "actor": 1}}
        await comm.write(message)
        assert isinstance(peer.message["data"]["x"].data, SharedTransfer)
        assert peer.message["data"]["actor"] == 1
        assert await peers.near(peer, "tcp://there:1")
        with pytest.raises(OSError, match="could not"):
            await comm.read()
        assert not await peers.near(peer, "tcp://there:1")
        assert not await peers.near(FakeWorker(peer.answer), "tcp://there:1"), (
            "by another connection"
        )
        peer.answer = peer.answer | {"id": "another"}
        assert await peers.near(FakeWorker(None), "tcp://there:1"), "its nanny has started another"

    asyncio.run(main())


def test_sharing_comes_back(sharing):
    """After a while, longer with each failure; what was opened ends the series."""

    async def main():
        now = [0.0]
        peer = FakeWorker({NAME: introduction(), "id": "one"})
        peers = PeerConnections(peer, lambda: now[0])
        comm = SharedMemoryComm(peer, peers, sharing)
        sharing.data["x"] = ones()
        message = {"status": "OK", "data": {"x": WrappedData(sharing.data["x"])}}
        for pause in (1, 2, 4):
            assert await peers.near(peer, "tcp://there:1")
            await comm.write(message)
            with pytest.raises(OSError, match="could not"):
                await comm.read()
            now[0] += pause - 0.5
            assert not await peers.near(peer, "tcp://there:1")
            now[0] += 0.5
        assert await peers.near(peer, "tcp://there:1")
        await comm.write(message)
        peer.answers = True
        assert await comm.read() == "OK"
        peers.fail(peer)
        now[0] += 1
        assert await peers.near(peer, "tcp://there:1")

    asyncio.run(main())


class WrappedData:
    def __init__(self, data):
        self.data = data
