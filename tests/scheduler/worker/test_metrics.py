"""The figures of a worker process."""

from types import SimpleNamespace

from marsdask.scheduler.cluster.failures import FULL
from marsdask.scheduler.dask import ROOM
from marsdask.scheduler.worker.metrics import of_worker


def figures(worker):
    """Return the single numbers of a worker."""
    return {one.name: one.values[""] for one in of_worker(worker)}


def reports(full):
    """Return what a worker measures for each heartbeat."""
    return {
        "mars": lambda _: {"cores": 1.5, "memory": 100},
        ROOM: lambda _: {"disks": {"1": 10, "2": 5}, "limit": None},
        FULL: lambda _: full,
        "other": None,
    }


def test_figures_are_those_that_it_reports():
    """Its usage, the room of all its disks, what tasks may use, and shared memory."""
    admission = SimpleNamespace(promised=7, held_back=3)
    worker = SimpleNamespace(
        metrics=reports(None),
        state=SimpleNamespace(admission=admission),
        shared_results=SimpleNamespace(pool=SimpleNamespace(nbytes=50)),
    )
    assert figures(worker) == {
        "worker_cores_used": 1.5,
        "worker_memory_used_bytes": 100,
        "worker_spill_free_bytes": 15,
        "worker_spill_full": 0,
        "worker_memory_promised_bytes": 7,
        "worker_tasks_held_back": 3,
        "worker_shared_bytes": 50,
    }


def test_what_is_not_there_is_not_told():
    """A worker without limits or shared memory has no figures of them; a full disk is 1."""
    worker = SimpleNamespace(
        metrics=reports("/tmp is full"), state=SimpleNamespace(), shared_results=None
    )
    found = figures(worker)
    assert found["worker_spill_full"] == 1
    assert len(found) == 4
