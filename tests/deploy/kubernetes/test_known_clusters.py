"""Clusters that other means, or other programs, have made; and answers that were lost.

A dictionary stands for Kubernetes.
"""

import base64
from typing import Any

import pytest

from marsdask.deploy.kubernetes import KubernetesClusterClient, cluster, new_cluster
from marsdask.deploy.kubernetes.client import (
    AlreadyExists,
    Forbidden,
    KubernetesError,
    NotFound,
    Unavailable,
)
from marsdask.deploy.kubernetes.manifests import MADE_BY

AUTHORITY = b"the cluster's authority"

GIVEN = "a-token-of-mine"

READY = {"hostIP": "192.0.2.7", "conditions": [{"type": "Ready", "status": "True"}]}


def secret(**content):
    return {"data": {name: base64.b64encode(one).decode() for name, one in content.items()}}


def prod(service="NodePort", **annotations):
    """Return the objects of a cluster in a namespace of others."""
    data = {"service": f"{service}/mars-service", "namespace": "shared", "claims": "1"}
    return {
        ("ConfigMap", "prod"): {
            "metadata": {"name": "prod", "annotations": annotations},
            "data": data,
        },
        ("Secret", "prod-tls"): secret(**{"ca.crt": AUTHORITY}),
        ("Secret", "prod-token"): secret(token=GIVEN.encode()),
        ("PersistentVolumeClaim", "spill-0"): {"metadata": {"name": "spill-0"}},
        ("Pod", "prod-supervisor-0"): {"metadata": {"name": "prod-supervisor-0"}, "status": READY},
        ("Service", "mars-service"): {"spec": {"ports": [{"port": 7104, "nodePort": 30000}]}},
        ("Ingress", "mars-service"): {"spec": {"tls": [{}], "rules": [{"host": "mars.example"}]}},
    }


class StubApi:
    """Some objects, which an account may not read all; what is deleted is remembered."""

    def __init__(self, objects: Any = (), forbidden: tuple[str, ...] = ()) -> None:
        self.objects = dict(objects)
        self.forbidden = forbidden
        self.deleted: list[tuple[str, str]] = []
        self.answer: Exception | None = None
        """Of requests that create something; what is asked for is done all the same."""

    def get(self, version, kind, namespace, name):
        if kind in self.forbidden:
            raise Forbidden(f"no permission to get {kind}")
        if (kind, name) not in self.objects:
            raise NotFound(name)
        return self.objects[kind, name]

    def list(self, version, kind, namespace, selector=""):
        return {"items": [one for (other, _), one in self.objects.items() if other == kind]}

    def create(self, manifest):
        self.objects[manifest["kind"], manifest["metadata"]["name"]] = manifest
        if self.answer is not None:
            raise self.answer
        return manifest | {"metadata": manifest["metadata"] | {"uid": "u"}}

    def delete(self, version, kind, namespace, name):
        self.deleted.append((kind, name))


@pytest.fixture
def kubernetes(monkeypatch):
    """Let clients find some objects."""

    def use(*args, **options):
        api = StubApi(*args, **options)
        monkeypatch.setattr(cluster, "KubernetesApi", lambda client: api)
        return api

    return use


def known(**options):
    return KubernetesClusterClient(None, "team", **options)


def test_clusters_of_helm_are_not_deleted(kubernetes):
    """Nor those of kubectl apply: no object of them, nor their workers' claims."""
    api = kubernetes(prod())
    known(endpoint="https://h:1").stop(wait=True)
    assert api.deleted == []
    api = kubernetes(prod(**MADE_BY))
    known(endpoint="https://h:1").stop()
    assert api.deleted == [("ConfigMap", "prod"), ("PersistentVolumeClaim", "spill-0")]


def test_clusters_are_marked(kubernetes, monkeypatch):
    """By new_cluster only."""
    api = kubernetes()
    monkeypatch.setattr(cluster, "wait_ready", lambda *args: {})
    monkeypatch.setattr(cluster, "_endpoint", lambda *args: "https://h:1")
    monkeypatch.setattr(KubernetesClusterClient, "start", lambda self, default: None)
    made = new_cluster(None, "image", token=GIVEN)
    assert made.token == GIVEN
    assert api.objects["Secret", "mars-token"]["data"] == secret(token=GIVEN.encode())["data"]
    assert api.objects["ConfigMap", "mars"]["metadata"]["annotations"] == MADE_BY
    del api.objects["ConfigMap", "mars"]["metadata"]["annotations"]
    api = kubernetes(api.objects)
    KubernetesClusterClient(None, made.namespace, made.endpoint).stop()
    assert api.deleted == []


def test_accounts_that_may_not_read_secrets(kubernetes, tmp_path):
    """They give the token; and the authority's certificate, unless all hosts trust it."""
    kubernetes(prod(), forbidden=("Secret",))
    found = known(endpoint="https://h:1", token=GIVEN)
    assert (found.token, found._cluster.authority) == (GIVEN, None)
    (tmp_path / "ca.crt").write_bytes(AUTHORITY)
    found = known(endpoint="https://h:1", token=GIVEN, ca_file=tmp_path / "ca.crt")
    assert found._cluster.authority == AUTHORITY
    with pytest.raises(Forbidden, match="get Secret"):
        known(endpoint="https://h:1")
    with pytest.raises(Forbidden, match="get Secret"):
        known(token=GIVEN)  # is its web port encrypted?
    found = known(token=GIVEN, ca_file=str(tmp_path / "ca.crt"))
    assert found.endpoint == "https://192.0.2.7:30000"


def test_ingresses_show_other_certificates(kubernetes):
    """The cluster's own authority has not signed them."""
    kubernetes(prod("Ingress"))
    found = known()
    assert (found.endpoint, found._cluster.authority) == ("https://mars.example", None)
    assert found.token == GIVEN


@pytest.mark.parametrize(
    ("error", "options", "deleted"),
    [
        (Unavailable("no answer"), {}, True),
        (KubernetesError("what is this?"), {}, True),
        (AlreadyExists("there is one"), {}, False),
        (Forbidden("no permission"), {}, False),
        (Unavailable("no answer"), {"keep_on_failure": True}, False),
        (Unavailable("no answer"), {"namespace": "theirs"}, False),
        (Unavailable("no answer"), {"namespace": "team", "create_namespace": False}, False),
    ],
    ids=str,
)
def test_lost_answers(kubernetes, error, options, deleted):
    """A namespace may be there without one: it is deleted if nobody else can have its name."""
    api = kubernetes()
    api.answer = error
    with pytest.raises(KubernetesError, match=str(error).replace("?", ".")):
        new_cluster(None, "image", **options)
    spaces = [name for kind, name in api.deleted if kind == "Namespace"]
    assert len(api.objects) == 1
    assert spaces == ([name for _, name in api.objects] if deleted else [])
    assert deleted or not api.deleted
