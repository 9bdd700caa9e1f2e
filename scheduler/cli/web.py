"""``mars-web``: a web service in front of supervisors, in a process of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..errors import NoSupervisor
from ..standing import identify
from ..web.relay import Relay
from ..web.tls import server_context
from . import reach
from .serve import CLEAN, serve
from .settings import Settings, read
from .sizes import ConfigError, parse_ports

logger = logging.getLogger(__name__)

#: Whose certificate it shows to supervisors.
_ROLE = "client"


class WebService:
    """A relay to whichever supervisor is active."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        given = settings.given
        settings.tell_spare_ports(1)
        self.port = parse_ports(given.ui_port)[0] if given.ui_port else settings.port
        self.relay = Relay(
            self.find,
            settings.security.get_connection_args(_ROLE),
            server_context(settings.security, settings.token),
            settings.token,
        )

    async def find(self) -> tuple[str, dict[str, Any]]:
        """Return the active supervisor."""
        security = self.settings.security
        try:
            endpoints = await reach.endpoints(self.settings.supervisors, security, _ROLE)
        except ConfigError as error:  # that of this host has ended
            raise NoSupervisor(str(error)) from None
        address = await reach.active_supervisor(endpoints, security, 10, _ROLE)
        return address, await identify(address, security.get_connection_args(_ROLE))

    async def start(self) -> None:
        """Wait for a supervisor, then listen."""
        settings = self.settings
        endpoints = await reach.endpoints(settings.supervisors, settings.security, _ROLE)
        address = await reach.active_supervisor(endpoints, settings.security, role=_ROLE)
        if not settings.supervisors:
            logger.info("showing the supervisor at %s, which runs on this host", address)
        try:
            self.relay.listen(settings.host, self.port)
        except OSError as error:
            where = f"{settings.host}:{self.port}"
            raise ConfigError(
                f"cannot listen at {where} ({error}); choose another with -H, -p or -e"
            ) from error
        print(f"Mars Web started at {self.settings.host}:{self.relay.port}", flush=True)  # noqa: T201

    async def finished(self) -> int:
        """Run for ever."""
        await asyncio.Event().wait()
        return CLEAN

    async def stop(self, signum: int) -> int:
        """Hang up."""
        await self.relay.close()
        return CLEAN


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run a web service."""
    name = prog or os.path.basename(sys.argv[0])
    settings = read("web", name, argv)
    return serve(name, lambda: WebService(settings))


if __name__ == "__main__":
    sys.exit(main(prog="mars-web"))
