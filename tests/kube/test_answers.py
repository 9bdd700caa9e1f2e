"""The tests' own API server answers as the real one: what that said is in ``answers.json``.

With a real server these tests ask it, and compare again; MARSDASK_KUBE_RECORD=1 writes the file.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.kube.real_server import VARIABLE, programs
from tests.kube.servers import api_server

ANSWERS = Path(__file__).parent / "answers.json"

SPACE = "golden"

#: What differs between two runs.
_DRAWN = re.compile(r"127\.\d+\.0\.1:\d+|resourceVersion=\d+")


def core(plural, *more, space=SPACE):
    return "/".join(("/api/v1/namespaces", space, plural, *more))


def apps(*more):
    return "/".join((f"/apis/apps/v1/namespaces/{SPACE}/statefulsets", *more))


def jobs(*more):
    return "/".join((f"/apis/training.kubedl.io/v1alpha1/namespaces/{SPACE}/marsjobs", *more))


def config_map(name, **metadata):
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, **metadata}}


def stateful_set(name, label="1"):
    template = {
        "metadata": {"labels": {"a": label}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"replicas": 2, "serviceName": "s", "selector": {"matchLabels": {"a": "1"}}}
    metadata = {"name": name}
    spec |= {"template": template}
    return {"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": metadata, "spec": spec}


def pod(name):
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "node"}
    metadata = {"name": name, "labels": {"a": "1"}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec}


SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "s"},
    "spec": {"type": "NodePort", "selector": {"a": "1"}, "ports": [{"name": "web", "port": 80}]},
}

LOW_PORT = {
    **SERVICE,
    "spec": {
        "type": "NodePort",
        "selector": {"a": "1"},
        "ports": [{"name": "web", "port": 80, "nodePort": 80}],
    },
}

JOB = {
    "kind": "MarsJob",
    "apiVersion": "training.kubedl.io/v1alpha1",
    "metadata": {"name": "j"},
    "spec": {
        "cleanPodPolicy": "None",
        "memoryTuningPolicy": {"spillDirs": ["/a"]},
        "workerMemoryTuningPolicy": {"spillDirs": ["/b"], "workerCachePercentage": 80},
        "marsReplicaSpecs": {"Worker": {"replicas": 2}},
    },
    "status": {"conditions": []},
}

QUOTA = {
    "kind": "ResourceQuota",
    "apiVersion": "v1",
    "metadata": {"name": "few"},
    "spec": {"hard": {"pods": "0"}},
}

NAMESPACE = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": SPACE}}

EVICTION = {"kind": "Eviction", "metadata": {"name": "p", "namespace": SPACE}}

SCALE = {
    "apiGroups": ["apps"],
    "resources": ["statefulsets/scale"],
    "resourceNames": ["w"],
    "verbs": ["get", "patch"],
}

ROLE = {
    "kind": "Role",
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "metadata": {"name": "r"},
    "rules": [SCALE],
}

ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SPACE}/roles"

#: Users with some rights, in all namespaces.
RIGHTS: dict[str, list[Any]] = {
    "guest": [],
    "giver": [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]}
    ],
}

FOREGROUND = {"propagationPolicy": "Foreground"}

#: Requests in their order: who asks what, and which fields of the answer matter.
REQUESTS: list[tuple[str, str, str, Any, tuple[str, ...]]] = [
    ("admin", "POST", "/api/v1/namespaces", NAMESPACE, ("kind", "metadata.name")),
    ("admin", "POST", "/api/v1/namespaces", NAMESPACE, ()),
    ("admin", "GET", core("configmaps", "none"), None, ()),
    ("admin", "POST", core("configmaps", space="nowhere"), config_map("a"), ()),
    ("admin", "POST", core("configmaps"), config_map("Upper"), ()),
    ("admin", "GET", core("nothings"), None, ()),
    ("stranger", "GET", core("pods"), None, ()),
    ("guest", "POST", core("configmaps"), config_map("a"), ()),
    ("guest", "GET", core("configmaps", "a"), None, ()),
    ("guest", "GET", core("pods"), None, ()),
    ("guest", "POST", "/api/v1/namespaces", NAMESPACE, ()),
    ("guest", "PATCH", apps("w", "scale"), {"spec": {"replicas": 1}}, ()),
    ("giver", "POST", ROLES, ROLE, ()),
    ("admin", "POST", ROLES, ROLE, ("kind",)),
    ("admin", "POST", core("configmaps"), config_map("a", labels={"x": "1"}), ("kind",)),
    ("admin", "POST", core("configmaps"), config_map("b", labels={"x": "2"}), ("apiVersion",)),
    ("admin", "GET", core("configmaps?labelSelector=x=2"), None, ("items.metadata.name",)),
    ("admin", "GET", core("configmaps?fieldSelector=metadata.name=a"), None, ("items.metadata",)),
    ("admin", "PATCH", core("configmaps", "a"), {"data": {"k": "v", "l": "w"}}, ("data",)),
    ("admin", "PATCH", core("configmaps", "a"), {"data": {"k": None}}, ("data",)),
    ("admin", "PATCH text/plain", core("configmaps", "a"), {}, ()),
    ("admin", "POST", apps(), stateful_set("w", "2"), ()),
    ("admin", "POST", apps(), stateful_set("w"), ("spec.replicas", "kind", "apiVersion")),
    ("admin", "GET", apps("w", "scale"), None, ("kind", "metadata.name", "spec.replicas")),
    ("admin", "PATCH", apps("w", "scale"), {"spec": {"replicas": 3}}, ("spec.replicas", "kind")),
    ("admin", "GET", apps("w"), None, ("spec.replicas",)),
    ("admin", "PATCH", apps("w", "status"), {"status": {"replicas": 9}}, ("status.replicas",)),
    ("admin", "POST", core("services"), LOW_PORT, ()),
    ("admin", "POST", core("services"), SERVICE, ("spec.type", "spec.ports.name")),
    ("admin", "POST", core("pods"), pod("p"), ("metadata.labels", "spec.nodeName")),
    ("admin", "GET", core("pods", "none", "log"), None, ()),
    ("admin", "POST", jobs(), JOB, ("spec", "status")),
    ("admin", "PATCH", jobs("j"), {"status": {"conditions": [{"type": "Failed"}]}}, ("status",)),
    (
        "admin",
        "PATCH",
        jobs("j", "status"),
        {"spec": {"webHost": "w"}, "status": {"conditions": [{"type": "Running"}]}},
        ("status", "spec.webHost"),
    ),
    ("admin", "DELETE", core("configmaps", "b"), FOREGROUND, ("metadata.finalizers",)),
    ("admin", "GET", core("configmaps", "b"), None, ("metadata.finalizers",)),
    ("admin", "PATCH", core("configmaps", "b"), {"metadata": {"finalizers": None}}, ()),
    ("admin", "GET", core("configmaps", "b"), None, ()),
    ("admin", "DELETE", core("pods", "p"), None, ("kind", "metadata.name")),
    ("admin", "GET", core("pods", "p"), None, ("metadata.name",)),
    ("admin", "DELETE", core("pods", "p"), {"gracePeriodSeconds": 0}, ("kind",)),
    ("admin", "GET", core("pods", "p"), None, ()),
    ("admin", "POST", core("pods"), pod("p"), ("kind",)),
    ("admin", "POST", core("pods", "p", "eviction"), EVICTION, ("kind", "status", "code")),
    ("admin", "DELETE", "/api/v1/namespaces/golden", None, ("kind", "status.phase")),
    ("admin", "POST", core("configmaps"), config_map("late"), ()),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server without any controller."""
    with api_server(tmp_path_factory.mktemp("server")) as running:
        yield running


def fields(found, path):
    """Return what is at a path, through lists; `None` where nothing is."""
    if not path:
        return found
    if isinstance(found, list):
        return [fields(one, path) for one in found]
    if not isinstance(found, dict):
        return None
    name, _, rest = path.partition(".")
    return fields(found.get(name), rest)


def ask(server, user, method, path, body):
    """Return the status and the content of an answer."""
    client = server.user(user, *RIGHTS[user]) if user in RIGHTS else server.client(user)
    method, _, kind = method.partition(" ")
    kind = kind or ("application/merge-patch+json" if method == "PATCH" else "application/json")
    token = client.configuration.api_key["authorization"]
    headers = {"Authorization": token, "Content-Type": kind, **client.default_headers}
    answer = client.rest_client.pool_manager.request(
        method,
        server.url + path,
        body=None if body is None else json.dumps(body),
        headers=headers,
    )
    return answer.status, json.loads(answer.data)


def answered(server, request):
    """Return what matters of an answer: a refusal's reason and message, or some fields."""
    user, method, path, body, wanted = request
    status, found = ask(server, user, method, path, body)
    if status >= 400:
        kept = {name: found.get(name) for name in ("kind", "code", "reason", "message")}
    else:
        kept = {name: fields(found, name) for name in wanted}
    kept = {name: value for name, value in kept.items() if value not in (None, {})}
    for one in kept.get("items.metadata", ()):
        for name in set(one) - {"name", "namespace", "labels"}:
            del one[name]
    text = _DRAWN.sub("*", json.dumps(kept))
    return {"request": f"{user}: {method} {path}", "status": status, "answer": json.loads(text)}


def record(found):
    """Write what the real server has answered."""
    assert programs() is not None, f"MARSDASK_KUBE_RECORD needs the real server: set {VARIABLE}"
    ANSWERS.write_text(json.dumps(found, indent=1) + "\n")


def test_answers_are_the_real_servers(server):
    """Statuses, reasons, messages and fields, request by request."""
    found = [answered(server, request) for request in REQUESTS]
    if os.environ.get("MARSDASK_KUBE_RECORD"):
        record(found)
    assert found == json.loads(ANSWERS.read_text())


def test_only_the_real_servers_answers_are_recorded(monkeypatch, tmp_path):
    """Without its programs the file remains as it is."""
    monkeypatch.setattr(f"{__name__}.ANSWERS", tmp_path / "answers.json")
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(AssertionError, match=f"set {VARIABLE}"):
        record([])
    assert not ANSWERS.exists()
