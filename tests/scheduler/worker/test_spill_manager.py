"""Results that move to disk in threads."""

from __future__ import annotations

import asyncio
import sys
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest
from distributed.spill import SpillBuffer

from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_segment import problem
from marsdask.scheduler.worker.directories import Directories
from marsdask.scheduler.worker.shared_results import SharedResults
from marsdask.scheduler.worker.spill_manager import SpillManager, SpillWriter

MIB = 1 << 20


class Blocked(Directories):
    """Writes when the test allows it."""

    def __init__(self, *args):
        super().__init__(*args)
        self.started = threading.Semaphore(0)
        self.go = threading.Event()
        self.refuse = False

    def __setitem__(self, key, value):
        self.started.release()
        assert self.go.wait(60)
        if self.refuse:
            raise OSError(28, "No space left on device")
        super().__setitem__(key, value)


@pytest.fixture
def data(tmp_path):
    return SpillBuffer(str(tmp_path / "stock"), target=4 * MIB)


def spilling(data, tmp_path, threads=2):
    """Return what spills in the running loop, and its directory."""
    spilling = SpillManager(data, threads)
    directories = Blocked([str(tmp_path)], 100)
    spilling.take_over(directories, str(tmp_path / "stock"))
    return spilling, directories


async def begun(moves, disk):
    """Begin to free memory of a result ``x``, which is being written when this returns."""
    moves.data["x"] = np.ones(MIB // 8)
    freeing = asyncio.create_task(moves.free(MIB))
    await asyncio.to_thread(disk.started.acquire)
    return freeing


def test_the_loop_goes_on(data, tmp_path):
    """Storing too much returns at once; several threads move what was used least recently."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        for i in range(8):
            data[i] = np.full(MIB // 8, i)
        assert len(data.fast) == 8
        weight = data.fast.weights[0]
        assert data[0][0] == 0  # used last now
        for _ in range(2):
            await asyncio.to_thread(disk.started.acquire)
        disk.go.set()
        assert moves._task is not None
        await moves._task
        await moves.close()
        assert 3 <= len(data.fast) <= 4
        assert 0 in data.fast
        assert 1 not in data.fast
        assert data.spilled_total.memory + data.fast.total_weight == 8 * weight

    asyncio.run(main())


def test_each_is_where_it_was_put(data, tmp_path):
    """Values that are read back are equal, mapped and writable; counters return to zero."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        for i in range(6):
            data[i] = np.full(MIB // 8, i)
        assert await moves.free(3 * MIB) >= 3 * MIB
        assert len(data.slow) >= 3
        for i in range(6):
            value = data[i]
            assert (value == i).all()
            value[0] = 7
        for i in range(6):
            del data[i]
        await moves.close()  # whoever was writing one deletes it
        assert data.spilled_total == (0, 0)
        assert not data.fast
        assert not disk

    asyncio.run(main())


class Deleting:
    """A lock that a result is deleted before when it is taken again."""

    def __init__(self, data, key):
        self.data, self.key, self.lock = data, key, data.fast.lock

    def __enter__(self):
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()

    def release(self):
        self.lock.release()

    def acquire(self):
        del self.data[self.key]
        self.lock.acquire()


def test_deleted_as_its_move_ends(data, tmp_path):
    """After zict has looked whether it was: nothing is left in memory or on disk."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        data["x"] = np.ones(MIB // 8)
        data.fast.lock = Deleting(data, "x")
        assert await moves.free(MIB) == 0
        await moves.close()
        assert "x" not in data
        assert data.spilled_total == (0, 0)
        assert not disk

    asyncio.run(main())


def test_a_full_disk_keeps_results(data, tmp_path, caplog):
    """Nothing is freed, nothing is lost, and it is tried again with the next result."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        disk.refuse = True
        for i in range(5):
            data[i] = np.full(MIB // 8, i)
        assert await moves.free(MIB) == 0
        assert data.spilled_total == (0, 0)
        assert len(data.fast) == 5
        disk.refuse = False
        assert await moves.free(MIB) >= MIB
        assert (data[0] == 0).all()
        await moves.close()

    asyncio.run(main())
    assert "Spill to disk failed" in caplog.text


def test_what_has_no_pickle_stays(data, tmp_path, caplog):
    """It is passed over for good; others leave."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        data["lock"] = [threading.Lock(), np.ones(MIB // 8)]
        data["x"] = np.ones(MIB // 8)
        assert await moves.free(2 * MIB) > 0
        assert list(data.fast) == ["lock"]
        await moves.close()

    asyncio.run(main())
    assert "Failed to pickle" in caplog.text


def test_what_cannot_move_holds_nothing_back(tmp_path):
    """Smaller results find room where the oldest does not, or leave in place of one that stays."""

    async def main():
        data = SpillBuffer(str(tmp_path / "stock"), 100 * MIB, max_spill=3 * MIB)
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        data["lock"] = [threading.Lock(), np.ones(MIB // 8)]
        data["large"] = np.ones(MIB // 2)
        data["small"] = np.ones(MIB // 8)
        data["last"] = np.ones(MIB // 8)
        assert MIB <= await moves.free(MIB) < 2 * MIB
        assert set(data.fast) == {"lock", "large", "last"}
        assert moves.full is None
        assert await moves.free(MIB)
        assert not await moves.free(MIB)
        assert moves.full
        await moves.close()

    asyncio.run(main())


def test_a_result_deleted_while_it_is_written(data, tmp_path):
    """No file is left of it."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        freeing = await begun(moves, disk)
        del data["x"]
        disk.go.set()
        assert await freeing == 0
        assert data.spilled_total == (0, 0)
        assert not disk
        await moves.close()

    asyncio.run(main())


def test_a_result_that_leaves_memory_while_it_is_looked_at(data, tmp_path):
    """It is read from the disk, and is not taken for one that is not there."""

    class Weights(dict[Any, Any]):
        def __getitem__(self, key):
            if key in data.fast:
                data.fast.evict(key)  # as a thread does, after distributed has seen it there
            return super().__getitem__(key)

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        data["x"] = np.ones(MIB // 8)
        data.fast.weights = Weights(data.fast.weights)
        assert data["x"].sum() == MIB // 8
        with pytest.raises(KeyError):
            data["y"]
        await moves.close()

    asyncio.run(main())


def test_who_wants_room_waits_for_what_is_being_written(data, tmp_path, monkeypatch):
    """It does not hear that nothing can leave memory, which would let a task start too early."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        freeing = await begun(moves, disk)

        victims = moves._victims

        def choose(nbytes, tried):
            chosen = victims(nbytes, tried)
            disk.go.set()
            return chosen

        monkeypatch.setattr(moves, "_victims", choose)
        assert await moves.free(MIB) >= MIB
        assert await freeing >= MIB
        assert not moves.moves
        await moves.close()

    asyncio.run(main())


def test_a_result_replaced_while_it_is_written(data, tmp_path):
    """A result that is deleted during the write leaves no file."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        freeing = await begun(moves, disk)
        del data["x"]
        data["x"] = np.zeros(MIB // 8)
        disk.go.set()
        await freeing
        assert not data["x"].any()
        assert data.spilled_total == (0, 0)
        del data["x"]
        assert "x" not in data
        assert not disk
        await moves.close()

    asyncio.run(main())


class Watched(dict[Any, Any]):
    """Reports look-ups."""

    def __init__(self):
        super().__init__()
        self.asked = asyncio.Event()

    def get(self, key, default=None):
        self.asked.set()
        return super().get(key, default)


@pytest.mark.skipif(problem() is not None, reason=str(problem()))
def test_a_result_shared_while_it_is_written_leaves_memory(data, tmp_path):
    """Who asks for it meanwhile gets it, and calls nothing off."""
    pool = Pool(64 * MIB)

    async def main():
        moves, disk = spilling(data, tmp_path)
        freeing = await begun(moves, disk)
        watched = Watched()
        watched.update(moves.moves)
        moves.moves = watched
        sharing = moves.shared_results = SharedResults(pool, data, moves.run, watched)
        asking = asyncio.create_task(sharing.share("x", data.fast["x"]))
        await watched.asked.wait()
        disk.go.set()
        shared: Any = await asking
        assert shared.handle.load().sum() == MIB // 8
        assert await freeing >= MIB
        assert list(data.slow) == ["x"]
        assert not sharing._published
        await moves.close()

    asyncio.run(main())
    pool.close()


class Stubborn:
    """Is deleted while it is found to have no pickle."""

    def __init__(self, data, key):
        self.delete = partial(data.__delitem__, key)

    def __sizeof__(self):
        return MIB

    def __reduce__(self):
        self.delete()
        raise TypeError("on purpose")


def test_a_result_deleted_while_it_is_pickled_in_vain(data, tmp_path):
    """Others leave all the same."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        disk.go.set()
        data["x"] = Stubborn(data, "x")
        data["y"] = np.ones(MIB // 8)
        assert await moves.free(2 * MIB) >= MIB
        assert not data.fast
        await moves.close()

    asyncio.run(main())


def test_closing_does_not_wait_for_everything(data, tmp_path):
    """Running writes end, and no new ones start."""

    async def main():
        moves, disk = spilling(data, tmp_path)
        for i in range(12):
            data[i] = np.full(MIB // 8, i)
        for _ in range(2):
            await asyncio.to_thread(disk.started.acquire)

        async def let_go():
            disk.go.set()

        await asyncio.gather(moves.close(), let_go())  # which start in this order
        assert len(data.fast) == 10

    asyncio.run(main())


def test_what_may_still_be_spilled(tmp_path):
    """It is distributed's max-spill less what is on disk; there is no limit by default."""
    assert SpillManager(SpillBuffer(str(tmp_path / "all"), target=MIB)).limit is None
    data = SpillBuffer(str(tmp_path / "some"), target=4 * MIB, max_spill=2 * MIB)
    assert SpillManager(data).limit == 2 * MIB
    data["x"] = np.ones(MIB // 8)
    data.evict()
    left = SpillManager(data).limit
    assert left is not None
    assert 0 < left < 2 * MIB


def files(folder):
    """Return the number of files of results."""
    return sum(
        path.is_file() for path in folder.glob("**/marsdask-spill-*/*") if path.name != "lock"
    )


class CountedFiles(Directories):
    """Counts what is written; refuses to write more than so many files."""

    written = 0
    most = sys.maxsize

    def __setitem__(self, key, value):
        if len(self._files) + len(self._aside) >= self.most:
            raise OSError(28, "No space left on device")
        self.written += 1
        super().__setitem__(key, value)


def levels(value):
    """Return the different elements of an array."""
    return np.unique(value).tolist()


def counting(data, tmp_path):
    """Return what spills in the running loop, and its directory."""
    moves, disk = SpillManager(data), CountedFiles([str(tmp_path / "disk")])
    moves.take_over(disk, str(tmp_path / "stock"))
    return moves, disk


def test_a_clean_copy_stays_on_disk(data, tmp_path):
    """What was read back is not written again, unless its name has another value by then."""

    async def main():
        moves, disk = counting(data, tmp_path)
        data["x"] = np.full(MIB // 8, 1)
        for _ in range(3):
            assert await moves.free(MIB) >= MIB
            assert list(data.slow) == ["x"]
            assert data.spilled_total.memory >= MIB
            assert data["x"][0] == 1
            assert (list(data.fast), len(data.slow), len(data)) == (["x"], 0, 1)
            assert data.spilled_total.memory == 0
            assert data.spilled_total.disk >= MIB, "it takes its space"
        assert disk.written == 1
        data["x"] = np.full(MIB // 8, 2)
        await moves.free(MIB)
        assert disk.written == 2
        assert data["x"][0] == 2
        assert files(tmp_path) == 1
        del data["x"]
        assert files(tmp_path) == 0
        assert data.spilled_total == (0, 0)
        await moves.close()
        disk.close()

    asyncio.run(main())


@pytest.mark.parametrize("full", ["max-spill", "disk"])
def test_copies_make_room(full, tmp_path):
    """Where what is spilled needs their space: a copy is never a reason to refuse."""

    async def main():
        limit: Any = int(2.5 * MIB) if full == "max-spill" else False
        data = SpillBuffer(str(tmp_path / "stock"), 100 * MIB, max_spill=limit)
        moves, disk = counting(data, tmp_path)
        if full == "disk":
            disk.most = 2
        for name in "ab":
            data[name] = np.full(MIB // 8, ord(name))
        await moves.free(2 * MIB)
        assert [levels(data[name]) for name in "ab"] == [[97], [98]]
        assert moves.limit is None or moves.limit >= 2 * MIB, "they can be deleted"
        for name in "cd":
            data[name] = np.full(MIB // 8, ord(name))
            await moves.run(data.fast.evict, name)
        assert sorted(data.slow) == ["c", "d"]
        assert files(tmp_path) == 2
        for name in "abcd":
            assert levels(data[name]) == [ord(name)]
        await moves.close()
        disk.close()

    asyncio.run(main())


def test_a_copy_that_is_deleted_as_its_result_is_spilled_again(tmp_path, monkeypatch):
    """The next copy of the same result keeps its file."""
    disk = Directories([str(tmp_path / "disk")])
    writer = SpillWriter(str(tmp_path / "stock"), False, disk)
    value = np.ones(MIB // 8)

    def copy():
        writer["x"] = value
        with writer.reading("x") as refer:
            del writer["x"]
            refer(value)

    drop, other = disk.drop_aside, threading.Thread(target=copy)

    def slowly(key):
        monkeypatch.undo()
        other.start()
        if not writer._lock.locked():
            other.join()
        drop(key)

    monkeypatch.setattr(disk, "drop_aside", slowly)
    copy()
    writer.drop("x")
    other.join()
    writer["x"] = value
    assert (writer["x"] == value).all()
    assert files(tmp_path) == 1
    disk.close()


def test_values_that_cannot_be_recognised_have_no_copy(data, tmp_path):
    """A list may be another one of the same identity by then."""

    async def main():
        moves, disk = counting(data, tmp_path)
        data["x"] = [b"x" * MIB]
        await moves.free(MIB)
        assert data["x"] == [b"x" * MIB]
        assert files(tmp_path) == 0
        assert data.spilled_total == (0, 0)
        await moves.close()
        disk.close()

    asyncio.run(main())
