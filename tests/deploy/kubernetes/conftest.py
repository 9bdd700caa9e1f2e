"""A Kubernetes for the tests of a module: the tests' own API server, or a real one."""

import pytest

from tests.kube.pod_logs import pytest_runtest_makereport  # noqa: F401 - a hook
from tests.kube.servers import api_server, local_kubernetes, session_server


@pytest.fixture(scope="session", autouse=True)
def real_server():
    """Start the real server once, if it is wanted."""
    with session_server():
        yield


@pytest.fixture(scope="module")
def kube(tmp_path_factory):
    """Start a Kubernetes with one node."""
    with local_kubernetes(tmp_path_factory.mktemp("kube")) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server without any controller, with a namespace ``n``."""
    with api_server(tmp_path_factory.mktemp("server")) as running:
        running.store.create("namespaces", "", {"metadata": {"name": "n"}})
        yield running
