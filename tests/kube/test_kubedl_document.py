"""What KubeDL's document shows, as it stands there: commands, tables and the memory policy."""

import json
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from marsdask.deploy.kubedl import new_cluster
from tests.cluster.commands import Command, free_port
from tests.cluster.commands import running as running_commands
from tests.deploy.kubedl.ingress import NodeIngress
from tests.deploy.kubedl.operator import mars_jobs
from tests.deploy.kubernetes.kubelet import wait_until
from tests.kube.real_server import DEFINITION, VARIABLE, programs
from tests.mars_documents import run_program
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

#: The option that overrides the percentage.
SIZE = """    workerCacheSize: 512Mi           # 10Gi
"""

pytestmark = pytest.mark.skipif(programs() is None, reason=f"make kube runs it, with {VARIABLE}")


@pytest.fixture(scope="module")
def controllers():
    """Let KubeDL's operator run."""
    return (mars_jobs,)


def test_standalone_mode(monkeypatch):
    """One process of each role, by the document's commands, and its program on them."""
    p1, p2, p3 = (free_port() for _ in range(3))
    with running_commands() as commands:
        lines = (
            f"mars-scheduler -a 127.0.0.30 -p {p1}",
            f"mars-web -a 127.0.0.31 -p {p2} -s 127.0.0.30:{p1}",
            f"mars-worker -a 127.0.0.32 -p {p3} -s 127.0.0.30:{p1}",
        )
        commands.extend(Command(line, MARS_CPU_TOTAL="1") for line in lines)
        for command in commands:
            command.wait_for("started at")
        run_program("a job with KubeDL", f"http://127.0.0.31:{p2}", monkeypatch)


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


@pytest.mark.parametrize(
    ("size", "cache", "share"),
    [
        ("", (2 << 30) * 80 // 100, 0.75),  # at most what makes workers pause
        (SIZE, 512 << 20, 0.25),
    ],
    ids=["percentage", "size"],
)
def test_the_memory_policy(kube, configured, size, cache, share):
    """Each option arrives in the workers, though KubeDL calls the policy otherwise."""
    ingress = NodeIngress(kube.server)
    text = JOB.read_text().replace("status: {}", "").rstrip()
    text = text.replace("  cleanPodPolicy: None", f"  cleanPodPolicy: None{POLICY}{size}".rstrip())
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
                assert int(told["MARS_CACHE_MEM_SIZE"]) == cache
                assert target == pytest.approx(share)
        finally:
            client.stop(wait=True, timeout=DEADLINE)
    finally:
        ingress.close()
