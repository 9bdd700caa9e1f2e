"""Spill directories: used in turn, limited, and removed with their process."""

import os
import sys
import threading

import numpy as np
import pytest

from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage import files
from marsdask.scheduler.storage.spill import SpillStore
from tests.subprocesses import in_fork


def contents(folder):
    return [f for path in folder.iterdir() for f in path.iterdir() if f.name != "lock"]


def test_nothing_is_made_before_the_first_file(folders):
    """A store that never spills leaves no trace."""
    store = SpillStore([str(folders[0] / "new")])
    store.close()
    assert not (folders[0] / "new").exists()


def test_values_come_back_writable(store):
    """A loaded value is equal, in private memory."""
    value = np.arange(100_000.0)
    back = store.write(value).read()
    np.testing.assert_array_equal(back, value)
    back += 1


def test_directories_take_turns(store, folders):
    """Each next file goes to the next directory."""
    for i in range(4):
        store.write(i)
    assert [len(contents(folder)) for folder in folders] == [2, 2]


def test_removed_files_are_gone_and_their_values_stay(store, folders):
    """A value that was read may outlive the file."""
    file = store.write(np.arange(100_000.0))
    value = file.read()
    file.remove()
    assert not contents(folders[0])
    assert value.sum() == 99_999 * 50_000


def test_close_removes_the_directories(store, folders):
    """Nothing is left behind."""
    store.write(1)
    store.write(2)
    store.close()
    assert not any(list(folder.iterdir()) for folder in folders)


def test_close_waits_for_a_file_that_is_being_written(store, folders, monkeypatch):
    """Otherwise it would appear in a directory that is about to go."""
    started, gate = threading.Event(), threading.Event()
    write = files.write

    def slow(path, value):
        started.set()
        gate.wait(60)
        return write(path, value)

    monkeypatch.setattr(files, "write", slow)
    writer = threading.Thread(target=store.write, args=(1,))
    closer = threading.Thread(target=store.close)
    writer.start()
    assert started.wait(60)
    closer.start()
    gate.set()
    for thread in (writer, closer):
        thread.join(60)
    assert not any(list(folder.iterdir()) for folder in folders)


def test_the_limit_holds(folders):
    """A store beyond its limit refuses, keeps no file of it, and takes more when there is room."""
    store = SpillStore([str(folders[0])], limit=100_000)
    first = store.write(np.zeros(10_000))
    with pytest.raises(SpillFull, match="100,000"):
        store.write(np.zeros(10_000))
    assert len(contents(folders[0])) == 1
    first.remove()
    store.write(np.zeros(10_000))
    store.close()


def test_a_tenth_of_each_disk_stays_free(folders):
    """Values beyond the reserve go to the next disk or are refused; room() returns the rest."""
    free = dict.fromkeys(map(str, folders), 200_000)

    def usage(folder):
        return 1_000_000, 1_000_000 - free[folder], free[folder]

    store = SpillStore(list(free), usage=usage)
    assert store.room() == 100_000  # both are on one disk
    free[str(folders[0])] = 110_000
    files = [store.write(np.zeros(10_000)) for _ in range(2)]
    assert not contents(folders[0])
    assert len(contents(folders[1])) == 2
    free = dict.fromkeys(free, 100_000)
    with pytest.raises(SpillFull, match="a tenth of the disk stays free"):
        store.write(np.zeros(100))
    files[0].remove()
    assert SpillStore(list(free), 50_000, usage).room() == 0
    free[str(folders[1])] = 400_000
    assert SpillStore(list(free), 50_000, usage).room() == 50_000
    store.close()


def test_a_bad_directory_is_passed_over(folders):
    """The others take what it cannot."""
    (folders[0] / "file").write_text("not a directory")
    store = SpillStore([str(folders[0] / "file"), str(folders[1])])
    files = [store.write(i) for i in range(3)]
    assert [file.read() for file in files] == [0, 1, 2]
    store.close()


def test_only_bad_directories_are_an_error(tmp_path):
    """The error names the directory and the cause, and leaves nothing."""
    (tmp_path / "file").write_text("not a directory")
    store = SpillStore([str(tmp_path / "file")])
    with pytest.raises(SpillFull, match="file: "):
        store.write(1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on files")
def test_a_write_that_fails_halfway_is_an_error(store, folders):
    """Running out of room on the disk is a SpillFull that says why, and leaves no half a file."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(SpillFull, match="one: File too large"):
            store.write(np.zeros(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not any(contents(folder) for folder in folders)
    assert store.write(np.zeros(100_000)).read().size == 100_000


def test_an_unpicklable_value_leaves_no_file(store, folders):
    """Half a file is none."""
    with pytest.raises(TypeError):
        store.write((np.zeros(100_000), (i for i in range(3))))
    assert not contents(folders[0])


@pytest.mark.skipif(sys.platform == "win32", reason="uses fork")
def test_a_forked_child_removes_no_file(store):
    """It drops only its own copy of the reference."""
    file = store.write([1, 2])
    assert in_fork(file.remove) == "None"
    assert file.read() == [1, 2]
    file.remove()
    assert not os.path.exists(file.path)
