"""A Kubernetes with KubeDL's operator and an ingress, for the tests of a module."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.deploy.kubedl.ingress import NodeIngress
from tests.deploy.kubedl.operator import mars_jobs
from tests.deploy.kubernetes.conftest import LocalKubernetes, local_kubernetes


@dataclass
class LocalKubeDL:
    """A cluster where MarsJobs run."""

    kube: LocalKubernetes
    ingress: NodeIngress


@pytest.fixture(scope="module")
def kubedl(tmp_path_factory) -> Iterator[LocalKubeDL]:
    """Start a Kubernetes with one node, the operator and an ingress."""
    for kube in local_kubernetes(tmp_path_factory.mktemp("kubedl"), mars_jobs):
        ingress = NodeIngress(kube.server)
        try:
            yield LocalKubeDL(kube, ingress)
        finally:
            ingress.close()
