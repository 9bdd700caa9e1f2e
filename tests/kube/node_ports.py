"""Ports of a node: connections to them go to a ready pod of their service."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

from marsdask.deploy.kubernetes.watch import is_ready
from tests.deploy.kubernetes.store import Object


class NodePorts:
    """Listens for each service that has a port of nodes."""

    def __init__(self, server: Any) -> None:
        self.server, self.store = server, server.store
        self._listening: dict[int, socket.socket] = {}
        self._open: set[socket.socket] = set()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            version = self.store.version
            wanted = {
                port["nodePort"]: (service, port)
                for service in self.store.list("services")
                for port in service["spec"].get("ports") or ()
                if "nodePort" in port
            }
            for number in set(self._listening) - set(wanted):
                _close(self._listening.pop(number))
            for number, (service, port) in wanted.items():
                if number not in self._listening:
                    listener = socket.create_server((self.server.host, number))
                    self._listening[number] = listener
                    self._start(self._accept, listener, service, port)
            self.store.wait_beyond(version, 1.0)

    def _start(self, target: Any, *args: Any) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()

    def _accept(self, listener: socket.socket, service: Object, port: Object) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._start(self._connect, client, service, port)

    def _connect(self, client: socket.socket, service: Object, port: Object) -> None:
        try:
            pod = socket.create_connection(self._backend(service, port), 5)
        except (OSError, LookupError):
            _close(client)
            return
        pod.settimeout(None)
        self._open |= {client, pod}
        self._start(self._pump, client, pod)
        self._pump(pod, client)

    def _backend(self, service: Object, port: Object) -> tuple[str, int]:
        selector = ",".join("=".join(one) for one in service["spec"]["selector"].items())
        for pod in self.store.list("pods", service["metadata"]["namespace"], selector):
            if is_ready(pod):
                ports = pod["spec"]["containers"][0]["ports"]
                numbers = {one["name"]: one["containerPort"] for one in ports}
                number: Any = port.get("targetPort", port["port"])
                return pod["status"]["podIP"], int(numbers.get(number, number))
        raise LookupError(service["metadata"]["name"])

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            self._open.discard(one)
            _close(one)

    def close(self) -> None:
        self._stopped.set()
        with self.store.changed:
            self.store.version += 1
            self.store.changed.notify_all()
        self._thread.join()
        for one in (*self._listening.values(), *list(self._open)):
            _close(one)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
