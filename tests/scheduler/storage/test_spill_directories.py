"""Spill directories are locked by their process, and swept when it was killed."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage import spill_directories
from marsdask.scheduler.storage.spill import SpillStore

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]


def contents(folder):
    return [f for path in folder.iterdir() for f in path.iterdir() if f.name != "lock"]


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
        spill_directories.sweep(str(folders[0]))
        return step(*args)

    monkeypatch.setattr(owner, just_before, sweep_first)
    store = SpillStore([str(folders[0])])
    assert store.write(1).read() == 1
    assert getattr(owner, just_before) is step
    (mine,) = folders[0].iterdir()
    spill_directories.sweep(str(folders[0]))
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
            spill_directories.sweep(str(folders[0]))
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
        spill_directories.sweep(str(folders[0]))
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
        spill_directories.sweep(str(folders[0]))
        assert [path.name for path in folders[0].iterdir()] == [".marsdask-spill-now"]
    spill_directories.sweep(str(folders[0]))
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
    spill_directories.sweep(str(folders[0]))
    assert (theirs / "lock").exists()


def test_a_folder_where_others_may_write(store, folders):
    """They could put their pickles there: it is passed over, and the error says why."""
    for folder in folders:
        folder.chmod(0o777)
    with pytest.raises(SpillFull, match="other users may write"):
        store.write(1)
    with pytest.raises(PermissionError, match="other users may write"):
        spill_directories.check_writable(str(folders[0]))
