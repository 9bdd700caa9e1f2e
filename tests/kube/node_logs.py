"""The port of a node where the API server asks for the logs and the ports of containers."""

from __future__ import annotations

import ssl
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from marsdask.deploy.kubernetes.secrets import CERTIFICATE, KEY
from tests.deploy.kubernetes.apiserver import HttpServer
from tests.deploy.kubernetes.port_forwards import forward
from tests.deploy.kubernetes.store import Denied


class NodeLogs:
    """Answers for the pods of ``server.log``."""

    def __init__(self, server: Any) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(server.folder / CERTIFICATE, server.folder / KEY)
        handler = type("Handler", (_LogHandler,), {"server_of": server})
        self._http = HttpServer((server.host, 0), handler)
        self._http.socket = context.wrap_socket(
            self._http.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _LogHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ClassVar[Any]

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        _, kind, namespace, pod, *_ = parts.path.split("/")
        if kind == "portForward":
            forward(self, self.server_of.address(namespace, pod), int(query["port"]))
            return
        assert kind == "containerLogs", kind
        try:
            status = 200
            text = self.server_of.log(namespace, pod, query.get("previous") == "true")
        except Denied as error:
            status, text = error.status, str(error)
        lines = text.splitlines(keepends=True)[-int(query.get("tailLines", 1000)) :]
        data = "".join(lines).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
