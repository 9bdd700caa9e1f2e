"""Clusters in a Kubernetes whose containers really run: created, used, rescaled, stopped."""

import contextlib
import gc
import json
import threading
import time
import urllib.error
from typing import Any

import pytest
import yaml
from distributed import Event

import marsdask.tensor as mt
from marsdask.core.session import get_default_session
from marsdask.deploy.kubernetes import KubernetesClusterClient, cluster, new_cluster
from marsdask.deploy.kubernetes.client import (
    AlreadyExists,
    Forbidden,
    KubernetesApi,
    KubernetesError,
    NotFound,
    Refused,
)
from marsdask.deploy.kubernetes.web_port import WebPort
from tests.deploy.kubernetes.kubelet import SLOW, wait_until
from tests.deploy.kubernetes.store import RESOURCES, Denied
from tests.kube.real_server import programs
from tests.source import ROOT

#: Seconds for pods to start or end, on a busy machine.
DEADLINE = 120


@pytest.fixture(scope="module")
def running(kube):
    """Create a cluster of one worker, with encryption and a token."""
    with new_cluster(kube.client(), worker_mem="512m", timeout=DEADLINE, default=False) as client:
        yield client


def pods(kube, client, role="worker"):
    """Return the names of the pods of a role."""
    found = kube.store.list("pods", client.namespace, f"app.kubernetes.io/component={role}")
    return sorted(one["metadata"]["name"] for one in found)


def gone(kube, namespace):
    try:
        kube.store.current("namespaces", "", namespace)
    except Denied:
        return True
    return False


def test_the_documents_example(kube, running):
    """A program of the documents runs on the cluster, from outside of it."""
    assert running.endpoint.startswith(f"https://{kube.server.host}:")
    with running.session.as_default():
        a = mt.random.rand(10, 10)
        assert a.dot(a.T).execute().fetch().shape == (10, 10)
        assert mt.ones((100, 10), chunk_size=10).sum().execute().fetch() == 1000
    assert pods(kube, running) == ["mars-worker-0"]
    assert pods(kube, running, "supervisor") == ["mars-supervisor-0"]


def test_without_the_token_nobody_enters(running):
    """The web port asks for it; what it is, is in a secret only."""
    stranger = WebPort(running.endpoint, None, running._cluster.authority)
    with pytest.raises(KubernetesError, match="401"):
        stranger.count()
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        WebPort(running.endpoint, running.token).ask("GET", "/health")


def test_who_knows_namespace_and_endpoint_has_the_cluster(kube, running):
    """The documents' second client, and one that finds the endpoint itself."""
    other = KubernetesClusterClient(kube.client(), running.namespace, running.endpoint)
    assert (other.token, other.endpoint) == (running.token, running.endpoint)
    assert KubernetesClusterClient(kube.client(), running.namespace).endpoint == running.endpoint
    with other.session as session:
        assert not session.closed
    with pytest.raises(LookupError, match="no cluster"):
        KubernetesClusterClient(kube.client(), "default")
    reader = kube.user("reader", ("", "configmaps,pods,services", "get,list"))
    with pytest.raises(Forbidden, match="secrets"):
        KubernetesClusterClient(reader, running.namespace, running.endpoint)
    with pytest.raises(TypeError, match="namespace="):
        KubernetesClusterClient(kube.client())


@pytest.mark.parametrize("run", range(10 if programs() else 1))
def test_rescaling_keeps_data(kube, running, run):
    """Up to two workers and down to one: what only the leaving one holds is there afterwards."""
    assert running.rescale_workers(2, timeout=DEADLINE) == 2
    assert pods(kube, running) == ["mars-worker-0", "mars-worker-1"]
    client = running.session.scheduler.client
    last = kube.store.get("pods", running.namespace, "mars-worker-1")["status"]["podIP"]
    (leaving,) = (one for one in client.nthreads() if last in one)
    with running.session.as_default():
        # Scattered data are in no graph: they could not be computed again.
        sent = client.scatter({f"x{i}": i for i in range(20)}, workers=[leaving], hash=False)
        assert len(client.has_what([leaving])[leaving]) >= 20
        values = [mt.full((50, 50), i).execute() for i in range(8)]
        assert running.rescale_workers(1, timeout=DEADLINE) == 1
        assert client.gather(sent) == {f"x{i}": i for i in range(20)}
        assert [value.fetch()[0, 0] for value in values] == list(range(8))
        assert (values[0] + values[7]).sum().execute().fetch() == 7 * 2500
    wait_until(lambda: pods(kube, running) == ["mars-worker-0"], kube.store, DEADLINE)
    events = lambda: kube.store.list("events", running.namespace, fields="reason=WorkerRetired")
    wait_until(events, kube.store, DEADLINE)
    assert events()[0]["involvedObject"]["name"] == "mars-worker-1"


def test_scaling_by_load(kube):
    """A backlog brings a second worker, and an idle time ends it; what only it held is there."""

    def held(number):
        Event("go").wait()
        return number

    section = "DASK_MARSDASK__AUTOSCALE__"
    waits = {f"{section}SCHEDULER_BACKLOG_TIMEOUT": "1s", f"{section}WORKER_IDLE_TIMEOUT": "1s"}
    arguments: Any = {"autoscale": (1, 2), "tls": False, "supervisor_extra_env": waits}
    arguments |= {"worker_mem": "512m", "timeout": DEADLINE, "default": False}
    grown = new_cluster(kube.client(), **arguments)
    try:
        scheduler: Any = grown.session.scheduler
        client = scheduler.client
        (first,) = client.nthreads()
        futures = client.map(held, range(40))
        port = WebPort(grown.endpoint, grown.token)
        assert port.wait_for(2, timeout=DEADLINE) == 2
        (second,) = set(client.nthreads()) - {first}
        sent = client.scatter(list(range(100, 120)), workers=[second], hash=False)
        Event("go", client=client).set()
        assert client.gather(futures) == list(range(40))
        assert port.wait_for(1, 1, timeout=DEADLINE) == 1
        assert client.gather(sent) == list(range(100, 120))
        assert client.gather(futures) == list(range(40))
    finally:
        grown.stop(wait=True, timeout=DEADLINE)


def test_through_the_api_server(kube):
    """A service of the cluster's own addresses: Kubernetes forwards what the session sends."""
    arguments: Any = {"service_type": "ClusterIP", "worker_mem": "512m", "timeout": DEADLINE}
    client = new_cluster(kube.client(), default=False, **arguments)
    try:
        assert client.endpoint.startswith("https://127.0.0.1:")
        with client.session.as_default():
            value = mt.arange(100_000, chunk_size=50_000).execute()
            assert value.fetch().sum() == 4_999_950_000
        other = KubernetesClusterClient(kube.client(), client.namespace)
        assert other.endpoint != client.endpoint
        with other.session as session:
            assert not session.closed
        assert WebPort(other.endpoint, other.token, other._cluster.authority).count() == 1
        del other
        gc.collect()
    finally:
        client.stop(wait=True, timeout=DEADLINE)
    assert not [one for one in threading.enumerate() if one.name == "port-forward"]


def test_the_api_server_may_be_away(kube, running):
    """Jobs run on; changes of the number of workers fail, lose nothing, and succeed later."""
    with running.session.as_default():
        before = mt.arange(100, chunk_size=10).execute()
        kube.server.stop()
        try:
            assert (before + 1).sum().execute().fetch() == 5050
            with pytest.raises(KubernetesError, match="no answer from Kubernetes"):
                running.rescale_workers(2, timeout=DEADLINE)
            assert mt.ones(10).sum().execute().fetch() == 10
        finally:
            kube.server.start()
        assert running.rescale_workers(1, timeout=DEADLINE) == 1
        assert before.sum().execute().fetch() == 4950


def test_rescaling_by_the_web_port(running):
    """Mars's request is the same change; the number of workers is KubeDL's bare integer."""
    port = WebPort(running.endpoint, running.token, running._cluster.authority)
    assert port.count() == 1
    with pytest.raises(KubernetesError, match="400"):
        running.rescale_workers(-1)
    assert running.rescale_workers(1, wait=False) == 1


def test_pods_have_only_their_secrets(kube, running):
    """No process shows the token or a key; the account of workers has no rights."""
    shown = json.dumps(kube.store.list("pods", running.namespace))
    assert running.token not in shown
    assert "PRIVATE KEY" not in shown
    for account, verb, code in (("mars-pod", "patch", 403), ("mars-supervisor", "get", 0)):
        token = kube.server.account_token(running.namespace, account)
        found = contextlib.nullcontext() if not code else pytest.raises(Forbidden)
        with found:
            KubernetesApi(kube.client(token)).request(
                {"patch": "PATCH", "get": "GET"}[verb],
                f"/apis/apps/v1/namespaces/{running.namespace}/statefulsets/mars-worker/scale",
                body={"spec": {"replicas": 1}} if verb == "patch" else None,
            )


def test_stop_leaves_nothing(kube, monkeypatch):
    """The namespace ends with all that is in it; the session is closed."""
    before = len(kube.store.list("namespaces"))
    client = new_cluster(
        kube.client(), worker_num=0, web_num=1, tls=False, token=False, timeout=DEADLINE
    )
    assert client.endpoint.startswith("http://")
    assert get_default_session() is client.session
    session = client.session
    assert pods(kube, client, "web")
    assert WebPort(client.endpoint).count() == 0
    client.stop(wait=True, timeout=DEADLINE)
    assert session.closed
    assert gone(kube, client.namespace)
    assert len(kube.store.list("namespaces")) == before


FAILURES: dict[str, tuple[Any, Any, str]] = {
    "image": ({"image": "no/such:image"}, KubernetesError, "ImagePullBackOff: .*no/such:image"),
    "crash": ({"supervisor_extra_env": {"MARS_WEB_TOKEN_FILE": "/none"}}, KubernetesError, "log: "),
    "late": ({"timeout": 0.5, "image": SLOW}, TimeoutError, "not all pods are ready"),
    "port": ({"node_port": 80}, Refused, r"Service marsservice invalid: .*nodePort.*30000-32767"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_leave_nothing(kube, name):
    """What was created is deleted; the error says what the pods said."""
    arguments, error, words = FAILURES[name]
    space = f"failing-{name}"
    arguments = {"namespace": space, "timeout": DEADLINE, "worker_num": 0} | arguments
    with pytest.raises(error, match=words):
        new_cluster(kube.client(), **arguments)
    wait_until(lambda: gone(kube, space), kube.store, DEADLINE)


def left_in(kube, space):
    """Return what a cluster has left in a namespace."""
    kinds = set(RESOURCES) - {"events", "namespaces", "nodes", "resourcequotas"}
    return [
        one["metadata"]["name"]
        for kind in kinds
        for one in kube.store.list(kind, space, "app.kubernetes.io/instance=mine")
    ]


def test_failures_in_a_shared_namespace(kube):
    """One that does not exist, and one whose quota is too small: nothing is left there."""
    arguments: Any = {"create_namespace": False, "cluster_name": "mine", "timeout": DEADLINE}
    with pytest.raises(NotFound, match='no such namespace: namespaces "nowhere" not found'):
        new_cluster(kube.client(), namespace="nowhere", **arguments)
    kube.store.create("namespaces", "", {"metadata": {"name": "small"}})
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    kube.store.create("resourcequotas", "small", quota)
    with pytest.raises(Forbidden, match=r"quota is too small: .*few"):
        new_cluster(kube.client(), namespace="small", **arguments)
    wait_until(lambda: not left_in(kube, "small"), kube.store, DEADLINE)
    assert kube.store.get("namespaces", "", "small")


@pytest.mark.skipif(programs() is not None, reason="nothing ends claims on the real server")
def test_claims_end_with_the_cluster(kube, monkeypatch):
    """In a shared namespace, where older StatefulSets keep them; those of others stay."""
    monkeypatch.setattr(cluster, "wait_ready", lambda *args: {})
    monkeypatch.setattr(KubernetesClusterClient, "start", lambda self, default: None)
    kube.store.create("namespaces", "", {"metadata": {"name": "claims"}})
    for name in ("mine", "other"):
        labels = {"app.kubernetes.io/instance": name}
        claim = {"metadata": {"name": f"spill-0-{name}-worker-0", "labels": labels}}
        kube.store.create("persistentvolumeclaims", "claims", claim)
    template: Any = {"volumeClaimTemplate": {"accessModes": ["ReadWriteOnce"]}}
    arguments: Any = {"namespace": "claims", "create_namespace": False, "worker_num": 0}
    arguments |= {"service_type": "ClusterIP", "worker_spill_paths": [template]}
    new_cluster(kube.client(), "none", cluster_name="mine", **arguments).stop()
    left = kube.store.list("persistentvolumeclaims", "claims")
    assert [one["metadata"]["name"] for one in left] == ["spill-0-other-worker-0"]


def test_failures_may_be_looked_at(kube):
    """With keep_on_failure all is there, for kubectl describe."""
    arguments: Any = {"namespace": "kept", "image": "no/such:image", "keep_on_failure": True}
    with pytest.raises(KubernetesError, match="ImagePullBackOff"):
        new_cluster(kube.client(), timeout=DEADLINE, **arguments)
    assert not gone(kube, "kept")
    found = KubernetesClusterClient(kube.client(), "kept", "http://none")
    found.stop(wait=True, timeout=DEADLINE)
    assert gone(kube, "kept")


def test_what_is_there_stays(kube):
    """A namespace of somebody else is neither used nor deleted."""
    kube.store.create("namespaces", "", {"metadata": {"name": "theirs"}})
    with pytest.raises(AlreadyExists, match="Namespace theirs"):
        new_cluster(kube.client(), namespace="theirs")
    assert not gone(kube, "theirs")


def documented_rights():
    """Return the rules of the Role in the documents: groups, resources and verbs."""
    page = (ROOT / "docs/kubernetes.md").read_text()
    role = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    fields = "apiGroups", "resources", "verbs"
    return [tuple(",".join(rule[name]) for name in fields) for rule in role["rules"]]


def test_clusters_of_a_shared_namespace(kube, monkeypatch):
    """Without the right to create namespaces; the end deletes its own objects only."""
    user = kube.user("tenant", *documented_rights())
    with pytest.raises(Forbidden, match="create namespaces"):
        new_cluster(user)
    kube.store.create("namespaces", "", {"metadata": {"name": "tenants"}})
    with monkeypatch.context() as patched:
        patched.setattr(cluster, "wait_ready", lambda *args: {})
        patched.setattr(KubernetesClusterClient, "start", lambda self, default: None)
        arguments: Any = {"namespace": "tenants", "create_namespace": False, "web_num": 1}
        arguments |= {"supervisor_num": 2, "ingress_host": "a.b", "image": "none"}
        new_cluster(user, cluster_name="all", **arguments).stop()
    wait_until(lambda: not kube.store.list("configmaps", "tenants"), kube.store, DEADLINE)
    other = {"metadata": {"name": "other", "labels": {"app.kubernetes.io/name": "marsdask"}}}
    kube.store.create("configmaps", "tenants", other)
    client = new_cluster(
        user,
        namespace="tenants",
        create_namespace=False,
        cluster_name="mine",
        worker_num=0,
        tls=False,
        timeout=DEADLINE,
    )
    try:
        with pytest.raises(LookupError, match="mine, other"):
            KubernetesClusterClient(user, "tenants")
        assert len(kube.store.list("pods", "tenants")) == 1
    finally:
        client.stop(wait=True, timeout=DEADLINE)
    rest = lambda: [
        one
        for kind in ("configmaps", "services", "secrets", "statefulsets")
        for one in kube.store.list(kind, "tenants")
    ]
    wait_until(lambda: len(rest()) == 1, kube.store, DEADLINE)


@pytest.mark.skipif(programs() is not None, reason="the real server has the versions that it has")
def test_budgets_of_older_versions(kube, monkeypatch):
    """Kubernetes 1.20 has them at another version; the cluster is created all the same."""
    monkeypatch.setitem(
        RESOURCES, "poddisruptionbudgets", ("/apis/policy/v1beta1", "PodDisruptionBudget", True)
    )
    monkeypatch.setattr(cluster, "wait_ready", lambda *args: {})
    monkeypatch.setattr(KubernetesClusterClient, "start", lambda self, default: None)
    client = new_cluster(
        kube.client(), "none", service_type="ClusterIP", worker_num=0, timeout=DEADLINE
    )
    try:
        assert len(kube.store.list("poddisruptionbudgets", client.namespace)) == 2
    finally:
        client.stop(wait=True, timeout=DEADLINE)


@pytest.mark.parametrize(
    ("arguments", "endpoint"),
    [
        ({"service_type": "LoadBalancer", "tls": False}, "http://192.0.2.1:7104"),
        ({"service_type": "ClusterIP"}, "https://127.0.0.1:"),
        ({"service_type": "ClusterIP", "in_pod": True}, "https://marsservice.{}.svc:7104"),
        ({"service_type": "ClusterIP", "endpoint_host": "gate"}, "https://gate:7104"),
        ({"ingress_host": "mars.example.com"}, "http://mars.example.com"),
        ({"ingress_host": "a.b", "ingress_tls_secret": "s"}, "https://a.b"),
        ({"endpoint_host": "gate", "node_port": 31999}, "https://gate:31999"),
    ],
    ids=str,
)
def test_endpoints(kube, monkeypatch, arguments, endpoint):
    """Each kind of service has its own address; pods have what is left of the time."""
    left = []

    def ready(api, namespace, selector, needed, timeout, deadline):
        left.append(deadline - time.monotonic())

    monkeypatch.setattr(cluster, "wait_ready", ready)
    monkeypatch.setattr(KubernetesClusterClient, "start", lambda self, default: None)
    arguments = arguments | {"image": "none", "worker_num": 0, "timeout": 9}
    if arguments.pop("in_pod", False):
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    client = new_cluster(kube.client(), **arguments)
    try:
        found = client.endpoint.rstrip("0123456789") if endpoint.endswith(":") else client.endpoint
        assert found == endpoint.format(client.namespace)
        assert 0 < left[0] < 9
    finally:
        client.stop(wait=True, timeout=DEADLINE)
