"""The ingress of a node: HTTP by host and path, with the prefix taken off as nginx does."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from typing import Any

from tests.deploy.kubernetes.store import Object

_REWRITE = "nginx.ingress.kubernetes.io/rewrite-target"


class NodeIngress:
    """Listens at this host, for the hosts of all Ingress objects.

    A port is not part of a rule's host: Kubernetes refuses it, and addresses.
    """

    def __init__(self, server: Any) -> None:
        self.store = server.store
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"localhost:{self._listener.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._start(self._accept)

    def _start(self, target: Any, *args: Any) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.add(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, LookupError), client:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (part := client.recv(65536)):
                    return
                head += part
            head, _, rest = head.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, protocol = first.split(" ")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            found = self._backend(headers["host"], target)
            if found is None:
                client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return
            address, target = found
            if "upgrade" not in headers:  # one request a connection: only its head is rewritten
                lines = [one for one in lines if not one.lower().startswith("connection:")]
                lines.append("Connection: close")
            head = "\r\n".join([f"{method} {target} {protocol}", *lines]).encode("latin-1")
            try:
                pod = socket.create_connection(address, 5)
            except OSError:
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            self._relay(client, pod, head + b"\r\n\r\n" + rest)

    def _relay(self, client: socket.socket, pod: socket.socket, head: bytes) -> None:
        with pod:
            pod.settimeout(None)
            self._open.add(pod)
            pod.sendall(head)
            self._start(_pump, client, pod)
            _pump(pod, client)
            self._open -= {client, pod}

    def _backend(self, host: str, target: str) -> tuple[tuple[str, int], str] | None:
        """Return the address of the pod, and the path that it sees."""
        path, mark, query = target.partition("?")
        for ingress in self.store.list("ingresses"):
            for rule in ingress["spec"]["rules"]:
                if rule["host"] != host.partition(":")[0]:
                    continue
                for one in rule["http"]["paths"]:
                    if (match := re.fullmatch(one["path"], path)) is not None:
                        rest = match[1] if match.groups() else ""
                        rewritten = ingress["metadata"]["annotations"][_REWRITE]
                        seen = rewritten.replace("$1", rest) + mark + query
                        return self._address(ingress, one["backend"]["service"]), seen
        return None

    def _address(self, ingress: Object, service: Object) -> tuple[str, int]:
        space = ingress["metadata"]["namespace"]
        found = self.store.get("services", space, service["name"])
        selector = ",".join("=".join(one) for one in found["spec"]["selector"].items())
        for pod in self.store.list("pods", space, selector):
            return pod["status"]["podIP"], service["port"]["number"]
        raise LookupError(service["name"])

    def close(self) -> None:
        for one in (self._listener, *list(self._open)):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
