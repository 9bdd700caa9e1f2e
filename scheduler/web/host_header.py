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

from .websocket import is_page

#: The variables of a pod in Kubernetes: its namespace, and what services in it are called, which
#: other pods know as ``name.namespace``. With KubeDL each pod has a service of its own.
_NAMESPACE: Final = "MARS_K8S_POD_NAMESPACE"
_SERVICES: Final = ("MARS_K8S_SERVICE_NAME", "MARS_K8S_POD_NAME")

#: What any page may read: "ok", and the number of workers, which KubeDL polls.
_HARMLESS: Final = ("/health", "/api/worker?action=count")

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
        namespace = os.environ.get(_NAMESPACE)
        services = filter(None, map(os.environ.get, _SERVICES))
        if namespace and name in [f"{service}.{namespace}" for service in services]:
            return True
        return bool(name) and ("." not in name or name.endswith(_PRIVATE))
    return True


class _OtherName(routing.Matcher):
    """Matches requests for a name of somebody else, and websockets of their pages.

    Other programs may open websockets by any name.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def match(self, request: httputil.HTTPServerRequest) -> dict[str, Any] | None:
        if request.method in ("GET", "HEAD") and request.uri in _HARMLESS:
            return None
        names = [request.headers.get("Host", "")]
        if request.headers.get("Upgrade", "").lower() == "websocket":
            if not is_page(request.headers):
                return None
            names.append(urlsplit(request.headers.get("Origin", "")).netloc)
        return None if all(is_own_name(name, self._names) for name in names) else {}


class _NameRefusal(web.RequestHandler):
    """Says which setting allows a name."""

    def prepare(self) -> None:
        """Answer, whatever the method."""
        self.set_status(403)
        message = (
            "the name in the Host or Origin header may be another site's: add it to "
            "marsdask.web.hosts, or give the web service a token"
        )
        self.finish({"type": "Forbidden", "message": message, "traceback": None})


def allowed_names() -> list[str]:
    """Return the names of ``marsdask.web.hosts``: a list, or a text with commas.

    Raises ``ValueError`` for patterns.
    """
    setting = dask.config.get("marsdask.web.hosts", None) or []
    entries = setting if isinstance(setting, list | tuple) else str(setting).split(",")
    names = [str(entry).strip().lower() for entry in entries]
    for name in names:
        if "*" in name and name != "*":
            raise ValueError(
                f"invalid marsdask.web.hosts: {name!r}; give whole names, or '*' for any name"
            )
    return names


def check_hosts(application: Any) -> None:
    """Refuse names that may be another site's, except those of ``marsdask.web.hosts``."""
    rule = routing.Rule(_OtherName(allowed_names()), _NameRefusal)
    application.default_router.rules.insert(0, rule)
