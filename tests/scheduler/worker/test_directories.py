"""Spilled results in several directories."""

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from marsdask.scheduler.storage.files import contents
from marsdask.scheduler.worker.directories import Directories, purge


@pytest.fixture
def paths(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    return [str(tmp_path / name) for name in "ab"]


def files(path):
    """Return the spilled files below a path."""
    return [os.path.join(d, f) for d, _, names in os.walk(path) for f in names if "lock" not in f]


def test_they_take_turns(paths):
    """Values come back, half of them from each; deleting removes the file."""
    store = Directories(paths)
    for number in range(10):
        store[("key", number)] = [b"a" * number, memoryview(b"b")]
    assert [len(files(path)) for path in paths] == [5, 5]
    assert bytes(store[("key", 3)]) == b"aaab"
    assert ("key", 3) in store
    del store[("key", 3)]
    assert ("key", 3) not in store
    assert len(store) == len(list(store)) == 9
    assert sum(len(files(path)) for path in paths) == 9
    store.close()
    assert not any(files(path) for path in paths)


def test_a_file_that_somebody_else_removed(paths):
    """Deleting what it held is no error: that would end the worker."""
    store = Directories(paths)
    store["key"] = b"a"
    os.unlink(store._files["key"][0])
    del store["key"]
    assert "key" not in store
    store.close()


@pytest.mark.parametrize("removed", ["its own directory", "the whole path"])
def test_a_directory_that_somebody_else_removed(paths, removed, caplog):
    """It is made again, with one warning; what was in it is lost, and nothing else."""
    store = Directories(paths)
    store["lost"], store["kept"] = b"a", b"b"
    shutil.rmtree(paths[0] if removed == "the whole path" else store.directories.path(paths[0]))
    for number in range(4):
        store[number] = b"c"
    assert [bytes(store[number]) for number in range(4)] == [b"c"] * 4
    assert len(files(paths[0])) == 2
    assert bytes(store["kept"]) == b"b"
    with pytest.raises(FileNotFoundError):
        store.check("lost")
    assert caplog.text.count("was removed") == 1
    store.close()
    assert not any(files(path) for path in paths)


def test_files_that_cannot_be_read(paths, monkeypatch):
    """Unless another thread deletes the result meanwhile, and what is not here is no error."""
    store = Directories(paths)
    store["key"] = store["other"] = b"a"
    store.check("key")
    store.check("unknown")
    os.unlink(store._files["key"][0])
    with pytest.raises(FileNotFoundError):
        store.check("key")

    def late(*found):
        del store["other"]
        return contents(*found)

    monkeypatch.setattr("marsdask.scheduler.worker.directories.contents", late)
    store.check("other")
    store.close()


def test_what_cannot_be_mapped_is_read(paths, monkeypatch):
    """At the system's limit of mappings, spilled values are read instead."""

    def refused(*args, **options):
        raise OSError(12, "Cannot allocate memory")

    store = Directories(paths)
    store["key"] = [b"a" * 10, bytes(2**18)]
    monkeypatch.setattr("mmap.mmap", refused)
    assert bytes(store["key"]) == b"a" * 10 + bytes(2**18)
    store.close()


def test_a_directory_that_refuses_is_passed_over(paths, monkeypatch):
    """A full disk costs nothing while another has room; the last failure is the error."""
    store = Directories(paths)
    full = {store.directories.path(paths[0])}
    real = open

    def opened(path, mode="r"):
        if mode == "wb" and os.path.dirname(path) in full:
            raise OSError(28, "No space left on device")
        return real(path, mode)

    monkeypatch.setattr("builtins.open", opened)
    for number in range(4):
        store[number] = b"x"
    assert [len(files(path)) for path in paths] == [0, 4]
    full.add(store.directories.path(paths[1]))
    with pytest.raises(OSError, match="No space"):
        store[5] = b"x"
    assert 5 not in store
    monkeypatch.undo()
    store[5] = b"x"
    assert bytes(store[5]) == b"x"
    store.close()


def test_what_a_killed_process_left_is_swept(paths):
    """The next process that uses a directory removes unlocked leftovers."""
    code = (
        "import os, sys\n"
        "from marsdask.scheduler.worker.directories import Directories\n"
        "store = Directories(sys.argv[1:]); store[1] = b'x'; store[2] = b'x'; os._exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code, *paths], check=False, timeout=60)
    assert [len(files(path)) for path in paths] == [1, 1]
    store = Directories(paths)
    assert not any(files(path) for path in paths)
    store.close()


def test_numbers_come_back_where_they_may_lie(paths):
    """The largest part is mapped, aligned, and can be modified without the file."""
    store = Directories(paths)
    numbers = np.arange(1 << 16)
    store["x"] = [b"header", numbers.data, b"tail"]
    read = np.frombuffer(store["x"][6:-4], np.int64)
    assert read.flags.aligned
    assert read.flags.writeable
    read[:] = 0
    assert (np.frombuffer(store["x"][6:-4], np.int64) == numbers).all()
    del store["x"]
    assert (read == 0).all()
    store.close()


@pytest.mark.parametrize(("parallel", "together"), [(1, 2), (2, 4), (65536, 6)])
def test_so_many_files_at_the_same_time(parallel, together, paths, monkeypatch):
    """Each directory is written to by as many threads as it may be."""
    store = Directories(paths, parallel)
    started, go = threading.Semaphore(0), threading.Event()
    real = open

    def opened(path, mode="r"):
        if mode == "wb":
            started.release()
            assert go.wait(60)
        return real(path, mode)

    monkeypatch.setattr("builtins.open", opened)
    with ThreadPoolExecutor(6) as threads:
        writes = [threads.submit(store.__setitem__, number, b"x") for number in range(6)]
        for _ in range(together):
            assert started.acquire(timeout=60)
        assert not started.acquire(timeout=0.05)
        go.set()
        for write in writes:
            write.result(60)
    assert len(store) == 6
    store.close()


def test_a_directory_that_others_share(tmp_path):
    """What they put there is not touched: files and locks are in a private one."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for name in ("global.lock", "purge.lock"):
        (shared / name).symlink_to(precious)
    store = Directories([str(shared)])
    store["key"] = b"a"
    purge(str(tmp_path), [str(shared)])
    own = Path(store.directories.path(str(shared)))
    assert {path.name for path in shared.iterdir()} == {own.name, "global.lock", "purge.lock"}
    assert own.stat().st_mode & 0o77 == 0
    assert files(shared) == files(own)
    assert len(files(own)) == 1
    store.close()
    assert precious.read_text() == "precious"
    shared.chmod(0o777)
    with pytest.raises(PermissionError, match="other users may write"):
        Directories([str(shared)])
