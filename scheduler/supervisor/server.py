"""The supervisor: distributed's scheduler, with Mars's addresses and its own placement."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from typing import Any

import dask.config
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.security import Security

from ..cluster import hooks
from ..cluster import versions as compatible
from ..cluster.environment import installed
from ..errors import VersionMismatch
from ..web import legacy_api, rest
from ..web import nodes as web_nodes
from ..web import sessions as web_sessions
from ..web.authentication import Token, protect
from ..web.tls import dashboard_tls, verify_clients
from ..web.websocket import serve_websockets
from .hooks import HOOKS
from .jobs import Jobs
from .memory_deadlock import MemoryDeadlock
from .spans import LimitedSpans
from .standby import Failover
from .suspicious_tasks import clear_suspicion
from .transitions import PlacementScheduler
from .unclaimed_results import UnclaimedResults

logger = logging.getLogger(__name__)


def installed_version() -> str:
    """Return marsdask's version, which this package must not import marsdask for."""
    return installed("marsdask")


class Supervisor(PlacementScheduler):
    """A dask scheduler that stock clients and workers take for one.

    ``web`` is the host and port of the HTTP server, where clients connect as well (``ws://``);
    ``advertise`` the host that others reach this one by; ``supervisors`` all of a cluster's in
    their order, of which the first is the active one. ``token`` is what requests to the HTTP server
    have to bear.
    """

    def __init__(
        self,
        *,
        host: str | None = None,
        port: int = 0,
        protocol: str | None = None,
        web: tuple[str, int] | None = None,
        advertise: str | None = None,
        supervisors: Sequence[str] = (),
        token: Token | None = None,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, HOOKS)
        self.advertise = advertise
        self.web = web
        self.supervisors = tuple(supervisors)
        self.failover = Failover(self, supervisors)
        # distributed derives the section of its configuration from the class's name.
        options.setdefault(
            "blocked_handlers", dask.config.get("distributed.scheduler.blocked-handlers")
        )
        if web is not None:
            options.setdefault("dashboard_address", "{}:{}".format(*web))
        security = options.get("security") or Security()
        options["security"] = Security(**security) if isinstance(security, dict) else security
        with dask.config.set(dashboard_tls(options["security"])):
            super().__init__(host=host, port=port, protocol=protocol, **options)
        self._admitting = verify_clients(self.http_server.ssl_options, token, options["security"])
        self.http_server.ssl_options = self._admitting
        self.unclaimed_results = self._succeed()
        self.jobs = Jobs(self)
        self.memory_deadlock = MemoryDeadlock(self)
        self.nodes = web_nodes.Nodes(self)
        self.sessions = web_sessions.Sessions(self)
        rest.serve(
            self.http_application,
            self,
            {**web_nodes.ROUTES, **web_sessions.ROUTES, **legacy_api.ROUTES},
        )
        protect(self.http_application, token)
        self.id = self.id.replace(type(self).__name__, "Scheduler", 1)

    deposed = False
    """Whether it has ended because another is active."""

    def _succeed(self) -> UnclaimedResults:
        """Be ready for the workers of another supervisor."""
        if "spans" in self.extensions:
            self.extensions["spans"] = LimitedSpans(self)
        self.handlers["mars_role"] = self.failover.role
        return UnclaimedResults(self)

    http_server: Any  # distributed gives it a port and an address

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen; the first address is the one that others are told."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None and len(self.listeners) == 1:
            listener: Any = self.listeners[0]
            _, port = get_address_host_port(listener.contact_address)
            self._address = f"{listener.prefix}{self.advertise}:{port}"

    async def start_unsafe(self) -> Any:
        """Start to listen, on the web's port too."""
        if self.web is not None:
            # The HTTP server runs by now, so a port that the system chose is known.
            # Where the other ports have no certificates, a listener knows nothing of the web's own.
            scheme = "wss" if getattr(self.security, "tls_scheduler_cert", None) else "ws"
            self.http_server.ssl_options = None
            self._start_address.append(f"{scheme}://{self.web[0]}:{self.http_server.port}")
            serve_websockets(self.http_application, self)
        with warnings.catch_warnings():
            # The listener takes its own certificates for the whole server, as ours are anyway.
            warnings.filterwarnings("ignore", "Dashboard and Scheduler are using", RuntimeWarning)
            started = await super().start_unsafe()
        self.http_server.ssl_options = self._admitting
        self.failover.start()
        return started

    async def add_worker(self, comm: Any, **told: Any) -> None:
        """Take in a worker, or refuse it where another supervisor is active."""
        if not self.failover.active:
            message = f"{self.address} is a standby; join the active supervisor"
            await comm.write({"status": "error", "message": message, "time": time.time()})
            return
        theirs = compatible.reported_versions(told["versions"], told.get("extra", {}).get("mars"))
        try:
            compatible.check("the supervisor", compatible.versions(), "the worker", theirs)
        except VersionMismatch as error:
            answer = {"status": "error", "message": str(error), "mismatch": True}
            await comm.write(answer | {"time": time.time()})
            return
        await super().add_worker(comm, **told)

    async def remove_worker(
        self, address: str, *, expected: bool = False, close: bool = True, **told: Any
    ) -> Any:
        """Remove a worker; tasks that were still waiting there are not suspected of its death.

        One that is only silent, and follows supervisors, is not told to end: it finds the
        connection cut when it goes on, and comes back with its results.
        """
        address = self.coerce_address(address)
        worker, stream = self.workers.get(address), self.stream_comms.get(address)
        if not expected and self.status is Status.running:
            await clear_suspicion(self, address)
            if self.workers.get(address) is not worker:  # it has gone, and come back, meanwhile
                return "already-removed"
        cut = not expected and self.unclaimed_results.follows(address)
        removed = await super().remove_worker(
            address, expected=expected, close=close and not cut, **told
        )
        if cut and stream is not None:
            stream.abort()
        return removed

    async def add_client(self, comm: Any, client: str, versions: dict[str, Any]) -> None:
        """Let a client in, once the workers of an earlier supervisor have come over."""
        mine, theirs = compatible.versions(), compatible.reported_versions(versions)
        try:
            compatible.check("the supervisor", mine, "the client", theirs)
        except VersionMismatch as error:
            await comm.write([{"op": "stream-start", "error": str(error)}])
            return
        if (other := await self.failover.elsewhere()) is not None:
            await comm.write([{"op": "stream-start", "error": self._refusal(other)}])
            return
        if self.failover.active:
            await self.failover.settled()
        async with self.unclaimed_results.only_connection(client):
            await super().add_client(comm, client, versions)

    def _refusal(self, active: str) -> str:
        """Return what a client is told here, where its tasks would wait for workers for ever."""
        return f"{self.address} is a standby; connect to the active supervisor, {active}"

    async def step_down(self) -> None:
        """End, since another is active in a higher epoch."""
        logger.warning("%s steps down: another supervisor has taken over", self.address)
        self.deposed = True
        await self.close(reason="deposed")

    async def close(self, *args: Any, **options: Any) -> None:
        """Close; where another may go on, nothing is told to anybody from here on."""
        await self.failover.stop()
        if len(self.supervisors) > 1:
            # Jobs that end would have results freed, and workers that leave would be news to
            # clients.
            for stream in [*self.client_comms.values(), *self.stream_comms.values()]:
                stream.abort()
        await super().close(*args, **options)

    @property
    def standby(self) -> bool:
        """Whether another supervisor is the active one, or none is yet."""
        return not self.failover.active

    @property
    def web_address(self) -> str:
        """Where the web service listens."""
        assert self.web is not None
        return f"{self.web[0]}:{self.http_server.port}"

    def __repr__(self) -> str:
        return super().__repr__().replace(type(self).__name__, "Scheduler", 1)

    def identity(self, n_workers: int = -1) -> dict[str, Any]:
        """Return what a scheduler says of itself, and what it is besides one."""
        found: dict[str, Any] = super().identity(n_workers)
        # Stock clients and tools look for this word.
        found["type"] = "Scheduler"
        found["marsdask"] = {
            "version": installed_version(),
            "versions": compatible.versions(),
            "compiles": True,
            "role": "standby" if self.standby else "active",
            "epoch": self.failover.epoch,
            "active": self.failover.leader,
            "supervisors": list(self.supervisors),
            "web": "https" if self._admitting else "http",
        }
        return found
