"""Jobs end right or with the error of a fault, whatever fails meanwhile, and nothing is left."""

from __future__ import annotations

import gc
import itertools
import os
import time
import warnings

import pytest

from tests.chaos.cluster import ChaosCluster, open_files
from tests.chaos.faults import FAULTS
from tests.chaos.steps import Steps
from tests.cluster.hosts import problem

#: ``make chaos`` sets them; here a few steps that are always the same.
SEED = int(os.environ.get("CHAOS_SEED", "1"))
SECONDS = float(os.environ.get("CHAOS_SECONDS", "0"))
FIRST = int(os.environ.get("CHAOS_FIRST", "0"))
KINDS = [name for name in os.environ.get("CHAOS_FAULTS", "").split(",") if name]

#: The faults of these few steps.
FEW = ("kill_worker", "kill_supervisor", "freeze_worker")

#: Open files by which this process may have grown in the end: connections that come and go.
SLACK = 8

#: In as many jobs each way to keep results takes part; in fewer, as on a busy machine, by chance.
MANY = 40

#: Empty files of distributed's, one each in a directory, that stay for the next worker.
LOCKS = {"global.lock", "purge.lock"}


# A connection that is given up while the network is cut is closed by the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_random_failures(tmp_path):
    """Supervisors, workers, networks, disks, clocks and clients fail in the middle of jobs."""
    gc.collect()
    before = open_files()
    apart = SECONDS > 0 and problem() is None
    cluster = ChaosCluster(tmp_path, 2 if SECONDS else 1, apart=apart)
    end = time.monotonic() + SECONDS
    with cluster.running():
        steps = Steps(cluster, SEED, KINDS or (() if SECONDS else FEW))
        for number in itertools.count(FIRST):
            if time.monotonic() > end and number >= FIRST + (1 if SECONDS else len(FEW)):
                break
            steps.run(number)
        cluster.split_stages(None)
        cluster.shut_down()
    spilled, recovered = cluster.counted("spilled"), cluster.counted("recovered")
    print(f"{steps.right} jobs were right; seed {SEED}", *steps.errors, sep="\n")  # noqa: T201
    print(f"{recovered} lost results had no inputs any more")  # noqa: T201
    if SECONDS > 300 and steps.right >= MANY and not KINDS:
        assert steps.shared, "no result was in shared memory"
        assert spilled, "no result was spilled"
        assert recovered, "no result was computed again from its rules"
    gc.collect()
    assert open_files() <= before + SLACK
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in LOCKS]
    assert not left
    if SECONDS and not apart:
        missing = ", ".join(name for name, fault in FAULTS.items() if fault.apart)
        warnings.warn(f"NOT TESTED WITHOUT ROOT: {missing} ({problem()})", stacklevel=1)
