"""The client of a web port: its token, and the error without one."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
import urllib.request
from typing import Any

from distributed.security import Security

from ..cluster.connections.roles import WEB, WrongRole, expecting
from ..cluster.join import pinned_authority
from ..errors import InvalidAddress
from .authentication import Token

#: Timeout for the answer of a web service, in seconds.
_PATIENCE = 10.0


def web_security(address: str, token: Token | None, ca_file: str | None = None) -> Security:
    """Return how to connect to a web service; raise PermissionError without the right token.

    ``ca_file`` is the certificate of an authority that signs for one cluster only. A token of
    ``mars-supervisor --secure`` contains the digest of such a certificate, which is fetched.

    distributed would retry a websocket that is refused.
    """
    options: dict[str, Any] = {}
    certificate: str | None = None
    if token is not None and (join_token := token.join) is not None:
        _check_encrypted(address)
        token = Token(join_token.secret)
        certificate = pinned_authority(address.rstrip("/"), join_token.fingerprint)
    if token is not None:
        options["extra_conn_args"] = {"headers": {"Authorization": token.header}}
    security: Security = Security(**options)
    arguments: dict[str, Any] = security.get_connection_args("client")
    context: ssl.SSLContext | None = arguments["ssl_context"]
    if context is None and address.startswith("https://") and token is not None:
        # The service is verified by the certificates that this host trusts.
        context = ssl.create_default_context(cafile=ca_file, cadata=certificate)
        # The addresses of a cluster's own certificate are not known when it is made.
        context.check_hostname = ca_file is None and certificate is None
        arguments["extra_conn_args"]["ssl_options"] = context
    _ask(address, token, context)
    return security


def _check_encrypted(address: str) -> None:
    """Raise ValueError if a token would travel as plain text that proves the use of TLS."""
    if not address.startswith("https://"):
        raise ValueError(
            f"the token is of a cluster that encrypts its ports, and {address} does not: give "
            "https://"
        )


def _ask(address: str, token: Token | None, context: ssl.SSLContext | None) -> None:
    """Raise the errors that the connection itself would report worse."""
    request = urllib.request.Request(  # noqa: S310 - the caller has checked the scheme
        f"{address.rstrip('/')}/api/cluster/versions",
        headers={} if token is None else {"Authorization": token.header},
    )
    # The websocket does not use a proxy of this host either.
    handlers: list[Any] = [urllib.request.ProxyHandler({})]
    handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    try:
        with expecting(context, WEB, address):
            opener.open(request, timeout=_PATIENCE).close()
    except WrongRole:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 401:
            verb = "requires a token" if token is None else "refuses the token"
            raise PermissionError(
                f"the web service at {address} {verb}: set MARS_WEB_TOKEN or MARS_WEB_TOKEN_FILE, "
                "or pass new_session(..., token=...)"
            ) from None
    except http.client.RemoteDisconnected:
        pass  # a port that uses TLS, perhaps
    except http.client.HTTPException:
        reason = "the port does not speak HTTP. Give the web port, that of mars-supervisor -w"
        raise InvalidAddress(address, reason) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, socket.gaierror):
            reason = f"the name does not resolve ({error.reason.strerror})"
            raise InvalidAddress(address, reason) from None
    except OSError:
        pass  # the connection itself reports the error better
