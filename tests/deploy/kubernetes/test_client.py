"""Requests to Kubernetes, and what people read when it refuses them."""

import json
import sys
from typing import Any

import pytest

from marsdask.deploy.kubernetes import client
from marsdask.deploy.kubernetes.client import (
    AlreadyExists,
    Forbidden,
    KubernetesApi,
    KubernetesError,
    NotFound,
    Refused,
    Unavailable,
)
from tests.deploy.kubernetes.controllers import garbage
from tests.deploy.kubernetes.kubelet import wait_until


@pytest.fixture
def api(server):
    return KubernetesApi(server.client())


def config_map(name, **labels):
    metadata = {"name": name, "namespace": "n", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def test_objects_come_and_go(server, api):
    """Created, listed by label, changed, and deleted twice without an error."""
    made = api.create(config_map("a", x="1"))
    api.create(config_map("b", x="2"))
    assert made["metadata"]["uid"]
    assert [
        one["metadata"]["name"] for one in api.list("v1", "ConfigMap", "n", "x=1")["items"]
    ] == ["a"]
    assert api.patch("v1", "ConfigMap", "n", "a", {"data": {"k": "v"}})["data"] == {"k": "v"}
    assert api.get("v1", "ConfigMap", "n", "a")["data"] == {"k": "v"}
    for _ in range(2):
        api.delete("v1", "ConfigMap", "n", "a")

    def gone():
        garbage(server.store)
        try:
            api.get("v1", "ConfigMap", "n", "a")
        except NotFound:
            return True
        return False

    wait_until(gone, server.store, 10)


def test_changes_are_watched(api):
    """From a version on, with labels, until the time is over."""
    since = api.list("v1", "ConfigMap", "n")["metadata"]["resourceVersion"]
    for name, x in (("c", "3"), ("d", "4"), ("e", "3")):
        api.create(config_map(name, x=x))
    watch = api.watch("v1", "ConfigMap", "n", since, 1, "x=3")
    assert [(one["type"], one["object"]["metadata"]["name"]) for one in watch] == [
        ("ADDED", "c"),
        ("ADDED", "e"),
    ]


def test_conflicts_and_errors_have_types(api):
    """What exists, what does not, and what is invalid, each by the object's name."""
    api.create(config_map("twice"))
    with pytest.raises(AlreadyExists, match="ConfigMap twice"):
        api.create(config_map("twice"))
    missing = config_map("lost") | {"metadata": {"name": "lost", "namespace": "nowhere"}}
    words = r'no such namespace: namespaces "nowhere" not found; create it for ConfigMap lost'
    with pytest.raises(NotFound, match=words):
        api.create(missing)
    with pytest.raises(Refused, match="ConfigMap Upper invalid"):
        api.create(config_map("Upper"))


def test_a_missing_right_names_its_role(server):
    """The verb, the resource, the namespace, and the rule of a Role that gives it."""
    api = KubernetesApi(server.user("guest"))
    rule = r'\{"apiGroups": \[""\], "resources": \["configmaps"\], "verbs": \["create"\]\}'
    words = rf"no permission to create configmaps in the namespace n: ask for a Role .* {rule}"
    with pytest.raises(Forbidden, match=words) as caught:
        api.create(config_map("x"))
    assert isinstance(caught.value, PermissionError)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "y"}}
    with pytest.raises(Forbidden, match=r"ClusterRole.*create_namespace=False"):
        api.create(space)
    with pytest.raises(Forbidden, match=r"patch statefulsets/scale.*\"apps\""):
        api.patch("apps/v1", "StatefulSet", "n", "w", {"spec": {"replicas": 1}}, "scale")
    with pytest.raises(Forbidden, match="to list pods"):
        api.list("v1", "Pod", "n")
    with pytest.raises(Forbidden, match="to watch pods"):
        next(api.watch("v1", "Pod", "n", "1", 1))
    with pytest.raises(Forbidden, match="credentials"):
        KubernetesApi(server.client("nobody")).list("v1", "Pod", "n")


def test_rights_that_nobody_may_give(server):
    """Who may create roles, but lacks what one of them gives, needs that and no other right."""
    creates = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]}
    user = server.user("giver", creates | {"verbs": ["create"]})
    rule = {"apiGroups": ["apps"], "resources": ["statefulsets/scale"], "verbs": ["get", "patch"]}
    role: Any = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": [rule]}
    role |= {"metadata": {"name": "scales", "namespace": "n"}}
    words = r'Role scales gives rights that you lack: .*its rules \[\{"apiGroups": \["apps"\]'
    with pytest.raises(Forbidden, match=words) as caught:
        KubernetesApi(user).create(role)
    assert "no permission to create roles" not in str(caught.value)
    KubernetesApi(server.user("holder", rule, creates | {"verbs": ["create"]})).create(role)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('pods "p" is forbidden: violates PodSecurity "restricted"', "forbids ConfigMap x: pods"),
        ("content in namespace n because it is being terminated", "is being deleted, wait"),
    ],
)
def test_refusals_that_are_no_missing_right(message, words):
    """Rules of a cluster, and a namespace that ends."""
    told = json.dumps({"message": message}).encode()
    with pytest.raises(Forbidden, match=words):
        client.raise_for(403, told, "POST", "/api/v1/namespaces/n/configmaps", config_map("x"))


def test_quotas_are_named(server, api):
    """A quota is not a missing right."""
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    server.store.create("resourcequotas", "n", quota)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}}
    pod["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    with pytest.raises(Forbidden, match=r"quota is too small for Pod p.*few"):
        api.create(pod)
    server.store.delete("resourcequotas", "n", "few")


def test_a_server_that_is_not_there(server):
    """The address is in the error."""
    nobody = server.client()
    nobody.configuration.host = "https://127.0.0.1:1"
    with pytest.raises(KubernetesError, match=r"no answer from Kubernetes at https://127.0.0.1:1"):
        KubernetesApi(nobody).create(config_map("x"))


def test_answers_that_break_off(scripted):
    """Of a watch and of any other request: what has come before is given."""
    change = {"type": "ADDED", "object": {}}
    scripted.answers += [(None, json.dumps(change).encode() + b'\n{"type"'), (None, b'{"items"')]
    watch = scripted.api.watch("v1", "Pod", "n", "1", 5)
    assert next(watch) == change
    with pytest.raises(Unavailable, match=r"no answer from Kubernetes at http://127\.0\.0\.1:"):
        next(watch)
    with pytest.raises(Unavailable, match=r"no answer from Kubernetes at http://127\.0\.0\.1:"):
        scripted.api.list("v1", "Pod", "n")


@pytest.mark.parametrize(("status", "error"), [(429, Unavailable), (503, Unavailable), (418, None)])
def test_what_may_pass(scripted, status, error):
    """A server that is overloaded or starts, unlike one that refuses."""
    scripted.answers.append((status, {"message": "why"}))
    with pytest.raises(KubernetesError, match=f"answers {status} for GET .*: why") as caught:
        scripted.api.list("v1", "Pod", "n")
    assert type(caught.value) is (error or KubernetesError)


def test_without_configuration(monkeypatch, tmp_path):
    """The error says where it is looked for."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr(
        "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none")
    )
    with pytest.raises(KubernetesError, match=r"~/.kube/config.*kubectl get nodes"):
        client.default_client()


def test_without_the_package(monkeypatch):
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ImportError, match=r"marsdask\[kubernetes\]"):
        client.default_client()
