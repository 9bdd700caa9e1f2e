"""A port of this host whose connections Kubernetes forwards to a pod."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from .client import KubernetesApi, KubernetesError, path_of

logger: Final = logging.getLogger(__name__)

#: Kubernetes's protocol: the first byte of each message is its channel.
_PROTOCOL: Final = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1

#: Bytes that are read at once.
_BLOCK: Final = 1 << 16


class PortForward:
    """Listens on a free port of this host; each connection goes to the pod that ``choose`` names.

    It needs the right to ``get`` and ``create`` ``pods/portforward``.
    """

    def __init__(
        self, api: KubernetesApi, namespace: str, port: int, choose: Callable[[], str]
    ) -> None:
        self._api, self._namespace, self._port, self._choose = api, namespace, port, choose
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [self._start(self._accept)]

    @property
    def address(self) -> str:
        """The host and the port."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def _start(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, name="port-forward", daemon=True)
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            local, _ = self._listener.accept()
            if self._closed:
                _end(local, self._listener)
                return
            local.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(self._start(self._forward, local))

    def _forward(self, local: socket.socket) -> None:
        try:
            query = urlencode({"ports": self._port})
            pod = path_of("v1", "Pod", self._namespace, self._choose(), "portforward")
            remote = self._api.websocket(f"{pod}?{query}", _PROTOCOL)
        except (KubernetesError, OSError) as error:
            logger.warning("cannot forward a connection: %s", error)
            local.close()
            return
        with self._lock:
            self._open |= {local, remote}
            if self._closed:
                _end(local, remote)
        sending = self._start(_send, local, remote)
        try:
            _receive(local, remote)
        finally:
            _end(local, remote)
            sending.join()
            with self._lock:
                self._open -= {local, remote}

    def close(self) -> None:
        """End all connections, and listen no more."""
        with self._lock:
            was_closed, self._closed = self._closed, True
            _end(*self._open)
        if was_closed:
            return
        with contextlib.suppress(OSError):  # nothing else ends the wait for connections everywhere
            socket.create_connection(self._listener.getsockname()).close()
        for thread in self._threads:
            if thread is not threading.current_thread():  # which may collect the last reference
                thread.join()


def _send(local: socket.socket, remote: Any) -> None:
    """Send what the program writes."""
    with contextlib.suppress(Exception):  # the library has errors of its own for ends
        while block := local.recv(_BLOCK):
            remote.send_binary(bytes([_DATA]) + block)
    _end(remote)


def _receive(local: socket.socket, remote: Any) -> None:
    """Receive what the pod writes; the first message of each channel is the number of the port."""
    channels = set()
    with contextlib.suppress(Exception):
        while message := remote.recv():
            channel, content = message[0], message[1:]
            if channel not in channels:
                channels.add(channel)
            elif channel == _ERROR:
                logger.warning("cannot forward a connection: %s", content.decode(errors="replace"))
                return
            else:
                local.sendall(content)


def _end(*connections: Any) -> None:
    """End connections, also those that another thread waits for."""
    for connection in connections:
        plain: socket.socket | None = (
            connection if isinstance(connection, socket.socket) else connection.sock
        )
        if plain is None:
            continue
        with contextlib.suppress(OSError):
            plain.shutdown(socket.SHUT_RDWR)
        plain.close()
