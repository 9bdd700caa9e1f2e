"""Find the supervisor that is active among those that were named."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from distributed.comm import normalize_address
from distributed.core import rpc
from distributed.security import Security

from ..errors import NoSupervisor

logger = logging.getLogger(__name__)

#: Seconds between two rounds at first, and at most.
_PAUSES = 0.1, 2.0

#: Seconds that one supervisor has to answer.
_PATIENCE = 5.0


def scheme(security: Any) -> str:
    """Return the protocol of addresses that do not state it."""
    return "tls" if security.tls_ca_file else "tcp"


def with_scheme(endpoint: str, security: Security) -> str:
    """Return an address: ``host:port`` is TLS where that is configured, TCP otherwise."""
    if "://" in endpoint:
        return endpoint
    return f"{scheme(security)}://{endpoint}"


async def identify(address: str, security: Security) -> dict[str, Any]:
    """Return what the scheduler at ``address`` says of itself."""
    arguments = security.get_connection_args("worker")
    async with rpc(normalize_address(address), connection_args=arguments) as peer:
        found: dict[str, Any] = await asyncio.wait_for(peer.identity(), _PATIENCE)
    return found


def is_active(identity: dict[str, Any]) -> bool:
    """Say whether workers belong there; a stock scheduler is always the active one."""
    active: bool = identity.get("marsdask", {}).get("role", "active") == "active"
    return active


async def active_supervisor(
    endpoints: Sequence[str], security: Security, patience: float | None = None
) -> str:
    """Return the address of the first that is reachable and active, waiting until one is."""
    deadline = None if patience is None else time.monotonic() + patience
    pause, silent = _PAUSES[0], True
    while True:
        for endpoint in endpoints:
            address = with_scheme(endpoint, security)
            try:
                if is_active(await identify(address, security)):
                    return address
            except (TimeoutError, OSError):
                continue
        if deadline is not None and time.monotonic() >= deadline:
            raise NoSupervisor(f"no active supervisor at {', '.join(endpoints)}")
        if silent and pause > 1:
            logger.warning("waiting for a supervisor at %s", ", ".join(endpoints))
            silent = False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _PAUSES[1])
