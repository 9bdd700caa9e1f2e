"""Connections that Kubernetes forwards to a pod."""

import socket
import threading

import pytest

from marsdask.deploy.kubernetes.client import Forbidden, KubernetesApi
from marsdask.deploy.kubernetes.port_forward import PortForward


@pytest.fixture(scope="module")
def echo(server):
    """Start a pod's service, which answers with what it gets, and return its port."""
    container = {"name": "c", "image": "i"}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [container], "nodeName": "node"}}
    server.store.create("pods", "n", pod)
    server.address = lambda namespace, name: server.host
    listener = socket.create_server((server.host, 0))

    def answer(connection):
        with connection:
            while block := connection.recv(65536):
                connection.sendall(block)

    def run():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def connect(forward):
    host, _, port = forward.address.partition(":")
    return socket.create_connection((host, int(port)), 20)


def received(connection, length):
    """Return so many bytes."""
    found = b""
    while len(found) < length:
        block = connection.recv(65536)
        assert block
        found += block
    return found


def test_bytes_go_both_ways(server, echo):
    """On several connections at once, as many as there are; the end closes them all."""
    forward = PortForward(KubernetesApi(server.client()), "n", echo, lambda: "p")
    text = bytes(range(256)) * 1000
    connections = [connect(forward) for _ in range(3)]
    for size in (1, 125, 126, 70_000, len(text)):
        for one in connections:
            sender = threading.Thread(target=one.sendall, args=(text[:size],))
            sender.start()
            assert received(one, size) == text[:size]
            sender.join()
    connections.pop().close()
    forward.close()
    for one in connections:
        assert one.recv(1) == b""
        one.close()
    with pytest.raises(OSError, match="Bad file"):
        connect(forward)
    forward.close()


@pytest.mark.parametrize(
    ("pod", "user", "words"),
    [
        ("none", None, "not found"),
        ("p", "guest", "get pods/portforward in the namespace n: ask for a Role"),
    ],
)
def test_what_cannot_be_forwarded(server, echo, caplog, pod, user, words):
    """The log tells why; the connection is closed."""
    client = server.client() if user is None else server.user(user)
    api = KubernetesApi(client)
    forward = PortForward(api, "n", echo, lambda: pod)
    try:
        with connect(forward) as one:
            assert one.recv(1) == b""
    finally:
        forward.close()
    assert words in caplog.text


def test_a_port_where_nobody_listens(server, echo, caplog):
    """The pod is there, and refuses."""
    with socket.create_server((server.host, 0)) as taken:
        port = taken.getsockname()[1]
    forward = PortForward(KubernetesApi(server.client()), "n", port, lambda: "p")
    try:
        with connect(forward) as one:
            assert one.recv(1) == b""
    finally:
        forward.close()
    assert "cannot forward a connection: [Errno" in caplog.text


def test_a_right_that_is_lacking(server):
    """Programs get it as an error when they open a connection themselves."""
    api, path = KubernetesApi(server.user("guest")), "/api/v1/namespaces/n/pods/p/portforward"
    with pytest.raises(Forbidden, match="portforward"):
        api.websocket(f"{path}?ports=1", "v4.channel.k8s.io")
