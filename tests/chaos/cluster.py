"""A cluster of processes on hosts of its own: two supervisors, and hosts of workers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
from distributed import Client
from distributed.security import Security

from marsdask.scheduler.cluster.failures import FULL
from marsdask.scheduler.cluster.leader import gather_roles, query_role
from tests.cluster.commands import Command, free_port
from tests.cluster.hosts import Disk, Hosts

#: Seconds for a job to end, right or with an error, and for a cluster to be whole again.
DEADLINE = 180

#: Worker processes and megabytes of each host of workers: results of 8 MiB spill.
PROCESSES, MEMORY, DISK = 2, 760, 256

#: Seconds for the answer of a supervisor, which may be cut off.
_ANSWER = 2.0

#: Supervisors and workers that are silent count as dead soon. distributed allows no less than 11 s.
FAST = {
    "MARS_CPU_TOTAL": str(PROCESSES),
    "DASK_MARSDASK__FAILOVER__TIMEOUT": "5s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
}


class ChaosCluster:
    """Two supervisors and ``workers`` hosts with worker processes.

    With ``hosts`` each has a network of its own, and each host of workers a disk of its own to
    spill to; without, all are on the loopback interface.
    """

    def __init__(self, folder: Path, workers: int, *, apart: bool) -> None:
        self.folder = folder
        self.count = workers
        self.apart = apart
        self.hosts: Hosts | None = None
        self.commands: dict[int, Command] = {}
        """By the number of the host: the supervisors' are 0 and 1."""
        self._ports: list[int] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[ChaosCluster]:
        """Start the cluster, and kill its processes at the end."""
        numbers = range(2 + self.count)
        with ExitStack() as stack:
            if self.apart:
                self.hosts = Hosts(len(numbers))
                stack.callback(self.hosts.close)
            self._ports = [7001 if self.apart else free_port() for _ in range(2)]
            for number in numbers:
                spill = self.place(number) / "spill"
                spill.mkdir(parents=True)
                if self.apart and number > 1:
                    stack.callback(Disk(spill, DISK).close)
            stack.callback(self.kill)
            for number in numbers:
                self.start(number)
            for command in self.commands.values():
                command.wait_for("started at")
            yield self

    def kill(self) -> None:
        """Kill all processes."""
        for command in self.commands.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                self.signal(command, signal.SIGCONT)
            command.kill()

    def place(self, number: int) -> Path:
        """Return the folder of a host."""
        return self.folder / f"host-{number}"

    def ip(self, number: int) -> str:
        """Return the address of a host."""
        return "127.0.0.1" if self.hosts is None else self.hosts.ip(number)

    @property
    def supervisors(self) -> list[str]:
        """The addresses of the supervisors."""
        return [f"{self.ip(number)}:{port}" for number, port in enumerate(self._ports)]

    @property
    def worker_hosts(self) -> Sequence[int]:
        """The numbers of the hosts of workers."""
        return range(2, 2 + self.count)

    def start(self, number: int) -> None:
        """Start the command of a host."""
        where = f"-H {self.ip(number)} -s {','.join(self.supervisors)}"
        if number < 2:
            line = f"mars-supervisor {where} -p {self._ports[number]}"
        else:
            line = (
                f"mars-worker {where} --processes {PROCESSES} --no-bind-cpu --mem-bytes {MEMORY}m "
                f"--ignore-avail-mem --cache-mem 200m --spill-dirs {self.place(number) / 'spill'}"
            )
        within = () if self.hosts is None else self.hosts.within(number)
        self.commands[number] = Command(
            f"{line} --load-modules tests.chaos.injection",
            within=within,
            TMPDIR=str(self.place(number)),
            MARSDASK_CHAOS=str(self.place(number)),
            **FAST,
        )

    def restart(self, number: int) -> None:
        """Kill the command of a host, as the end of a container does, and start it again."""
        command = self.commands[number]
        processes = command.descendants()
        command.process.kill()
        _, alive = psutil.wait_procs(processes, timeout=DEADLINE)
        assert not alive, f"{alive} outlive their nanny"
        command.kill()
        self.start(number)

    def processes(self, number: int) -> list[psutil.Process]:
        """Return the worker processes of a host, in the order of their start; wait for one."""
        deadline = time.monotonic() + DEADLINE
        while not (found := self._processes(number)):
            assert time.monotonic() < deadline, "no worker process starts"
            time.sleep(0.2)
        return found

    def _processes(self, number: int) -> list[psutil.Process]:
        found = []
        for process in self.commands[number].descendants():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(process.cmdline()):
                    found.append(process)
        return sorted(found, key=psutil.Process.create_time)

    def split_stages(self, batch: int | None) -> None:
        """Let supervisors split stages of more tasks than this, or than usual."""
        for number in range(2):
            path = self.place(number) / "batch"
            if batch is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(str(batch))

    def counted(self, what: str) -> int:
        """Return how many results were ``spilled`` or ``recovered``, and forget them."""
        paths = [self.place(number) / what for number in range(2 + self.count)]
        count = sum(path.stat().st_size for path in paths if path.exists())
        for path in paths:
            path.unlink(missing_ok=True)
        return count

    def signal(self, command: Command, signum: int) -> None:
        """Send a signal to a command, and to all that it has started."""
        for process in (psutil.Process(command.process.pid), *command.descendants()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signum)

    def active(self) -> int | None:
        """Return the number of the active supervisor, ``None`` if there is none, or two for now."""

        async def find() -> list[Any]:
            arguments = Security().get_connection_args("client")
            asked = [query_role(f"tcp://{one}", arguments, _ANSWER) for one in self.supervisors]
            return await gather_roles(asked, _ANSWER)

        roles = asyncio.run(find())
        found = [number for number, role in enumerate(roles) if role is not None and role.active]
        return found[0] if len(found) == 1 else None

    def whole(self) -> str:
        """Wait until the cluster is whole; return the address of the active supervisor."""
        deadline = time.monotonic() + DEADLINE
        while (number := self.active()) is None:
            assert time.monotonic() < deadline, "no supervisor becomes active"
            time.sleep(0.2)
        address = f"tcp://{self.supervisors[number]}"
        with self.client(address) as client:
            client.wait_for_workers(PROCESSES * self.count, timeout=DEADLINE)
        return address

    def state(self) -> str:
        """Tell what workers and jobs do, for the message of a failure."""
        number = self.active()
        if number is None:
            return "no supervisor is active"
        with self.client(f"tcp://{self.supervisors[number]}") as client:
            told = [client.run_on_scheduler(_state)]
            with contextlib.suppress(TimeoutError):
                ask = {"on_error": "return", "callback_timeout": DEADLINE}
                found = client.sync(client._run, _worker_state, **ask)
                told += [f"{worker}: {state}" for worker, state in found.items()]
        return "\n".join(told)

    def client(self, address: str) -> Client:
        """Return a stock client."""
        return Client(address, set_as_default=False, timeout=DEADLINE)

    def shut_down(self) -> None:
        """Wait until the supervisor knows of no task; end all in order, and look for leaks."""
        with self.client(self.whole()) as client:
            deadline = time.monotonic() + DEADLINE
            while left := client.run_on_scheduler(_tasks):
                assert time.monotonic() < deadline, f"the supervisor keeps {left}"
        for number in (*self.worker_hosts, 0, 1):
            command = self.commands[number]
            processes = command.descendants()
            command.end(signal.SIGTERM)
            _, alive = psutil.wait_procs(processes, timeout=10)
            assert not alive, f"{command.line} leaves {alive}"


def _tasks(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks][:10]


def _state(dask_scheduler: Any) -> str:
    lines = [
        f"{ws} on {ws.host}: {ws.metrics.get('memory', 0) >> 20} MiB, {len(ws.executing)} running, "
        f"{ws.metrics.get('spilled_bytes')} {ws.metrics.get(FULL)}"
        for ws in dask_scheduler.workers.values()
    ]
    states = Counter((ts.prefix.name, ts.state) for ts in dask_scheduler.tasks.values())
    lines += [f"{count} of {name} {state}" for (name, state), count in sorted(states.items())]
    jobs = dask_scheduler.plugins["marsdask-jobs"]
    lines += [f"{jobs.summary(job)}" for job in jobs.jobs.values() if not job.ended]
    lines += [
        f"{len(one.buffer)} unsent to {to}" for to, one in dask_scheduler.stream_comms.items()
    ]
    return "\n".join(lines)


def _worker_state(dask_worker: Any) -> str:
    state = dask_worker.state
    counts = Counter((ts.prefix, ts.state) for ts in state.tasks.values())
    unsent = len(dask_worker.batched_stream.buffer)
    fetched = {peer: len(keys) for peer, keys in state.in_flight_workers.items()}
    return f"{dict(counts)}, {unsent} unsent, from {fetched}, {state.admission}"


def shared_bytes(dask_worker: Any) -> int:
    """Return the bytes that a worker shares now."""
    sharing = dask_worker.shared_results
    return 0 if sharing is None else sharing.pool.nbytes


def open_files() -> int:
    """Return how many files and sockets this process has open."""
    return len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
