"""Run one script in several processes at the same time, as MPI and torch.distributed do."""

from __future__ import annotations

import os
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, Final
from urllib.parse import urlsplit

from marsdask.core.errors import MarsdaskError
from marsdask.core.results.execution import Execution
from marsdask.core.session import Session, ensure_session
from marsdask.scheduler.base import HoldsFutures, KnowsMachine, Scheduler
from marsdask.scheduler.inprocess.worker_process import dumps
from marsdask.scheduler.worker_client import running_worker

from . import ranks
from .spawn import spawn

#: Seconds between two looks at the processes: at first, and at most.
_FIRST, _LONGEST = 0.02, 0.5

#: Lines of a rank's output that an error shows.
_LINES: Final = 20


class ScriptFailed(MarsdaskError):
    """A rank of a script failed; all others were stopped."""


class ScriptTimeout(ScriptFailed, TimeoutError):
    """Ranks of a script did not end in time; they were stopped."""


def run_script(
    script: bytes | str | os.PathLike[str] | IO[Any],
    data: dict[str, Any] | None = None,
    n_workers: int = 1,
    command_argv: Sequence[str] | None = None,
    session: Session | None = None,
    retry_when_fail: bool = False,
    run_kwargs: dict[str, Any] | None = None,
    timeout: float | None = None,
) -> Any:
    """Run a script in a process beside each of several workers, all at the same time.

    Each process finds its number in ``RANK``, their number in ``WORLD_SIZE``, and the address of
    rank 0 in ``MASTER_ADDR`` and ``MASTER_PORT``. A rank that fails stops all others.

    Parameters
    ----------
    script : path or file
        The script, or a file with its text.
    data : dict, optional
        Values by the names of global variables of the script. Tensors and frames stay lazy.
    n_workers : int
        The number of processes.
    command_argv : list of str, optional
        The script's arguments.
    session : Session, optional
        Where to run it.
    retry_when_fail : bool
        Whether the whole script runs up to three times.
    run_kwargs : dict, optional
        Arguments of ``execute()``, such as ``wait``.
    timeout : float, optional
        Seconds after which ranks that still run are stopped; by default they may take any time.

    Returns
    -------
    Object or Execution
        It fetches ``{"status": "ok"}``; ``fetch_log()`` returns what all ranks printed.

    Raises
    ------
    TypeError
        If ``data`` is not a dict.
    ValueError
        If there are fewer workers than processes.
    ScriptFailed
        If a rank fails or takes too long; it has the rank's last lines.

    Examples
    --------
    >>> import io
    >>> import marsdask.remote as mr
    >>> text = "import os; print(greeting, os.environ['RANK'])"
    >>> done = mr.run_script(io.StringIO(text), data={"greeting": "rank"})
    [rank 0] rank 0
    >>> done.fetch()
    {'status': 'ok'}
    """
    if data is not None and not isinstance(data, dict):
        raise TypeError("`data` must be a dict whose key is variable name and value is data")
    if isinstance(n_workers, bool) or not isinstance(n_workers, int) or n_workers < 1:
        raise ValueError(f"invalid n_workers: {n_workers!r}; give a positive int")
    session_of_run = ensure_session(session)
    _check_workers(session_of_run.scheduler, n_workers)
    code, filename = _read(script)
    job = Script(code, filename, tuple(command_argv or ()), n_workers, timeout)
    call = spawn(job, (data or {},), retry_when_fail=retry_when_fail)
    try:
        execution = call.execute(session=session_of_run, **(run_kwargs or {}))
    except BaseException:
        job.end.set()
        raise
    if isinstance(execution, Execution):
        execution.add_done_callback(job.end.follow)
    return execution


def _read(script: Any) -> tuple[bytes, str]:
    if hasattr(script, "read"):
        code, filename = script.read(), "<script>"
    else:
        filename = os.path.abspath(os.fsdecode(script))
        with open(filename, "rb") as file:
            code = file.read()
    return code.encode() if isinstance(code, str) else code, filename


def _check_workers(scheduler: Scheduler, wanted: int) -> None:
    """Refuse to start more processes than there are workers: they would wait for each other."""
    if isinstance(scheduler, HoldsFutures):
        there = len(scheduler.client.nthreads())
    elif isinstance(scheduler, KnowsMachine):
        there = scheduler.machine().threads
    else:
        return
    if wanted > there:
        raise ValueError(
            f"run_script(n_workers={wanted}) needs as many workers, but {scheduler.name!r} has "
            f"{there}"
        )


class End(threading.Event):
    """Set once the caller of a script, in this process, has given it up."""

    def __reduce__(self) -> tuple[Any, ...]:
        return End, ()

    def follow(self, execution: Execution) -> None:
        """Be set if an execution is cancelled, or fails."""
        if execution.exception() is not None:
            self.set()


@dataclass(frozen=True)
class Script:
    """A script as the function of one task, which runs all its processes."""

    code: bytes
    filename: str
    argv: tuple[str, ...]
    world_size: int
    timeout: float | None
    end: End = field(default_factory=End)

    @property
    def __name__(self) -> str:
        return "run_script"

    def __call__(self, data: Mapping[str, Any]) -> dict[str, str]:
        """Run it; the answer is Mars's."""
        worker = running_worker()
        if worker is None:
            hosts, cluster = ScriptHosts(["this host"] * self.world_size), None
        else:
            client: Any = ensure_session().scheduler
            places = sorted(client.client.nthreads())[: self.world_size]
            hosts = ScriptHosts(places, client.client)
            cluster = worker.scheduler.address, worker.security
        # Values are pickled apart: what reads them needs a session first.
        payload = dumps((self.code, self.filename, self.argv, cluster, dumps(dict(data))))
        run = ScriptRun(hosts, self.timeout, partial(_given_up, self.end))
        try:
            run.start(payload)
            run.wait()
        finally:
            run.stop()
        return {"status": "ok"}


def _given_up(end: End, pause: float) -> bool:
    """Wait a little; return whether nobody wants the result of this task any more."""
    if end.wait(pause):
        return True
    worker = running_worker()
    if worker is None:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


class ScriptHosts:
    """The place of a script's ranks: this process, or workers that a client reaches."""

    def __init__(self, places: Sequence[str], client: Any = None) -> None:
        self.places = tuple(places)
        self._client = client

    def call(self, rank: int, func: Callable[..., Any], *args: Any) -> Any:
        """Call a function in the process beside which a rank runs, also if its threads are busy."""
        if self._client is None:
            return func(*args)
        place = self.places[rank]
        return self._client.run(func, *args, workers=[place])[place]

    def master(self) -> tuple[str, int]:
        """Return an address at which rank 0 may listen."""
        host = "127.0.0.1"
        if self._client is not None:
            host = urlsplit(self.places[0]).hostname or host
        return host, self.call(0, ranks.free_port)


class ScriptRun:
    """All processes of one run of a script."""

    def __init__(
        self, hosts: ScriptHosts, timeout: float | None, given_up: Callable[[float], bool]
    ) -> None:
        self._hosts = hosts
        self._given_up = given_up
        self._name = uuid.uuid4().hex
        self._timeout = timeout
        self._running = set(range(len(hosts.places)))
        self._last: list[deque[str]] = [deque(maxlen=_LINES) for _ in hosts.places]

    def start(self, payload: bytes) -> None:
        """Start every rank."""
        host, port = self._hosts.master()
        common = {
            "WORLD_SIZE": str(len(self._hosts.places)),
            "MASTER_ADDR": host,
            "MASTER_PORT": str(port),
        }
        for rank in sorted(self._running):
            environment = {**common, "RANK": str(rank)}
            self._hosts.call(rank, ranks.start, self._name, rank, payload, environment)

    def wait(self) -> None:
        """Wait for all ranks; raise if one fails, if the time is over, or if nobody waits."""
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        pause = _FIRST
        while self._running:
            full = [self._look(rank) for rank in sorted(self._running)]
            if not self._running:
                break
            if deadline is not None and time.monotonic() > deadline:
                raise ScriptTimeout(self._told(f"did not end within {self._timeout} s", None))
            if self._given_up(pause):
                raise CancelledError
            pause = _FIRST if any(full) else min(2 * pause, _LONGEST)

    def _look(self, rank: int) -> bool:
        """Pass on what a rank has printed; return whether it waits to print more."""
        try:
            code, text = self._hosts.call(rank, ranks.news, self._name, rank)
        except (OSError, KeyError) as error:
            raise ScriptFailed(self._told(f"was lost: {error!r}", rank)) from error
        for line in text.splitlines(keepends=True):
            self._last[rank].append(line)
            sys.stdout.write(f"[rank {rank}] {line}")
        if code:
            how = f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"
            raise ScriptFailed(self._told(how, rank))
        if code == 0:
            self._running.discard(rank)
        return len(text) >= ranks.KEPT // 2

    def _told(self, how: str, rank: int | None) -> str:
        """Say what happened to a rank, or to those that run, with their last lines."""
        blamed = sorted(self._running) if rank is None else [rank]
        size = len(self._hosts.places)
        ranks = ", ".join(f"{rank} ({self._hosts.places[rank]})" for rank in blamed)
        lines = [f"rank {ranks} of {size} {how}; all ranks were stopped. Last lines:"]
        for one in blamed:
            lines += [f"[rank {one}] {line.rstrip()}" for line in self._last[one]]
        return "\n".join(lines)

    def stop(self) -> None:
        """Stop every rank that still runs, and forget all."""
        for rank in range(len(self._hosts.places)):
            with suppress(OSError):
                self._hosts.call(rank, ranks.stop, self._name, rank)
