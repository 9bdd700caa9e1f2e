"""Find the active supervisor among the given ones, or on this host, and get certificates there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from distributed.comm import get_address_host, unparse_host_port
from distributed.security import Security

from ..cluster.join import JoinToken, join
from ..cluster.leader import PATIENCE, find_leader, gather_roles, query_role, with_scheme
from ..errors import NoSupervisor
from . import discovery
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: Seconds between two rounds: initial and maximum value.
_PAUSES = 0.1, 2.0


async def endpoints(named: Sequence[str], security: Security, role: str = "worker") -> list[str]:
    """Return the given supervisors, or by default the supervisor of this host.

    With supervisors of several unrelated clusters the choice is an error. ``role`` selects the
    certificate of the connections.
    """
    if named:
        return list(named)
    here = discovery.on_this_host()
    if not here:
        raise ConfigError("found no supervisor on this host: give one with -s IP:PORT")
    if len(here) > 1:
        arguments = security.get_connection_args(role)
        queries = [query_role(with_scheme(supervisor, security), arguments) for supervisor in here]
        active = [
            supervisor
            for supervisor in await gather_roles(queries, PATIENCE)
            if supervisor is not None and supervisor.active
        ]
        if len(active) > 1:
            addresses = ", ".join(supervisor.address for supervisor in active)
            raise ConfigError(
                f"found several supervisors on this host: {addresses}; choose one with -s"
            )
    return here


async def active_supervisor(
    endpoints: Sequence[str],
    security: Security,
    patience: float | None = None,
    role: str = "worker",
    others: Callable[[], Sequence[str]] = tuple,
) -> str:
    """Return the address of the first reachable and active supervisor; wait until there is one.

    Of several active ones, such as stock schedulers, the first one in the list is chosen. While
    none is active, ``others`` is called in each round for new candidates.
    """
    deadline = None if patience is None else time.monotonic() + patience
    arguments = security.get_connection_args(role)
    candidates = _distinct(endpoints, security)
    pause, silent = _PAUSES[0], True
    while True:
        besides = [
            address for address in _distinct(others(), security) if address not in candidates
        ]
        for addresses in (candidates, besides):
            leader = await find_leader(addresses, arguments)
            if leader is not None:
                return leader.address
        if deadline is not None and time.monotonic() >= deadline:
            raise NoSupervisor(f"no active supervisor at {', '.join(endpoints)}")
        if silent and pause > 1:
            plain = any(address.startswith("tcp://") for address in candidates)
            hint = " (one that uses TLS needs --join)" if plain else ""
            logger.warning("waiting for a supervisor at %s", ", ".join(endpoints) + hint)
            silent = False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _PAUSES[1])


def _distinct(endpoints: Sequence[str], security: Security) -> list[str]:
    """Return the addresses in order, without duplicates."""
    return list(dict.fromkeys(with_scheme(endpoint, security) for endpoint in endpoints))


async def certified(
    endpoints: Sequence[str], token: JoinToken, role: str, patience: float | None = None
) -> Security:
    """Return certificates for a role that a supervisor's authority signs; wait for a supervisor."""
    if not endpoints:
        raise ConfigError("--join needs the address of a supervisor: give -s")
    began, pause = time.monotonic(), _PAUSES[0]
    while True:
        for endpoint in endpoints:
            place = endpoint
            try:
                host = get_address_host(with_scheme(endpoint, Security()))
                place = unparse_host_port(host, token.port)
                return await asyncio.to_thread(join, place, token, role)
            except PermissionError as error:
                raise ConfigError(str(error)) from None
            except (OSError, KeyError, ValueError) as error:
                logger.warning("waiting for a certificate from %s: %s", place, error)
        if patience is not None and time.monotonic() - began > patience:
            raise NoSupervisor(f"no supervisor signs a certificate at {', '.join(endpoints)}")
        await asyncio.sleep(pause)
        pause = min(2 * pause, _PAUSES[1])
