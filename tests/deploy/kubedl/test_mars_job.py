"""The manifests of MarsJobs, and what the operator tells their containers."""

import json

import kubernetes_validate
import pytest
from kubernetes_validate import utils

from marsdask.deploy.kubedl.arguments import job_spec
from marsdask.deploy.kubedl.mars_job import mars_job
from marsdask.scheduler.cli.discovery import from_environment
from marsdask.scheduler.cli.options import parse
from tests.deploy.kubedl.operator import PORT, name_of, pod_of

RELEASES = [utils.all_versions()[end] for end in (0, -1)]

ROLES = ("Scheduler", "WebService", "Worker")


def made(**arguments):
    """Return the manifest of a job, with a name."""
    return mars_job(job_spec(job_name="demo", **arguments))


def complete(job):
    """Return a job as the server has it."""
    job["metadata"] |= {"uid": "u"}
    return job


def variables(pod):
    """Return the variables of a pod's container, but for those of fields."""
    (container,) = pod["spec"]["containers"]
    return {one["name"]: one.get("value") for one in container["env"]}


def test_the_fields_of_the_definition():
    """The policy has the definition's name; each role has its own policy of restarts."""
    job = made(
        slb_endpoint="http://mars.domain.com",
        worker_mem="10g",
        worker_cache_mem="40%",
        worker_spill_paths=["/a", "/b"],
        worker_num=3,
    )
    assert (job["apiVersion"], job["kind"]) == ("training.kubedl.io/v1alpha1", "MarsJob")
    spec = job["spec"]
    assert set(spec) == {
        "cleanPodPolicy",
        "marsReplicaSpecs",
        "webHost",
        "workerMemoryTuningPolicy",
    }
    assert spec["webHost"] == "mars.domain.com"
    assert spec["workerMemoryTuningPolicy"] == {
        "spillDirs": ["/a", "/b"],
        "workerCacheSize": str(4 * 2**30),
    }
    replicas = spec["marsReplicaSpecs"]
    assert {name: (one["replicas"], one["restartPolicy"]) for name, one in replicas.items()} == {
        "Scheduler": (1, "Never"),
        "WebService": (1, "Always"),
        "Worker": (3, "ExitCode"),
    }
    labels = {
        one["template"]["metadata"]["labels"]["mars/service-type"] for one in replicas.values()
    }
    assert labels == {"marsscheduler", "marswebservice", "marsworker"}


def test_browsers_may_ask_by_the_balancers_name():
    """Without a token a web port refuses names that may be another site's."""
    arguments = {"slb_endpoint": "http://mars.domain.com:8080", "tls": False}
    for token, hosts in ((True, None), (False, '["mars.domain.com"]')):
        job = complete(made(**arguments, token=token))
        for role in ROLES:
            told = variables(pod_of(job, role, 0)).get("DASK_MARSDASK__WEB__HOSTS")
            assert told == (None if role == "Worker" else hosts)


@pytest.mark.parametrize(
    "arguments", [{}, {"tls": False, "token": False, "worker_gpu": 1}], ids=str
)
def test_pods_are_valid_and_restricted(arguments):
    """The operator's pods keep to Kubernetes's schemas, and to the restricted standard."""
    job = complete(made(service_account="sa", node_selectors={"disk": "ssd"}, **arguments))
    for role in ROLES:
        pod = {"apiVersion": "v1", "kind": "Pod", **pod_of(job, role, 0)}
        for release in RELEASES:
            kubernetes_validate.validate(pod, release, strict=True)
        spec = pod["spec"]
        (container,) = spec["containers"]
        assert container["name"] == "mars"
        assert spec["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert not spec["automountServiceAccountToken"]
        mounts = [one["mountPath"] for one in container["volumeMounts"]]
        assert len(mounts) == len(set(mounts))
        volumes = [one["name"] for one in spec["volumes"]]
        assert sorted(volumes) == sorted(one["name"] for one in container["volumeMounts"])
        ports = {one["name"]: one["containerPort"] for one in container["ports"]}
        assert ports["mars-port"] == PORT
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = container[name]
            assert (probe.get("httpGet") or probe["tcpSocket"])["port"] in ports


def test_secrets_are_files():
    """No manifest has a token or a key; what encrypts the web service's own port stays off."""
    job = made()
    replicas = job["spec"]["marsReplicaSpecs"]
    options = {}
    for role in ROLES:
        (container,) = replicas[role]["template"]["spec"]["containers"]
        options[role] = container["args"]
        names = {one["name"] for one in container["env"]}
        assert ("MARS_WEB_TOKEN_FILE" in names) == (role != "Worker")
    assert options["WebService"] == []
    assert "--tls-cert" in options["Scheduler"]
    assert "--tls-cert" in options["Worker"]
    web = variables(replicas["WebService"]["template"])
    assert "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT" in web


def test_what_the_operator_tells():
    """The variables of a worker, as deployed operators set them, and how a command reads them."""
    policy = {"lockFreeFileIO": False, "workerCachePercentage": 25}
    job = complete(made(worker_cpu="1500m", worker_mem="2g", worker_spill_paths=["/a", "/b"]))
    job["spec"]["workerMemoryTuningPolicy"] = policy | {"spillDirs": ["/a", "/b"]}
    found = variables(pod_of(job, "Worker", 1))
    detail = json.loads(found.pop("MARS_CLUSTER_DETAIL"))
    address = "demo-scheduler-0.default.svc:11111"
    assert detail == {
        "cluster": {
            "scheduler": [address],
            "webservice": ["demo-webservice-0.default.svc:11111"],
        },
        "task": {
            "type": "worker",
            "index": 1,
            "resources": {"cpu_procs": 2, "phy_mem": 2 * 2**30},
        },
    }
    table = {
        "MARS_CPU_TOTAL": "2",
        "MARS_MEMORY_TOTAL": str(2 * 2**30),
        "MARS_CPU_USE_PROCESS_STAT": "1",
        "MARS_MEM_USE_CGROUP_STAT": "1",
        "MARS_BIND_PORT": "11111",
        "MARS_K8S_GROUP_LABELS": "job-name",
        "MARS_SPILL_DIRS": "/a,/b",
        "MARS_PLASMA_DIRS": "/dev/shm",
        "MARS_LOCK_FREE_FILEIO": "0",
        "MARS_CACHE_MEM_SIZE": str(2**29),
    }
    assert table.items() <= found.items()
    assert name_of(job, "Worker", 1) == "demo-worker-1"
    environ = {name: value for name, value in found.items() if value is not None}
    environ |= {"MARS_CONTAINER_IP": "10.0.0.1", "MARS_CLUSTER_DETAIL": json.dumps(detail)}
    _, given = parse("worker", "mars-worker", [], environ)
    assert (given.port, given.advertise, given.n_cpu) == ("11111", "10.0.0.1", "2")
    assert (given.mem_bytes, given.cache_mem) == (str(2 * 2**30), str(2**29))
    assert (given.spill_dir, given.plasma_dir) == ("/a,/b", "/dev/shm")
    assert from_environment(environ) == [address]
    assert from_environment({"MARS_TASK_DETAIL": json.dumps(detail)}) == [address]
