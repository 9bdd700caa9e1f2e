"""Worker processes exchange results in shared memory."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import dask.config
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.distributed import SpecCluster
from distributed.worker_state_machine import RemoveReplicasEvent

from marsdask.scheduler.errors import SharedGone
from marsdask.scheduler.storage import shared_segment
from marsdask.scheduler.storage.shared_segment import problem
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsNanny
from tests.cluster.loop import HOST
from tests.scheduler.peer import eventually
from tests.scheduler.shared_actions import inodes, proportional

pytestmark = pytest.mark.skipif(problem() is not None, reason=str(problem()))

MIB = 1 << 20
N = 1 << 18
LEASE = shared_segment.lease


def numbers():
    return np.arange(N * 4.0).reshape(N, 4)


def dates():
    return np.arange(N * 4).astype("M8[s]")


def frame():
    text = pd.Series([f"word {i}" for i in range(N)], dtype="str")
    return pd.DataFrame({"number": np.arange(N, dtype=float), "text": text})


def arrow():
    return table().to_pandas(types_mapper=pd.ArrowDtype)


def table():
    return pa.table({"x": np.arange(N), "y": [str(i) for i in range(N)]})


def nested():
    return {"a": [np.ones(N), (np.zeros(N), None)], "b": "small"}


def same(value, make):
    """Whether a value is what ``make`` makes, and arrays can be written to."""
    expected = make()
    if isinstance(expected, dict):
        return np.array_equal(value["a"][0], expected["a"][0])
    if isinstance(expected, np.ndarray):
        return value.flags.writeable and np.array_equal(value, expected)
    return value.equals(expected)


def touch(value):
    return float(value[::512].sum())


def spoil(value):
    value[:] = -1
    return float(value.sum())


def passed(value):
    """Return a task's input as its result."""
    return value


def segments(dask_worker=None):
    """Return the segments that this worker has mapped, and what its pool takes."""
    return inodes(), dask_worker.shared_results.pool.nbytes


@contextlib.contextmanager
def processes(names="abc", stock=(), **options):
    """Start marsdask and stock workers, each in its own process."""
    one = {"host": HOST, "nthreads": 1, "memory_limit": 2048 * MIB}
    workers = {name: {"cls": MarsNanny, "options": one | options} for name in names}
    workers |= {name: {"cls": distributed.Nanny, "options": one} for name in stock}
    scheduler = {"cls": Supervisor, "options": {"host": HOST, "dashboard_address": f"{HOST}:0"}}
    # It would drop replicas while the tests look at them.
    keep = {"distributed.scheduler.active-memory-manager.start": False}
    with dask.config.set(keep), SpecCluster(workers, scheduler, silence_logs=False) as started:
        yield started


@pytest.fixture(scope="module")
def cluster():
    with processes(stock=["stock"]) as started:
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def at(client, cluster):
    """Run a function in a worker and wait: ``at(name, function, *arguments)`` is its future."""

    def run(name, function, *args):
        future = client.submit(function, *args, workers=[name], pure=False)
        distributed.wait(future, 60)
        return future

    return run


def look(client, cluster, name):
    return client.run(segments, workers=[cluster.workers[name].worker_address]).popitem()[1]


@pytest.mark.parametrize("make", [numbers, dates, frame, arrow, table, nested])
def test_values_arrive(make, at, client, cluster):
    """Near workers map one segment, a stock one gets a copy; all see the same."""
    made = at("a", make)
    others = [at(name, same, made, make) for name in ("b", "c", "stock")]
    assert client.gather(others) == [True] * 3
    mapped = [look(client, cluster, name)[0] for name in "abc"]
    assert len(mapped[0] & mapped[1] & mapped[2]) >= 1
    assert at("a", same, made, make).result()


def address(cluster, name):
    return cluster.workers[name].worker_address


def test_one_copy_for_all(at, client, cluster):
    """The pages of a value that three processes read are there once; a fourth copy is not made."""
    nbytes = 64 * MIB

    def can_share_memory():
        return sum(client.run(proportional, workers=[address(cluster, n) for n in "abc"]).values())

    for name in "abc":
        at(name, touch, at(name, np.ones, N)).result()  # loads what it needs
    before = can_share_memory()
    made = at("a", np.ones, nbytes // 8)
    for name in "bca":
        assert at(name, touch, made).result() == nbytes // 4096
    assert 0.9 * nbytes < can_share_memory() - before < 1.6 * nbytes
    with_pool = [look(client, cluster, name)[1] for name in "abc"]
    assert with_pool[0] >= nbytes
    assert max(with_pool[1:]) < nbytes // 2
    # Those who read it are charged nothing, so nothing of theirs goes to disk for it.
    memory = client.run(weights, workers=[address(cluster, n) for n in "abc"])
    taken = [memory[address(cluster, n)] for n in "abc"]
    assert taken[0] >= nbytes
    assert max(taken[1:]) < MIB


def weights(dask_worker=None):
    """Return what this worker counts for the results that it has in memory."""
    return dask_worker.data.fast.total_weight


def test_a_task_that_writes_into_its_input(at):
    """It spoils what other processes have as little as with values that were sent."""
    made = at("a", np.ones, MIB)
    assert at("b", spoil, made).result() == -MIB
    assert at("c", touch, made).result() == MIB // 512
    assert at("a", touch, made).result() == MIB // 512


def test_what_has_passed_through_is_passed_on(at, client, cluster):
    """A reader shares another process's memory, and a copy after its end."""
    made = at("a", np.ones, MIB)
    assert at("b", touch, made).result()
    client.run(drop, made.key, workers=[address(cluster, "a")])
    mine = look(client, cluster, "b")
    assert at("c", touch, made).result()
    assert look(client, cluster, "c")[0] & mine[0]


def drop(key, dask_worker=None):
    """Release a result without the scheduler."""
    dask_worker.handle_stimulus(RemoveReplicasEvent(keys=[key], stimulus_id="test"))


def unable(dask_worker=None):
    """Make this worker open nothing any more."""
    shared_segment.lease = refuse


def able(dask_worker=None):
    """Restore this worker."""
    shared_segment.lease = LEASE


def refuse(pid, descriptor, token):
    raise SharedGone("as if the descriptors were hidden")


def end_owner(pid, descriptor, token):
    """Kill the owner between its answer and the opening."""
    able()
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not os.path.exists(f"/proc/{pid}/fd/{descriptor}"))
    return LEASE(pid, descriptor, token)


def deadly(dask_worker=None):
    """Make this worker kill the next one that it reads from."""
    shared_segment.lease = end_owner


def test_what_cannot_be_opened_is_sent(at, client, cluster):
    """A worker that fails to open a value asks again and gets it as bytes."""
    made = at("a", np.ones, MIB)
    where = [address(cluster, "b")]
    client.run(unable, workers=where)
    try:
        assert at("b", touch, made).result() == MIB // 512
    finally:
        client.run(able, workers=where)
    # Nor does its owner try again.
    again = at("a", np.ones, MIB)
    before = look(client, cluster, "b")[0]
    assert at("b", touch, again).result() == MIB // 512
    assert look(client, cluster, "b")[0] == before


def holders(inodes):
    """Return the processes that have one of these segments open or mapped."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            numbers = {os.stat(path).st_ino for path in Path(f"/proc/{pid}/fd").iterdir()}
            if inodes & (numbers | mapped_in(pid)):
                found.append(pid)
    return found


def mapped_in(pid):
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {int(line.split()[4]) for line in lines if "memfd:marsdask" in line}


def shared_files():
    """Return the names of shared memory that we or Python's ``shared_memory`` would give."""
    return {name for name in os.listdir("/dev/shm") if name.startswith(("psm_", "marsdask"))}


def test_killed_workers_leave_nothing():
    """A producer killed in the middle of a hand-over, then all: no memory and no file is left."""
    files = shared_files()
    with processes(restart_worker=False) as cluster, distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        made = client.submit(np.ones, MIB, workers=["a"], allow_other_workers=True)
        distributed.wait(made)
        client.run(deadly, workers=[address(cluster, "b")])
        use = client.submit(touch, made, workers=["b"], allow_other_workers=True)
        assert use.result(60) == MIB // 512
        more = client.submit(np.ones, MIB, workers=["c"], pure=False)
        assert client.submit(touch, more, workers=["b"]).result(60) == MIB // 512
        seen = client.run(segments)
        assert len(seen) == 2
        inodes = set().union(*(found[0] for found in seen.values()))
        assert len(inodes) >= 1
        assert holders(inodes)
        for worker in seen:
            os.kill(pids[worker], signal.SIGKILL)
        eventually(lambda: not holders(inodes))
    assert shared_files() <= files


def test_nothing_is_kept_that_nobody_wants(at, client, cluster):
    """Released results leave memory; the pool can free its idle segments."""
    near = [address(cluster, name) for name in "abc"]
    made = at("a", np.ones, MIB)
    assert at("b", touch, made).result()
    del made
    eventually(lambda: set(client.run(trimmed, workers=near).values()) == {(0, 0)})


def trimmed(dask_worker=None):
    """Return how many segments this worker has mapped, and their bytes, without what is idle."""
    dask_worker.shared_results.pool.trim()
    return len(inodes()), dask_worker.shared_results.pool.nbytes
