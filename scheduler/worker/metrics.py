"""The metrics of a worker process: what it uses, has promised, and may still spill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..cluster.failures import FULL
from ..cluster.metrics import Figure
from ..dask import ROOM

#: What it tells its supervisor with each heartbeat.
_TOLD: Final = ("mars", ROOM, FULL)


def of_worker(worker: Any) -> Iterator[Figure]:
    """Return the figures of a worker process."""
    measures = {name: measure(worker) for name, measure in worker.metrics.items() if name in _TOLD}
    usage = measures["mars"]
    yield Figure.of("worker_cores_used", "Cores that its processes use", usage["cores"])
    yield Figure.of("worker_memory_used_bytes", "Memory of its processes", usage["memory"])
    free = sum(measures.get(ROOM, {"disks": {}})["disks"].values())
    yield Figure.of("worker_spill_free_bytes", "Free space of the disks that it spills to", free)
    full = measures.get(FULL) is not None
    yield Figure.of("worker_spill_full", "1 if its disks take no more results", full)
    admission = getattr(worker.state, "admission", None)
    if admission is not None:
        promised = admission.promised
        yield Figure.of("worker_memory_promised_bytes", "Memory that its tasks may use", promised)
        count = admission.held_back
        yield Figure.of("worker_tasks_held_back", "How often a task has waited for memory", count)
    if worker.shared_results is not None:
        nbytes = worker.shared_results.pool.nbytes
        yield Figure.of("worker_shared_bytes", "Shared memory of its results", nbytes)
