"""Names by which browsers may ask for a web port without a token.

A site can let its own name lead to this host (DNS rebinding). A browser then takes our pages for
the site's, so that its scripts may read them. The ``Host`` header still has the site's name.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import urlsplit

import dask.config
from tornado import httputil, routing, web

#: The variable of the pod's namespace in Kubernetes, where services are ``name.namespace``.
_NAMESPACE: Final = "MARS_K8S_POD_NAMESPACE"

#: Suffixes that nobody can register.
_PRIVATE: Final = (".local", ".localhost", ".internal", ".lan", ".svc", ".home.arpa", ".test")


def is_own_name(host: str, names: Collection[str] = ()) -> bool:
    """Return whether no other site can have the name in a ``Host`` header.

    Addresses and names without dots are nobody's; ``names`` are known, and ``*`` stands for any.
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if "*" in names or name in names or name == socket.gethostname().lower():
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        service, _, space = name.partition(".")
        if space and space == os.environ.get(_NAMESPACE):
            return bool(service)
        return bool(name) and ("." not in name or name.endswith(_PRIVATE))
    return True


class _OtherName(routing.Matcher):
    """Matches requests for a name of somebody else, but not websockets.

    Those are refused to all pages, and other programs may use any name.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def match(self, request: httputil.HTTPServerRequest) -> dict[str, Any] | None:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        return None if is_own_name(request.headers.get("Host", ""), self._names) else {}


class _NameRefusal(web.RequestHandler):
    """Says which setting allows a name."""

    def prepare(self) -> None:
        """Answer, whatever the method."""
        self.set_status(403)
        message = (
            "the name in the Host header may be another site's: add it to marsdask.web.hosts, or "
            "give the web service a token"
        )
        self.finish({"type": "Forbidden", "message": message, "traceback": None})


def check_hosts(application: Any) -> None:
    """Refuse names that may be another site's, except those of ``marsdask.web.hosts``."""
    names = [str(one).lower() for one in dask.config.get("marsdask.web.hosts", [])]
    application.default_router.rules.insert(0, routing.Rule(_OtherName(names), _NameRefusal))
