"""A Kubernetes with KubeDL's operator and an ingress, for the tests of a module."""

import gc
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.deploy.kubedl.ingress import NodeIngress
from tests.deploy.kubedl.operator import mars_jobs
from tests.kube.pod_logs import pytest_runtest_makereport  # noqa: F401 - a hook
from tests.kube.servers import LocalKubernetes, local_kubernetes, session_server


@dataclass
class LocalKubeDL:
    """A cluster where MarsJobs run."""

    kube: LocalKubernetes
    ingress: NodeIngress


@pytest.fixture(scope="session", autouse=True)
def real_server() -> Iterator[None]:
    """Start the real server once, if it is wanted."""
    with session_server():
        yield


@pytest.fixture(scope="module")
def kubedl(tmp_path_factory) -> Iterator[LocalKubeDL]:
    """Start a Kubernetes with one node, the operator and an ingress."""
    with local_kubernetes(tmp_path_factory.mktemp("kubedl"), mars_jobs) as kube:
        ingress = NodeIngress(kube.server)
        try:
            yield LocalKubeDL(kube, ingress)
        finally:
            ingress.close()


@pytest.fixture(autouse=True)
def closing_websockets() -> Iterator[None]:
    """Collect websockets whose session has ended before the other side has confirmed the close.

    tornado leaves them to the collector, on a busy machine; a later test would get the warning.
    Of anything else that was left open the test itself gets it.
    """
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unclosed WebSocketClientConnection", ResourceWarning)
        gc.collect()
