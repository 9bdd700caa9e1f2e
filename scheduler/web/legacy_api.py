"""Parts of the interface of Mars 0.3 to 0.6 that later versions lack, for scripts and operators.

KubeDL polls ``/api/worker?action=count`` until enough workers have joined.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import Any

from ..cluster.scaling import CannotScale
from .nodes import endpoint_of, worker_nodes
from .rest import Api, ApiError, Routes
from .sessions import cancel_task, list_tasks, show_task

_STATES = {"pending": "preparing", "done": "succeeded"}


async def show_versions(call: Api) -> dict[str, Any]:
    """Return the versions of this server."""
    facts = call.server.nodes.environment
    names = ("python_version", "mars_version", "package_versions")
    return {name: facts[name] for name in names}


async def show_workers(call: Api) -> Any:
    """Return the workers, their number, or the progress of the last change of it."""
    action = call.get_argument("action", "")
    if action == "count":
        return len(call.server.workers)
    if action == "scale":
        return call.server.rescaling.progress()
    return worker_nodes(call.server, time.time(), ("env", "resource", "detail"))


async def scale_workers(call: Api) -> dict[str, Any]:
    """Change the number of workers; with ``wait=1`` answer once it has changed.

    With ``action=vacate`` somebody else will end the hosts of the body: move their results first.
    """
    rescaling = call.server.rescaling
    if call.get_argument("action", "") == "vacate":
        rescaling.start_vacating(_hosts(call))
        progress: dict[str, Any] = rescaling.progress()
        return progress
    if rescaling.scaler is None:
        endpoint = endpoint_of(call.server.address)
        raise ApiError(
            501,
            f"the cluster cannot start workers: run mars-worker -s {endpoint} on more hosts, or "
            "scale the StatefulSet of the workers",
        )
    count, least = _counts(call)
    changing = rescaling.start(count)
    if call.flag("wait"):
        timeout = call.seconds("timeout") or math.inf
        try:
            async with asyncio.timeout(None if timeout == math.inf else timeout):
                # A client that disconnects does not stop the change.
                await call.attend(asyncio.shield(changing))
                await call.attend(_reached(call.server, count, least))
        except TimeoutError:
            call.on_connection_close()  # nothing waits any longer
            raise ApiError(504, f"{len(call.server.workers)} workers after {timeout} s") from None
        except CannotScale as error:
            raise ApiError(409, str(error)) from None
    found: dict[str, Any] = rescaling.progress()
    return found


def _hosts(call: Api) -> list[str]:
    """Return the names of hosts, of workers that will end."""
    try:
        names: Any = json.loads(call.request.body or "{}")["hosts"]
    except (ValueError, KeyError, TypeError):
        names = None
    if not isinstance(names, list) or not all(isinstance(host, str) for host in names):
        raise ApiError(400, 'invalid body; give {"hosts": ["job-worker-2"]}, or [] to take it back')
    return names


def _counts(call: Api) -> tuple[int, int]:
    """Return the requested number of workers, and how many of them have to join."""
    try:
        body: Any = json.loads(call.request.body or "{}")
        count = body["new_scale"]
        least = count if body.get("min_workers") is None else body["min_workers"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ApiError(400, 'invalid body; give {"new_scale": 2, "min_workers": 1}') from None
    for number in (count, least):
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= count:
            raise ApiError(400, f"invalid number of workers: {number!r}")
    return count, least


async def _reached(server: Any, count: int, least: int) -> None:
    """Wait for new workers, or for the end of old ones."""
    while True:
        version = server.nodes.version
        if least <= len(server.workers) <= count:
            return
        await server.nodes.later_than(version)


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
    r"/api/worker": {"GET": show_workers, "PATCH": scale_workers},
    _SESSION + r"/graph": {"GET": list_graphs},
    _GRAPH: {"GET": show_graph, "DELETE": cancel_task},
    _GRAPH + r"/data/(?P<data_id>[^/]+)": _NO_DATA,
    _SESSION + r"/mutable-tensor/(?P<data_id>[^/]+)": _NO_DATA,
    _SESSION + r"/op/(?P<data_id>[^/]+)/log": _NO_DATA,
}
