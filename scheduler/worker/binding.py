"""Binds workers to cores: CPU affinity, native thread pools, and claims of cores."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from ..storage import private_folder

logger: Final = logging.getLogger(__name__)

#: The variables that native thread pools read when they are loaded; Arrow reads the first one.
POOL_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "NUMBA_NUM_THREADS",
)
#: The variable that polars reads when it is imported: its pool keeps the size that it has then.
POLARS_THREADS = "POLARS_MAX_THREADS"


def available() -> list[int]:
    """Return the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@contextlib.contextmanager
def claimed(count: int, folder: str | None = None) -> Iterator[list[int]]:
    """Yield ``count`` cores, preferably ones that no other caller on this host has claimed.

    A claim is a file lock, which the kernel releases when the process ends. If too few cores are
    free, or lock files cannot be created, the cores with the lowest numbers are shared.
    """
    cores = available()
    with contextlib.ExitStack() as stack:
        mine: list[int] = []
        try:
            where = private_folder.within(folder) if folder else private_folder.temporary()
            for core in cores:
                if len(mine) < count and _lock(stack, os.path.join(where, f"core-{core}")):
                    mine.append(core)
        except OSError as error:
            logger.warning("cannot determine the cores of other processes on this host: %s", error)
        remainder = [core for core in cores if core not in mine]
        yield sorted(mine + remainder[: count - len(mine)])


def _lock(held: contextlib.ExitStack, path: str) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl  # Unix only

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    held.callback(os.close, descriptor)
    return True


def share(cores: Sequence[int], parts: int) -> list[list[int]]:
    """Split the cores into ``parts`` contiguous runs; fewer cores are shared by all parts."""
    if len(cores) < parts:
        return [list(cores)] * parts
    edges = [len(cores) * part // parts for part in range(parts + 1)]
    return [list(cores[start:stop]) for start, stop in itertools.pairwise(edges)]


def bind(cores: Sequence[int], nthreads: int) -> None:
    """Bind this process and its children to the cores, and limit native threads of a task."""
    if hasattr(os, "sched_setaffinity"):
        for thread in _threads():
            with contextlib.suppress(OSError):  # the thread has ended, or the core is offline
                os.sched_setaffinity(thread, cores)
    share = max(1, len(cores) // nthreads)
    import threadpoolctl  # slow to load

    threadpoolctl.threadpool_limits(share)
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].set_cpu_count(len(cores))


def _threads() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]
    except OSError:
        return [0]
