"""Errors of a failing cluster: distributed's errors with clearer messages."""

from __future__ import annotations

from typing import Any

from dask.utils import format_time
from distributed import KilledWorker
from distributed.scheduler import NoWorkerError

from ..errors import MarsdaskError, WorkerDied


class WorkersDied(WorkerDied, KilledWorker):
    """Each worker process that ran a task died, up to the allowed number."""

    def __init__(self, task: Any, last_worker: Any, allowed_failures: int) -> None:
        Exception.__init__(self, task, last_worker, allowed_failures)
        self.key = task
        self.exitcode = None
        """Unknown here: the nanny of the worker has logged it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, vars(self)

    def __str__(self) -> str:
        allowed = self.allowed_failures
        tried = "once" if not allowed else f"{allowed + 1} times"
        return (
            f"the task {self.key!r} was tried {tried}, and the worker process died each time, the "
            f"last at {self.last_worker.address}. Either it needs more memory than a worker has: "
            "give smaller chunks (chunk_size=) or a larger --mem-bytes. Or its code ends the "
            "process: see the log of that worker. "
            f"distributed.scheduler.allowed-failures ({allowed}) sets the number of retries"
        )


class NoWorkers(MarsdaskError, NoWorkerError):
    """A task found no worker within ``distributed.scheduler.no-workers-timeout``."""

    def __str__(self) -> str:
        return (
            f"no worker joined for the task {self.task!r} within {format_time(self.timeout)}: "
            "start some with mars-worker -s and the supervisor's address. "
            "distributed.scheduler.no-workers-timeout on the supervisor sets the timeout"
        )


#: Key under which a worker reports why no disk takes its results, ``None`` if one does.
FULL = "mars_full"

#: Advice for full memory and disks.
HELP = (
    "Free space there, give other directories with --spill-dirs or more memory with "
    "--mem-bytes, or start another worker; deleting results frees space too"
)


def no_workers(supervisor: str) -> str:
    """Return why a job waits, and how to start workers."""
    return f"no workers: start some with mars-worker -s {supervisor.removeprefix('tcp://')}"


_CLEAR: dict[type[BaseException], type[BaseException]] = {
    KilledWorker: WorkersDied,
    NoWorkerError: NoWorkers,
}


def clear(error: BaseException) -> BaseException:
    """Return an error of the cluster with a clearer message; other errors are unchanged.

    The new error is also an instance of distributed's class, which programs for Dask may catch.
    """
    ours = _CLEAR.get(type(error))
    return error if ours is None else ours(*error.args)
