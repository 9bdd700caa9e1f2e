"""The real server of a session, if it is wanted, and a Kubernetes for the tests of a module."""

import pytest

from tests.kube.servers import local_kubernetes, session_server


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
