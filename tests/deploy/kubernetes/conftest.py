"""A Kubernetes of this process, for the tests of a module."""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.deploy.kubernetes.apiserver import ADMIN, ApiServer
from tests.deploy.kubernetes.controllers import Controllers
from tests.deploy.kubernetes.kubelet import Kubelet
from tests.deploy.kubernetes.node_ports import NodePorts
from tests.deploy.kubernetes.store import Store


@dataclass
class LocalKubernetes:
    """A server and what works on it."""

    server: ApiServer
    kubelet: Kubelet

    @property
    def store(self) -> Store:
        return self.server.store

    def client(self, token: str = ADMIN) -> Any:
        """Return the official client."""
        return self.server.client(token)

    def user(self, name: str, *rules: tuple[str, str, str]) -> Any:
        """Return the client of a user with rights: a group, resources and verbs, with commas."""
        self.server.users[name] = name
        self.server.rules[name] = [
            {
                "apiGroups": [group],
                "resources": resources.split(","),
                "verbs": verbs.split(","),
            }
            for group, resources, verbs in rules
        ]
        return self.client(name)


def local_kubernetes(folder: Any, *controllers: Any) -> Iterator[LocalKubernetes]:
    """Start everything; end it with all processes."""
    if sys.platform != "linux":
        pytest.skip("the addresses of pods are Linux's loopback network")
    # Another run of tests beside this one has other addresses.
    network = f"127.{random.randrange(2, 250)}"
    server = ApiServer(f"{network}.0.1", folder)
    server.store.create("namespaces", "", {"metadata": {"name": "default"}})
    parts: list[Any] = [
        Controllers(server.store, *controllers),
        kubelet := Kubelet(server, folder),
        NodePorts(server),
    ]
    try:
        yield LocalKubernetes(server, kubelet)
    finally:
        for part in parts:
            part.close()
        server.close()


@pytest.fixture(scope="module")
def kube(tmp_path_factory):
    """Start a Kubernetes with one node."""
    yield from local_kubernetes(tmp_path_factory.mktemp("kube"))
