"""Jobs: compilations that the supervisor drives.

A client sends nodes. The supervisor tiles them stage by stage, large stages in batches, and submits
each to the scheduler of this process. The infos of its results make the next stage possible.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from distributed import Client, Future
from distributed.comm import CommClosedError
from distributed.diagnostics.plugin import SchedulerPlugin

from ..base import ChunkInfo, Key, TaskGraph, describe
from ..clock import watch_client
from ..cluster.failures import clear
from ..dask import cluster_machine
from .compilation.compiler import Failure, Finished, failure
from .compilation.processes import CompileProcesses
from .compilation.session_process import CompileError
from .compilation.threads import CompileThreads
from .fair_share import check_weight
from .lineage import Lineage, Submit
from .result_info import reported_info
from .submissions import GraphFailed, KeyWatcher, PreparedGraph, SubmittedGraphs, name_of, resubmit
from .waiting_tasks import why_waiting

logger: Final = logging.getLogger(__name__)

#: With more jobs than this, the oldest that have ended for their clients, too, are forgotten.
_REMEMBERED = 1000

#: Number of tasks that are created and submitted at a time ...
BATCH = 2_000
#: ... and maximum number of submitted tasks that have not run: at least this, ...
AHEAD = 20_000
#: ... or this for each thread of the workers.
AHEAD_EACH = 32

#: Number of descriptions that are read before other callbacks run.
_TURN = 1000

#: Timeout of a request for news, in seconds.
_NEWS = 2.0

#: Timeout for the delivery of results, in seconds.
_DELIVERY = 60.0


def ahead(threads: int) -> int:
    """Return the maximum number of submitted tasks that have not run, for workers' threads."""
    return max(AHEAD, AHEAD_EACH * threads)


@dataclass
class Job:
    """One compilation: its state for clients and pages."""

    id: str
    session: str
    name: str
    client: str
    packed: bytes = b""
    """The client's message until it is unpacked; it may contain arrays."""
    weight: float = 1.0
    """The share of its session in the cluster, relative to others."""
    state: str = "pending"
    start: float = field(default_factory=time.time)
    end: float | None = None
    left: float | None = None
    """The time when its session ended or its client disconnected."""
    total: int = 0
    done: int = 0
    error: str | None = None
    outcome: bytes = b""
    """The pickled outcome or error, until its client has it: it contains each chunk's key."""
    claimed: bool = False
    """Whether its client knows its end."""
    outline: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """The nodes of its expression: {name: (label, names of its inputs)}."""
    counts: dict[str, list[int]] = field(default_factory=dict)
    """The number of tasks of each node, and how many of these are done."""
    owners: dict[str, str] = field(default_factory=dict)
    """The node that belongs to the first part of a key."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    task: asyncio.Task[None] | None = None
    graphs: SubmittedGraphs | None = None
    delivering: bool = False
    """Whether it delivers its results and can no longer be cancelled."""
    results: Sequence[Key] = ()
    """The keys of its results, until its client confirms that it holds them."""

    def count(self, key: Key, part: int) -> None:
        """Count a new task (0) or a finished one (1)."""
        owner = self.owners.get(name_of(key))
        if owner is not None:
            self.counts.setdefault(owner, [0, 0])[part] += 1

    def describe(self, prepared: PreparedGraph) -> None:
        """Record the nodes and the new tasks of a graph, for pages."""
        self.outline = prepared.outline or self.outline
        self.owners.update(prepared.owners)
        for key in prepared.graph:
            self.count(key, 0)

    def fail(self, why: Failure) -> bytes:
        """Record why it failed; return the outcome for the client."""
        self.error = why.message
        return why.outcome

    def stopped(self, task: asyncio.Task[None]) -> None:
        """Record that its task has ended, possibly before it ran."""
        if not self.ended:
            self.end, self.state = time.time(), "cancelled"
            self.task, self.packed = None, b""

    @property
    def holder(self) -> str:
        """The name under which it holds results, as clients do."""
        return f"marsdask-job-{self.id}"

    @property
    def ended(self) -> bool:
        """Whether the job has ended."""
        return self.end is not None

    @property
    def settled(self) -> bool:
        """Whether the job has ended, and its client will not ask how."""
        return self.ended and (self.claimed or self.left is not None)

    def summary(self) -> dict[str, Any]:
        """Return the data for pages."""
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


class Jobs(SchedulerPlugin):
    """The jobs of a supervisor, and the handlers through which clients start and follow them."""

    name = "marsdask-jobs"

    def __init__(self, scheduler: Any, *, processes: bool = False) -> None:
        self.scheduler = scheduler
        self.jobs: dict[str, Job] = {}
        """By id, the oldest first."""
        self._watch = KeyWatcher()
        self._compilers = CompileProcesses() if processes else CompileThreads()
        self._client: Client | None = None
        self._starting = asyncio.Lock()
        self._closing = False
        self._ending: set[asyncio.Future[None]] = set()
        scheduler.handlers |= {
            "mars_compile": self.compile,
            "mars_job": self.job,
            "mars_cancel": self.cancel,
            "mars_jobs": self.list,
            "mars_leave": self.leave,
        }
        scheduler.stream_handlers["mars-claim"] = self.claim
        scheduler.add_plugin(self)

    async def compile(
        self,
        *,
        client: str,
        session: str,
        name: str,
        compilation: bytes,
        job: str | None = None,
        weight: float = 1.0,
    ) -> str:
        """Start to drive a pickled compilation; return the id of the job.

        The client chooses the id, and repeats the request if there is no answer.
        """
        if job in self.jobs:
            return job
        if client not in self.scheduler.clients:
            # Otherwise the results of a client that has disconnected would never be freed.
            raise ConnectionError(f"the client {client} is not connected")
        new = Job(job or uuid.uuid4().hex, session, name, client, compilation, check_weight(weight))
        self.jobs[new.id] = new
        if len(self.jobs) > _REMEMBERED:
            numbers = [number for number, entry in self.jobs.items() if entry.settled]
            for number in numbers[: len(self.jobs) - _REMEMBERED]:
                self._release(self.jobs.pop(number))
        new.task = asyncio.ensure_future(self._drive(new))
        new.task.add_done_callback(new.stopped)
        return new.id

    async def job(self, *, job: str, seen: int = -1) -> dict[str, Any]:
        """Return the progress of a job beyond ``seen`` finished tasks, or after a timeout."""
        record = self.jobs[job]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_NEWS), record.changed:
                await record.changed.wait_for(lambda: record.ended or record.done > seen)
        if self._closing:  # not cancelled: another supervisor may continue it
            raise CommClosedError("the supervisor is shutting down")  # this class is not logged
        news = self.summary(record)
        if record.ended:
            news["outcome"], news["left"] = record.outcome, record.left is not None
        return news

    async def cancel(self, *, job: str) -> bytes:
        """Stop a job as soon as its running tasks end.

        If the job has ended, its outcome is returned: the client has to release the results.
        """
        record = self.jobs.get(job)
        if record is None:
            return b""
        if record.task is not None and not record.delivering:
            record.task.cancel()
            return b""
        async with asyncio.timeout(_DELIVERY), record.changed:
            await record.changed.wait_for(lambda: record.ended)
        return record.outcome if record.state == "done" else b""

    def claim(self, *, client: str, job: str) -> None:
        """Leave the results of a job to its client, which says so in order with its releases.

        Only now is the outcome forgotten: the answer that contains it may have been lost.
        The client asks for jobs by another connection. It may have released the same keys, after an
        earlier job, in a message that arrives after the end of this job.
        """
        record = self.jobs.get(job)
        if record is None:
            return
        record.claimed, record.outcome = True, b""
        if record.ended and record.graphs is not None:
            record.graphs.leave_to(client, record.results)
            record.graphs, record.results = None, ()

    def _release(self, job: Job) -> None:
        """Release the results of an ended job."""
        graphs, job.graphs, job.results = job.graphs, None, ()
        if graphs is not None:
            self._ending.add(task := asyncio.ensure_future(graphs.close()))
            task.add_done_callback(self._ending.discard)

    async def list(self) -> list[dict[str, Any]]:
        """Return all jobs, the oldest first."""
        return [self.summary(job) for job in self.jobs.values()]

    def summary(self, job: Job) -> dict[str, Any]:
        """Return the data of a job, and why it waits if it does."""
        reason = None if job.ended else why_waiting(self.scheduler, job.holder)
        return job.summary() | {"reason": reason}

    def transition(self, key: Key, start: str, finish: str, *args: Any, **options: Any) -> None:
        """Report task transitions to the jobs."""
        self._watch.transition(key, start, finish)

    async def leave(self, *, client: str, sessions: Sequence[str]) -> None:
        """Record that sessions of a connected client have ended."""
        self._compilers.leave([(client, session) for session in sessions])
        self._leave([job for job in self.jobs.values() if job.session in sessions], client)

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Stop the jobs of a client that has disconnected."""
        sessions = {(client, job.session) for job in self.jobs.values() if job.client == client}
        self._compilers.leave(sessions)
        for job in self.jobs.values():
            if job.client == client:
                job.outcome = b""  # until now it may have asked how a job of it had ended
        self._leave(self.jobs.values(), client)

    def _leave(self, jobs: Iterable[Job], client: str) -> None:
        for job in jobs:
            if job.client == client and job.left is None:
                job.left = time.time()
                if job.ended:
                    self._release(job)
                # A job that delivers its results ends; a connected client releases them.
                if job.task is not None and not (
                    job.delivering and client in self.scheduler.clients
                ):
                    job.task.cancel()

    def prepare(self) -> None:
        """Start what the first job would wait for, without waiting for it."""
        if not self._closing:
            self._compilers.prepare()

    def modules_changed(self) -> None:
        """Compile later jobs with modules as they are now."""
        self._compilers.renew()

    async def close(self) -> None:
        """Stop all jobs."""
        self._closing = True
        tasks = [job.task for job in self.jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        self._compilers.close()
        await asyncio.gather(*tasks, *self._ending, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def _drive(self, job: Job) -> None:
        state, job.state = "failed", "running"
        try:
            job.outcome = await self._outcome(job)
            state = "done" if job.error is None else "failed"
        except asyncio.CancelledError:
            state = "cancelled"
        except CompileError as error:
            job.outcome = job.fail(Failure(str(error), error.outcome))
        except BaseException as error:  # noqa: BLE001 - the client raises it
            job.outcome = job.fail(failure(clear(error)))
        finally:
            job.end, job.state, job.task = time.time(), state, None
            if state != "done" or job.left is not None:
                self._release(job)
        await _notify(job)

    async def _outcome(self, job: Job) -> bytes:
        """Drive a compilation to its end; return the answer to the client."""
        data, job.packed = job.packed, b""
        workers = [ws.identity() for ws in self.scheduler.workers.values()]
        whose = (job.client, job.session)
        compiler = await self._compilers.open(whose, data, cluster_machine(workers, BATCH))
        del data
        try:
            return await self._run(job, compiler)
        except GraphFailed as raised:
            # Not as the context of later errors, and freed without the garbage collector.
            failed = raised.with_traceback(None)
        return job.fail(await compiler.call("explain", failed))

    async def _run(self, job: Job, compiler: Any) -> bytes:
        whose = (job.client, job.session)
        name = job.holder
        graphs = SubmittedGraphs(self.scheduler, self._watch, name, whose, job.weight)
        job.graphs = graphs
        graphs.progressed = partial(self._progressed, job)
        if compiler.recomputes:
            graphs.lineage = Lineage(self.scheduler, partial(self._recompute, name, compiler))
        infos: dict[Key, ChunkInfo | bytes] = {}
        keys: list[Key] = []
        try:
            while not isinstance(
                step := await compiler.call("advance", infos, self._ahead), Finished
            ):
                stage = step.stage
                job.describe(step)
                graphs.send(step)
                job.total, infos = graphs.total + stage.later, {}
                keys.extend(stage.keys)
                await graphs.below(self._ahead // BATCH if stage.later else 1)
                if not stage.later:
                    infos = await self._infos(keys)
                    keys.clear()
            # Take the client's own references before ours are released.
            job.delivering, job.results = True, step.keys
            await graphs.hand_over(step.keys, job.client)
            await graphs.keep(step.keys)
            return step.outcome
        except BaseException:
            # A second cancellation must not leave results held.
            await asyncio.shield(asyncio.ensure_future(graphs.close()))
            raise

    @property
    def _ahead(self) -> int:
        threads: int = self.scheduler.total_nthreads
        return ahead(threads)

    async def _recompute(
        self, name: str, compiler: Any, keys: Collection[Key], held: Collection[Key]
    ) -> tuple[TaskGraph, Submit]:
        """Make the tasks of lost results again, down to held ones."""
        prepared = await compiler.call("recompute", keys, held, self._ahead)
        return prepared.graph, partial(resubmit, self.scheduler, f"{name}-again", prepared)

    def _progressed(self, job: Job, key: Key) -> None:
        assert job.graphs is not None
        job.done = job.graphs.done
        job.count(key, 1)
        if job.done == job.total or not job.done % 64:
            asyncio.ensure_future(_notify(job))  # noqa: RUF006 - no caller waits

    async def _infos(self, keys: Sequence[Key]) -> dict[Key, ChunkInfo | bytes]:
        infos: dict[Key, ChunkInfo | bytes] = {}
        undescribed = []
        for position, key in enumerate(keys):
            if position % _TURN == _TURN - 1:
                await asyncio.sleep(0)
            ts = self.scheduler.tasks.get(key)
            info = reported_info(ts.metadata) if ts is not None else None
            if info is None:
                undescribed.append(key)
            else:
                infos[key] = info
        if undescribed:
            client = await self._connected()
            state: Any = "memory"
            names: list[Any] = undescribed
            results: list[Any] = [Future(key, client, state=state) for key in names]
            described = client.map(describe, results, pure=False)
            infos.update(zip(undescribed, await client.gather(described), strict=True))
        return infos

    async def _connected(self) -> Client:
        async with self._starting:
            if self._client is None or self._client.status == "closed":
                self._client = await Client(
                    self.scheduler.address,
                    asynchronous=True,
                    set_as_default=False,
                    security=self.scheduler.security,
                    name="marsdask-jobs",
                )
                watch_client(self._client)
        return self._client


async def _notify(job: Job) -> None:
    async with job.changed:
        job.changed.notify_all()
