"""Full disks: others are used, and without others the task fails with a clear error."""

from __future__ import annotations

import re
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.errors import SpillFull
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.cluster.hosts import Disk, problem, skip

MIB = 2**20

#: Megabytes of the first and of the second directory, and of memory.
SMALL, LARGE, MEMORY = 4, 96, 400


@pytest.fixture(scope="module")
def disks(tmp_path_factory):
    """Return two directories on file systems of their own."""
    if problem() is not None:
        skip("it needs disks")
    paths = [tmp_path_factory.mktemp(name) for name in ("small", "large")]
    with ExitStack() as mounted:
        for path, size in zip(paths, (SMALL, LARGE), strict=True):
            mounted.callback(Disk(path, size).close)
        yield paths


@pytest.fixture(scope="module")
def cluster(disks):
    """Start a supervisor and a worker that spills to both."""
    with running() as commands:
        port = free_port()
        commands.append(Command(f"mars-supervisor -H 127.0.0.1 -p {port}"))
        commands[0].wait_for("started at")
        dirs = ",".join(map(str, disks))
        line = f"mars-worker -H 127.0.0.1 -s 127.0.0.1:{port} --no-bind-cpu --mem-bytes {MEMORY}m"
        commands.append(Command(f"{line} --spill-dirs {dirs}", MARS_CPU_TOTAL="1"))
        commands[1].wait_for("started at")
        yield SimpleNamespace(address=f"tcp://127.0.0.1:{port}", commands=commands)


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check only at the end of the module, which shares the cluster."""


def block(number, nbytes):
    """Return an array of so many bytes."""
    return np.full(nbytes, number, dtype=np.uint8)


def used(path):
    """Return the megabytes of files below a directory."""
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) / MIB


def blocks(client, count, first=0):
    """Return futures of arrays of eight megabytes."""
    return client.map(block, range(first, first + count), nbytes=8 * MIB, pure=False)


def too_large(client, session):
    """Ask for a result that finds no room, and is known to."""
    x = mt.ones(14 * MIB, chunk_size=14 * MIB)
    x.map_chunk(lambda block: block + 1, dtype=float).execute(session=session)


def too_many(client, session):
    """Ask for results that nothing is known of."""
    client.gather(blocks(client, 36, first=100))


@pytest.mark.parametrize("sized", [True, False])
def test_full_disks(cluster, disks, sized):
    """One that is full is passed over; with all of them it is an error, and nothing else is lost.

    Tasks whose needs are known are refused by the worker, others by the supervisor.
    """
    small, large = disks
    with (
        Client(cluster.address, set_as_default=False) as client,
        marsdask.new_session(client, default=False) as session,
    ):
        workers = {*client.scheduler_info()["workers"]}
        held = blocks(client, 36)
        assert not any(future.exception(DEADLINE) for future in held)
        assert used(large) > used(small), "what the small one refused is there"
        with pytest.raises(SpillFull, match="needs" if sized else "waits for memory") as caught:
            (too_large if sized else too_many)(client, session)
        assert {*client.scheduler_info()["workers"]} == workers, "no process has ended"
        for path in disks:
            reason = rf"{path}: a tenth of the disk stays free, [\d.]+ .?i?B free"
            assert re.search(reason, str(caught.value))
        for number, future in enumerate(held):
            assert future.result(DEADLINE)[-1] == number
        del held
        more = blocks(client, 20, first=50)
        assert client.submit(len, more).result(DEADLINE) == 20, "there is room again"
