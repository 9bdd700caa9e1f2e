"""Requests from inside a pod."""

from pathlib import Path

import pytest

from marsdask.deploy.kubernetes.client import Forbidden
from marsdask.deploy.kubernetes.in_pod.account import PodAccount
from tests.deploy.kubernetes.apiserver import ApiServer


def test_where_it_is():
    """Kubernetes tells it in variables; addresses may be of the new kind."""
    assert PodAccount.in_cluster({}) is None
    found = PodAccount.in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1"})
    assert found == PodAccount("default", "https://[fd00::1]:443")
    environ = {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "MARS_K8S_POD_NAMESPACE": "n",
        "MARS_K8S_POD_NAME": "p",
    }
    assert PodAccount.in_cluster(environ) == PodAccount("n", "https://10.0.0.1:6443", "p")


def test_its_token_is_read_each_time(tmp_path):
    """It is renewed now and then; a request without rights says which one."""
    server = ApiServer("127.0.0.1", tmp_path)
    try:
        server.store.create("namespaces", "", {"metadata": {"name": "n"}})
        (tmp_path / "ca.crt").write_bytes(Path(server.authority).read_bytes())
        (tmp_path / "token").write_text("old")
        account = PodAccount("n", server.url, "p", str(tmp_path))
        with pytest.raises(Forbidden, match="credentials"):
            account.request("GET", "/api/v1/namespaces/n/pods")
        (tmp_path / "token").write_text("admin\n")
        assert account.request("GET", "/api/v1/namespaces/n/pods")["items"] == []
    finally:
        server.close()
