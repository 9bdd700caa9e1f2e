"""Errors of a failing cluster: distributed's errors with clearer messages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

import dask.config
from dask.utils import format_time, parse_timedelta
from distributed import KilledWorker
from distributed.scheduler import NoValidWorkerError, NoWorkerError

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
        attempts = "once" if not allowed else f"{allowed + 1} times"
        return (
            f"the task {self.key!r} was tried {attempts}, and the worker process died each time, "
            f"the last at {self.last_worker.address}. Either it needs more memory than a worker "
            "has: give smaller chunks (chunk_size=) or a larger --mem-bytes. Or its code ends the "
            "process: see the log of that worker. "
            f"distributed.scheduler.allowed-failures ({allowed}) sets the number of retries"
        )


#: The timeout of tasks for which there is no worker, on supervisors.
TIMEOUT: Final = "marsdask.no-workers-timeout"


class NoWorkers(MarsdaskError, NoWorkerError):
    """A task found no worker within ``marsdask.no-workers-timeout``."""

    def __str__(self) -> str:
        return (
            f"no worker joined for the task {self.task!r} within {format_time(self.timeout)}: "
            "start some with mars-worker -s and the supervisor's address. "
            f"{TIMEOUT} on the supervisor sets the timeout"
        )


class NoValidWorkers(MarsdaskError, NoValidWorkerError):
    """No worker met the restrictions of a task within ``marsdask.no-workers-timeout``."""

    def __str__(self) -> str:
        conditions = restrictions(
            self.resource_restrictions, self.host_restrictions, self.worker_restrictions
        )
        return (
            f"no worker with {conditions} joined for the task {self.task!r} within "
            f"{format_time(self.timeout)}: start one, or give the task other resources= or "
            f"workers=. {TIMEOUT} on the supervisor sets the timeout"
        )


#: Key under which a worker reports why no disk takes its results, ``None`` if one does.
FULL = "mars_full"

#: Advice for full memory and disks.
HELP = (
    "Free space there, give other directories with --spill-dirs or more memory with "
    "--mem-bytes, or start another worker; deleting results frees space too"
)


def no_workers_timeout() -> float | None:
    """Return the seconds after which tasks without a worker fail, ``None`` for never.

    If distributed's own option is set, it takes precedence.
    """
    value = dask.config.get("distributed.scheduler.no-workers-timeout", None)
    if value is None:
        value = dask.config.get(TIMEOUT, "30 minutes")
    seconds: float | None = parse_timedelta(value)
    return seconds


def no_workers(supervisor: str, since: float, timeout: float | None) -> str:
    """Return why a job waits, and how to start workers."""
    start = f"start some with mars-worker -s {supervisor.removeprefix('tcp://')}"
    return f"no workers since {_clock(since)}: {start}{_until(timeout)}"


def no_running_workers(count: int, since: float, timeout: float | None) -> str:
    """Return why a job waits although there are workers."""
    return (
        f"none of the {count} workers takes tasks since {_clock(since)}, as their memory is full "
        f"or they end: start others, or free results{_until(timeout)}"
    )


def no_valid_worker(task: Any, asked: str, since: float, timeout: float | None) -> str:
    """Return why a task waits for a worker with what it asks for."""
    return (
        f"no worker for the task {task!r} since {_clock(since)}: start one with {asked}"
        f"{_until(timeout)}"
    )


def restrictions(
    resources: Mapping[str, float] | None,
    hosts: Iterable[str] | None,
    workers: Iterable[str] | None,
) -> str:
    """Return what a task asks of its worker."""
    conditions = [f"the resources {dict(resources)}"] if resources else []
    for name, places in (("host", hosts), ("address", workers)):
        conditions += [f"the {name} {' or '.join(sorted(places))}"] if places else []
    return " and ".join(conditions) or "what it needs"


def _clock(since: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(since))


def _until(timeout: float | None) -> str:
    return "" if timeout is None else f"; its job fails after {format_time(timeout)} ({TIMEOUT})"


_CLEAR: dict[type[BaseException], type[BaseException]] = {
    KilledWorker: WorkersDied,
    NoWorkerError: NoWorkers,
    NoValidWorkerError: NoValidWorkers,
}


def clear(error: BaseException) -> BaseException:
    """Return an error of the cluster with a clearer message; other errors are unchanged.

    The new error is also an instance of distributed's class, which programs for Dask may catch.
    """
    ours = _CLEAR.get(type(error))
    return error if ours is None else ours(*error.args)
