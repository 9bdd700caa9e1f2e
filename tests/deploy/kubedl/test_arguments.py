"""The arguments of KubeDL's new_cluster."""

from typing import Any

import pytest

from marsdask.deploy.kubedl.arguments import (
    endpoint,
    job_spec,
    least_workers,
    replaced_image,
    worker_count,
)

GI = 2**30


def test_defaults_are_mars():
    """Without arguments: one pod of each role, with the resources that Mars has."""
    spec = job_spec()
    cluster = spec.cluster
    assert (cluster.namespace, cluster.create_namespace) == ("default", False)
    assert cluster.name.startswith("mars-job-")
    assert [
        (one.count, one.cpu, one.memory) for one in (cluster.supervisor, spec.web, cluster.worker)
    ] == [(1, 2000, 4 * GI), (1, 1000, 4 * GI), (1, 8000, 32 * GI)]
    assert cluster.cache == int(0.45 * 32 * GI)
    assert spec.spill_dirs == ("/tmp/spill-dir",)
    assert spec.web_host is None
    assert (cluster.tls, cluster.token) == (True, True)


def test_given_arguments():
    """Each goes where it belongs; both words for schedulers mean the same."""
    spec = job_spec(
        job_name="demo",
        namespace="team",
        slb_endpoint="https://mars.domain.com/",
        supervisor_mem="1g",
        scheduler_cpu=3,
        worker_num=5,
        worker_spill_paths="/data",
        worker_cache_mem=None,
        service_account="kubedl-sa",
        node_selectors={"disk": "ssd"},
        worker_extra_env={"A": 1},
    )
    assert (spec.cluster.name, spec.cluster.namespace) == ("demo", "team")
    assert spec.web_host == "mars.domain.com"
    assert (spec.cluster.supervisor.cpu, spec.cluster.supervisor.memory) == (3000, GI)
    assert spec.cluster.worker.count == 5
    assert spec.cluster.worker.env == {"A": "1"}
    assert spec.spill_dirs == ("/data",)
    assert (spec.service_account, spec.node_selectors) == ("kubedl-sa", {"disk": "ssd"})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"service_type": "NodePort"}, TypeError, "KubeDL's to decide"),
        ({"worker_service_port": 1}, TypeError, "KubeDL's to decide"),
        ({"token": False}, ValueError, "token=False needs tls=False"),
        ({"tls": "no"}, ValueError, "invalid tls: 'no'"),
        ({"worker_nums": 1}, TypeError, "Did you mean 'worker_num'"),
        ({"job_name": "No_Name"}, ValueError, "invalid job_name"),
        ({"job_name": "n" * 41}, ValueError, "at most 40"),
        ({"worker_spill_paths": ["data"]}, ValueError, "absolute paths"),
        ({"worker_spill_paths": ["/a,b"]}, ValueError, "absolute paths"),
        ({"worker_spill_paths": [{"emptyDir": {}}]}, ValueError, "absolute paths"),
        ({"web_num": 0}, ValueError, "web_num: 0"),
        ({"scheduler_mem": "1g", "supervisor_mem": "2g"}, TypeError, "not both"),
    ],
    ids=str,
)
def test_what_is_refused(arguments, error, words):
    """One clear error each, before anything is created."""
    with pytest.raises(error, match=words):
        job_spec(**arguments)


@pytest.mark.parametrize(
    ("balancer", "address"),
    [
        (None, "http://demo-webservice-0.team:11111"),
        ("mars.domain.com", "http://mars.domain.com/mars/team/demo-webservice-0"),
        ("https://gate:8443/", "https://gate:8443/mars/team/demo-webservice-0"),
    ],
)
def test_endpoints(balancer, address):
    """The document's two ways: inside the cluster, or below the ingress's prefix."""
    assert endpoint(balancer, "team", "demo") == address


def test_jobs_that_are_given():
    """Only their image changes; the workers they ask for are counted."""
    pods: Any = {"spec": {"containers": [{"name": "mars", "image": "old"}], "x": 1}}
    job = {"spec": {"marsReplicaSpecs": {"Worker": {"replicas": 3, "template": pods}}}}
    changed = replaced_image(job, "new")["spec"]["marsReplicaSpecs"]["Worker"]["template"]["spec"]
    assert changed == {"containers": [{"name": "mars", "image": "new"}], "x": 1}
    assert pods["spec"]["containers"][0]["image"] == "old"
    assert replaced_image(job, None) is job
    assert worker_count(job) == 3
    assert worker_count({"spec": {"marsReplicaSpecs": {}}}) == 0


def test_how_many_workers_are_waited_for():
    """All by default; not more than there will be."""
    assert least_workers(None, 4) == 4
    assert least_workers(0, 4) == 0
    wrongs: Any = (5, -1, True, "2")
    for wrong in wrongs:
        with pytest.raises(ValueError, match="from 0 to 4"):
            least_workers(wrong, 4)
