"""A supervisor's requests to change the number of pods, with the rights of its account."""

import asyncio
import itertools
from pathlib import Path

import pytest

from marsdask.deploy.kubernetes.arguments import cluster_spec
from marsdask.deploy.kubernetes.in_pod.scaler import PodScaler
from marsdask.deploy.kubernetes.manifests import manifests
from marsdask.scheduler.cluster.scaling import CannotScale
from tests.deploy.kubernetes.store import RESOURCES

NUMBERS = itertools.count()

PLURALS = {kind: plural for plural, (_, kind, _) in RESOURCES.items()}


def scaler_of(server, folder, kind):
    """Create the objects of a cluster, and the files in its supervisor's pod."""
    space = f"mars-{kind.lower()}-{next(NUMBERS)}"
    spec = cluster_spec(namespace=space, workload_kind=kind, worker_num=3, tls=False, token=False)
    for one in manifests(spec, certificates={}, token=None):
        server.store.create(PLURALS[one["kind"]], one["metadata"].get("namespace", ""), one)
    (folder / "token").write_text(server.account_token(space, "mars-supervisor"))
    (folder / "ca.crt").write_bytes(Path(server.authority).read_bytes())
    environ = {
        "MARS_K8S_WORKLOAD": f"{kind}/mars-worker",
        "KUBERNETES_SERVICE_HOST": server.host,
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "MARS_K8S_POD_NAMESPACE": space,
        "MARS_K8S_SERVICE_ACCOUNT": str(folder),
    }
    return PodScaler.in_cluster(environ), space


def replicas(server, kind, space):
    return server.store.current(PLURALS[kind], space, "mars-worker")["spec"]["replicas"]


def test_a_stateful_set_ends_its_last_pods(server, tmp_path):
    """Those with the highest numbers, by number and not by name; others are not its."""
    scaler, space = scaler_of(server, tmp_path, "StatefulSet")
    hosts = ["mars-worker-9", "mars-worker-10", "mars-worker-2", "laptop", "mars-worker-x"]
    assert sorted(asyncio.run(scaler.leaving(9, hosts))) == ["mars-worker-10", "mars-worker-9"]
    asyncio.run(scaler.scale(7))
    assert replicas(server, "StatefulSet", space) == asyncio.run(scaler.count()) == 7


@pytest.mark.parametrize("kind", ["Deployment", "ReplicationController"])
def test_others_are_told_which_pods_end(server, tmp_path, kind):
    """Their cost is the lowest, before the number changes."""
    scaler, space = scaler_of(server, tmp_path, kind)
    for name in ("w-a", "w-b", "w-c"):
        spec = {"containers": [{"name": "c", "image": "i"}]}
        server.store.create("pods", space, {"metadata": {"name": name}, "spec": spec})
    assert asyncio.run(scaler.leaving(2, ["w-c", "w-a", "w-b"])) == ["w-c"]
    asyncio.run(scaler.scale(2))
    costs = {
        one["metadata"]["name"]: one["metadata"].get("annotations")
        for one in server.store.list("pods", space)
    }
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-1000"}
    assert costs == {"w-a": None, "w-b": None, "w-c": cost}
    assert replicas(server, kind, space) == asyncio.run(scaler.count()) == 2


def test_missing_rights_are_told(server, tmp_path):
    """The request fails with the rule that is lacking, and changes nothing."""
    scaler, space = scaler_of(server, tmp_path, "StatefulSet")
    (tmp_path / "token").write_text(server.account_token(space, "mars-pod"))
    with pytest.raises(CannotScale, match=r'"statefulsets/scale".*"patch"'):
        asyncio.run(scaler.scale(1))
    with pytest.raises(CannotScale, match=r'"statefulsets/scale".*"get"'):
        asyncio.run(scaler.count())
    scaler.account.server = "https://127.0.0.1:1"
    with pytest.raises(CannotScale, match="no answer from Kubernetes"):
        asyncio.run(scaler.scale(1))
    with pytest.raises(CannotScale, match="no answer from Kubernetes"):
        asyncio.run(scaler.count())


def test_outside_of_a_cluster():
    """There is no scaler, and supervisors say so."""
    assert PodScaler.in_cluster({}) is None
    assert PodScaler.in_cluster({"MARS_K8S_WORKLOAD": "StatefulSet/w"}) is None
