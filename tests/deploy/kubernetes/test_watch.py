"""Pods that do not get ready, and what people read about them."""

import time

import pytest

from marsdask.deploy.kubernetes import watch
from marsdask.deploy.kubernetes.client import (
    Forbidden,
    KubernetesApi,
    KubernetesError,
    Unavailable,
)
from marsdask.deploy.kubernetes.watch import is_ready, retried, trouble, wait_ready
from tests.kube.servers import api_server

INSTANCE = "mars"


def pod(name, role="worker", *, ready=False, waiting=None, restarts=0, deleted=False, last=None):
    """Return a pod in a state."""
    metadata = {"name": name, "namespace": "n"}
    metadata["labels"] = {
        "app.kubernetes.io/instance": "mars",
        "app.kubernetes.io/component": role,
    }
    if deleted:
        metadata["deletionTimestamp"] = "now"
    state = {"waiting": {"reason": waiting, "message": "m"}} if waiting else {"running": {}}
    container = {
        "name": "c",
        "image": "i",
        "ready": ready,
        "restartCount": restarts,
        "state": state,
    }
    if last is not None:
        container["lastState"] = {"terminated": {"exitCode": last}}
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [container],
    }
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"metadata": metadata, "kind": "Pod", "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"waiting": "ImagePullBackOff"}, "check image="),
        ({"waiting": "InvalidImageName"}, "invalid"),
        ({"waiting": "RunContainerError"}, "python"),
        ({"restarts": 3, "last": 2}, "ended 3 times, last with exit code 2"),
        ({"waiting": "ContainerCreating"}, None),
        ({"waiting": "ErrImagePull"}, None),
        ({"restarts": 2}, None),
        ({"restarts": 5, "ready": True}, None),
        ({}, None),
    ],
)
def test_what_is_hopeless(state, words):
    """Images, commands and crashes that repeat; all else may pass."""
    found = trouble(pod("p", **state))
    assert (found is None) == (words is None)
    assert words is None or words in str(found)


def test_a_pod_that_ends_is_not_ready():
    """Even while it still serves."""
    assert is_ready(pod("p", ready=True))
    assert not is_ready(pod("p", ready=True, deleted=True))
    assert not is_ready({"metadata": {}, "status": {}})


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Start a server without any controller, whose pods have written something."""
    monkeypatch.setattr(watch, "_ROUND", 0.2)
    with api_server(tmp_path) as running:
        running.store.create("namespaces", "", {"metadata": {"name": "n"}})
        running.store.create("configmaps", "n", {"metadata": {"name": INSTANCE}})
        running.log = lambda namespace, name, previous: f"{name} wrote\nthis\n"
        yield running


def put(server, one):
    """Create a pod, with its state."""
    made = server.store.create("pods", "n", one)
    server.store.patch("pods", "n", made["metadata"]["name"], {"status": one["status"]}, "status")


def wait(server, timeout=5, **needed):
    return wait_ready(KubernetesApi(server.client()), "n", INSTANCE, needed, timeout)


def test_enough_pods_are_waited_for(server):
    """Of each role, and not more."""
    put(server, pod("w-0", ready=True))
    put(server, pod("w-1"))
    put(server, pod("s-0", "supervisor", ready=True))
    assert set(wait(server, worker=1, supervisor=1)) == {"w-0", "w-1", "s-0"}


def test_a_crash_is_told_at_once(server):
    """With the code, the last events and the last lines."""
    broken = pod("w-0", restarts=3, last=1)
    put(server, broken)
    server.store.event(broken, "BackOff", "restarting failed container")
    with pytest.raises(KubernetesError) as caught:
        wait(server, worker=1)
    assert str(caught.value).splitlines() == [
        "pod w-0: it has ended 3 times, last with exit code 1",
        "  event: BackOff: restarting failed container",
        "  log: w-0 wrote",
        "  log: this",
    ]


def test_late_pods_are_told(server):
    """Which, in what state, and what they said last."""
    put(server, pod("w-0"))
    with pytest.raises(TimeoutError) as caught:
        wait(server, 0.3, worker=2)
    first, *rest = str(caught.value).splitlines()
    assert first == "after 0.3 s not all pods are ready (2 worker)"
    assert rest[0] == "pod w-0: Running"
    assert "  log: this" in rest


def test_a_deadline_that_has_begun(server):
    """Creating the objects has taken the time: nothing is left of it for the pods."""
    api, began = KubernetesApi(server.client()), time.monotonic()
    with pytest.raises(TimeoutError, match=r"after 60 s not all pods are ready"):
        wait_ready(api, "n", INSTANCE, {"worker": 1}, 60, began)
    assert time.monotonic() - began < 30


def test_no_pods_at_all(server):
    """The hint is another one."""
    with pytest.raises(TimeoutError, match="does a controller"):
        wait(server, 0.1, worker=1)


def test_pods_that_could_not_be_created(server):
    """For another reason than a quota: it may pass, and is told at the end."""
    owner = {"kind": "StatefulSet", "metadata": {"name": "mars-worker", "namespace": "n"}}
    server.store.event(owner, "FailedCreate", 'create Pod w-0 failed: violates PodSecurity "x"')
    with pytest.raises(TimeoutError) as caught:
        wait(server, 0.3, worker=1)
    first, *rest = str(caught.value).splitlines()
    assert first == "after 0.3 s not all pods are ready (1 worker)"
    reason = '  event: create Pod w-0 failed: violates PodSecurity "x"'
    assert rest == ["pods that could not be created:", reason]


def test_quotas_are_told_at_once(server):
    """Controllers report them as events only."""
    owner = {"kind": "StatefulSet", "metadata": {"name": "mars-worker", "namespace": "n"}}
    server.store.event(owner, "FailedCreate", "create Pod w-0 failed: exceeded quota: few")
    with pytest.raises(Forbidden, match=r"quota is too small.*few"):
        wait(server, worker=1)


def test_quotas_of_others(server):
    """Events of another workload, or of a cluster of before, say nothing about this one."""
    for name in ("w", "mars-2-worker"):
        owner = {"kind": "StatefulSet", "metadata": {"name": name, "namespace": "n"}}
        server.store.event(owner, "FailedCreate", "create Pod w-0 failed: exceeded quota: few")
    involved = {"kind": "StatefulSet", "name": "mars-worker", "namespace": "n"}
    old = {"reason": "FailedCreate", "message": "exceeded quota: few", "involvedObject": involved}
    server.store.create(
        "events", "n", {"metadata": {"name": "old"}, "lastTimestamp": "2020-01-01T00:00:00Z"} | old
    )
    server.store.delete("configmaps", "n", INSTANCE)
    root = {"metadata": {"name": INSTANCE, "creationTimestamp": "2026-01-01T00:00:00Z"}}
    server.store.create("configmaps", "n", root)
    with pytest.raises(TimeoutError, match="does a controller"):
        wait(server, 0.1, worker=1)


def test_kubernetes_may_be_away(scripted, monkeypatch):
    """An error of the server, or a watch that breaks off: it is asked again."""
    monkeypatch.setattr(watch, "_PAUSE", 0.01)
    none = {"items": [], "metadata": {"resourceVersion": "1"}}
    some = {"items": [pod("w-0", ready=True)], "metadata": {"resourceVersion": "2"}}
    root = {"metadata": {"name": INSTANCE}}
    scripted.answers += [
        (503, {"message": "starting"}),
        *((200, none), (429, {"message": "too many"})),
        *((200, none), (200, root), (200, none), (None, b'{"type"')),
        (200, some),
    ]
    assert set(wait_ready(scripted.api, "n", INSTANCE, {"worker": 1}, 60)) == {"w-0"}
    assert not scripted.answers


@pytest.mark.parametrize("timeout", [None, 0.1])
def test_kubernetes_that_stays_away(timeout, monkeypatch):
    """Its error is raised at the deadline; without one, after a while."""
    monkeypatch.setattr(watch, "_AWAY", 0.1)
    monkeypatch.setattr(watch, "_PAUSE", 0.01)
    asked = []

    def away():
        asked.append(1)
        raise Unavailable("away")

    with pytest.raises(Unavailable, match="away"):
        retried(away, None if timeout is None else time.monotonic() + timeout)
    assert len(asked) > 1

    def refused():
        asked.clear()
        raise Forbidden("no")

    with pytest.raises(Forbidden):
        retried(refused, None)
    assert not asked
