"""``mars-web``: a web service in front of supervisors, in its own process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ..cluster.leader import identify, with_scheme
from ..errors import NoSupervisor
from ..web.relay import Relay
from ..web.tls import server_context
from . import discovery, find_supervisor
from .readiness import ReadinessServer
from .serve import CLEAN, report, serve
from .settings import Settings, read
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: The role of distributed whose certificate it shows to supervisors.
_ROLE = "client"


#: Whoever reaches the port would be a client with the certificate of this process.
_OPEN: Final = (
    "the supervisors admit only those with a certificate, and this port would admit everybody: "
    "give the token of the cluster with --web-token-file, or a certificate for this port with "
    "--tls-ca-file, --tls-cert and --tls-key"
)


class WebService:
    """A relay to the active supervisor."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._known: list[str] = []
        settings.tell_spare_ports(1)
        self.relay = self._relay()
        self._readiness = ReadinessServer.start(self, settings.host)

    def _relay(self) -> Relay:
        security, token = self.settings.security, self.settings.token
        encrypted = server_context(security, token)
        arguments = security.get_connection_args(_ROLE)
        if arguments.get("ssl_context") and token is None and encrypted is None:
            raise ConfigError(_OPEN)
        return Relay(self.find, arguments, encrypted, token)

    async def find(self) -> tuple[str, dict[str, Any]]:
        """Return the active supervisor."""
        security = self.settings.security
        try:
            address = await self._look(10)
        except ConfigError as error:  # the supervisor of this host has ended
            raise NoSupervisor(str(error)) from None
        return address, await identify(address, security.get_connection_args(_ROLE))

    async def _look(self, patience: float | None = None) -> str:
        """Return the active supervisor of the given ones, or of this host.

        A supervisor that was found on this host is kept until it ends, even if another one starts.
        """
        settings = self.settings
        if self._known:
            with contextlib.suppress(NoSupervisor):
                return await find_supervisor.active_supervisor(
                    self._known, settings.security, 0, _ROLE
                )
            here = [
                with_scheme(endpoint, settings.security) for endpoint in discovery.on_this_host()
            ]
            if self._known[0] in here:
                raise NoSupervisor(f"{self._known[0]} does not answer")
        endpoints = await find_supervisor.endpoints(settings.supervisors, settings.security, _ROLE)
        address = await find_supervisor.active_supervisor(
            endpoints, settings.security, patience, _ROLE
        )
        if not settings.supervisors:
            self._known = [address]
        return address

    async def start(self) -> None:
        """Wait for a supervisor, then listen."""
        if self.settings.join is not None:
            supervisors, token = self.settings.supervisors, self.settings.join
            security = await find_supervisor.certified(supervisors, token, "web")
            self.settings = replace(self.settings, security=security, join=None)
            self.relay = self._relay()
        settings = self.settings
        address = await self._look()
        if not settings.supervisors:
            logger.info("showing the supervisor at %s, which runs on this host", address)
        try:
            self.relay.listen(settings.host, settings.port)
        except OSError as error:
            where = f"{settings.host}:{settings.port}"
            raise ConfigError(
                f"cannot listen at {where} ({error}); choose another with -H, -p or -e"
            ) from error
        report(f"Mars Web started at {self.settings.host}:{self.relay.port}")

    @property
    def ready(self) -> bool:
        """Whether the web service listens."""
        return self.relay.port != 0

    async def retire(self) -> None:
        """Do nothing: sessions connect again."""

    async def finished(self) -> int:
        """Run until the process ends."""
        await asyncio.Event().wait()
        return CLEAN

    async def stop(self, signum: int) -> int:
        """Close all connections."""
        await self.relay.close()
        self._readiness.close()
        return CLEAN


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run a web service."""
    name = prog or os.path.basename(sys.argv[0])
    settings = read("web", name, argv)
    return serve(name, lambda: WebService(settings))


if __name__ == "__main__":
    sys.exit(main(prog="mars-web"))
