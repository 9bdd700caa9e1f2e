"""Native thread pools get their share of the cores, and are left as they were found."""

import os
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from dask.task_spec import Task, TaskRef
from threadpoolctl import threadpool_info

from marsdask.scheduler.inprocess import native_threads
from marsdask.scheduler.inprocess.native_threads import Libraries, NativeShare
from marsdask.scheduler.inprocess.threads import ThreadsScheduler

DEADLINE = 60


class Library:
    """A library as threadpoolctl shows it, with a record of the changes."""

    def __init__(self, name, user_api="blas", num_threads=8):
        self.filepath = name
        self.user_api = user_api
        self.num_threads = num_threads
        self.changes = []

    def set_num_threads(self, count):
        self.num_threads = count
        self.changes.append(count)


@pytest.fixture
def found(monkeypatch):
    """Replace the libraries, and count the searches."""
    found = SimpleNamespace(libraries=[], searches=0)

    def controller():
        found.searches += 1
        return SimpleNamespace(lib_controllers=list(found.libraries))

    monkeypatch.setattr(native_threads, "ThreadpoolController", controller)
    for name in ("pyarrow", "numexpr"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return found


def test_nothing_is_looked_for_without_a_limit(found):
    """A task that runs alone costs no search."""
    Libraries().set(None)
    assert not found.searches


def test_limits_come_and_go(found):
    """Each change reaches the libraries once, and at the end they are as they were found."""
    library = Library("blas")
    found.libraries.append(library)
    libraries = Libraries()
    for limit in (2, 2, 2, None, None, 4):
        libraries.set(limit)
    assert library.changes == [2, 8, 4]
    libraries.restore()
    assert library.num_threads == 8
    assert found.searches == 1


def test_a_limit_is_never_above_what_was_found(found):
    """OMP_NUM_THREADS=1 and its like are respected."""
    library = Library("blas", num_threads=1)
    found.libraries.append(library)
    Libraries().set(4)
    assert library.num_threads == 1


def test_openmp_is_limited_for_each_thread(found):
    """A thread that comes later is set up, too."""
    library = Library("gomp", user_api="openmp")
    found.libraries.append(library)
    libraries = Libraries()
    libraries.set(2)
    other = threading.Thread(target=libraries.set, args=(2,))
    other.start()
    other.join(DEADLINE)
    assert library.changes == [2, 2]


def test_a_thread_that_leaves_changes_nothing_for_others(found):
    """Pools of the process stay limited while others run tasks; its own are as before."""
    blas, openmp = Library("blas"), Library("gomp", user_api="openmp")
    found.libraries += [blas, openmp]
    libraries = Libraries()
    share = NativeShare(8, 4, libraries)
    share.enter(alone=False)
    share.rest(alone=False)
    assert (blas.num_threads, openmp.num_threads) == (2, 8)
    share.enter(alone=False)
    share.rest()
    assert (blas.num_threads, openmp.num_threads) == (8, 8)


def test_new_libraries_are_found(found, monkeypatch):
    """A module imported later that brings a library is noticed under the same limit."""
    libraries = Libraries()
    monkeypatch.delitem(sys.modules, "xgboost", raising=False)
    libraries.set(2)
    found.libraries.append(Library("late"))
    monkeypatch.setitem(sys.modules, "xgboost", sys)
    libraries.set(2)
    assert found.libraries[0].num_threads == 2


def test_arrow_and_numexpr(found, monkeypatch):
    """They have calls of their own; numexpr, slow to change, is limited until the end."""
    counts = {"arrow": 8, "numexpr": 8}
    arrow = SimpleNamespace(
        cpu_count=lambda: counts["arrow"], set_cpu_count=lambda n: counts.update(arrow=n)
    )
    numexpr = SimpleNamespace(
        get_num_threads=lambda: counts["numexpr"],
        set_num_threads=lambda n: counts.update(numexpr=n),
    )
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setitem(sys.modules, "numexpr", numexpr)
    libraries = Libraries()
    libraries.set(2)
    assert counts == {"arrow": 2, "numexpr": 2}
    libraries.set(None)
    assert counts == {"arrow": 8, "numexpr": 2}
    libraries.restore()
    assert counts == {"arrow": 8, "numexpr": 8}


@pytest.mark.parametrize(
    "cores, workers, alone, beside",
    [(8, 2, None, 4), (8, 3, None, 2), (2, 4, 2, 1), (8, 8, None, 1), (4, 1, 4, 4)],
)
def test_shares(monkeypatch, cores, workers, alone, beside):
    """Workers times native threads is the cores; alone, a quota of a bigger machine still holds."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    asked: list[Any] = []
    libraries: Any = SimpleNamespace(set=asked.append, restore=lambda: asked.append("restored"))
    share = NativeShare(cores, workers, libraries)
    share.enter(alone=True)
    share.enter(alone=False)
    share.rest()
    share.close()
    assert asked == [alone, beside, None, "restored"]


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def meet(barrier):
    barrier.wait(DEADLINE)
    counts = blas_threads()
    barrier.wait(DEADLINE)
    return counts


def alone(*_):
    return blas_threads()


def test_tasks_see_their_share():
    """Side by side one BLAS thread each here, alone all of them, afterwards as before."""
    before = blas_threads()
    workers = os.cpu_count() or 1
    with ThreadsScheduler(nthreads=workers) as scheduler:
        barrier = threading.Barrier(workers)
        tasks: dict[Any, Task] = {i: Task(i, meet, barrier) for i in range(workers)}
        tasks["last"] = Task("last", alone, *map(TaskRef, range(workers)))
        scheduler.submit(tasks, list(tasks)).wait(DEADLINE)
        *beside, last = scheduler.gather(list(tasks))
        if workers > 1:
            assert all(count == 1 for counts in beside for count in counts)
        assert last == before
    assert blas_threads() == before


def test_trim(monkeypatch):
    """Memory is asked back each time, what is kept is set once; without glibc nothing happens."""
    calls: list[Any] = []
    monkeypatch.setattr(native_threads, "_tight", [])
    monkeypatch.setattr(native_threads, "_mallopt", lambda *args: calls.append(args))
    monkeypatch.setattr(native_threads, "_malloc_trim", calls.append)
    native_threads.trim()
    native_threads.trim()
    assert calls == [(native_threads._TRIM_THRESHOLD, native_threads._KEPT), 0, 0]
    monkeypatch.setattr(native_threads, "_malloc_trim", None)
    native_threads.trim()
    assert len(calls) == 3


def test_trim_releases_what_arrow_keeps(monkeypatch):
    """Pyarrow has an allocator of its own, which keeps freed memory too."""
    calls = []
    pool = SimpleNamespace(release_unused=lambda: calls.append("released"))
    arrow = SimpleNamespace(default_memory_pool=lambda: pool)
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    native_threads.trim()
    assert calls == ["released"]
