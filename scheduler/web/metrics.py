"""The metrics of a supervisor: jobs, sessions, its role, and sums over its workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..cluster.failures import FULL
from ..cluster.metrics import Figure
from ..dask import ROOM
from .nodes import BAND, worker_detail, worker_resource
from .sessions import dask_clients

#: States of jobs that are told even where no job has them.
_STATES: Final = ("pending", "running", "done", "failed", "cancelled")


def of_supervisor(server: Any) -> Iterator[Figure]:
    """Return the figures of a supervisor and of its whole cluster."""
    failover = server.failover
    yield Figure.of("supervisor_active", "1 if it is the active supervisor", failover.active)
    yield Figure.of("supervisor_epoch", "Grows by one with each takeover", failover.epoch)
    jobs = Counter(job.state for job in server.jobs.jobs.values())
    states = dict.fromkeys(_STATES, 0) | jobs
    yield Figure("jobs", "Known jobs; ended ones are kept for a while", states, "state")
    yield Figure.of("sessions", "Known sessions", len(server.sessions.all()))
    clients = dask_clients(server)
    yield Figure.of("dask_clients", "Clients of Dask, which have no sessions", clients["clients"])
    yield Figure.of("dask_client_tasks", "Unfinished tasks that they wait for", clients["tasks"])
    yield from _of_workers(list(server.workers.values()), server)


def _of_workers(workers: Iterable[Any], server: Any) -> Iterator[Figure]:
    """Return sums over workers: they report their own figures with each heartbeat."""
    memory = dict.fromkeys(("limit", "used", "stored", "spilled", "promised"), 0.0)
    cores = {"limit": 0.0, "used": 0.0}
    full, free = 0, 0.0
    for ws in workers:
        resource = worker_resource(ws, server.nodes.told.get(ws.address, {}))[BAND]
        detail = worker_detail(ws)
        storage = detail["storage"][BAND]
        memory["limit"] += resource["memory_total"]
        memory["used"] += resource["memory_total"] - resource["memory_avail"]
        memory["stored"] += storage["memory"]["size_used"]
        memory["spilled"] += storage["disk"]["size_used"]
        memory["promised"] += detail["quota"][BAND]["allocated_size"]
        cores["limit"] += resource["cpu_total"]
        cores["used"] += resource["cpu_total"] - resource["cpu_avail"]
        full += ws.metrics.get(FULL) is not None
        free += sum(((ws.metrics.get(ROOM) or {}).get("disks") or {}).values())
    yield Figure(
        "cluster_memory_bytes", "Memory of all workers, and results on disk", memory, "kind"
    )
    yield Figure("cluster_cores", "Cores of all workers", cores, "kind")
    yield Figure.of("cluster_workers_full", "Workers whose disks take no more results", full)
    yield Figure.of("cluster_spill_free_bytes", "Free disk space, as each worker sees it", free)
