"""The roles that certificates name: which ones the peer of a connection may have.

A connection is refused in the handshake, before anything is sent or read: a token would be given
away, and what distributed reads can run code.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from typing import Any, Final, Self

from distributed.comm.core import FatalCommClosedError

from ..authority import UNIT

#: The roles of web ports, and those of other ports: supervisors and workers serve each other.
WEB: Final = ("scheduler", "web")
_SERVERS: Final = ("scheduler", "worker")


class WrongRole(FatalCommClosedError, PermissionError):
    """A certificate is for another role; distributed does not try to connect again."""


def role_in(certificate: dict[str, Any] | None) -> str | None:
    """Return the role in a certificate as ``getpeercert`` returns it, ``None`` without one."""
    for part in (certificate or {}).get("subject", ()):
        for name, value in part:
            if name == "organizationalUnitName" and value.startswith(UNIT):
                return str(value.removeprefix(UNIT))
    return None


def role_of(comm: Any) -> str | None:
    """Return the role in the certificate at the other end, ``None`` without one."""
    comm = getattr(comm, "comm", comm)
    stream = getattr(getattr(comm, "sock", comm), "stream", None)
    getpeercert = getattr(getattr(stream, "socket", None), "getpeercert", None)
    return role_in(getpeercert()) if getpeercert is not None else None


def check_role(comm: Any, *roles: str) -> None:
    """Raise ``PermissionError`` if the certificate at the other end names none of these roles."""
    role = role_of(comm)
    if role is not None and (problem := _problem(role, roles, comm.peer_address)) is not None:
        raise PermissionError(problem)


def _problem(role: str | None, roles: tuple[str, ...], address: str) -> str | None:
    if role is None or role in roles:
        return None
    return f"the certificate of {address} is for a {role}, not for a {' or '.join(roles)}"


class _Expected:
    """The roles that the peer of one connection may have, and why it was refused."""

    def __init__(self, roles: tuple[str, ...], address: str) -> None:
        self._roles, self._address = roles, address
        self.problem: str | None = None

    def check(self, certificate: Any) -> None:
        """Raise ``SSLCertVerificationError`` for another role."""
        self.problem = _problem(role_in(certificate), self._roles, self._address)
        if self.problem is not None:
            raise ssl.SSLCertVerificationError(ssl.SSL_ERROR_SSL, self.problem)


_EXPECTED: Final[ContextVar[_Expected | None]] = ContextVar("_EXPECTED", default=None)

#: The roles of whoever is connected to in this context, if they are fewer than a port may have.
_ONLY: Final[ContextVar[tuple[str, ...]]] = ContextVar("_ONLY", default=_SERVERS)


class _CheckedSocket(ssl.SSLSocket):
    """The socket of a connection, whose handshake ends with a look at the role of the peer."""

    _expected: _Expected | None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        socket = super().__new__(cls, *args, **options)
        socket._expected = _EXPECTED.get()
        return socket

    def do_handshake(self, block: bool = False) -> None:
        """Shake hands, and check the role."""
        super().do_handshake(block)
        if self._expected is not None:
            self._expected.check(self.getpeercert())


@contextlib.contextmanager
def supervisors_only() -> Iterator[None]:
    """Have connections that begin meanwhile refuse every other role."""
    token = _ONLY.set(("scheduler",))
    try:
        yield
    finally:
        _ONLY.reset(token)


@contextlib.contextmanager
def expecting(
    context: ssl.SSLContext | None, roles: tuple[str, ...], address: str
) -> Iterator[None]:
    """Have connections with ``context`` that begin meanwhile end with ``WrongRole`` for others."""
    if context is None:
        yield
        return
    context.sslsocket_class = _CheckedSocket
    token = _EXPECTED.set(expectation := _Expected(roles, address))
    try:
        yield
    except (OSError, ValueError):
        if expectation.problem is None:
            raise
        raise WrongRole(expectation.problem) from None
    finally:
        _EXPECTED.reset(token)


def checked(connect: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Return the method of a connector that connects only to those with a right role."""

    async def connected(self: Any, address: str, *args: Any, **options: Any) -> Any:
        web = self.prefix.startswith("ws")
        own = (options.get("extra_conn_args") or {}).get("ssl_options")
        context = own or options.get("ssl_context")
        with expecting(context, WEB if web else _ONLY.get(), f"{self.prefix}{address}"):
            return await connect(self, address, *args, **options)

    return connected
