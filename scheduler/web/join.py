"""Signs the certificates of workers and clients that show the token of the web port."""

from __future__ import annotations

import json
from typing import Any, Final

from .rest import Api, ApiError, Routes

#: The roles that a process may join in. A supervisor's certificate is never signed here.
_ROLES: Final = ("worker", "client", "web")


async def authority(call: Api) -> str:
    """Return the authority's certificate, which is no secret."""
    if call.server.authority is None:
        raise ApiError(404, "this cluster has no authority of its own; see --secure")
    certificate: bytes = call.server.authority.certificate
    return certificate.decode()


async def join(call: Api) -> dict[str, Any]:
    """Sign a request: a JSON object with a ``role`` and a ``request``."""
    if call.server.authority is None:
        raise ApiError(404, "this cluster has no authority of its own; see --secure")
    try:
        body = json.loads(call.request.body)
        role, request = body["role"], body["request"].encode()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ApiError(400, "give a JSON object with a role and a request") from None
    if role not in _ROLES:
        raise ApiError(403, f"invalid role; choose from {', '.join(_ROLES)}")
    try:
        certificate: bytes = call.server.authority.sign(role, request)
    except ValueError:
        raise ApiError(400, "invalid request for a certificate") from None
    return {"certificate": certificate.decode()}


ROUTES: Routes = {r"/ca\.pem": {"GET": authority}, r"/api/join": {"POST": join}}
