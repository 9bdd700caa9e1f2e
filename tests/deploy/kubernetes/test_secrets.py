"""Certificates and tokens of one cluster."""

import socket
import ssl
import threading

import pytest

from marsdask.deploy.kubernetes.secrets import new_certificates, new_token


def context_of(files, folder, purpose):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    context = ssl.create_default_context(purpose, cafile=str(folder / "ca.crt"))
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def handshake(server, client, host):
    """Shake hands in memory."""
    one, two = socket.socketpair()

    def answer():
        try:
            server.wrap_socket(one, server_side=True).close()
        except OSError:
            one.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        client.wrap_socket(two, server_hostname=host).close()
    finally:
        two.close()
        thread.join()


def test_a_certificate_is_for_its_hosts(tmp_path):
    """Names, names of pods, and addresses are verified by the authority, and by no other."""
    files = new_certificates("mars", ["localhost", "*.mars-pods.n.svc", "127.0.0.1"])
    server = context_of(files, tmp_path, ssl.Purpose.CLIENT_AUTH)
    client = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    client.verify_flags |= getattr(ssl, "VERIFY_X509_STRICT", 0)
    for host in ("localhost", "mars-supervisor-0.mars-pods.n.svc", "127.0.0.1"):
        handshake(server, client, host)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, client, "elsewhere")
    other = ssl.create_default_context(cadata=new_certificates("mars", [])["ca.crt"].decode())
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, other, "localhost")


def test_tokens_differ():
    """Each is long, and printable."""
    one, two = new_token(), new_token()
    assert one != two
    assert len(one) >= 40
    assert one.isascii()
