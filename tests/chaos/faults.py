"""What goes wrong: each fault is injected, and mended later, and names the errors it may cause."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from marsdask.scheduler.errors import ResultsTooLarge, SpillFull
from tests.chaos.cluster import ChaosCluster
from tests.chaos.programs import PROGRAMS
from tests.source import ROOT

#: Blocks that are left on a full disk, and how often the others are asked for.
_SPARE, _ATTEMPTS = 64, 100

#: Undoes a fault.
Mend = Callable[[], object]

#: A client of its own, which is killed at its job.
_CLIENT = """
import sys
import marsdask
from tests.chaos.programs import PROGRAMS

with marsdask.new_session(sys.argv[1], default=False) as session:
    print("begins", flush=True)
    while True:
        PROGRAMS[int(sys.argv[2])](session, int(sys.argv[3]))
"""


@dataclass(frozen=True)
class Fault:
    """How to inject it, returning how to mend it, and the errors that a job may end with."""

    inject: Callable[[ChaosCluster, random.Random], Mend]
    errors: tuple[type[BaseException], ...] = ()
    apart: bool = False
    """Whether it needs hosts with a network and a disk of their own."""


def _nothing() -> None:
    """Mend what mends itself."""


def _worker_host(cluster: ChaosCluster, draw: random.Random) -> int:
    return draw.choice(list(cluster.worker_hosts))


def kill_worker(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Kill a worker process; its nanny starts another."""
    process = draw.choice(cluster.processes(_worker_host(cluster, draw)))
    process.kill()
    return _nothing


def kill_host(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Kill a whole ``mars-worker``, and start one in its place."""
    cluster.restart(_worker_host(cluster, draw))
    return _nothing


def kill_supervisor(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Kill the active supervisor, and start it again; the other one takes over."""
    number = cluster.active() or 0
    cluster.restart(number)
    return _nothing


def kill_standby(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Kill the other supervisor, and start it again."""
    cluster.restart(1 - (cluster.active() or 0))
    return _nothing


def freeze_worker(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Stop a worker process, which continues later."""
    process = draw.choice(cluster.processes(_worker_host(cluster, draw)))
    process.suspend()

    def resume() -> None:
        with suppress(psutil.NoSuchProcess):  # its nanny has given it up
            process.resume()

    return resume


def freeze_host(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Stop all processes of a host of workers, which continue later."""
    command = cluster.commands[_worker_host(cluster, draw)]
    cluster.signal(command, signal.SIGSTOP)
    return lambda: cluster.signal(command, signal.SIGCONT)


def freeze_supervisor(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Stop the active supervisor, which continues later: maybe after another has taken over."""
    command = cluster.commands[cluster.active() or 0]
    cluster.signal(command, signal.SIGSTOP)
    return lambda: cluster.signal(command, signal.SIGCONT)


def vanish_client(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Kill a client in the middle of a job of its own."""
    kind, seed = draw.randrange(len(PROGRAMS)), draw.randrange(2**32)
    address = f"tcp://{cluster.supervisors[cluster.active() or 0]}"
    with subprocess.Popen(
        [sys.executable, "-c", _CLIENT, address, str(kind), str(seed)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
    return _nothing


def cut_host(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Take a host of workers off the network."""
    return _cut(cluster, _worker_host(cluster, draw))


def cut_supervisor(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Take the active supervisor off the network."""
    return _cut(cluster, cluster.active() or 0)


def cut_standby(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Take the other supervisor off the network."""
    return _cut(cluster, 1 - (cluster.active() or 0))


def _cut(cluster: ChaosCluster, number: int) -> Mend:
    hosts = cluster.hosts
    assert hosts is not None
    hosts.plug(number, "down")
    return lambda: hosts.plug(number, "up")


def fill_disk(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Fill the disk that the workers of a host spill to."""
    folder = cluster.place(_worker_host(cluster, draw)) / "spill"
    filler = folder / "filler"
    with open(filler, "wb") as file:
        for _ in range(_ATTEMPTS):
            if (left := os.statvfs(folder)).f_bavail <= _SPARE:
                break
            size = os.fstat(file.fileno()).st_size
            with suppress(OSError):  # the workers write meanwhile
                os.posix_fallocate(file.fileno(), size, (left.f_bavail - _SPARE) * left.f_frsize)
    return filler.unlink


def slow_disk(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Let each write of a result to a host's disk take half a second."""
    return _flag(cluster, _worker_host(cluster, draw), "slow", "yes")


def jump_clock(cluster: ChaosCluster, draw: random.Random) -> Mend:
    """Let the clock of one host jump by up to an hour, and back."""
    number = draw.choice([*range(2), *cluster.worker_hosts])
    return _flag(cluster, number, "clock", str(draw.choice((-3600, -60, 60, 3600))))


def _flag(cluster: ChaosCluster, number: int, name: str, text: str) -> Mend:
    path = cluster.place(number) / name
    path.write_text(text)
    return path.unlink


FAULTS: dict[str, Fault] = {
    fault.inject.__name__: fault
    for fault in (
        Fault(kill_worker),
        Fault(kill_host),
        Fault(kill_supervisor),
        Fault(kill_standby),
        Fault(freeze_worker),
        Fault(freeze_host),
        Fault(freeze_supervisor),
        Fault(vanish_client),
        Fault(slow_disk),
        Fault(jump_clock),
        Fault(cut_host, apart=True),
        Fault(cut_supervisor, apart=True),
        Fault(cut_standby, apart=True),
        Fault(fill_disk, (SpillFull, ResultsTooLarge), apart=True),
    )
}


def named(error: BaseException, errors: tuple[Any, ...]) -> str:
    """Return what an error says; raise it if it is none of these."""
    if not isinstance(error, errors):
        raise error
    return f"{type(error).__name__}: {error}"[:200]
