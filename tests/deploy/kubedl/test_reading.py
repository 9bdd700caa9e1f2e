"""MarsJobs that people have written."""

import warnings
from pathlib import Path
from typing import Any

import pytest

from marsdask.deploy.kubedl import read_job

DOCUMENT = Path(__file__).parent / "mars-test-demo.yaml"

ROLES: dict[str, Any] = {"marsReplicaSpecs": {}}


def job(**spec):
    """Return a job with these fields."""
    return {"kind": "MarsJob", "spec": ROLES | spec}


def test_the_documents_job_is_read():
    """Nothing changes but the empty state."""
    with warnings.catch_warnings(action="error"):
        found = read_job(DOCUMENT)
    assert found["metadata"] == {"name": "mars-test-demo", "namespace": "default"}
    roles = found["spec"]["marsReplicaSpecs"]
    assert {name: one["replicas"] for name, one in roles.items()} == {
        "Scheduler": 1,
        "WebService": 1,
        "Worker": 2,
    }
    assert roles["Worker"]["template"]["spec"]["containers"][0]["command"] == [
        "/bin/sh",
        "-c",
        "python -m mars.deploy.kubernetes.worker",
    ]
    assert "status" not in found


def test_the_documents_name_of_the_policy():
    """Kubernetes would drop it: it is renamed, with a warning."""
    policy = {
        "plasmaStore": "/etc/pstore",
        "lockFreeFileIO": False,
        "spillDirs": ["/a", "/b"],
        "workerCachePercentage": 80,
        "workerCacheSize": "10Gi",
    }
    with pytest.warns(UserWarning, match="is called spec.workerMemoryTuningPolicy"):
        found = read_job(job(memoryTuningPolicy=policy))
    assert found["spec"] == ROLES | {"workerMemoryTuningPolicy": policy}
    both = job(memoryTuningPolicy=policy, workerMemoryTuningPolicy=policy)
    with pytest.warns(UserWarning, match="renamed"):
        assert read_job(both) == found
    with pytest.warns(UserWarning, match="renamed"), pytest.raises(ValueError, match="differ"):
        read_job(job(memoryTuningPolicy=policy, workerMemoryTuningPolicy={}))


def test_mars_own_group():
    """Mars's client writes an older group than the operator knows."""
    old = job() | {"apiVersion": "kubedl.io/v1alpha1"}
    assert read_job(old)["apiVersion"] == "training.kubedl.io/v1alpha1"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"kind": "Job"}, "is no MarsJob"),
        ({"kind": "MarsJob"}, "no spec.marsReplicaSpecs"),
        (job() | {"apiVersion": "v2"}, "invalid apiVersion: 'v2'"),
        (job(workerMemoryTuningPolicy={"spillDir": []}), "Did you mean 'spillDirs'"),
        (job(workerMemoryTuningPolicy={"spillDirs": "/a"}), "invalid spillDirs.*give list"),
        (job(workerMemoryTuningPolicy={"workerCachePercentage": True}), "give int"),
        (job(workerMemoryTuningPolicy={"workerCachePercentage": 101}), "give 1 to 100"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_is_refused(source, words):
    """One clear error each, before anything is created."""
    with pytest.raises(ValueError, match=words):
        read_job(source)
