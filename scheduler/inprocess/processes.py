"""Worker processes: for kernels that hold the GIL, or that must not share a process.

The engine of :mod:`.handles` drives one child for each of its threads. A result is a
:class:`~.worker_process.Blob`. Only a child or :meth:`ProcessesScheduler.gather` makes it a value.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import dask.config
from dask.sizeof import sizeof
from dask.task_spec import Alias, DataNode

from .. import limits
from ..base import Callback, Capabilities, ChunkInfo, Hint, Key, Machine, TaskGraph
from ..storage import private_folder
from ..storage.spill import SpillStore
from ..storage.spill_directories import full, room
from .engine import Engine
from .handles import LocalHandle, LocalScheduler
from .records import DROPPED, LocalJob, TaskRecord
from .worker_process import Blob, WorkerProcess


def _sizeof_blob(blob: Blob) -> int:
    return blob.nbytes


sizeof.register(Blob, _sizeof_blob)


class ProcessEngine(Engine):
    """An engine whose threads pass their tasks to their own children."""

    def __init__(self, nprocesses: int, folder: str | None) -> None:
        super().__init__(math.inf, SpillStore(), nthreads=nprocesses)
        above = folder or tempfile.gettempdir()
        private_folder.check(above)
        self.folder = tempfile.mkdtemp(prefix="marsdask-", dir=above)
        self._native_threads = max(1, limits.cpus() // nprocesses)
        self._children: list[WorkerProcess] = []
        self._busy: dict[TaskRecord, WorkerProcess] = {}
        self._own = threading.local()

    def evaluate(self, item: TaskRecord) -> Blob:
        """Let this thread's child compute the record."""
        if self.room() == 0:
            raise full([f"{self.folder}: a tenth of the disk stays free"])
        node = item.node
        assert node is not None
        values: dict[Key, Blob] = {source.key: source.value for source in item.inputs}
        if isinstance(node, Alias):
            return values[node.target]
        child = self._child()
        if isinstance(node, DataNode):
            return Blob.of(node.value, child.new_path())
        # A record leaves under the lock, so under the lock a busy thread is busy with this record.
        self._busy[item] = child
        try:
            return child.run(item.key, node, values, lambda: item.status != DROPPED)
        finally:
            del self._busy[item]

    def room(self) -> int | None:
        """Return the bytes that results may still use, None without a folder."""
        try:
            return room(self.folder)
        except OSError:
            return None

    def shown(self, value: Blob) -> Any:
        return value.load()

    def _child(self) -> WorkerProcess:
        child: WorkerProcess | None = getattr(self._own, "child", None)
        if child is None:
            child = self._own.child = WorkerProcess(self.folder, self._native_threads)
            self._children.append(child)
            if self.closed:  # `dispose` may have run before
                child.kill(for_good=True)
        return child

    def cancel(self, job: LocalJob) -> None:
        """End a submission and the processes that run tasks only for it."""
        super().cancel(job)
        with self.locked():
            for item, child in list(self._busy.items()):
                if item.status == DROPPED:
                    child.kill()

    def dispose(self) -> None:
        """Kill the processes and remove the files, except in a forked child."""
        if os.getpid() != self.pid:
            return
        for child in self._children:
            child.kill(for_good=True)
        super().dispose()
        shutil.rmtree(self.folder, ignore_errors=True)


class ProcessesScheduler(LocalScheduler):
    """Runs tasks in ``nprocesses`` other processes (default: one for each CPU).

    Arguments and results are pickled. Results above 64 KiB become files in a new folder below
    ``folder`` (default: the directory for temporary files), which are deleted with the results.
    Tasks cannot reach the scheduler. Cancelling kills the processes that run nothing but the
    cancelled job.
    """

    name = "processes"
    capabilities = Capabilities(spill=True, observers=True)

    def __init__(self, *, nprocesses: int | None = None, folder: str | None = None) -> None:
        nprocesses = nprocesses or dask.config.get("marsdask.nprocesses", None) or limits.cpus()
        if nprocesses < 1:
            raise ValueError(f"nprocesses must be positive, not {nprocesses!r}")
        self.nprocesses = nprocesses
        self._processes = ProcessEngine(nprocesses, folder)
        super().__init__(self._processes)

    def machine(self) -> Machine:
        """Return the machine; results are files, so the disk limits them."""
        return Machine(
            threads=self.nprocesses,
            spill=self._processes.room(),
            smallest=limits.memory() // self.nprocesses,
        )

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        *,
        hints: Mapping[Key, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> LocalHandle:
        return self._submit(graph, keys, hints, callbacks, drive=False)

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        return [blob.load() for blob in super().gather(keys)]

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        return [blob.info() for blob in super().gather(keys)]
