"""TLS on the web port: its certificates, and those that clients need."""

from __future__ import annotations

import ssl
from typing import Any

import dask.config

from .authentication import Token

_SECTION = "distributed.scheduler.dashboard.tls"


def certificate(security: Any, role: str = "scheduler") -> str | None:
    """Return the file of a certificate, ``None`` for one in memory.

    Clusters of one session have those. A browser could not show one, so their web ports have none.
    """
    path: str | None = getattr(security, f"tls_{role}_cert", None)
    return path if path and "\n" not in path else None


def has_certificate(security: Any) -> bool:
    """Return whether a web port has a certificate."""
    return bool(dask.config.get(f"{_SECTION}.cert") or certificate(security))


def dashboard_tls(security: Any, role: str = "scheduler") -> dict[str, Any]:
    """Return the configuration of the web port: its own, else the certificates of a ``role``."""
    cert = certificate(security, role)
    if dask.config.get(f"{_SECTION}.cert") or not cert:
        return {}
    return {
        f"{_SECTION}.ca-file": security.tls_ca_file,
        f"{_SECTION}.cert": cert,
        f"{_SECTION}.key": getattr(security, f"tls_{role}_key"),
    }


def verify_clients(
    context: ssl.SSLContext | None, token: Token | None, security: Any
) -> ssl.SSLContext | None:
    """Return the TLS context of the web port; without a token clients need a certificate.

    Anyone who can use the port can run code, as on the other ports, where TLS is mutual.
    """
    if context is not None and security.tls_ca_file:
        context.minimum_version = security.tls_min_version
        if token is None:
            context.load_verify_locations(security.tls_ca_file)
            context.verify_mode = ssl.CERT_REQUIRED
    return context


def joined_context(security: Any, role: str, token: Token | None) -> ssl.SSLContext | None:
    """Return the TLS context of a web port with a certificate in memory, ``None`` without one.

    It is of a process that has joined, whose authority programs know by the token.
    """
    context: ssl.SSLContext | None = security.get_listen_args(role).get("ssl_context")
    if context is not None:
        context.verify_mode = ssl.CERT_REQUIRED if token is None else ssl.CERT_NONE
    return context


def server_context(security: Any, token: Token | None) -> ssl.SSLContext | None:
    """Return the TLS context of a separate web port, ``None`` without certificates."""
    certificates = dashboard_tls(security)
    config = {name: dask.config.get(f"{_SECTION}.{name}") for name in ("ca-file", "cert", "key")}
    for name, value in certificates.items():
        config[name.rpartition(".")[2]] = value
    if not config["cert"]:
        return joined_context(security, "scheduler", token)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=config["ca-file"])
    context.load_cert_chain(config["cert"], config["key"])
    return verify_clients(context, token, security)
