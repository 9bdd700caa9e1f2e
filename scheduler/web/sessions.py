"""``/api/session``: sessions, their tasks (a task is what one ``execute`` sends), and progress.

Mars's names: a tileable is a node of the expression, a subtask is a task of the graph.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from itertools import chain
from typing import Any

from .rest import Api, ApiError, Routes

#: Mars's numbers for the states of jobs, and of the tasks in them.
_TASKS = {"pending": 0, "running": 1}
_TERMINATED = 2
_PENDING, _RUNNING, _SUCCEEDED, _ERRORED, _CANCELLED = range(5)

#: The states of tasks that have not ended.
_UNFINISHED = ("waiting", "no-worker", "queued", "processing")

#: The names of what holds results but is no program: sessions, which have jobs, and Dask's own.
_NO_PROGRAMS = ("ReconnectingClient", "fire-and-forget")

#: How many sessions without jobs are kept.
_NAMED = 1000


class Sessions:
    """The known sessions: those created through this interface, and those of jobs."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._named: dict[str, float] = {}

    def name(self, session: str) -> None:
        """Record a session; of many open ones only the latest are kept."""
        self._named.setdefault(session, time.time())
        while len(self._named) > _NAMED:
            self._named.pop(next(iter(self._named)))

    def forget(self, session: str) -> None:
        """Forget a session; its jobs are reduced to a summary."""
        self._named.pop(session, None)

    def all(self) -> dict[str, list[Any]]:
        """Return the sessions and the jobs of each, the oldest first."""
        jobs: dict[str, list[Any]] = {session: [] for session in self._named}
        for job in self._server.jobs.jobs.values():
            jobs.setdefault(job.session, []).append(job)
        return jobs

    def idle_since(self, jobs: Iterable[Any], session: str = "") -> float | None:
        """Return when the last of some jobs ended, ``None`` while one runs or without jobs."""
        jobs = list(jobs)
        if any(not job.ended for job in jobs):
            return None
        return max((job.end for job in jobs), default=self._named.get(session))


def dask_clients(server: Any) -> dict[str, int]:
    """Count the clients that are no sessions, and the unfinished tasks that they asked for."""
    clients = [one for name, one in server.clients.items() if not name.startswith(_NO_PROGRAMS)]
    tasks = {ts for client in clients for ts in client.wants_what if ts.state in _UNFINISHED}
    return {"clients": len(clients), "tasks": len(tasks)}


async def show_dask_clients(call: Api) -> dict[str, int]:
    """Tell how many clients of Dask there are, and how many tasks they wait for."""
    return dask_clients(call.server)


def describe_task(call: Api, job: Any) -> dict[str, Any]:
    """Describe a job as Mars describes a task, with the reason why it waits."""
    summary = call.server.jobs.summary(job)
    return {
        "task_id": job.id,
        "session_id": job.session,
        "stage_id": None,
        "task_name": job.name,
        "start_time": job.start,
        "end_time": job.end,
        "progress": summary["progress"],
        "status": _TASKS.get(job.state, _TERMINATED),
        "state": job.state,
        "reason": summary["reason"],
        "subtasks": job.total,
        "subtasks_done": job.done,
        "profiling": None,
        "error": job.error,
        "traceback": None,
    }


def _jobs(call: Api, session_id: str) -> list[Any]:
    jobs: list[Any] | None = call.server.sessions.all().get(session_id)
    if jobs is None:
        raise ApiError(404, f"no such session: {session_id}")
    return jobs


def _job(call: Api, session_id: str, task_id: str) -> Any:
    for job in _jobs(call, session_id):
        if job.id == task_id:
            return job
    raise ApiError(404, f"no such task in session {session_id}: {task_id}")


async def list_sessions(call: Api) -> Any:
    """List all sessions."""
    sessions = call.server.sessions
    if call.get_argument("action", "") == "get_last_idle_time":
        return str(sessions.idle_since(chain.from_iterable(sessions.all().values())) or "")
    return {"sessions": [_describe_session(call, *entry) for entry in sessions.all().items()]}


def _describe_session(call: Api, session: str, jobs: list[Any]) -> dict[str, Any]:
    ends: list[float | None] = [job.left for job in jobs]
    # A session ends with the last of its clients.
    ended = None if None in ends else max(filter(None, ends), default=None)
    return {
        "session_id": session,
        "state": "open" if ended is None else "ended",
        "end_time": ended,
        "tasks": len(jobs),
        "running": sum(not job.ended for job in jobs),
        "last_idle_time": call.server.sessions.idle_since(jobs, session),
    }


async def show_session(call: Api, session_id: str) -> Any:
    """Describe one session."""
    action = call.get_argument("action", "")
    sessions = call.server.sessions.all()
    if action == "check_exist":
        return "1" if session_id in sessions else "0"
    jobs = _jobs(call, session_id)
    if action == "get_last_idle_time":
        return str(call.server.sessions.idle_since(jobs, session_id) or "")
    return _describe_session(call, session_id, jobs)


async def create_session(call: Api, session_id: str) -> str:
    """Create a session; return the address for its client."""
    call.server.sessions.name(session_id)
    return str(call.server.address)


async def delete_session(call: Api, session_id: str) -> dict[str, Any]:
    """Cancel all jobs of a session."""
    await _end(call, session_id, _jobs(call, session_id))
    return {}


async def delete_sessions(call: Api) -> dict[str, Any]:
    """Cancel all jobs of all sessions."""
    for session, jobs in call.server.sessions.all().items():
        await _end(call, session, jobs)
    return {}


async def _end(call: Api, session: str, jobs: list[Any]) -> None:
    for job in jobs:
        await call.server.jobs.cancel(job=job.id)
    call.server.sessions.forget(session)


async def list_tasks(call: Api, session_id: str) -> Any:
    """List the tasks of a session, or its ``last`` ones."""
    jobs = _jobs(call, session_id)
    if call.get_argument("action", "") == "last_idle_time":
        return str(call.server.sessions.idle_since(jobs, session_id) or "")
    first = max(0, len(jobs) - call.number("last", len(jobs)))
    return {"tasks": [describe_task(call, job) for job in jobs[first:]]}


async def refuse_task(call: Api, session_id: str) -> None:
    """Refuse tasks: they are pickles, which would execute any code."""
    raise ApiError(
        415, "HTTP does not accept tasks: submit them with new_session('http://HOST:PORT')"
    )


async def show_task(call: Api, session_id: str, task_id: str) -> Any:
    """Describe a task, at once or when it ends."""
    job = _job(call, session_id, task_id)
    action = call.get_argument("action", "")
    if action == "progress":
        return str(describe_task(call, job)["progress"])
    if action == "fetch_tileables":
        raise ApiError(501, "HTTP does not transfer results: use fetch() in a session")
    if action == "wait":
        await call.attend(_ended(job, call.seconds("timeout")))
        if not job.ended:
            return {}
    return describe_task(call, job)


async def _ended(job: Any, seconds: float | None) -> None:
    """Wait for the end of a job, at most the given seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds), job.changed:
            await job.changed.wait_for(lambda: job.ended)


async def cancel_task(call: Api, session_id: str, task_id: str) -> dict[str, Any]:
    """Cancel a task."""
    await call.server.jobs.cancel(job=_job(call, session_id, task_id).id)
    return {}


async def show_graph(call: Api, session_id: str, task_id: str) -> dict[str, Any]:
    """Return the nodes of a task's expression and their dependencies."""
    outline = _job(call, session_id, task_id).outline
    return {
        "tileables": [
            {"tileableId": name, "tileableName": label} for name, (label, _) in outline.items()
        ],
        "dependencies": [
            {"fromTileableId": source, "toTileableId": name, "linkType": 0}
            for name, (_, sources) in outline.items()
            for source in sources
        ],
    }


async def show_details(call: Api, session_id: str, task_id: str) -> dict[str, Any]:
    """Return the progress of each node.

    A node that is computed within the tasks of another node has no tasks, and the progress of the
    whole.
    """
    job = _job(call, session_id, task_id)
    whole = describe_task(call, job)["progress"]
    details: dict[str, Any] = {}
    for name in job.outline:
        total, finished = job.counts.get(name, (0, 0))
        # Results that were computed before count among the tasks, but are not done here.
        progress = finished / total if total and job.state != "done" else whole
        details[name] = {
            "progress": progress,
            "subtaskCount": total,
            "status": _node_status(job.state, progress),
            "properties": {},
        }
    return details


def _node_status(state: str, progress: float) -> int:
    if progress == 1:
        return _SUCCEEDED
    if state == "running":
        return _RUNNING if progress else _PENDING
    return {"failed": _ERRORED, "cancelled": _CANCELLED}.get(state, _PENDING)


_SUBTASKS = {"processing": _RUNNING, "memory": _SUCCEEDED, "erred": _ERRORED}


async def list_subtasks(call: Api, session_id: str, task_id: str, tileable_id: str) -> Any:
    """Return the tasks of a node's chunks, as long as the cluster knows them."""
    job = _job(call, session_id, task_id)
    if tileable_id not in job.outline:
        raise ApiError(404, f"no such tileable in task {task_id}: {tileable_id}")
    around = call.flag("with_input_output")
    subtasks: dict[str, Any] = {}
    for ts in call.server.tasks.values():
        name = ts.key[0] if isinstance(ts.key, tuple) else ts.key
        if job.owners.get(name) != tileable_id:
            continue
        subtasks[str(ts.key)] = _subtask(ts, "Calculation")
        if around:
            for neighbour, kind in _neighbours(ts):
                subtasks.setdefault(str(neighbour.key), _subtask(neighbour, kind))
    return subtasks


def _neighbours(ts: Any) -> list[tuple[Any, str]]:
    inputs = [(neighbour, "Input") for neighbour in ts.dependencies]
    return inputs + [(neighbour, "Output") for neighbour in ts.dependents]


def _subtask(ts: Any, kind: str) -> dict[str, Any]:
    return {
        "name": str(ts.key),
        "status": _SUBTASKS.get(ts.state, _PENDING),
        "progress": 1.0 if ts.state == "memory" else 0.0,
        "nodeType": kind,
        "fromSubtaskIds": [str(neighbour.key) for neighbour in ts.dependencies],
    }


_SESSION = r"/api/session/(?P<session_id>[^/]+)"
_TASK = _SESSION + r"/task/(?P<task_id>[^/]+)"

ROUTES: Routes = {
    r"/api/dask_clients": {"GET": show_dask_clients},
    r"/api/session/?": {"GET": list_sessions, "DELETE": delete_sessions},
    _SESSION: {"GET": show_session, "PUT": create_session, "DELETE": delete_session},
    _SESSION + r"/task": {"GET": list_tasks, "POST": refuse_task},
    _TASK: {"GET": show_task, "DELETE": cancel_task},
    _TASK + r"/tileable_graph": {"GET": show_graph},
    _TASK + r"/tileable_detail": {"GET": show_details},
    _TASK + r"/(?P<tileable_id>[^/]+)/subtask": {"GET": list_subtasks},
}
