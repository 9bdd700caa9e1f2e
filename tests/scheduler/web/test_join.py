"""Who gets a certificate at the web port, and for which role."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from cryptography import x509
from tornado import web

from marsdask.scheduler.cluster.authority import Authority, new_request
from marsdask.scheduler.web import rest
from marsdask.scheduler.web.join import ROUTES
from tests.scheduler.web.test_authentication import SHOWN, visits


def asked(authority, *asked, **options):
    """Return the answers of a web port with an authority, or ``None``."""
    application = web.Application()
    rest.serve(application, SimpleNamespace(authority=authority), ROUTES)
    return asyncio.run(visits(*asked, application=application, **options))


def post(**content):
    return "/api/join", {"method": "POST", "body": json.dumps(content)}


def test_who_shows_the_token_gets_a_certificate():
    """For its own key and a role other than the supervisor's; the authority's is for everybody."""
    authority = Authority.new()
    request = new_request()[0].decode()
    shown = {"headers": {"Authorization": f"Bearer {SHOWN}"}}
    path, options = post(role="worker", request=request)
    ca, nobody, right = asked(authority, ("/ca.pem", {}), (path, options), (path, options | shown))
    assert ca[0] == 200
    assert ca[2].encode() == authority.certificate
    assert nobody[0] == 401
    signed = x509.load_pem_x509_certificate(json.loads(right[2])["certificate"].encode())
    signed.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate))
    assert signed.subject.rfc4514_string() == "OU=marsdask worker,CN=marsdask"
    assert signed.public_key() == x509.load_pem_x509_csr(request.encode()).public_key()


@pytest.mark.parametrize("role", ["scheduler", "", 3, None, ["worker"]])
def test_no_certificate_of_a_supervisor(role):
    """Nobody gets one by a request, whatever the token."""
    path, options = post(role=role, request=new_request()[0].decode())
    assert asked(Authority.new(), (path, options), token=None)[0][0] == 403


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", "null", '{"role": "worker", "request": 3}', "[" * 100_000]
)
def test_what_is_no_request(body):
    """It is refused, and nothing breaks."""
    wrong = {"method": "POST", "body": body}
    broken = post(role="worker", request="-----BEGIN")
    found = asked(Authority.new(), ("/api/join", wrong), broken, token=None)
    assert [code for code, _, _ in found] == [400, 400]


def test_without_an_authority():
    """There is nothing to join."""
    found = asked(None, ("/ca.pem", {}), post(), token=None)
    assert [code for code, _, _ in found] == [404, 404]
