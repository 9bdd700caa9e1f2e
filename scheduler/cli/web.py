"""``mars-web``: a web service in front of supervisors, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..standing import identify
from ..web.relay import Relay
from ..web.tls import server_context
from . import discovery, reach
from .serve import CLEAN, serve
from .settings import Settings, read
from .sizes import ConfigError, parse_ports


class WebService:
    """A relay to whichever supervisor is active."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        given = settings.given
        settings.tell_spare_ports(1)
        self.port = parse_ports(given.ui_port)[0] if given.ui_port else settings.port
        self.relay = Relay(
            self.find,
            settings.security.get_connection_args("client"),
            server_context(settings.security, settings.token),
            settings.token,
        )

    async def find(self) -> tuple[str, dict[str, Any]]:
        """Return the active supervisor."""
        security = self.settings.security
        address = await reach.active_supervisor(self._endpoints(), security, patience=10)
        return address, await identify(address, security.get_connection_args("worker"))

    def _endpoints(self) -> list[str]:
        endpoints = self.settings.supervisors or discovery.on_this_host()
        if not endpoints:
            raise ConfigError("no supervisor is known: name it with -s IP:PORT")
        return endpoints

    async def start(self) -> None:
        """Wait for a supervisor, then listen."""
        await reach.active_supervisor(self._endpoints(), self.settings.security)
        self.relay.listen(self.settings.host, self.port)
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
