"""The port that Kubernetes probes: whether the workers of this process are ready.

``MARS_K8S_READINESS_PORT`` is Mars's variable for it; without it there is no such port.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import Any, Final, Protocol

from tornado import httpserver, web

from ..web.websocket import limit
from .sizes import ConfigError, parse_ports

VARIABLE: Final = "MARS_K8S_READINESS_PORT"


class Probed(Protocol):
    """The service that is probed."""

    @property
    def ready(self) -> bool:
        """Whether the service works."""
        ...

    async def retire(self) -> None:
        """Prepare for the end of the process."""
        ...


class ReadinessServer:
    """Serves ``/live``, ``/health`` and, for this host only, ``/retire``."""

    def __init__(self, probed: Probed) -> None:
        settings: dict[str, Any] = {"probed": probed}
        rules: list[Any] = [
            (r"/live", _Live),
            (r"/health", _Health, settings),
            (r"/retire", _Retire, settings),
        ]
        self._server = httpserver.HTTPServer(web.Application(rules))
        limit(self._server)

    @classmethod
    def start(
        cls, probed: Probed, host: str, environ: Mapping[str, str] = os.environ
    ) -> ReadinessServer:
        """Listen on the port that the environment names, if it does."""
        server = cls(probed)
        if text := environ.get(VARIABLE):
            try:
                server.listen(host, parse_ports(text)[0])
            except OSError as error:
                raise ConfigError(f"cannot listen on {VARIABLE}={text} ({error})") from None
        return server

    def listen(self, host: str, port: int) -> None:
        """Listen on an address; on all of both kinds instead of all of IPv6.

        Probes within a pod ask 127.0.0.1 unless they know better.
        """
        self._server.listen(port, address="" if host == "[::]" else host.strip("[]"))

    def close(self) -> None:
        """Stop to listen."""
        self._server.stop()


class _Live(web.RequestHandler):
    """Answers while the event loop runs."""

    def get(self) -> None:
        """Answer."""
        self.finish("ok")


class _Health(web.RequestHandler):
    """Tells whether the service is ready."""

    def initialize(self, probed: Probed) -> None:
        self._probed = probed

    def get(self) -> None:
        """Answer 200, or 503."""
        if not self._probed.ready:
            self.set_status(503)
        self.finish("ok" if self._probed.ready else "starting")


class _Retire(web.RequestHandler):
    """Lets the service prepare for its end; answers once it has."""

    def initialize(self, probed: Probed) -> None:
        self._probed = probed

    async def post(self) -> None:
        """Retire the service for processes of this host, such as a preStop hook."""
        if not ipaddress.ip_address(self.request.remote_ip or "0.0.0.0").is_loopback:  # noqa: S104
            raise web.HTTPError(403)
        await self._probed.retire()
        await self.finish("ok")
