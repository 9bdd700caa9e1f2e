"""What ``mars-worker`` is told about cores, threads and memory holds in its processes."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import threadpoolctl
from distributed import Client, get_worker

from tests.cluster.commands import DEADLINE, Command, free_port, running

#: Cores that these tests may use; more would tell no more.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1

pytestmark = pytest.mark.skipif(CORES < 2, reason="needs two cores and Linux")


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """Start workers of one and of two cores; return what tasks see in them, by cores."""
    port = free_port()
    spill = tmp_path_factory.mktemp("spill")
    with running() as commands:
        supervisor = f"-s 127.0.0.10:{port}"
        options = (
            f"--processes 1 --n-io-process 3 --io-parallel-num 2 --spill-dirs {spill} "
            "--mem-bytes 1g --cache-mem 25% --plasma-limit 64m"
        )
        lines = (
            f"mars-supervisor -H 127.0.0.10 -p {port}",
            f"mars-worker {supervisor} --n-cpu 1 {options}",
            f"mars-worker {supervisor} --n-cpu 2 {options}",
        )
        commands.extend(Command(line) for line in lines)
        for command in commands:
            command.wait_for("started at")
        with Client(f"127.0.0.10:{port}", set_as_default=False, timeout=DEADLINE) as client:
            client.wait_for_workers(2, timeout=DEADLINE)
            found = {
                cores: client.submit(look, workers=[address], pure=False)
                for address, cores in client.nthreads().items()
            }
            yield client.gather(found)


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
        io=worker.spilling.threads,
        shared=worker.sharing.pool.limit,
        target=worker.data.n / worker.memory_manager.memory_limit,
    )


@pytest.mark.parametrize("cores", [1, 2])
def test_cores_bind(cores, workers):
    """No thread of the process runs elsewhere, and each task's native pools have its one core."""
    found = workers[cores]
    assert [len(one) for one in found.affinity] == [cores]
    assert found.pools == {1}
    assert found.arrow <= cores
    assert found.omp == "1"


def test_io_and_memory(workers):
    """Threads that write, shared memory, and where spilling begins are as they were asked for."""
    for found in workers.values():
        assert found.io == 3
        assert found.shared == 64 << 20
        assert found.target == pytest.approx(0.25, abs=1e-3)
