"""Limits the threads and the memory of native libraries in this process.

N parallel tasks that each start one BLAS thread per core run slower than N tasks in sequence.
Parallel tasks therefore get a share of the cores each, and a task that runs alone gets all of them.
Changing a limit takes microseconds, but finding the libraries takes milliseconds. The search is
repeated only after an import of a module with such a library.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from threadpoolctl import ThreadpoolController

#: Modules with a native library that has its own threads.
_BRINGERS = (
    "cv2",
    "faiss",
    "lightgbm",
    "mkl",
    "scipy.linalg",
    "sklearn",
    "tensorflow",
    "torch",
    "xgboost",
)


class Libraries:
    """The thread pools of this process and their limits; ``None`` is the original limit."""

    def __init__(self) -> None:
        self.limit: int | None = None
        self._lock = threading.Lock()
        self._here = threading.local()
        self._modules = -1
        self._bringers: tuple[bool, ...] = ()
        self._pools: list[_Pool] = []
        self._kept: list[_Pool] = []

    def set(self, limit: int | None) -> None:
        """Limit the libraries that the calling thread uses to ``limit`` threads.

        OpenMP counts per calling thread, most others for the whole process.
        """
        here = getattr(self._here, "limit", None)
        if limit == self.limit and limit == here and (limit is None or not self._news()):
            return
        with self._lock:
            if limit is not None:
                self._find()
            self.limit = limit
            self._here.limit = limit
            for pool in self._pools:
                pool.set(limit)
            if limit is not None:
                for pool in self._kept:
                    pool.set(limit)

    def free_thread(self) -> None:
        """Restore the original limits of the calling thread, while others run tasks."""
        with self._lock:
            self._here.limit = None
            for pool in self._pools:
                if pool.per_thread:
                    pool.set(None)

    def restore(self) -> None:
        """Restore the original limits of the calling thread and the process."""
        self.set(None)
        with self._lock:
            for pool in self._kept:
                pool.set(None)

    def _news(self) -> bool:
        count = len(sys.modules)
        if count == self._modules:
            return False
        self._modules = count
        return self._loaded() != self._bringers

    def _loaded(self) -> tuple[bool, ...]:
        return tuple(name in sys.modules for name in (*_BRINGERS, "pyarrow", "numexpr"))

    def _find(self) -> None:
        bringers = self._loaded()
        if bringers == self._bringers:
            return
        self._bringers = bringers
        names = {pool.name for pool in self._pools + self._kept}
        for library in ThreadpoolController().lib_controllers:
            if library.filepath not in names:
                count, change = library.num_threads, partial(_change, library)
                per_thread = library.user_api == "openmp"
                self._pools.append(_Pool(library.filepath, count, change, per_thread=per_thread))
        arrow, numexpr = sys.modules.get("pyarrow"), sys.modules.get("numexpr")
        if arrow is not None and "pyarrow" not in names and hasattr(arrow, "set_cpu_count"):
            self._pools.append(_Pool("pyarrow", arrow.cpu_count(), arrow.set_cpu_count))
        if numexpr is not None and "numexpr" not in names and hasattr(numexpr, "set_num_threads"):
            # It restarts its threads at every change, so it is limited until the end.
            count = numexpr.get_num_threads()
            self._kept.append(_Pool("numexpr", count, numexpr.set_num_threads))


def _change(library: Any, count: int) -> None:
    library.set_num_threads(count)
    # The thread that first sets OpenBLAS controls it, and calls of all others do nothing. Ours take
    # turns, and leave control to a `threadpool_limits` block of the user's, which then wins.
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread()


class _Pool:
    """One pool: its original number of threads, and the last requested one."""

    def __init__(
        self, name: str, found: int, change: Callable[[int], object], *, per_thread: bool = False
    ) -> None:
        self.name = name
        self.per_thread = per_thread
        self._found = found
        self._change = change

    def set(self, limit: int | None) -> None:
        """Change the number of threads; None restores the original number."""
        # Never more than the original number, which the user's environment may set.
        self._change(self._found if limit is None else min(limit, self._found))


#: Pools belong to the process, so all its schedulers share this record.
LIBRARIES = Libraries()


class NativeShare:
    """The number of native threads for a task of one scheduler."""

    def __init__(self, cores: int, workers: int, libraries: Libraries = LIBRARIES) -> None:
        self._libraries = libraries
        self._side_by_side = max(1, cores // workers)
        # Libraries see the machine's cores but not a container's quota.
        self._alone = cores if cores < (os.cpu_count() or 1) else None

    def enter(self, *, alone: bool) -> None:
        """Prepare the calling thread for a task that runs alone or in parallel."""
        self._libraries.set(self._alone if alone else self._side_by_side)

    def rest(self, *, alone: bool = True) -> None:
        """Remove the limits while no task runs: they do not apply to the rest of the process.

        If others run tasks, only those of the calling thread.
        """
        if alone:
            self._libraries.set(None)
        else:
            self._libraries.free_thread()

    def close(self) -> None:
        """Remove the limits permanently."""
        self._libraries.restore()


def _glibc(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # not glibc
        return None


_malloc_trim, _mallopt = _glibc("malloc_trim"), _glibc("mallopt")
_TRIM_THRESHOLD = -1
#: Free bytes at the end of a thread's heap above which glibc releases them.
_KEPT = 2**22
_tight: list[bool] = []


def trim() -> None:
    """Let the allocators return freed memory to the system; they keep reusable memory.

    pyarrow's keeps up to a third of what texts and files took. The first call also reduces the free
    memory that glibc keeps at the end of each thread's heap. It can be 64 MiB, and trimming does
    not release it.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(arrow, "default_memory_pool"):  # else it is being imported
        arrow.default_memory_pool().release_unused()
    if _malloc_trim is None:
        return
    if not _tight and _mallopt is not None:
        _tight.append(True)
        _mallopt(_TRIM_THRESHOLD, _KEPT)
    _malloc_trim(0)
