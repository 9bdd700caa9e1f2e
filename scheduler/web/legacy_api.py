"""Parts of the interface of Mars 0.3 to 0.6 that later versions lack, for scripts and operators.

KubeDL polls ``/api/worker?action=count`` until enough workers have joined.
"""

from __future__ import annotations

import time
from typing import Any

from .nodes import endpoint_of, worker_nodes
from .rest import Api, ApiError, Routes
from .sessions import cancel_task, list_tasks, show_task

_STATES = {"pending": "preparing", "done": "succeeded"}


async def show_versions(call: Api) -> dict[str, Any]:
    """Return the versions of this server."""
    told = call.server.nodes.environment
    names = ("python_version", "mars_version", "package_versions")
    return {name: told[name] for name in names}


async def show_workers(call: Api) -> Any:
    """Return the workers, or their number."""
    if call.get_argument("action", "") == "count":
        return len(call.server.workers)
    return worker_nodes(call.server, time.time(), ("env", "resource", "detail"))


async def refuse_scaling(call: Api) -> None:
    """Refuse to start workers: this process cannot."""
    endpoint = endpoint_of(call.server.address)
    raise ApiError(
        501,
        f"the cluster cannot start workers: run mars-worker -s {endpoint} on more hosts, or "
        "scale the StatefulSet of the workers",
    )


async def list_graphs(call: Api, session_id: str) -> dict[str, Any]:
    """Return the states of a session's graphs, which other parts call tasks."""
    tasks = (await list_tasks(call, session_id))["tasks"]
    return {task["task_id"]: {"state": _state(task)} for task in tasks}


async def show_graph(call: Api, session_id: str, task_id: str) -> dict[str, Any]:
    """Return the state of a graph."""
    task = await show_task(call, session_id, task_id)
    return {**task, "state": _state(task)}


def _state(task: dict[str, Any]) -> str:
    state: str = task["state"]
    return _STATES.get(state, state)


async def refuse_data(call: Api, **path: str) -> None:
    """Refuse to send results: they were pickles."""
    raise ApiError(
        501, "HTTP does not transfer results: use fetch() of new_session('http://HOST:PORT')"
    )


_SESSION = r"/api/session/(?P<session_id>[^/]+)"
_GRAPH = _SESSION + r"/graph/(?P<task_id>[^/]+)"
_NO_DATA = dict.fromkeys(("GET", "POST", "PUT", "DELETE"), refuse_data)

ROUTES: Routes = {
    r"/api/?": {"GET": show_versions},
    r"/api/worker": {"GET": show_workers, "PATCH": refuse_scaling},
    _SESSION + r"/graph": {"GET": list_graphs},
    _GRAPH: {"GET": show_graph, "DELETE": cancel_task},
    _GRAPH + r"/data/(?P<data_id>[^/]+)": _NO_DATA,
    _SESSION + r"/mutable-tensor/(?P<data_id>[^/]+)": _NO_DATA,
    _SESSION + r"/op/(?P<data_id>[^/]+)/log": _NO_DATA,
}
