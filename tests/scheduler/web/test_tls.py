"""TLS on the web port: its certificates, and those of clients."""

import ssl

import dask.config
import pytest
from distributed import Security

from marsdask.scheduler.web.authentication import Token
from marsdask.scheduler.web.tls import dashboard_tls, server_context, verify_clients
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.loop import HOST, run
from tests.scheduler.web.pages import Visitor, visited


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Make certificates once."""
    return make(tmp_path_factory.mktemp("certificates"))


def test_without_certificates_there_is_none():
    """Nothing is configured, so nothing is encrypted."""
    assert dashboard_tls(Security()) == {}
    assert server_context(Security(), None) is None
    assert verify_clients(None, None, Security()) is None


@needs_openssl
def test_the_webs_own_certificates_go_first(certificates):
    """Those of ``distributed.scheduler.dashboard.tls`` are meant for browsers."""
    security = certificates.security
    found = dashboard_tls(security)
    assert found["distributed.scheduler.dashboard.tls.cert"] == certificates.certificate
    with dask.config.set({"distributed.scheduler.dashboard.tls.cert": "own.pem"}):
        assert dashboard_tls(security) == {}


@needs_openssl
@pytest.mark.parametrize(
    ("token", "mode"), [(None, ssl.CERT_REQUIRED), (Token("abc"), ssl.CERT_NONE)]
)
def test_who_bears_no_token_shows_a_certificate(certificates, token, mode):
    """One of the two it has to be."""
    context = server_context(certificates.security, token)
    assert context is not None
    assert context.verify_mode is mode


@needs_openssl
def test_certificates_both_ways(certificates):
    """Without a token web ports take those who have a certificate, as all other ports do."""
    shown = {"client_cert": certificates.certificate, "client_key": certificates.key}

    async def check(base, path, answer):
        known = Visitor(base, ca_certs=certificates.authority, **shown)
        stranger = Visitor(base, ca_certs=certificates.authority)
        try:
            assert (await known(path)).body == answer
            with pytest.raises((ssl.SSLError, OSError)):  # hung up, sooner or later
                (await stranger(path)).rethrow()
        finally:
            known.close()
            stranger.close()

    async def main():
        security = certificates.security
        async with visited(workers=({"security": security},), security=security) as (server, _, _):
            await check(f"https://{server.web_address}", "/api/worker?action=count", b"1")
            (worker,) = server.test_workers
            await check(f"https://{HOST}:{worker.http_server.port}", "/health", b"ok")

    run(main)
