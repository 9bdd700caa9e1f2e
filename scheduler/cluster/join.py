"""How a process joins a cluster with an authority of its own: by a token that pins the authority.

The token is ``SECRET.FINGERPRINT.PORT``: what the web port at PORT wants to see, and the digest of
the authority's certificate. That certificate comes over a connection that is not verified, and is
compared with the digest. All that follows is verified by it. Keys never leave the process that made
them.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Final

from distributed.security import Security

from .authority import fingerprint, first_certificate, new_request
from .connections.roles import WEB, expecting

#: The path of the authority's certificate, and the one that signs certificates.
AUTHORITY_PATH, JOIN_PATH = "/ca.pem", "/api/join"

#: The variable for the token, or the name of its file.
JOIN_VARIABLE: Final = "MARS_JOIN"

#: The number of digits of the port: a token that was cut at its end has fewer.
_DIGITS: Final = 5

#: Timeout for an answer, in seconds, and maximum number of bytes of it.
_PATIENCE: Final = 10.0
_MOST: Final = 1 << 16


@dataclass(frozen=True)
class JoinToken:
    """A parsed token."""

    secret: str = field(repr=False)
    fingerprint: str
    port: int

    def __str__(self) -> str:
        return f"{self.secret}.{self.fingerprint}.{self.port:0{_DIGITS}}"

    @classmethod
    def parse(cls, text: str) -> JoinToken | None:
        """Return the parts of a token, ``None`` for another one."""
        secret, _, tail = text.partition(".")
        digest, _, port = tail.partition(".")
        hexadecimal = len(digest) == 64 and set(digest) <= set("0123456789abcdef")
        whole = port.isdecimal() and len(port) == _DIGITS and int(port) < 1 << 16
        if not (secret and hexadecimal and whole):
            return None
        return cls(secret, digest, int(port))

    @classmethod
    def read(cls, text: str) -> JoinToken:
        """Return a token that is given, or is in a file of this name."""
        if os.path.isfile(text):
            with open(text, encoding="utf-8") as file:
                text = file.read().strip()
        token = cls.parse(text)
        if token is None:
            raise ValueError(
                "invalid join token: give the one that mars-supervisor --secure prints, or a file "
                "with it"
            )
        return token


def pinned_authority(address: str, digest: str) -> str:
    """Return the authority's certificate of a web port (``https://host:port``).

    Raises ``PermissionError`` if it is not the one with this digest. Others that come with it are
    dropped: whoever is in between could add one.
    """
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    chain = _answer(urllib.request.Request(address + AUTHORITY_PATH), unverified)  # noqa: S310
    try:
        certificate = first_certificate(chain)
    except ValueError:
        certificate = None
    if certificate is None or fingerprint(certificate) != digest:
        raise PermissionError(f"the authority of {address} is not the one of the token")
    return certificate.decode()


def pinned_context(authority: str) -> ssl.SSLContext:
    """Return a context that trusts this authority only, whatever the name of the host is."""
    context = ssl.create_default_context(cadata=authority)
    context.check_hostname = False
    return context


def join(place: str, token: JoinToken, role: str = "worker") -> Security:
    """Return certificates for a role, signed by the authority of a supervisor.

    Raises ``PermissionError`` if the token is not right, and other errors of the system.
    """
    address = f"https://{place}"
    authority = pinned_authority(address, token.fingerprint)
    request, key = new_request()
    question = urllib.request.Request(  # noqa: S310
        address + JOIN_PATH,
        data=json.dumps({"role": role, "request": request.decode()}).encode(),
        headers={"Authorization": f"Bearer {token.secret}", "Content-Type": "application/json"},
    )
    context = pinned_context(authority)
    with expecting(context, WEB, address):
        certificate = json.loads(_answer(question, context))["certificate"]
    options: dict[str, Any] = {}
    for kind in ("scheduler", "worker", "client"):
        options |= {f"tls_{kind}_cert": certificate, f"tls_{kind}_key": key.decode()}
    return Security(require_encryption=True, tls_ca_file=authority, **options)


def _answer(request: urllib.request.Request, context: ssl.SSLContext) -> bytes:
    handlers: list[Any] = [urllib.request.ProxyHandler({})]
    handlers.append(urllib.request.HTTPSHandler(context=context))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=_PATIENCE) as answer:
            content: bytes = answer.read(_MOST)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 401:
                raise PermissionError(f"{request.host} refuses the token") from None
            raise
    return content
