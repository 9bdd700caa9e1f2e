"""``/api/cluster``: supervisors and workers as Mars describes them.

The CPU and memory usage of a worker is that of its process tree, relative to its limits. Other
processes of the host do not count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from functools import partial
from typing import Any

from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

from .. import limits, usage
from ..cluster.environment import environment, stacks
from ..cluster.leader import identify, with_scheme
from .rest import Api, ApiError, Routes

#: Mars's numbers for roles, and a number for any role.
SUPERVISOR, WORKER, ANY = 0, 1, -1

#: Seconds without a heartbeat after which a worker is not ready; timeout for a supervisor's answer.
_SILENT, _PATIENCE = 10.0, 2.0

#: Timeout of a request that waits for changes, in seconds.
_WATCH = 60.0

#: The band of a worker, which has one group of cores.
BAND = "numa-0"


class NodeStatus(IntEnum):
    """Mars's numbers."""

    STOPPED = -1
    STARTING = 0
    READY = 1
    DEGENERATED = 2
    STOPPING = 3


_STATUSES = {
    Status.init: NodeStatus.STARTING,
    Status.starting: NodeStatus.STARTING,
    Status.running: NodeStatus.READY,
    Status.paused: NodeStatus.DEGENERATED,
}


class Nodes(SchedulerPlugin):
    """The supervisor's own process, and the reports of its workers; counts their changes."""

    name = "marsdask-nodes"

    def __init__(self, server: Any) -> None:
        self.version = 0
        self.usage = usage.Usage(partial(usage.count, children=False))
        self.environment = environment()
        self.told: dict[str, dict[str, Any]] = {}
        """The environment that each marsdask worker reported when it joined."""
        self._changed = asyncio.Event()
        server.add_plugin(self)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Count, and move the report here: each error of its tasks contains the worker's state."""
        if (report := scheduler.workers[worker].extra.pop("mars", None)) is not None:
            self.told[worker] = report
        self._change()

    def remove_worker(self, scheduler: Any, worker: str, **options: Any) -> None:
        """Count."""
        self.told.pop(worker, None)
        self._change()

    def _change(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def later_than(self, version: int) -> None:
        """Wait until the version is higher than a client's, or until the timeout."""
        try:
            async with asyncio.timeout(_WATCH):
                while self.version <= version:
                    await self._changed.wait()
        except TimeoutError:
            pass


def worker_status(ws: Any, now: float) -> NodeStatus:
    """Return the status of a worker; without heartbeats it is not ready."""
    status = _STATUSES.get(ws.status, NodeStatus.STOPPING)
    if status is NodeStatus.READY and now - ws.last_seen > _SILENT:
        return NodeStatus.DEGENERATED
    return status


def worker_resource(ws: Any, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resources of a worker, and the free part of them."""
    metrics = ws.metrics
    measures = metrics.get("mars") or {}
    cores = measures.get("cores", metrics.get("cpu", 0.0) / 100)
    memory = measures.get("memory", metrics.get("memory", 0))
    _, cpu_left = usage.share(cores, ws.nthreads)
    # Without its own limit a worker may use all memory.
    total = ws.memory_limit or max(memory, told.get("memory_total", memory))
    _, memory_left = usage.share(memory, total)
    resources = {
        BAND: {
            "cpu_avail": round(cpu_left, 3),
            "cpu_total": float(ws.nthreads),
            "memory_avail": int(memory_left),
            "memory_total": int(total),
        }
    }
    if devices := ws.resources.get("GPU"):
        gpus = ws.used_resources.get("GPU", 0)
        resources["gpu-0"] = {"gpu_avail": max(0, devices - gpus), "gpu_total": devices}
    return resources


def worker_environment(ws: Any, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the environment of a worker; a stock worker reports less."""
    if told:
        return {**told, "bands": [BAND], "dask_name": ws.name}
    host, packages = ws.versions.get("host", {}), ws.versions.get("packages", {})
    return {
        "command_line": None,
        "platform": "-".join(str(host[name]) for name in ("OS", "OS-release") if name in host),
        "host_name": ws.host,
        "python_version": str(host.get("python", "")).split(".final")[0],
        "mars_version": None,
        "cpu_total": ws.nthreads,
        "memory_total": ws.memory_limit,
        "package_versions": packages,
        "git_info": None,
        "bands": [BAND],
        "dask_name": ws.name,
    }


def worker_detail(ws: Any) -> dict[str, Any]:
    """Return the tasks, transfers and storage of a worker."""
    metrics = ws.metrics
    disk, network = metrics.get("host_disk_io", {}), metrics.get("host_net_io", {})
    tasks = sorted(ws.executing.items(), key=lambda item: -item[1])
    slots = [{"slot_id": n, "subtask_id": str(ts.key)} for n, (ts, _) in enumerate(tasks)]
    promised = sum(int((ts.annotations or {}).get("mars_mem") or 0) for ts in ws.processing)
    spill = metrics.get("spilled_bytes", {})
    nbytes = max(0, ws.nbytes - spill.get("memory", 0))
    return {
        "disk": {
            "reads": disk.get("read_bps", 0),
            "writes": disk.get("write_bps", 0),
            "partitions": {},
        },
        "network": {"receives": network.get("read_bps", 0), "sends": network.get("write_bps", 0)},
        "iowait": None,
        "slot": {BAND: slots},
        "quota": {
            BAND: {
                "quota_size": ws.memory_limit,
                "allocated_size": promised,
                "hold_size": sum(int(ts.get_nbytes()) for ts in ws.has_what),
            }
        },
        "storage": {
            BAND: {
                "memory": {
                    "size_used": nbytes,
                    "size_total": ws.memory_limit,
                    "size_pinned": 0,
                },
                "disk": {"size_used": spill.get("disk", 0), "size_total": None},
            }
        },
    }


def worker_node(
    ws: Any, told: Mapping[str, Any], now: float, wanted: Iterable[str]
) -> dict[str, Any]:
    """Return the requested parts of a worker's description."""
    node: dict[str, Any] = {
        "role": WORKER,
        "status": int(worker_status(ws, now)),
        "update_time": ws.last_seen,
    }
    makers: dict[str, Callable[[Any], dict[str, Any]]] = {
        "env": partial(worker_environment, told=told),
        "resource": partial(worker_resource, told=told),
        "detail": worker_detail,
    }
    return node | {name: makers[name](ws) for name in wanted}


def worker_nodes(server: Any, now: float, wanted: Iterable[str]) -> dict[str, Any]:
    """Return the requested parts of all workers' descriptions."""
    reports = server.nodes.told
    return {
        endpoint_of(ws.address): worker_node(ws, reports.get(ws.address, {}), now, wanted)
        for ws in server.workers.values()
    }


def own_node(server: Any, nodes: Nodes, now: float, wanted: Iterable[str]) -> dict[str, Any]:
    """Return the requested parts of this supervisor's description."""
    node: dict[str, Any] = {
        "role": SUPERVISOR,
        "status": int(NodeStatus.READY),
        "update_time": now,
        "standby": bool(server.standby),
    }
    cores, memory = nodes.usage()
    cpus, total = limits.cpus(), limits.memory()
    resource = {
        "cpu_avail": round(usage.share(cores, cpus)[1], 3),
        "cpu_total": float(cpus),
        "memory_avail": int(usage.share(memory, total)[1]),
        "memory_total": total,
    }
    parts = {
        "env": {**nodes.environment, "bands": [BAND]},
        "resource": {BAND: resource},
        "detail": {"unassigned_tasks": len(server.unrunnable) + len(server.queued)},
    }
    return node | {name: parts[name] for name in wanted}


async def _other(server: Any, endpoint: str, wanted: Iterable[str]) -> dict[str, Any] | None:
    """Describe another supervisor; return ``None`` if the endpoint is this one's."""
    address = with_scheme(endpoint, server.security)
    arguments = server.security.get_connection_args("scheduler")
    node: dict[str, Any] = {"role": SUPERVISOR, "status": int(NodeStatus.STOPPED)}
    node |= {"update_time": None, "standby": True} | {name: {} for name in wanted}
    try:
        identity = await identify(address, arguments, _PATIENCE)
    except OSError:
        return node
    if identity["id"] == server.id:
        return None
    standby = identity.get("marsdask", {}).get("role") == "standby"
    ready = int(NodeStatus.READY)
    return node | {"status": ready, "update_time": time.time(), "standby": standby}


def endpoint_of(address: str) -> str:
    """Return an address in Mars's form, without the protocol TCP."""
    return address.removeprefix("tcp://")


async def _described(server: Any, role: int, wanted: list[str]) -> dict[str, Any]:
    now, nodes = time.time(), {}
    own = endpoint_of(server.address)
    if role != WORKER:
        endpoints = [endpoint for endpoint in server.supervisors if endpoint_of(endpoint) != own]
        answers = await asyncio.gather(
            *(_other(server, endpoint, wanted) for endpoint in endpoints)
        )
        nodes[own] = own_node(server, server.nodes, now, wanted)
        nodes |= {
            endpoint_of(endpoint): node
            for endpoint, node in zip(endpoints, answers, strict=True)
            if node
        }
    if role != SUPERVISOR:
        nodes |= worker_nodes(server, now, wanted)
    return nodes


async def list_nodes(call: Api) -> dict[str, Any]:
    """Describe the requested nodes."""
    parts = [name for name in ("env", "resource", "detail") if call.flag(name)]
    role = call.number("role", ANY)
    statuses, excluded = call.numbers("statuses"), call.numbers("exclude_statuses") or ()
    names = call.get_argument("nodes", "")
    answer: dict[str, Any] = {}
    if call.flag("watch"):
        await call.attend(call.server.nodes.later_than(call.number("version", -1)))
        answer["version"] = call.server.nodes.version
    nodes = await _described(call.server, role, parts)
    if names:
        endpoints = {endpoint_of(name) for name in names.split(",")}
        if absent := sorted(endpoints - set(nodes)):
            raise ApiError(404, f"no such node: {', '.join(absent)}")
        nodes = {name: node for name, node in nodes.items() if name in endpoints}
    answer["nodes"] = {
        name: node
        for name, node in nodes.items()
        if (statuses is None or node["status"] in statuses) and node["status"] not in excluded
    }
    return answer


async def list_bands(call: Api) -> dict[str, Any]:
    """Return Mars's bands: the number of slots of each worker."""
    workers = call.server.workers.values()
    return {"bands": {endpoint_of(ws.address): {BAND: ws.nthreads} for ws in workers}}


async def list_versions(call: Api) -> list[str]:
    """Return the versions of marsdask in the cluster."""
    nodes = call.server.nodes
    return sorted({report["mars_version"] for report in (nodes.environment, *nodes.told.values())})


async def list_pools(call: Api) -> dict[str, Any]:
    """Return the processes of a node; each has one event loop."""
    pools = []
    for ws in _addressed(call):
        report = call.server.nodes.told.get(ws.address, {})
        pools.append({"label": str(ws.name), "address": ws.address, "pid": report.get("pid")})
    return {"pools": pools}


def _addressed(call: Api) -> list[Any]:
    address = call.get_argument("address", "")
    workers = list(call.server.workers.values())
    if not address:
        return workers
    matches = [ws for ws in workers if endpoint_of(ws.address) == endpoint_of(address)]
    if not matches:
        raise ApiError(404, f"no such worker: {address}")
    return matches


async def list_stacks(call: Api) -> dict[str, Any]:
    """Return the stack of each thread of a node."""
    server = call.server
    address = call.get_argument("address", "")
    if not address or endpoint_of(address) == endpoint_of(server.address):
        return {"generate_time": time.time(), "stacks": [stacks()]}
    found = []
    for ws in _addressed(call):
        if ws.address not in server.nodes.told:
            raise ApiError(501, f"{address} is a Dask worker, which does not support this")
        try:
            answer = await asyncio.wait_for(server.rpc(ws.address).mars_stacks(), _SILENT)
        except OSError:
            raise ApiError(504, f"{address} does not answer") from None
        found.append(answer)
    return {"generate_time": time.time(), "stacks": found}


ROUTES: Routes = {
    r"/api/cluster/nodes": {"GET": list_nodes, "POST": list_nodes},
    r"/api/cluster/bands": {"GET": list_bands},
    r"/api/cluster/versions": {"GET": list_versions},
    r"/api/cluster/pools": {"GET": list_pools},
    r"/api/cluster/stacks": {"GET": list_stacks},
}
