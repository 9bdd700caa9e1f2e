"""Which API server tests have: their own, or a real one where a variable names its programs."""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.kubernetes.apiserver import ADMIN, ApiServer
from tests.deploy.kubernetes.controllers import Controllers
from tests.deploy.kubernetes.kubelet import Kubelet
from tests.kube.node_ports import NodePorts
from tests.kube.real_server import VARIABLE, RealServer, programs

#: The real server of this session, if there is one.
_real: list[RealServer] = []


@contextlib.contextmanager
def session_server() -> Iterator[None]:
    """Start the real server, if it is wanted and there, for all tests."""
    folder = programs()
    if folder is None or _real or not _complete(folder):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="kube-") as place:
        server = RealServer(Path(place), _host())
        _real.append(server)
        try:
            yield
        finally:
            _real.remove(server)
            server.close()


def _complete(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("etcd", "kube-apiserver"))


def _host() -> str:
    # Another run of tests beside this one has other addresses.
    return f"127.{random.randrange(2, 250)}.0.1"


@contextlib.contextmanager
def api_server(folder: Path) -> Iterator[Any]:
    """Give an API server with a namespace `default`, nothing in it, and no controllers."""
    wanted = programs()
    if wanted is None:
        server = ApiServer(_host() if sys.platform == "linux" else "127.0.0.1", folder)
        server.store.create("namespaces", "", {"metadata": {"name": "default"}})
        try:
            yield server
        finally:
            server.close()
        return
    if not _real:
        pytest.skip(
            f"{VARIABLE} is {wanted}, where etcd and kube-apiserver are not: build them with "
            "tests/kube/build-apiserver.sh"
        )
    _real[0].store.clear()
    yield _real[0]


@dataclass
class LocalKubernetes:
    """A server and what works on it."""

    server: Any
    kubelet: Kubelet

    @property
    def store(self) -> Any:
        return self.server.store

    def client(self, token: str = ADMIN) -> Any:
        """Return the official client."""
        return self.server.client(token)

    def user(self, name: str, *rules: tuple[str, str, str]) -> Any:
        """Return the client of a user with rights: a group, resources and verbs, with commas."""
        found = (
            {
                "apiGroups": [group],
                "resources": resources.split(","),
                "verbs": verbs.split(","),
            }
            for group, resources, verbs in rules
        )
        return self.server.user(name, *found)


@contextlib.contextmanager
def local_kubernetes(folder: Path, *controllers: Any) -> Iterator[LocalKubernetes]:
    """Start controllers and a node beside a server; end them with all processes."""
    if sys.platform != "linux":
        pytest.skip("the addresses of pods are Linux's loopback network")
    with api_server(folder) as server:
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
