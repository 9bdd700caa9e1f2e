"""The errors of schedulers, besides the exceptions of tasks, which pass unchanged."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable
from typing import Any, Final


def did_you_mean(given: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return a question about the known name most like another, or nothing if none is like it."""
    names = list(known)
    alike = difflib.get_close_matches(given, names, n=1, cutoff=cutoff) or [
        name for name in names if len(name) > 2 and (given.startswith(name) or name in given)
    ]
    return f". Did you mean {alike[0]!r}?" if alike else ""


#: Why a forked child cannot use a scheduler: its threads are only in the parent.
FORKED: Final = "the scheduler belongs to the parent of this forked process; start a session here"


class MarsdaskError(Exception):
    """The base class of all marsdask errors."""


class SchedulerClosed(MarsdaskError, RuntimeError):
    """A scheduler was used after it was closed."""


class SessionClosed(MarsdaskError, RuntimeError):
    """A session was used after it was closed, or its result was fetched."""


class MemoryBudgetError(MarsdaskError, MemoryError):
    """A single task needs more memory than the whole budget."""

    def __init__(
        self, op: str, chunk: Hashable, nbytes: int, budget: int, suggestion: str = ""
    ) -> None:
        self.op = op
        self.chunk = chunk
        self.nbytes = nbytes
        self.budget = budget
        self.suggestion = suggestion
        text = (
            f"{op} needs {_mebibytes(nbytes)} for chunk {chunk!r}, "
            f"more than the budget of {_mebibytes(budget)}"
        )
        super().__init__(f"{text}; {suggestion}" if suggestion else text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            type(self),
            (self.op, self.chunk, self.nbytes, self.budget, self.suggestion),
            vars(self),
        )


class ResultsTooLarge(MarsdaskError, MemoryError):
    """Results exceed the memory and the disk space that is available for them."""

    def __init__(self, op: str, nbytes: int, room: int, where: str, suggestion: str) -> None:
        self.op = op
        self.nbytes = nbytes
        self.room = room
        self.where = where
        self.suggestion = suggestion
        super().__init__(
            f"the result of {op} takes {_gibibytes(nbytes)}, more than the {_gibibytes(room)} "
            f"of {where}; {suggestion}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.op, self.nbytes, self.room, self.where, self.suggestion)


def _gibibytes(nbytes: int) -> str:
    return f"{nbytes / 2**30:,.2f} GiB"


def _mebibytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:,.1f} MiB"


class SpillFull(MarsdaskError, OSError):
    """Results had to leave memory, and no spill directory had space for them."""


class SharedGone(MarsdaskError, OSError):
    """A value in shared memory was dropped, or its owner ended, before it was opened."""


class WorkerDied(MarsdaskError, RuntimeError):
    """A worker process ended while it ran a task."""

    def __init__(self, key: Hashable, exitcode: int | None) -> None:
        self.key = key
        self.exitcode = exitcode
        killed = exitcode is not None and exitcode < 0
        cause = f"signal {-(exitcode or 0)}" if killed else f"exit code {exitcode}"
        super().__init__(f"the worker process running task {key!r} died ({cause})")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.key, self.exitcode), vars(self)


class ResultLost(MarsdaskError, RuntimeError):
    """A cluster lost a result that it cannot recompute, or another client cancelled it."""

    def __init__(
        self, key: Hashable, why: str = "the worker that held it died, or it was cancelled"
    ) -> None:
        self.key = key
        self.why = why
        super().__init__(
            f"{key!r} is lost: {why}. The cluster has only the result of what was executed before, "
            "so define the expression again and execute it again"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.key, self.why), vars(self)


class HookChanged(MarsdaskError, ImportError):
    """The installed distributed lacks, or has changed, a function that a server uses."""

    def __init__(self, who: str, version: str, problems: Iterable[str]) -> None:
        self.who = who
        self.version = version
        self.problems = tuple(problems)
        super().__init__(
            f"{who} cannot run on distributed {version}: {'; '.join(self.problems)}. "
            "Install another release of distributed, or a newer marsdask"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.who, self.version, self.problems), vars(self)


class VersionMismatch(MarsdaskError, ImportError):
    """The versions of a client, a worker and a supervisor are incompatible."""

    def __init__(self, who: str, packages: Iterable[str], table: str) -> None:
        self.who = who
        self.packages = tuple(packages)
        self.table = table
        super().__init__(
            f"{who} have incompatible versions of {', '.join(self.packages)}:\n\n"
            f"{table}\n\nInstall the same versions everywhere "
            '(or set marsdask.versions to "warn")'
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.who, self.packages, self.table), vars(self)


class CompilationTimeout(MarsdaskError, TimeoutError):
    """A supervisor took too long to unpickle or compile a job."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"compiling did not end in {seconds:g} s (marsdask.compile.timeout on the supervisor). "
            "Does unpickling something in the job wait, or take this long?"
        )
        self.seconds = seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seconds,), vars(self)


class CompilationDied(MarsdaskError, RuntimeError):
    """The process that compiled the jobs of a session has ended."""

    def __init__(self, exitcode: int | None, memory: int, exceeded: int | None = None) -> None:
        why = (
            "A job in it took too long, or the code in a job ended it. It may use "
            f"{memory} bytes (marsdask.compile.memory on the supervisor)"
        )
        if exceeded is not None:
            why = (
                "It was the largest of all sessions' processes, which together exceeded "
                f"{exceeded} bytes (marsdask.compile.total-memory on the supervisor)"
            )
        super().__init__(
            f"the process that compiles this session's jobs has ended (exit code {exitcode}). {why}"
        )
        self.exitcode = exitcode
        self.memory = memory
        self.exceeded = exceeded

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.exitcode, self.memory, self.exceeded), vars(self)


class NoSupervisor(MarsdaskError, OSError):
    """None of the given supervisors can be reached."""


class Unreachable(MarsdaskError, ConnectionError):
    """No scheduler answers at an address."""

    def __init__(self, address: str, seconds: float, cause: object) -> None:
        self.address = address
        self.seconds = seconds
        self.cause = str(cause)
        starts = "mars-supervisor -w" if address.startswith("ws") else "dask scheduler"
        advice = f"start one there with `{starts}`, or raise connect_timeout="
        if "CERTIFICATE_VERIFY_FAILED" in self.cause:
            advice = (
                "give the token= that `mars-supervisor --secure` has printed there, or ca_file= "
                "with the certificate of its authority"
            )
        elif address.startswith("ws://") and "refused" not in self.cause:
            advice = f"give https:// if the port there uses TLS, or {advice}"
        super().__init__(
            f"no Dask scheduler answered at {address} within {seconds:g} s ({self.cause}): {advice}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.address, self.seconds, self.cause), vars(self)


class InvalidAddress(MarsdaskError, ConnectionError):
    """The address cannot be that of a web service."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"no web service at {address}: {reason}")
        self.address = address
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.address, self.reason), vars(self)


class UnknownScheduler(MarsdaskError, ValueError):
    """No scheduler has this name; the message lists the known names."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        if re.fullmatch(r"[\w.\-\[\]:]+:\d+(/.*)?", name):
            super().__init__(
                f"unknown scheduler: {name!r}. Did you mean 'http://{name}', the web service of a "
                f"supervisor, or 'tcp://{name}', a Dask scheduler?"
            )
            return
        close = did_you_mean(name, self.known)
        choice = ", ".join(self.known)
        super().__init__(
            f"unknown scheduler: {name!r}{close} Choose from {choice}"
            if close
            else f"unknown scheduler: {name!r}; choose from {choice}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.known), vars(self)
