"""Tokens that pin an authority, and what they are made of."""

import http.server
import ssl
import threading
from typing import Any

import pytest

from marsdask.scheduler.cluster.authority import Authority
from marsdask.scheduler.cluster.join import JoinToken, join, pinned_authority

DIGEST = "0123456789abcdef" * 4


def test_a_token_is_its_text(tmp_path):
    """It is read from the text or a file, and does not show its secret."""
    token = JoinToken("se-cret_1", DIGEST, 7005)
    assert JoinToken.parse(str(token)) == JoinToken.read(str(token)) == token
    assert "se-cret" not in repr(token)
    (tmp_path / "token").write_text(f"{token}\n")
    assert JoinToken.read(str(tmp_path / "token")) == token


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        f".{DIGEST}.1",
        f"a.{DIGEST[1:]}.1",
        f"a.{DIGEST}.x",
        f"a.{DIGEST}.70000",
        f"a.{DIGEST}.700",
    ],
)
def test_other_texts(text):
    """A token of the web port alone is none, and neither is one that is cut off."""
    assert JoinToken.parse(text) is None
    with pytest.raises(ValueError, match="--secure"):
        JoinToken.read(text)


class Between(http.server.BaseHTTPRequestHandler):
    """Answers with the authority that everybody may read, and with another one."""

    server: Any

    def do_GET(self):
        """Show both."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.shown)))
        self.end_headers()
        self.wfile.write(self.server.shown)

    def do_POST(self):
        """Keep the token."""
        self.server.seen.append(self.headers["Authorization"])
        self.send_error(500)

    def log_message(self, *args):
        """Say nothing."""


def test_an_authority_that_comes_with_another_one(tmp_path):
    """Who is between two hosts adds their own: it is not trusted, and the token not shown."""
    right, other = Authority.new(), Authority.new()
    (tmp_path / "pem").write_bytes(b"".join(other.issue("scheduler")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "pem")
    server: Any
    with http.server.HTTPServer(("127.0.0.1", 0), Between) as server:
        server.shown, server.seen = right.certificate + other.certificate, []
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            place = f"127.0.0.1:{server.server_port}"
            found = pinned_authority(f"https://{place}", right.fingerprint)
            assert found.encode() == right.certificate
            with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
                join(place, JoinToken("s" * 64, right.fingerprint, server.server_port))
            server.shown = other.certificate + right.certificate
            with pytest.raises(PermissionError, match="not the one of the token"):
                pinned_authority(f"https://{place}", right.fingerprint)
        finally:
            server.shutdown()
            thread.join()
        assert not server.seen
