"""The real server of a session, if it is wanted, and a Kubernetes for the tests of a module."""

import json

import pytest

import marsdask
import marsdask.compat
from tests.deploy.kubernetes.apiserver import ADMIN
from tests.kube.pod_logs import pytest_runtest_makereport  # noqa: F401 - a hook
from tests.kube.servers import local_kubernetes, session_server


@pytest.fixture(scope="session", autouse=True)
def real_server():
    """Start the real server once, if it is wanted."""
    with session_server():
        yield


@pytest.fixture(scope="module")
def controllers():
    """Return what works on the server beside Kubernetes's own controllers."""
    return ()


@pytest.fixture(scope="module")
def kube(tmp_path_factory, controllers):
    """Start a Kubernetes with one node."""
    with local_kubernetes(tmp_path_factory.mktemp("kube"), *controllers) as running:
        yield running


@pytest.fixture
def configured(kube, tmp_path, monkeypatch):
    """Let ``kubectl`` and programs find the server, as the documents assume."""
    cluster = {"server": kube.server.url, "certificate-authority": kube.server.authority}
    context = {"cluster": "here", "user": "me", "namespace": "default"}
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "me", "user": {"token": ADMIN}}],
        "contexts": [{"name": "here", "context": context}],
        "current-context": "here",
    }
    path = tmp_path / "config"
    path.write_text(json.dumps(found))
    monkeypatch.setenv("KUBECONFIG", str(path))
    # The package reads the variable when it is imported.
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(path))
    marsdask.compat.install()
    yield
    marsdask.compat.uninstall()
    marsdask.stop_server()
