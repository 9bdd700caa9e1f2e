"""The options of ``mars-worker`` for cores, threads and memory apply to its processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import threadpoolctl
from distributed import Client, get_worker

from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.source import ROOT

#: Cores that these tests may use; more would tell no more.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1

pytestmark = pytest.mark.skipif(CORES < 2, reason="needs two cores and Linux")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start workers of one and of two cores; give a client and the address of the web port."""
    port, web = free_port(), free_port()
    spill = tmp_path_factory.mktemp("spill")
    with running() as commands:
        supervisor = f"-s 127.0.0.10:{port}"
        options = (
            f"--processes 1 --n-io-process 3 --io-parallel-num 2 --spill-dirs {spill} "
            "--load-modules tabnanny "
            "--mem-bytes 1g --cache-mem 25% --plasma-limit 64m"
        )
        lines = (
            f"mars-supervisor -H 127.0.0.10 -p {port} -w {web}",
            f"mars-worker {supervisor} --n-cpu 1 {options}",
            f"mars-worker {supervisor} --n-cpu 2 {options}",
        )
        commands.extend(Command(line) for line in lines)
        for command in commands:
            command.wait_for("started at")
        with Client(f"127.0.0.10:{port}", set_as_default=False, timeout=DEADLINE) as client:
            client.wait_for_workers(2, timeout=DEADLINE)
            yield SimpleNamespace(client=client, url=f"http://127.0.0.10:{web}")


def test_a_process_that_ends_while_it_starts(cluster, tmp_path):
    """The last line says how it ended, instead of a traceback of distributed's."""
    ends = "import multiprocessing, os\nif multiprocessing.parent_process():\n    os._exit(3)\n"
    (tmp_path / "ends_early.py").write_text(ends)
    address = cluster.client.scheduler.address.removeprefix("tcp://")
    line = f"mars-worker -s {address} --n-cpu 1 --no-bind-cpu --load-modules ends_early"
    with running() as commands:
        commands.append(command := Command(line, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}"))
        command.wait_for("error: a worker process ended with code 3 while it started")
        assert command.wait() == 2
        assert "Traceback" not in "\n".join(command.said)


@pytest.fixture(scope="module")
def workers(cluster):
    """Return what tasks see in the workers, by cores."""
    client = cluster.client
    found = {
        cores: client.submit(look, workers=[address], pure=False)
        for address, cores in client.nthreads().items()
    }
    return client.gather(found)


def look():
    """Return what a task can see of its process."""
    np.ones((100, 100)) @ np.ones((100, 100))
    worker: Any = get_worker()
    threads = os.listdir("/proc/self/task")
    return SimpleNamespace(
        affinity={frozenset(os.sched_getaffinity(int(thread))) for thread in threads},
        pools={pool["num_threads"] for pool in threadpoolctl.threadpool_info()},
        arrow=pa.cpu_count(),
        omp=os.environ["OMP_NUM_THREADS"],
        io=worker.spill_manager.threads,
        shared=worker.shared_results.pool.limit,
        target=worker.data.n / worker.memory_manager.memory_limit,
        loaded="tabnanny" in sys.modules,
    )


@pytest.mark.parametrize("cores", [1, 2])
def test_cores_bind(cores, workers):
    """No thread of the process runs elsewhere, and each task's native pools have its one core."""
    found = workers[cores]
    assert [len(one) for one in found.affinity] == [cores]
    assert found.pools == {1}
    assert found.arrow <= cores
    assert found.omp == "1"


def test_modules_are_loaded_where_tasks_run(workers):
    """Not in the process that starts the others only."""
    assert all(found.loaded for found in workers.values())


def test_io_and_memory(workers):
    """Threads that write, shared memory, and where spilling begins are as they were asked for."""
    for found in workers.values():
        assert found.io == 3
        assert found.shared == 64 << 20
        assert found.target == pytest.approx(0.25, abs=1e-3)


#: Seconds that somebody spins: workers look at what they take once a second.
SPIN = 2.2


def spin():
    """Keep a core busy as far as there is one; return how much of one that was."""
    begin, taken = time.monotonic(), time.thread_time()
    while (now := time.monotonic()) < begin + SPIN:
        pass
    return (time.thread_time() - taken) / (now - begin)


async def beat(dask_worker):
    """Tell the supervisor how it goes, now."""
    await dask_worker.heartbeat()


def cores_in_use(cluster):
    """Return what the interface tells: {cores: how many of them are in use}."""
    cluster.client.run(beat)
    path = f"{cluster.url}/api/cluster/nodes?role=1&resource=1"
    with urllib.request.urlopen(path, timeout=DEADLINE) as answer:
        bands = [node["resource"]["numa-0"] for node in json.load(answer)["nodes"].values()]
    for band in bands:
        assert 0 <= band["cpu_avail"] <= band["cpu_total"]
        assert 0 <= band["memory_avail"] <= band["memory_total"]
    return {band["cpu_total"]: band["cpu_total"] - band["cpu_avail"] for band in bands}


def test_cores_in_use_are_the_workers_own(cluster):
    """The usage of each worker counts its tasks and not other processes."""
    program = f"import time; end = time.monotonic() + {SPIN}\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-S", "-c", program]) for _ in range(CORES)]
    assert [other.wait(DEADLINE) for other in others] == [0] * CORES
    assert max(cores_in_use(cluster).values()) < 0.4
    client, nthreads = cluster.client, cluster.client.nthreads()
    spinning = {
        cores: [client.submit(spin, workers=[address], pure=False) for _ in range(cores)]
        for address, cores in nthreads.items()
    }
    busy = {cores: sum(shares) for cores, shares in client.gather(spinning).items()}
    in_use = cores_in_use(cluster)
    for cores, share in busy.items():
        # The last look was at a second or two, of which the tasks spun for more than a half.
        assert in_use[cores] > 0.4 * share
