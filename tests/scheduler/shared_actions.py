"""The functions that processes run in tests of shared memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_handle import SharedHandle

#: Values that the process keeps between calls.
held: dict[Any, Any] = {}


def load(handle: SharedHandle) -> Any:
    """Return the value, by way of the pipe."""
    return handle.load()


def hold(name: str, handle: SharedHandle) -> float:
    """Open an array, read all of it, and keep it."""
    held[name] = handle.load()
    return float(held[name].sum())


def total(name: str) -> float:
    """Read an array that is held."""
    return float(held[name].sum())


def spoil(name: str) -> None:
    """Write all over an array that is held."""
    held[name][:] = -1


def drop(name: str) -> None:
    """Keep something no more."""
    del held[name]


def pass_on(name: str, handle: SharedHandle) -> SharedHandle:
    """Open a value and return a handle to it that names this process."""
    held[name] = opened = handle.open()
    return opened.handle


def publish(name: str, size: int, folder: str | None = None, limit: int = 1 << 30) -> Any:
    """Publish ones, keep them published, and return the handle."""
    pool = held.get(("pool", folder)) or Pool(limit, folder)
    held["pool", folder] = pool
    shared = held[name] = pool.publish(np.ones(size))
    return shared and shared.handle


def publish_to_a_full_disk(size: int, folder: str | None) -> tuple[bool, int]:
    """Publish where no file may get that large; return whether it was, and what is taken."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, hard))
    try:
        pool = Pool(1 << 30, folder)
        return pool.publish(np.ones(size // 8)) is not None, pool.nbytes
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def few_descriptors(count: int) -> Iterator[None]:
    """Let this process have no more files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def left() -> int:
    """Return how many more files may be open."""
    more = []
    with suppress(OSError):
        while True:
            more.append(os.dup(0))
    for descriptor in more:
        os.close(descriptor)
    return len(more)


def publish_many(size: int, count: int) -> tuple[int, int, int]:
    """Publish arrays while few files may be open.

    Return how many there were, how many more descriptors there are, and how many larger arrays can
    be published when these are gone.
    """
    with few_descriptors(count):
        pool = Pool(1 << 30, share_from=0)
        values = [pool.publish(np.ones(size)) for _ in range(count)]
        published, more = sum(value is not None for value in values), left()
        values.clear()
        values = [pool.publish(np.ones(2 * size)) for _ in range(count)]
        return published, more, sum(value is not None for value in values)


def keep_many(function: Callable[..., Any], arguments: Any, count: int) -> tuple[int, int]:
    """Keep arrays of ones that a function returns, while few files may be open.

    Return how many there were, and how many more descriptors there are.
    """
    with few_descriptors(count):
        values = [function(*arguments) for _ in range(count)]
        return sum(bool((value == 1).all()) for value in values), left()


def become(uid: int) -> None:
    """Run for another user from now on."""
    os.setresuid(uid, uid, uid)


def resident() -> int:
    """Return what this process is charged."""
    pool: Pool = held.get(("pool", None)) or Pool(1 << 30)
    return pool.resident()


def proportional() -> int:
    """Return this process's memory, pages of several processes in parts."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return next(int(x.split()[1]) << 10 for x in text.splitlines() if x.startswith("Pss:"))


def inodes() -> set[int]:
    """Return which segments are mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {int(line.split()[4]) for line in lines if "memfd:marsdask" in line}
