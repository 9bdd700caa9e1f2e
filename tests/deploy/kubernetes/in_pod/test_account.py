"""Requests from inside a pod."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from marsdask.deploy.kubernetes.client import Forbidden, KubernetesError
from marsdask.deploy.kubernetes.in_pod.account import PodAccount
from marsdask.deploy.kubernetes.secrets import CERTIFICATE, KEY, new_certificates
from tests.deploy.kubernetes.apiserver import ApiServer


def test_where_it_is():
    """Kubernetes tells it in variables; addresses may be of the new kind."""
    assert PodAccount.in_cluster({}) is None
    found = PodAccount.in_cluster({"KUBERNETES_SERVICE_HOST": "fd00::1"})
    assert found == PodAccount("default", "https://[fd00::1]:443")
    environ = {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "MARS_K8S_POD_NAMESPACE": "n",
        "MARS_K8S_POD_NAME": "p",
    }
    assert PodAccount.in_cluster(environ) == PodAccount("n", "https://10.0.0.1:6443", "p")


def test_its_token_is_read_each_time(tmp_path):
    """It is renewed now and then; a request without rights says which one."""
    server = ApiServer("127.0.0.1", tmp_path)
    try:
        server.store.create("namespaces", "", {"metadata": {"name": "n"}})
        (tmp_path / "ca.crt").write_bytes(Path(server.authority).read_bytes())
        (tmp_path / "token").write_text("old")
        account = PodAccount("n", server.url, "p", str(tmp_path))
        with pytest.raises(Forbidden, match="credentials"):
            account.request("GET", "/api/v1/namespaces/n/pods")
        (tmp_path / "token").write_text("admin\n")
        assert account.request("GET", "/api/v1/namespaces/n/pods")["items"] == []
    finally:
        server.close()


def test_its_token_is_not_sent_elsewhere(tmp_path):
    """A redirect is an error: its target gets no request."""
    seen = []

    class Answers(BaseHTTPRequestHandler):
        """Redirects, and records which tokens arrive."""

        def do_GET(self):
            seen.append((self.path, self.headers["Authorization"]))
            self.send_response(302 if self.path == "/first" else 200)
            self.send_header("Location", f"{url}/second")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *message):
            pass

    for name, content in new_certificates("kubernetes", ["127.0.0.1"]).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "token").write_text("secret")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = f"https://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            with pytest.raises(KubernetesError, match="answers 302"):
                PodAccount("n", url, "p", str(tmp_path)).request("GET", "/first")
        finally:
            server.shutdown()
            serving.join()
    assert seen == [("/first", "Bearer secret")]
