"""The default scheduler: threads of this process, within a memory limit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import dask.config

from .. import limits
from ..base import Callback, Capabilities, Hint, Machine, TaskGraph
from ..storage.spill import SpillStore
from ..storage.spill_directories import Usage, check_writable
from .engine import Engine
from .handles import LocalHandle, LocalScheduler
from .native_threads import NativeShare

#: The share of the machine's (or container's) memory for results and running tasks.
DEFAULT_SHARE = 0.6

#: Smaller graphs run in the submitting thread.
_FEW, _LITTLE = 8, 256 * 1024


class ThreadsScheduler(LocalScheduler):
    """Runs tasks on threads and keeps results and running tasks within ``memory_limit``.

    Other results are written to ``spill_dirs``, the least recently used first, and mapped back when
    needed. Each argument falls back to ``marsdask.<argument>`` in Dask's configuration.

    * ``nthreads``: by default the CPUs that this process may use.
    * ``memory_limit``: bytes, ``"4GiB"``, or a fraction of the memory (default: 0.6).
    * ``spill_dirs``: by default the directory for temporary files; none of an empty list.
    * ``spill_limit``: bytes on disk, or ``"10GiB"`` (default: no limit).

    A tenth of each disk always stays free; ``disk_usage`` returns the free space.
    """

    name = "threads"
    capabilities = Capabilities(shared_memory=True, locality=True, spill=True, observers=True)

    def __init__(
        self,
        *,
        nthreads: int | None = None,
        memory_limit: float | str | None = None,
        spill_dirs: str | Sequence[str] | None = None,
        spill_limit: int | str | None = None,
        disk_usage: Usage = shutil.disk_usage,
    ) -> None:
        cores = limits.cpus()
        nthreads = nthreads or dask.config.get("marsdask.nthreads", None) or cores
        if nthreads < 1:
            raise ValueError(f"nthreads must be positive, not {nthreads!r}")
        folders = _folders(spill_dirs)
        if spill_limit is None:
            spill_limit = dask.config.get("marsdask.spill-limit", None)
        self.nthreads = nthreads
        self.memory_limit = _budget(memory_limit)
        for folder in folders or ():
            check_writable(folder)
        limit = None if spill_limit is None else limits.parse("spill_limit", spill_limit)
        self._store = SpillStore(folders, limit, disk_usage)
        native = NativeShare(cores, nthreads)
        super().__init__(Engine(self.memory_limit, self._store, nthreads=nthreads, native=native))

    @property
    def bounds(self) -> Mapping[str, Any]:
        """The arguments that give another scheduler these limits."""
        return {
            "memory_limit": self.memory_limit,
            "spill_dirs": self._store.folders,
            "spill_limit": self._store.limit,
        }

    def machine(self) -> Machine:
        """Return the machine, with the current room on disk."""
        room = self._store.room()
        folders = tuple(self._store.folders)
        return Machine(threads=self.nthreads, memory=self.memory_limit, spill=room, folders=folders)

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Hashable],
        *,
        hints: Mapping[Hashable, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> LocalHandle:
        return self._submit(graph, keys, hints, callbacks, drive=_is_small(graph, hints))


def _is_small(graph: TaskGraph, hints: Mapping[Hashable, Hint] | None) -> bool:
    if not hints or len(graph) > _FEW:
        return False
    peaks = [hint.peak if (hint := hints.get(key)) is not None else None for key in graph]
    return all(peak is not None for peak in peaks) and sum(peak or 0 for peak in peaks) <= _LITTLE


def _folders(given: Any) -> list[str] | None:
    """Return the directories for spilled results, or ``None`` for the default."""
    if given is None:
        given = dask.config.get("marsdask.spill-dirs", None)
    if given is None:
        return None
    several = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(folder, str | os.PathLike) and os.fspath(folder) for folder in several):
        raise ValueError(f"invalid spill_dirs: {given!r}; give a directory or a list of them")
    return [os.fspath(folder) for folder in several]


def _budget(limit: float | str | None) -> int:
    if limit is None:
        limit = dask.config.get("marsdask.memory-limit", None)
    if limit is None:
        limit = DEFAULT_SHARE
    return limits.parse("memory_limit", limit, limits.memory())
