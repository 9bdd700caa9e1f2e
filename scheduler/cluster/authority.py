"""A certificate authority of one cluster: it signs certificates that name the role of a process.

Certificates of other authorities name no role, and may be used in any.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any, Final

from distributed.security import Security

#: The roles of distributed, and that of ``mars-web``, which serves sessions but no workers.
_DISTRIBUTED: Final = ("scheduler", "worker", "client")
ROLES: Final = (*_DISTRIBUTED, "web")

#: The beginning of the organizational unit that names a role.
UNIT: Final = "marsdask "

#: How long certificates are valid: those of processes, and the longer one of an authority.
_VALID: Final = dt.timedelta(days=1825)
_AUTHORITY_VALID: Final = 2 * _VALID

#: Bits of what a key may be used for: to sign certificates, and lists of revoked ones; or for TLS.
_SIGNS: Final = (5, 6)
_TLS: Final = (0,)

#: The minimum size of keys that are signed.
_LEAST_BITS: Final = 256


class Authority:
    """A key that signs, and its certificate; both in PEM."""

    def __init__(self, certificate: bytes, key: bytes) -> None:
        x509, _, serialization, _ = _cryptography()
        self.certificate = certificate
        self.key = key
        self._signer = serialization.load_pem_private_key(key, None)
        own = x509.load_pem_x509_certificate(certificate)
        if own.public_key() != self._signer.public_key():
            raise ValueError("the certificate of the authority is of another key")
        self._name = own.subject
        self.end: dt.datetime = own.not_valid_after_utc

    @classmethod
    def new(cls) -> Authority:
        """Make a new one."""
        x509, _, _, ec = _cryptography()
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "marsdask authority")])
        limits = x509.BasicConstraints(ca=True, path_length=0)
        usage = x509.KeyUsage(*(bit in _SIGNS for bit in range(9)))
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        end = _now() + _AUTHORITY_VALID
        certificate = _signed(name, name, key.public_key(), key, end, (limits, usage, own))
        return cls(certificate, _private(key))

    @property
    def fingerprint(self) -> str:
        """The SHA-256 digest of the certificate."""
        return fingerprint(self.certificate)

    def issue(self, role: str) -> tuple[bytes, bytes]:
        """Return a new certificate for a role, and its key."""
        _, _, _, ec = _cryptography()
        key = ec.generate_private_key(ec.SECP256R1())
        return self._issue(role, key.public_key()), _private(key)

    def sign(self, role: str, request: bytes) -> bytes:
        """Return a certificate for a role and the key of a request, whatever else that asks for.

        Raises ``ValueError`` for what is no request, and for a key that could be found out.
        """
        x509, _, _, ec = _cryptography()
        csr = x509.load_pem_x509_csr(request)
        if not csr.is_signature_valid:
            raise ValueError("the request is not signed by its own key")
        public = csr.public_key()
        if not isinstance(public, ec.EllipticCurvePublicKey) or public.key_size < _LEAST_BITS:
            raise ValueError(f"give an elliptic-curve key of at least {_LEAST_BITS} bits")
        return self._issue(role, public)

    def _issue(self, role: str, public: Any) -> bytes:
        x509, _, _, _ = _cryptography()
        if role not in ROLES:
            raise ValueError(f"invalid role: {role!r}; choose from {', '.join(ROLES)}")
        names = x509.NameOID
        subject = x509.Name(
            [
                x509.NameAttribute(names.COMMON_NAME, "marsdask"),
                x509.NameAttribute(names.ORGANIZATIONAL_UNIT_NAME, f"{UNIT}{role}"),
            ]
        )
        limits = x509.BasicConstraints(ca=False, path_length=None)
        # The addresses of processes are not known here: distributed does not compare them.
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._signer.public_key())
        end = min(_now() + _VALID, self.end)
        usage = x509.KeyUsage(*(bit in _TLS for bit in range(9)))
        # Workers are servers and clients, and supervisors too.
        ends = x509.ExtendedKeyUsageOID
        purpose = x509.ExtendedKeyUsage([ends.SERVER_AUTH, ends.CLIENT_AUTH])
        extensions = (limits, signer, usage, purpose)
        return _signed(self._name, subject, public, self._signer, end, extensions)

    def security(self) -> Security:
        """Return new certificates for all roles, in memory."""
        options: dict[str, Any] = {}
        for role in _DISTRIBUTED:
            certificate, key = self.issue(role)
            options[f"tls_{role}_cert"] = certificate.decode()
            options[f"tls_{role}_key"] = key.decode()
        return Security(require_encryption=True, tls_ca_file=self.certificate.decode(), **options)


def new_request() -> tuple[bytes, bytes]:
    """Return a request for a certificate, and its key."""
    x509, hashes, serialization, ec = _cryptography()
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateSigningRequestBuilder(x509.Name([]))
    signed = builder.sign(key, hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM), _private(key)


def fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 digest of a certificate in PEM."""
    x509, _, serialization, _ = _cryptography()
    x509_certificate = x509.load_pem_x509_certificate(certificate)
    return hashlib.sha256(x509_certificate.public_bytes(serialization.Encoding.DER)).hexdigest()


def first_certificate(text: bytes) -> bytes:
    """Return the certificate that :func:`fingerprint` sees, and nothing else that is in a text."""
    x509, _, serialization, _ = _cryptography()
    content: bytes = x509.load_pem_x509_certificate(text).public_bytes(serialization.Encoding.PEM)
    return content


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _signed(
    issuer: Any, subject: Any, public: Any, signer: Any, end: dt.datetime, extensions: Any
) -> bytes:
    x509, hashes, serialization, _ = _cryptography()
    begin = _now() - dt.timedelta(hours=1)
    builder = x509.CertificateBuilder(issuer, subject, public)
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(begin)
    builder = builder.not_valid_after(end)
    for extension in extensions:
        critical = isinstance(extension, x509.BasicConstraints | x509.KeyUsage)
        builder = builder.add_extension(extension, critical=critical)
    content: bytes = builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return content


def _private(key: Any) -> bytes:
    _, _, serialization, _ = _cryptography()
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    content: bytes = key.private_bytes(serialization.Encoding.PEM, *form)
    return content


def _cryptography() -> tuple[Any, Any, Any, Any]:
    """Import what only clusters with certificates of their own need."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return x509, hashes, serialization, ec
