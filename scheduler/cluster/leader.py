"""The role of a supervisor among several, and the choice of the active one.

Every activation has an epoch, higher than all epochs that it could have seen. A worker refuses
epochs lower than the one that it has served, so two supervisors never command the same worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import dask.config
from dask.utils import parse_timedelta
from distributed.comm import get_address_host_port, normalize_address
from distributed.core import rpc
from distributed.security import Security

from .connections import tls_handshake, websocket_messages  # noqa: F401 - imported for their effect
from .connections.roles import WrongRole, supervisors_only

logger: Final = logging.getLogger(__name__)

#: Timeout for the answer of one supervisor, in seconds.
PATIENCE = 5.0

#: Seconds without an answer after which the port is probed; servers log such connections.
_PROMPT = 0.3

#: Protocols of web services, and all that use TCP ports.
_WEB = ("ws://", "wss://")
_TCP = ("tcp://", "tls://", *_WEB)

#: Seconds that the other supervisors get after an active one has answered.
_OTHERS = 0.5


#: Running requests, of which an event loop keeps no references.
_ASKED: set[asyncio.Future[dict[str, Any]]] = set()


@dataclass(frozen=True)
class SupervisorRole:
    """One scheduler: a stock one is always active, with epoch 0."""

    id: str
    address: str
    active: bool = True
    epoch: int = 0
    ours: bool = False
    """Whether it is a supervisor, which accepts workers with their results."""
    workers: tuple[str, ...] = ()
    leader: str | None = None
    """The address of the active supervisor, as far as this one knows."""
    removed: tuple[str, ...] = ()
    """The workers that it has cut off, and that have not returned."""
    consents: bool = False
    """Whether it has promised the one that asks, which is active, not to become active."""


def timeout() -> float:
    """Return the seconds of silence after which a supervisor counts as dead."""
    return _seconds("timeout", "10s")


def retention() -> float:
    """Return the seconds for which unclaimed results are kept."""
    return _seconds("keep", "60s")


def _seconds(name: str, default: str) -> float:
    seconds: float = parse_timedelta(dask.config.get(f"marsdask.failover.{name}", default))
    return seconds


class SupervisorTimeout:
    """The time for which a peer has not answered.

    Only completed rounds count. Otherwise a process that was suspended would consider all others
    dead when it continues.
    """

    def __init__(self, interval: float) -> None:
        self._most = 2 * interval
        self.seconds = 0.0

    def answered(self) -> None:
        """Reset the time."""
        self.seconds = 0.0

    def missed(self, seconds: float) -> None:
        """Add the length of a round without an answer."""
        self.seconds += min(seconds, self._most)


def parse_role(identity: dict[str, Any], address: str) -> SupervisorRole:
    """Return the role in a scheduler's identity."""
    facts = identity.get("marsdask", {})
    return SupervisorRole(
        id=identity["id"],
        address=address,
        active=facts.get("role", "active") == "active",
        epoch=facts.get("epoch", 0),
        ours=bool(facts),
        leader=facts.get("active"),
    )


async def identify(
    address: str, connection_args: dict[str, Any], patience: float = PATIENCE
) -> dict[str, Any]:
    """Return the identity of the scheduler at ``address``; ``OSError`` if none answers.

    ``WrongRole`` is raised for another process with a certificate of the same authority.
    """
    address = normalize_address(address)
    with supervisors_only():
        return await _identify(address, connection_args, patience)


async def _identify(
    address: str, connection_args: dict[str, Any], patience: float
) -> dict[str, Any]:
    async with asyncio.timeout(patience):
        if address.startswith(_WEB):
            await probe(address)
            return await _finish_query(address, connection_args)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PROMPT):
                return await _identity(address, connection_args)
        await probe(address)
        return await _identity(address, connection_args)


async def _identity(address: str, connection_args: dict[str, Any]) -> dict[str, Any]:
    try:
        async with rpc(address, connection_args=connection_args) as peer:
            answer: dict[str, Any] = await peer.identity(n_workers=0)
    except WrongRole as error:  # distributed has put another message before
        raise error.__cause__ or error from None
    return answer


async def _finish_query(address: str, connection_args: dict[str, Any]) -> dict[str, Any]:
    """Ask, and close the connection even if the caller no longer waits for the answer.

    A websocket opens even if its opening was cancelled, and would then stay open.
    """
    query = asyncio.ensure_future(_identity(address, connection_args))
    _ASKED.add(query)
    query.add_done_callback(_answered)
    return await asyncio.shield(query)


def _answered(asked: asyncio.Future[dict[str, Any]]) -> None:
    _ASKED.discard(asked)
    if not asked.cancelled():
        asked.exception()  # mark the exception as retrieved


async def probe(address: str) -> None:
    """Raise ``ConnectionRefusedError`` if nothing listens: distributed would keep trying."""
    if not address.startswith(_TCP):
        return
    _, writer = await asyncio.open_connection(*_host_and_port(address))
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _host_and_port(address: str) -> tuple[str | None, int]:
    """Return the host and port of an address; the port of a web address is optional."""
    if not address.startswith(_WEB):
        host, port = get_address_host_port(address)
        return host, port
    parts = urlsplit(address)
    return parts.hostname, parts.port or (443 if parts.scheme == "wss" else 80)


async def query_role(
    address: str, connection_args: dict[str, Any], patience: float = PATIENCE
) -> SupervisorRole:
    """Return the role of the scheduler at ``address``; ``OSError`` if none answers."""
    return parse_role(await identify(address, connection_args, patience), address)


async def find_leader(
    addresses: Iterable[str], connection_args: dict[str, Any], patience: float = PATIENCE
) -> SupervisorRole | None:
    """Return the active scheduler with the highest epoch among ``addresses``."""
    roles = await gather_roles(
        [query_role(one, connection_args, patience) for one in addresses], patience
    )
    active = [one for one in roles if one is not None and one.active]
    return max(active, key=lambda one: one.epoch, default=None)


async def gather_roles(
    questions: Sequence[Awaitable[SupervisorRole]], patience: float
) -> list[SupervisorRole | None]:
    """Return the answers in order, ``None`` for failed or late ones.

    Once an active scheduler has answered, a hanging one delays the others only briefly.
    """
    tasks = [asyncio.ensure_future(question) for question in questions]
    pending = set(tasks)
    try:
        while pending:
            finished, pending = await asyncio.wait(
                pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            if not finished:
                break
            if any(role is not None and role.active for role in map(_answer, finished)):
                patience = min(patience, _OTHERS)
    finally:
        for task in pending:
            task.cancel()
    return [None if task in pending else _answer(task) for task in tasks]


def _answer(task: asyncio.Future[SupervisorRole]) -> SupervisorRole | None:
    if task.cancelled():
        return None
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, WrongRole):
        logger.warning("this is no supervisor: %s", error)
    if isinstance(error, OSError):  # TimeoutError is one, and so is distributed's CommClosedError
        return None
    raise error


def scheme(security: Any) -> str:
    """Return the default protocol of addresses."""
    return "tls" if security.tls_ca_file else "tcp"


def with_scheme(endpoint: str, security: Security) -> str:
    """Return an address with protocol: ``host:port`` means TLS if it is configured, else TCP."""
    if "://" in endpoint:
        return endpoint
    return f"{scheme(security)}://{endpoint}"
