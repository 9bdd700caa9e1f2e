"""Jobs: compilations that the supervisor drives, and what it knows of them.

A client sends nodes. They are tiled here, stage by stage, and each stage goes to the scheduler of
this process as any client's graph does; what its tasks tell of their results lets the next stage be
made.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import time
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
from distributed import Client, Future, as_completed
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import offload

from ..base import ChunkInfo, Done, Key, Stage, describe
from ..dask import annotated
from ..errors import ResultLost
from .hints import coloured
from .recording import recorded, told

logger = logging.getLogger(__name__)

#: How many finished jobs are remembered.
_REMEMBERED = 1000

#: Seconds after which a question for news is answered without any.
_NEWS = 2.0


@dataclass
class Job:
    """One compilation: what is told of it to clients and pages."""

    id: str
    session: str
    name: str
    client: str
    state: str = "pending"
    start: float = field(default_factory=time.time)
    end: float | None = None
    total: int = 0
    done: int = 0
    error: str | None = None
    outcome: bytes = b""
    """Pickled: what it came to, or how it failed."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.end is not None

    def told(self) -> dict[str, Any]:
        """Return what pages show."""
        progress = 1.0 if self.state == "done" else min(0.99, self.done / max(1, self.total))
        return {
            "job_id": self.id,
            "session_id": self.session,
            "name": self.name,
            "state": self.state,
            "start": self.start,
            "end": self.end,
            "tasks": self.total,
            "tasks_done": self.done,
            "progress": progress if self.total or self.ended else 0.0,
            "error": self.error,
        }


class JobClient(Client):
    """The supervisor's client to itself, which says in which order a graph's tasks are to run."""

    priorities: Mapping[Key, int] | None = None

    def _graph_to_futures(self, *args: Any, **options: Any) -> Any:
        options["internal_priority"] = self.priorities
        return super()._graph_to_futures(*args, **options)


class Failed(Exception):
    """A stage failed: the key and the exception of its task."""

    def __init__(self, key: Key, error: BaseException) -> None:
        super().__init__(key)
        self.key = key
        self.error = error


class Jobs(SchedulerPlugin):
    """The jobs of a supervisor, and the handlers through which clients start and follow them."""

    name = "marsdask-jobs"

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.jobs: dict[str, Job] = {}
        self._order: deque[str] = deque()
        self._of_key: dict[Key, Job] = {}
        self._client: JobClient | None = None
        self._starting = asyncio.Lock()
        scheduler.handlers |= {
            "mars_compile": self.compile,
            "mars_job": self.job,
            "mars_cancel": self.cancel,
            "mars_jobs": self.list,
        }
        scheduler.add_plugin(self)

    async def compile(self, *, client: str, session: str, name: str, compilation: bytes) -> str:
        """Start to drive a pickled compilation; return the number of the job."""
        job = Job(uuid.uuid4().hex, session, name, client)
        self.jobs[job.id] = job
        self._order.append(job.id)
        while len(self._order) > _REMEMBERED and self.jobs[self._order[0]].ended:
            del self.jobs[self._order.popleft()]
        job.task = asyncio.ensure_future(self._drive(job, compilation))
        return job.id

    async def job(self, *, job: str, seen: int = -1) -> dict[str, Any]:
        """Return the news of a job once there are any beyond ``seen`` tasks, or after a while."""
        found = self.jobs[job]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_NEWS), found.changed:
                await found.changed.wait_for(lambda: found.ended or found.done > seen)
        news = self._told(found)
        if found.ended:
            news["outcome"] = found.outcome
        return news

    async def cancel(self, *, job: str) -> None:
        """Stop a job as soon as its running tasks end; nothing of it is kept."""
        found = self.jobs.get(job)
        if found is not None and found.task is not None:
            found.task.cancel()

    async def list(self) -> list[dict[str, Any]]:
        """Return all jobs, the oldest first."""
        return [self._told(self.jobs[number]) for number in self._order]

    def _told(self, job: Job) -> dict[str, Any]:
        """Return what there is to say of a job, and why it waits if it does."""
        idle = not job.ended and not self.scheduler.workers
        reason = f"no workers: start some with mars-worker -s {_endpoint(self.scheduler.address)}"
        return job.told() | {"reason": reason if idle else None}

    def transition(self, key: Key, start: str, finish: str, *args: Any, **options: Any) -> None:
        """Count the tasks of jobs as they end."""
        if finish == "memory" and start == "processing":
            job = self._of_key.pop(key, None)
            if job is not None:
                job.done += 1
                if job.done == job.total or not job.done % 64:
                    asyncio.ensure_future(_notify(job))  # noqa: RUF006 - nobody waits for it

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Stop the jobs of a client that is gone."""
        for job in self.jobs.values():
            if job.client == client and job.task is not None:
                job.task.cancel()

    async def close(self) -> None:
        """Stop everything."""
        tasks = [job.task for job in self.jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def _drive(self, job: Job, data: bytes) -> None:
        job.state = "running"
        state, outcome = "failed", b""
        try:
            compilation = await offload(pickle.loads, data)
            done = await self._run(job, compilation)
            outcome = await offload(cloudpickle.dumps, (done, None, None, None))
            state = "done"
        except asyncio.CancelledError:
            state = "cancelled"
        except Failed as failed:
            error, node = failed.error, None
            if hasattr(compilation, "explain"):
                error, node = compilation.explain(failed.key, error)
            outcome = _failure(error, failed.key, node)
            job.error = f"{type(error).__name__}: {error}"
        except BaseException as error:  # noqa: BLE001 - the client raises it
            outcome = _failure(error, None, None)
            job.error = f"{type(error).__name__}: {error}"
        job.outcome, job.end, job.state, job.task = outcome, time.time(), state, None
        await _notify(job)

    async def _run(self, job: Job, compilation: Any) -> Done:
        held: list[Future[Any]] = []
        infos: dict[Key, ChunkInfo] = {}
        try:
            while not isinstance(step := await offload(compilation.advance, infos), Done):
                futures = await self._stage(job, step)
                held.extend(futures.values())
                infos = await self._infos(step.keys, futures)
            # The client's own references, before ours go.
            self.scheduler.client_desires_keys(keys=list(step.keys), client=job.client)
            return step
        finally:
            for future in held:
                future.release()

    async def _stage(self, job: Job, stage: Stage) -> dict[Key, Future[Any]]:
        client = await self._connected()
        graph = recorded(stage.graph, stage.keys, sample=stage.samples)
        known = self.scheduler.tasks
        fresh = [key for key in graph if key not in known or known[key].state == "released"]
        job.total += len(fresh)
        self._of_key.update(dict.fromkeys(fresh, job))
        client.priorities = {key: position for position, key in enumerate(graph)}
        keys = [key for key in stage.keys if key in graph]
        hints = coloured(graph, stage.hints, len(self.scheduler.workers))
        sent = client.get(annotated(graph, hints), keys, sync=False) if keys else []
        futures = dict(zip(keys, sent, strict=True))
        held: list[Any] = [key for key in stage.keys if key not in futures]
        self.scheduler.client_desires_keys(keys=held, client=client.id)
        state: Any = "memory"
        futures |= {key: Future(key, client, state=state) for key in held}
        try:
            await self._finished(futures)
        except BaseException:
            for future in futures.values():
                future.release()
            raise
        finally:
            for key in fresh:
                self._of_key.pop(key, None)
        return futures

    async def _finished(self, futures: Mapping[Key, Future[Any]]) -> None:
        """Wait for all of the futures, or for the first to fail."""
        if not futures:
            return
        client = await self._connected()
        async for future in as_completed(list(futures.values()), loop=client.loop):
            if future.status == "finished":
                continue
            if future.status != "error":
                raise ResultLost(f"the cluster lost or cancelled {future.key!r}")
            blamed = self.scheduler.tasks[future.key].exception_blame
            raise Failed(future.key if blamed is None else blamed.key, await future.exception())

    async def _infos(
        self, keys: tuple[Key, ...], futures: Mapping[Key, Future[Any]]
    ) -> dict[Key, ChunkInfo]:
        infos: dict[Key, ChunkInfo] = {}
        silent = []
        for key in keys:
            ts = self.scheduler.tasks.get(key)
            info = told(ts.metadata) if ts is not None else None
            if info is None:
                silent.append(key)
            else:
                infos[key] = info
        if silent:
            client = await self._connected()
            client.priorities = None
            asked = client.map(describe, [futures[key] for key in silent], pure=False)
            infos.update(zip(silent, await client.gather(asked), strict=True))
        return infos

    async def _connected(self) -> JobClient:
        async with self._starting:
            if self._client is None:
                self._client = await JobClient(
                    self.scheduler.address,
                    asynchronous=True,
                    set_as_default=False,
                    security=self.scheduler.security,
                    name="marsdask-jobs",
                )
        return self._client


def _endpoint(address: str) -> str:
    return address.removeprefix("tcp://")


async def _notify(job: Job) -> None:
    async with job.changed:
        job.changed.notify_all()


def _failure(error: BaseException, key: Key | None, node: str | None) -> bytes:
    error.__traceback__ = None
    try:
        data: bytes = cloudpickle.dumps((None, error, key, node))
        pickle.loads(data)  # an exception with a constructor of its own often cannot come back
    except Exception:  # noqa: BLE001 - pickling may raise whatever it likes
        substitute = RuntimeError(f"{type(error).__name__}: {error}")
        substitute.__notes__ = list(getattr(error, "__notes__", ()))
        data = cloudpickle.dumps((None, substitute, key, node))
    return data
