"""Spill directories: used in turn, limited, and removed with their process."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage import files, spill
from marsdask.scheduler.storage.spill import SpillStore
from tests.subprocesses import in_fork

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]


def contents(folder):
    return [f for path in folder.iterdir() for f in path.iterdir() if f.name != "lock"]


@pytest.fixture
def folders(tmp_path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        path.mkdir()
    return paths


@pytest.fixture
def store(folders):
    store = SpillStore(list(map(str, folders)))
    yield store
    store.close()


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


CHILD = """
import os, sys
from marsdask.scheduler.storage import files
from marsdask.scheduler.storage.spill import SpillStore
store = SpillStore([sys.argv[1]])
store.write(1)
print("ready", flush=True)
if sys.argv[2] == "die":
    os._exit(0)
sys.stdin.read()
"""


def child(folder, what):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
@pytest.mark.parametrize("just_before", ["open", "flock", "rename"])
def test_two_that_start_at_once(folders, monkeypatch, just_before):
    """One that sweeps before the other's directory is locked costs it another try, at most."""
    owner = {"open": Path, "flock": fcntl, "rename": os}[just_before]
    step = getattr(owner, just_before)

    def sweep_first(*args):
        monkeypatch.setattr(owner, just_before, step)
        spill._sweep(str(folders[0]))
        return step(*args)

    monkeypatch.setattr(owner, just_before, sweep_first)
    store = SpillStore([str(folders[0])])
    assert store.write(1).read() == 1
    assert getattr(owner, just_before) is step
    (mine,) = folders[0].iterdir()
    spill._sweep(str(folders[0]))
    assert mine.exists()
    store.close()
    assert not list(folders[0].iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_one_that_is_swept_again_and_again(folders, monkeypatch):
    """Its directory takes nothing, and it does not try for ever."""
    lock = fcntl.flock

    def sweep_first(file, how):
        with monkeypatch.context() as patched:
            patched.setattr(fcntl, "flock", lock)
            spill._sweep(str(folders[0]))
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", sweep_first)
    store = SpillStore([str(folders[0])])
    with pytest.raises(SpillFull, match="one: No such file"):
        store.write(1)
    assert not list(folders[0].iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_a_folder_that_somebody_has_locked(store, folders):
    """It is used anyway: any reader of a shared folder can lock files in it."""
    descriptors = [os.open(folder, os.O_RDONLY) for folder in folders]
    for descriptor in descriptors:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    writer = threading.Thread(target=store.write, args=(1,))
    writer.start()
    writer.join(10)
    waited = writer.is_alive()
    for descriptor in descriptors:
        os.close(descriptor)
    writer.join(10)
    assert not waited


@pytest.mark.skipif(sys.platform == "win32", reason="uses fork")
def test_a_forked_child_removes_no_file(store):
    """It drops only its own copy of the reference."""
    file = store.write([1, 2])
    assert in_fork(file.remove) == "None"
    assert file.read() == [1, 2]
    file.remove()
    assert not os.path.exists(file.path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_a_child_that_is_forked_during_a_sweep(folders, monkeypatch, tmp_path):
    """It inherits the descriptors of the moment, but keeps nothing locked by them."""
    leftover = folders[0] / "marsdask-spill-leftover"
    leftover.mkdir()
    (leftover / "lock").touch()
    os.link(leftover / "lock", tmp_path / "lock")
    inherited, lock = [], fcntl.flock

    def fork(file, how):
        lock(file, how)
        inherited.append(os.dup(file if isinstance(file, int) else file.fileno()))

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", fork)
        spill._sweep(str(folders[0]))
    assert inherited
    assert not leftover.exists()
    with (tmp_path / "lock").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for descriptor in inherited:
        os.close(descriptor)


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_directories_that_were_never_finished(folders):
    """Those of processes that were killed while they made them go, but not one that is locked."""
    for name in ("early", "late", "now"):
        (folders[0] / f".marsdask-spill-{name}").mkdir()
    for name in ("late", "now"):
        (folders[0] / f".marsdask-spill-{name}" / "lock").touch()
    with (folders[0] / ".marsdask-spill-now" / "lock").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        spill._sweep(str(folders[0]))
        assert [path.name for path in folders[0].iterdir()] == [".marsdask-spill-now"]
    spill._sweep(str(folders[0]))
    assert not list(folders[0].iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_a_folder_without_locks(folders, monkeypatch):
    """Some file systems have none: it is used, and nothing in use is swept."""

    def refuse(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    stores = [SpillStore([str(folders[0])]) for _ in range(2)]
    written = [store.write(i) for i, store in enumerate(stores)]
    assert [file.read() for file in written] == [0, 1]
    for store in stores:
        store.close()
    assert not list(folders[0].iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that die with their process")
def test_what_the_dead_left_is_swept(folders):
    """Directories of killed processes go, those of living ones stay."""
    with child(folders[0], "die") as dead:
        dead.wait(60)
    with child(folders[0], "live") as living:
        assert living.stdout.readline() == "ready\n"
        store = SpillStore([str(folders[0])])
        store.write(1)
        assert len(list(folders[0].iterdir())) == 2
        store.close()
        assert len(contents(folders[0])) == 1
        living.stdin.close()
        living.wait(60)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="NOT TESTED WITHOUT ROOT: gives away"
)
def test_what_another_user_left_is_not_swept(folders):
    """Nor is their lock opened, which may be a link to a file of this user."""
    theirs = folders[0] / "marsdask-spill-theirs"
    theirs.mkdir()
    (theirs / "lock").touch()
    os.chown(theirs, 54321, 54321)
    spill._sweep(str(folders[0]))
    assert (theirs / "lock").exists()


def test_a_folder_where_others_may_write(store, folders):
    """They could put their pickles there: it is passed over, and the error says why."""
    for folder in folders:
        folder.chmod(0o777)
    with pytest.raises(SpillFull, match="other users may write"):
        store.write(1)
    with pytest.raises(PermissionError, match="other users may write"):
        spill.check_writable(str(folders[0]))
