"""What KubeDL's document shows, as it stands there: commands, tables and the memory policy."""

import json
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from marsdask.deploy.kubedl import new_cluster
from tests.deploy.kubedl.ingress import NodeIngress
from tests.deploy.kubedl.operator import mars_jobs
from tests.deploy.kubernetes.kubelet import wait_until
from tests.kube.real_server import DEFINITION, VARIABLE, programs
from tests.source import ROOT

JOB = ROOT / "tests/deploy/kubedl/mars-test-demo.yaml"

#: Seconds for pods to start or end, on a busy machine.
DEADLINE = 120

#: The options of the document, with the values that it names.
POLICY = """
  memoryTuningPolicy:
    plasmaStore: /dev/shm            # /etc/pstore/...
    lockFreeFileIO: false            # false
    spillDirs: [/mnt/spill]          # ...
    workerCachePercentage: 80        # 80, indicates 80%
"""

pytestmark = pytest.mark.skipif(programs() is None, reason=f"make kube runs it, with {VARIABLE}")


@pytest.fixture(scope="module")
def controllers():
    """Let KubeDL's operator run."""
    return (mars_jobs,)


def kubectl(*words):
    """Run a command of the document, and return the lines of its answer."""
    done = subprocess.run(
        ["kubectl", *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def table(*words):
    """Return the head and the rows of a table, without the ages."""
    head, *rows = kubectl(*words)
    return head.split(), [row.split() for row in rows]


@pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not there: kubernetes-client"
)
def test_the_commands(kube, configured):
    """Nodes, the definition, the job, and the two tables that the document shows."""
    assert kubectl("get", "nodes")[1].startswith("node ")
    kubectl("apply", "-f", str(DEFINITION))
    kubectl("create", "-f", str(JOB))
    try:
        shown: list[Any] = []

        def runs():
            shown[:] = [table("get", "marsjob"), table("get", "pods")]
            (_, jobs), (_, pods) = shown
            return jobs[0][1] == "Running" and [one[1] for one in pods] == 4 * ["1/1"]

        wait_until(runs, kube.store, DEADLINE)
        (head, (job,)), (columns, pods) = shown
        assert head == ["NAME", "STATE", "AGE", "TTL-AFTER-FINISHED", "MAX-LIFETIME"]
        assert job[:2] == ["mars-test-demo", "Running"]
        assert columns == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        parts = "scheduler-0", "webservice-0", "worker-0", "worker-1"
        assert [one[:4] for one in pods] == [
            [f"mars-test-demo-{part}", "1/1", "Running", "0"] for part in parts
        ]
        told = json.loads("".join(kubectl("get", "marsjob", "mars-test-demo", "-o", "json")))
        assert told["spec"]["webHost"] == "mars.domain.com"
    finally:
        kubectl("delete", "marsjob", "mars-test-demo")
    wait_until(lambda: not kube.store.list("pods", "default"), kube.store, DEADLINE)


def settings():
    """Return what a worker knows of its memory."""
    import os

    import dask

    names = "MARS_PLASMA_DIRS", "MARS_LOCK_FREE_FILEIO", "MARS_SPILL_DIRS", "MARS_CACHE_MEM_SIZE"
    target = dask.config.get("distributed.worker.memory.target")
    return target, {name: os.environ.get(name) for name in names}


def test_the_memory_policy(kube, configured):
    """Each option arrives in the workers, though KubeDL calls the policy otherwise."""
    ingress = NodeIngress(kube.server)
    text = JOB.read_text().replace("status: {}", "").rstrip()
    text = text.replace("  cleanPodPolicy: None", f"  cleanPodPolicy: None{POLICY.rstrip()}")
    job = yaml.safe_load(text)
    job["spec"]["webHost"] = ingress.host
    try:
        with pytest.warns(UserWarning, match="workerMemoryTuningPolicy"):
            client = new_cluster(
                kube.client(),
                job=job,
                slb_endpoint=ingress.host,
                timeout=DEADLINE,
                default=False,
            )
        try:
            found = kube.store.get("marsjobs", "default", "mars-test-demo")["spec"]
            assert found["workerMemoryTuningPolicy"]["workerCachePercentage"] == 80
            scheduler: Any = client.session.scheduler
            for target, told in scheduler.client.run(settings).values():
                assert told["MARS_LOCK_FREE_FILEIO"] == "0"
                assert told["MARS_SPILL_DIRS"]
                assert told["MARS_PLASMA_DIRS"]
                assert int(told["MARS_CACHE_MEM_SIZE"]) == (2 << 30) * 80 // 100
                assert target == pytest.approx(0.75)  # at most what makes workers pause
        finally:
            client.stop(wait=True, timeout=DEADLINE)
    finally:
        ingress.close()
