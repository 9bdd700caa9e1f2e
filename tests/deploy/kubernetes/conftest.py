"""A Kubernetes for the tests of a module: the tests' own API server, or a real one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3

from marsdask.deploy.kubernetes.client import KubernetesApi
from tests.kube.pod_logs import pytest_runtest_makereport  # noqa: F401 - a hook
from tests.kube.servers import api_server, local_kubernetes, session_server


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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server without any controller, with a namespace ``n``."""
    with api_server(tmp_path_factory.mktemp("server")) as running:
        running.store.create("namespaces", "", {"metadata": {"name": "n"}})
        yield running


@pytest.fixture
def scripted():
    """Give requests to a server whose answers are a test's, one after another.

    An answer is a status and its content. Without a status the connection breaks after the content.
    """
    answers: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        """Gives the next answer."""

        protocol_version = "HTTP/1.1"

        def do_GET(self):
            status, content = answers.pop(0)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status or 200)
            if status is None:
                self.send_header("Transfer-Encoding", "chunked")
                data = b"%x\r\n%s\r\n9\r\n" % (len(data), data)
            else:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = True

        def log_message(self, *args):
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    pool = urllib3.PoolManager()
    client: Any = SimpleNamespace(
        configuration=SimpleNamespace(host=url, auth_settings=dict),
        rest_client=SimpleNamespace(pool_manager=pool),
        default_headers={},
    )
    yield SimpleNamespace(api=KubernetesApi(client), answers=answers)
    server.shutdown()
    thread.join()
    server.server_close()
    pool.clear()
