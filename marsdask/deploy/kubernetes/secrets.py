"""Secrets of one cluster: an authority that signs one certificate, and the token of its web port.

All pods share the certificate: whoever may speak the protocol of the cluster may run code in it, so
its processes are one domain of trust. The authority's key is forgotten once it has signed.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import secrets
from typing import Any, Final

#: How long a certificate is valid: as long as any cluster lives.
_DAYS: Final = 1825

#: Bits of what a key may be used for: to sign certificates, and lists of revoked ones.
_SIGNS: Final = (5, 6)

#: The names of the files.
AUTHORITY, CERTIFICATE, KEY = "ca.crt", "tls.crt", "tls.key"


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


def token_of(wanted: bool | str) -> str | None:
    """Return the token of a cluster: the one that is wanted, a new one, or none."""
    return wanted if isinstance(wanted, str) else new_token() if wanted else None


def new_certificates(name: str, hosts: list[str]) -> dict[str, bytes]:
    """Return the files of a certificate for some hosts, and of its authority."""
    x509, hashes, serialization, ec = _cryptography()
    signer, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer, subject = (
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common[:64])])
        for common in (f"{name} authority", name)
    )
    pem = serialization.Encoding.PEM
    begin = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)

    def signed(owner: Any, key: Any, *extensions: Any) -> bytes:
        builder = x509.CertificateBuilder(issuer, owner, key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(begin)
        builder = builder.not_valid_after(begin + dt.timedelta(days=_DAYS))
        for extension in extensions:
            # Authorities need it, for strict verification.
            critical = isinstance(extension, x509.BasicConstraints | x509.KeyUsage)
            builder = builder.add_extension(extension, critical=critical)
        content: bytes = builder.sign(signer, hashes.SHA256()).public_bytes(pem)
        return content

    public = signer.public_key()
    authority = signed(
        issuer,
        signer,
        x509.BasicConstraints(ca=True, path_length=0),
        x509.KeyUsage(*(bit in _SIGNS for bit in range(9))),
        x509.SubjectKeyIdentifier.from_public_key(public),
    )
    certificate = signed(
        subject,
        key,
        x509.BasicConstraints(ca=False, path_length=None),
        x509.SubjectAlternativeName([_name_of(x509, host) for host in hosts]),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(public),
    )
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return {AUTHORITY: authority, CERTIFICATE: certificate, KEY: key.private_bytes(pem, *private)}


def _cryptography() -> tuple[Any, Any, Any, Any]:
    """Import what only whoever makes certificates needs."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return x509, hashes, serialization, ec


def _name_of(x509: Any, host: str) -> Any:
    """Return a host as certificates have it: a name or an address."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
