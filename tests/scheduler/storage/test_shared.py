"""Values in memory that several processes see."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.errors import SharedGone
from marsdask.scheduler.storage import files
from marsdask.scheduler.storage import shared as storage
from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_segment import problem
from marsdask.scheduler.worker.shared_transfers import SharedTransfer
from tests.scheduler import shared_actions as actions
from tests.scheduler.peer import eventually, peers

pytestmark = pytest.mark.skipif(problem() is not None, reason=str(problem()))

MIB = 1 << 20
N = 1 << 15


@pytest.fixture
def pool():
    pool = Pool(64 * MIB)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def readers():
    with peers(2) as started:
        yield started


def frame():
    return pd.DataFrame(
        {
            "number": np.arange(N, dtype=float),
            "text": pd.Series([f"word {i}" for i in range(N)], dtype="str"),
            "kind": pd.Categorical(np.array(["a", "b", "c"]).repeat(N)[::3]),
            "maybe": pd.array(np.arange(N), dtype="Int64"),
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(N), unit="s"),
        },
        index=pd.RangeIndex(5, 5 + N),
    )


VALUES = {
    "array": lambda: np.arange(N * 4.0).reshape(N, 4),
    "by columns": lambda: np.asfortranarray(np.arange(N * 4).reshape(N, 4)),
    "strided": lambda: np.arange(N * 8)[::2],
    "dates": lambda: np.arange(N * 4).astype("M8[s]"),
    "records": lambda: np.zeros(N, [("x", "i4"), ("y", "f8")]),
    "frame": frame,
    "series": lambda: frame()["text"],
    "arrow": lambda: pa.table({"x": np.arange(N), "y": [str(i) for i in range(N)]}),
    "nested": lambda: {"a": [np.ones(N), (np.zeros(N), None)], "b": frame(), "c": np.empty(0)},
}


def published(pool, value):
    shared = pool.publish(value)
    assert shared is not None
    return shared


def assert_same(actual, expected):
    assert type(actual) is type(expected)
    if isinstance(expected, dict | list | tuple):
        assert len(actual) == len(expected)
        keys = expected if isinstance(expected, dict) else range(len(expected))
        for key in keys:
            assert_same(actual[key], expected[key])
    elif isinstance(expected, pd.DataFrame | pd.Series):
        assert actual.equals(expected)
        assert actual.index.equals(expected.index)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(actual, expected, strict=True)
    else:
        assert actual == expected


@pytest.mark.parametrize("folder", [False, True], ids=["memory", "folder"])
@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_round_trip(make, folder, readers, tmp_path):
    """Another process gets an equal value; only a small part of it was sent."""
    value = make()
    pool = Pool(64 * MIB, str(tmp_path) if folder else None, share_from=N)
    shared = published(pool, value)
    assert len(pickle.dumps(shared.handle)) < shared.handle.nbytes // 4
    assert_same(readers[0].call(actions.load, shared.handle), value)
    assert_same(shared.handle.load(), value)
    assert not list(tmp_path.iterdir())
    pool.close()


class Unwilling:
    """What has no pickle, and says so in its own way."""

    def __sizeof__(self):
        return 8 * MIB

    def __reduce__(self):
        raise RuntimeError("on purpose")


@pytest.mark.parametrize(
    "value",
    [
        np.ones(1000),
        b"bytes" * MIB,
        np.array([f"text {i}" for i in range(N)], object),
        ["list"] * MIB,
        [np.ones(MIB), threading.Lock()],
        [np.ones(MIB), Unwilling()],
    ],
    ids=["small", "bytes", "objects", "list", "no pickle", "an error of its own"],
)
def test_what_is_not_worth_it_travels_as_ever(value, pool):
    """Small values, values without large buffers and what has no pickle are not published."""
    assert pool.publish(value) is None
    assert pool.nbytes == 0


@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(N, 4 * N)), min_size=1, max_size=4))
def test_large_copies_begin_apart_from_their_sources(shapes):
    """Large buffers keep a minimum distance from their source within a page."""
    memory = np.arange(5 * N).astype(np.uint8)
    pool = Pool(64 * MIB, share_from=1)
    sources = [memory[start : start + length] for start, length in shapes]
    shared = published(pool, sources)
    for source, part in zip(sources, shared.handle.parts, strict=True):
        assert part.stop - part.start == source.nbytes
        ahead = (part.start - source.ctypes.data) % 4096
        assert source.nbytes < 64 << 10 or ahead >= 1 << 10
    for value, source in zip(shared.handle.load(), sources, strict=True):
        np.testing.assert_array_equal(value, source)
    pool.close()


def test_a_second_reader_copies_nothing(pool, readers):
    """Owner and readers map one inode, and the pages are there once, however many read them."""
    nbytes = 32 * MIB
    before = sum(reader.call(actions.proportional) for reader in readers)
    shared = pool.publish(np.ones(nbytes // 8))
    mine = shared.handle.load()
    assert mine.sum() == nbytes // 8
    for reader in readers:
        assert reader.call(actions.hold, "x", shared.handle) == nbytes // 8
    inode = os.fstat(shared.handle.descriptor).st_ino
    assert all(inode in reader.call(actions.inodes) for reader in readers)
    # Three processes have mapped it, so two of them are charged two thirds.
    taken = sum(reader.call(actions.proportional) for reader in readers) - before
    assert nbytes // 2 < taken < nbytes
    for reader in readers:
        reader.call(actions.drop, "x")


def test_accounts_add_up(readers):
    """Shared pages count only for their owner, read or not."""
    nbytes = 32 * MIB
    with peers(1) as [owner]:
        everybody = [owner, *readers]
        before = [peer.call(actions.resident) for peer in everybody]
        handle = owner.call(actions.publish, "x", nbytes // 8)
        for reader in readers:
            reader.call(actions.hold, "x", handle)
        after = [peer.call(actions.resident) for peer in everybody]
        growth = [b - a for a, b in zip(before, after, strict=True)]
        # The array that was published may not have been given back by the allocator.
        assert nbytes <= growth[0] < 2.5 * nbytes
        assert max(growth[1:]) < nbytes // 4
        for reader in readers:
            reader.call(actions.drop, "x")


def test_writing_to_a_value_is_private(pool, readers):
    """A task that modifies its input changes only its own copy."""
    shared = pool.publish(np.ones(MIB))
    one, other = readers
    one.call(actions.hold, "x", shared.handle)
    other.call(actions.hold, "x", shared.handle)
    one.call(actions.spoil, "x")
    assert one.call(actions.total, "x") == -MIB
    assert other.call(actions.total, "x") == shared.handle.load().sum() == MIB
    for reader in readers:
        reader.call(actions.drop, "x")


@pytest.mark.parametrize("ended", ["dropped", "killed"])
def test_memory_is_used_again_when_the_last_reader_has_ended(ended):
    """A reader keeps what it reads though the owner has dropped it, and not beyond its own end."""
    pool = Pool(12 * MIB)
    with peers(1) as [reader]:
        shared = published(pool, np.ones(MIB))
        handle = shared.handle
        reader.call(actions.hold, "x", handle)
        del shared
        assert pool.publish(np.zeros(MIB)) is None  # 8 of 12 MiB are being read
        assert reader.call(actions.total, "x") == MIB
        if ended == "killed":
            reader.kill()
        else:
            reader.call(actions.drop, "x")
        again = eventually(lambda: pool.publish(np.zeros(MIB)))
        assert again.handle.descriptor == handle.descriptor
        with pytest.raises(SharedGone):
            handle.load()
        assert again.handle.load().sum() == 0
    pool.close()


def test_a_killed_owner_leaves_nothing_but_what_is_read(tmp_path):
    """Readers continue and share it; others cannot open it; no file is left."""
    files = set(os.listdir("/dev/shm"))
    with peers(3) as [owner, reader, third]:
        handles = {}
        for name, where in (("x", None), ("y", str(tmp_path))):
            handle = owner.call(actions.publish, name, MIB, where)
            handles[name] = handle, reader.call(actions.pass_on, name, handle)
        owner.kill()
        for name, (handle, passed) in handles.items():
            assert third.call(actions.hold, name, passed) == MIB
            with pytest.raises(SharedGone):
                third.call(actions.load, handle)
        reader.kill()
        assert [third.call(actions.total, name) for name in "xy"] == [MIB, MIB]
        for handle in chain(*handles.values()):
            with pytest.raises(SharedGone):
                handle.load()
    assert not any("marsdask" in name for name in {*os.listdir("/dev/shm")} - files)
    assert not list(tmp_path.iterdir())


def test_a_full_pool_makes_room_of_what_is_idle_only(pool):
    """Values that are published stay; dropped ones give way; trim frees them at once."""
    third = 21 * MIB // 8
    kept = [published(pool, np.full(third, i)) for i in range(3)]
    assert pool.publish(np.ones(MIB)) is None
    kept.pop()
    small = pool.publish(np.ones(MIB))
    assert small is not None
    assert pool.nbytes <= 64 * MIB
    assert [shared.handle.load()[-1] for shared in kept] == [0, 1]
    taken = pool.nbytes
    del small
    assert pool.trim() > 0
    assert pool.nbytes < taken
    assert pool.trim() == 0


@pytest.mark.parametrize("folder", [False, True], ids=["memory", "folder"])
def test_a_full_disk_is_no_error(folder, readers, tmp_path):
    """A value that cannot be written is not published and takes no memory."""
    where = str(tmp_path) if folder else None
    assert readers[0].call(actions.publish_to_a_full_disk, 8 * MIB, where) == (False, 0)


def test_descriptors_are_left_for_connections(readers, tmp_path):
    """A process with many values shares no further ones, and copies received ones."""
    published, left, again = readers[0].call(actions.publish_many, N, 200)
    assert 20 < published < 150
    assert left >= 50
    assert 20 < again < 150
    handle = readers[0].call(actions.publish, "x", MIB)
    files.write(tmp_path / "x", np.ones(MIB))
    for come in (SharedTransfer(handle).__reduce__(), (files.read, (tmp_path / "x",))):
        arrived, left = readers[1].call(actions.keep_many, *come, 200)
        assert arrived == 200
        assert left > 40


def test_threads_share_the_limit():
    """However many publish at once, the pool never takes more than it may."""
    pool = Pool(40 * MIB)
    start = threading.Barrier(8)

    def publish(i):
        start.wait()
        shared = pool.publish(np.full(MIB, i))
        assert pool.nbytes <= pool.limit
        return i, shared

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(publish, range(8)))
    published = [(i, shared) for i, shared in results if shared]
    assert 1 <= len(published) <= 4
    for i, shared in published:
        assert (shared.handle.load() == i).all()
    pool.close()
    assert pool.nbytes == 0
    assert pool.publish(np.ones(MIB)) is None


STEPS = st.lists(
    st.tuples(st.sampled_from(["publish", "open", "drop", "close", "trim"]), st.integers(0, 7)),
    max_size=40,
)


@given(STEPS)
def test_no_content_changes_under_a_reader(steps):
    """For any order of operations, all readers see the published values."""
    pool = Pool(16 * N, share_from=0)
    published, opened, forgotten = {}, {}, {}
    for serial, (step, i) in enumerate(steps):
        if step == "publish" and (shared := pool.publish(np.full(N // 8 * (1 + i), serial))):
            published[i] = shared, serial
        elif step == "open" and i in published:
            shared, expected = published[i]
            opened[i] = shared.handle.load(), expected
            forgotten[i] = shared.handle, expected
        elif step == "drop":
            published.pop(i, None)
        elif step == "close":
            opened.pop(i, None)
        elif step == "trim":
            pool.trim()
        assert pool.nbytes <= pool.limit
        for value, expected in opened.values():
            assert (value == expected).all()
    for handle, expected in forgotten.values():
        try:
            assert (handle.load() == expected).all()
        except SharedGone:
            assert all(shared.handle is not handle for shared, _ in published.values())
    pool.close()


def test_other_platforms_say_so():
    """Without memfd and flock the modules import, and nothing is published."""
    script = """
import os, sys
sys.modules["fcntl"] = None
for name in ("memfd_create", "O_TMPFILE", "geteuid"):
    delattr(os, name)
import numpy as np
from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_handle import place
pool = Pool(1 << 30)
assert pool.problem == "only Linux shares memory without names", pool.problem
assert pool.publish(np.ones(1 << 20)) is None
assert str(os.getpid()) in place()
pool.close()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("folder", [False, True], ids=["memory", "folder"])
def test_files_are_not_charged(folder, tmp_path, monkeypatch):
    """As Mars documents, values in ``--plasma-dir`` do not count as used memory."""
    monkeypatch.setattr(storage, "own_memory", lambda pid: 7)
    pool = Pool(64 * MIB, str(tmp_path) if folder else None)
    shared: Any = pool.publish(np.ones(MIB))
    nbytes = pool.nbytes
    assert nbytes > 8 * MIB
    assert pool.resident() == 7 + (0 if folder else pool.nbytes)
    shared.release()
    assert pool.unused() == (0 if folder else pool.nbytes)
    assert pool.trim() == (0 if folder else nbytes)
    assert pool.nbytes == 0
    pool.close()


def test_what_outlives_its_pool(tmp_path):
    """Its descriptor may be reused for another file, which stays untouched."""
    pool = Pool(64 * MIB)
    shared: Any = pool.publish(np.ones(MIB))
    pool.close()
    number = shared.handle.descriptor
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    if other != number:
        os.dup2(other, number)
        os.close(other)
    shared.release()
    assert pool.unused() == pool.trim() == 0
    os.close(number)


def test_a_folder_that_cannot_be_used_says_so(tmp_path):
    """The reason names the folder."""
    pool = Pool(MIB, str(tmp_path / "missing"))
    assert "missing" in str(pool.problem)
    assert pool.publish(np.ones(MIB)) is None
