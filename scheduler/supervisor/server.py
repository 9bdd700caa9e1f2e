"""The supervisor: a Dask scheduler with a placement policy, jobs, failover and a web service."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Collection, Container, Sequence
from contextvars import ContextVar
from typing import Any, Final

import dask.config
from distributed.comm import get_address_host_port
from distributed.core import Status
from distributed.security import Security

from .. import clock
from ..base import Key
from ..cluster import autoscale, hooks
from ..cluster import versions as compatible
from ..cluster.arbiter import Arbiter
from ..cluster.authority import Authority
from ..cluster.connections.idle import LimitedServer
from ..cluster.connections.roles import check_role
from ..cluster.environment import installed
from ..cluster.failures import no_workers_timeout
from ..cluster.metrics import publish
from ..cluster.scaling import Rescaling, Scaler
from ..errors import VersionMismatch
from ..storage.server_folder import PrivateServer
from ..web import join, legacy_api, rest
from ..web import nodes as web_nodes
from ..web import sessions as web_sessions
from ..web.authentication import Token, protect
from ..web.metrics import of_supervisor
from ..web.tls import certificate, dashboard_tls, verify_clients
from ..web.websocket import is_websocket, serve_websockets
from .failover.epoch import checked
from .failover.lost_inputs import remove_lost
from .failover.standby import Failover
from .failover.unclaimed_results import UnclaimedResults
from .failover.worker_silence import WorkerSilence
from .hooks import HOOKS
from .jobs import Jobs
from .lineage import LineageScheduler
from .memory_deadlock import MemoryDeadlock
from .replicas import holders
from .spans import LimitedSpans
from .suspicious_tasks import clear_suspicion
from .waiting_tasks import WorkerAbsence, why_waiting

logger: Final = logging.getLogger(__name__)

#: The client whose graph is being submitted.
_SENDER: ContextVar[str] = ContextVar("_SENDER")


def installed_version() -> str:
    """Return marsdask's version without importing marsdask."""
    return installed("marsdask")


class Supervisor(PrivateServer, LimitedServer, LineageScheduler):
    """A Dask scheduler that also accepts stock clients and workers.

    ``web`` is the host and port of the HTTP server, which also accepts clients (``ws://``).
    ``advertise`` is the host in the address that others use. ``supervisors`` lists all supervisors
    of the cluster in order of precedence. Requests to the HTTP server must contain ``token``.
    ``scaler`` changes the number of workers. ``arbiter`` decides which supervisor is active.
    ``authority`` signs certificates of those who show the token. With ``compile_processes``, jobs
    are unpickled and compiled in a process for each session, otherwise in threads.
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
        scaler: Scaler | None = None,
        arbiter: Arbiter | None = None,
        authority: Authority | None = None,
        compile_processes: bool = False,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, HOOKS)
        self.advertise, self.web, self.authority = advertise, web, authority
        self.supervisors = tuple(supervisors)
        self.rescaling = Rescaling(self, scaler)
        self.failover = Failover(self, supervisors, arbiter)
        # distributed derives the section of its configuration from the class's name.
        options.setdefault(
            "blocked_handlers", dask.config.get("distributed.scheduler.blocked-handlers")
        )
        if web is not None:
            # As a pair: distributed does not parse addresses of IPv6 there.
            options.setdefault("dashboard_address", (web[0].strip("[]"), web[1]))
        security = options.get("security") or Security()
        options["security"] = Security(**security) if isinstance(security, dict) else security
        with dask.config.set(dashboard_tls(options["security"])):
            super().__init__(host=host, port=port, protocol=protocol, **options)
        self.id = self.id.replace(type(self).__name__, "Scheduler", 1)
        self._admitting = verify_clients(self.http_server.ssl_options, token, options["security"])
        self.http_server.ssl_options = self._admitting
        self.unclaimed_results = self._accept_followers()
        self.jobs = Jobs(self, processes=compile_processes)
        self.memory_deadlock = MemoryDeadlock(self)
        self.nodes, self.sessions = web_nodes.Nodes(self), web_sessions.Sessions(self)
        routes = {**join.ROUTES, **web_nodes.ROUTES, **web_sessions.ROUTES, **legacy_api.ROUTES}
        rest.serve(self.http_application, self, routes)
        protect(self.http_application, token, self.http_server)

    deposed = False
    """Whether it ended because another supervisor is active."""

    def _accept_followers(self) -> UnclaimedResults:
        """Prepare for the workers of an earlier supervisor, and for the absence of any."""
        if "spans" in self.extensions:
            self.extensions["spans"] = LimitedSpans(self)
        self.handlers["mars_role"] = self.tell_role
        self.handlers["mars_holders"] = self.holders
        self.handlers["mars_waiting"] = self.waiting
        self.absence, self.silence = WorkerAbsence(), WorkerSilence(self)
        self.no_workers_timeout = no_workers_timeout()
        return UnclaimedResults(self)

    def tell_role(self, comm: Any, *, active: bool = False, epoch: int = 0) -> dict[str, Any]:
        """Return this role; only a supervisor may say that it is active, or a worker its epoch."""
        if active or epoch:
            if is_websocket(comm):
                raise PermissionError("a websocket is not the connection of a supervisor")
            check_role(comm, "scheduler", *(() if active else ("worker",)))
        return self.failover.role(active=active, epoch=checked(epoch))

    http_server: Any  # distributed adds a port and an address

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen; the first address is the advertised one."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None and len(self.listeners) == 1:
            listener: Any = self.listeners[0]
            _, port = get_address_host_port(listener.contact_address)
            self._address = f"{listener.prefix}{self.advertise}:{port}"

    async def start_unsafe(self) -> Any:
        """Start to listen, also on the web port."""
        if self.web is not None:
            # The HTTP server already runs, so a port chosen by the system is known. Without
            # certificates for the other ports, a listener ignores those of the web port.
            scheme = "wss" if certificate(self.security) else "ws"
            self.http_server.ssl_options = None
            self._start_address.append(f"{scheme}://{self.web[0]}:{self.http_server.port}")
            serve_websockets(self.http_application, self)
        workers, clients = self.stream_comms, self.client_comms
        clock.watch(self.periodic_callbacks, lambda: [*workers.values(), *clients.values()])
        with warnings.catch_warnings():
            # The listener uses its certificates for the whole server; they are the same.
            warnings.filterwarnings("ignore", "Dashboard and Scheduler are using", RuntimeWarning)
            server = await super().start_unsafe()
        if self.web is not None:
            self.http_server.ssl_options = self._admitting
        self.failover.start()
        autoscale.start(self)
        publish(self, of_supervisor)
        return server

    async def upload_file(self, filename: str, data: Any, load: bool = True) -> dict[str, Any]:
        """Import a module of a client, also in the processes that compile later jobs."""
        try:
            return await super().upload_file(filename, data, load)
        finally:
            self.jobs.modules_changed()

    async def update_graph(self, client: str, *args: Any, **options: Any) -> None:
        """Submit a graph of a client."""
        _SENDER.set(client)
        await super().update_graph(client, *args, **options)

    def _find_lost_dependencies(self, dsk: Any, keys: Any) -> set[Any]:
        """Return lost keys if the graph is to be cancelled; else cancel only those that are."""
        lost_keys: set[Any] = super()._find_lost_dependencies(dsk, keys)
        if not lost_keys or not isinstance(keys, set):
            return lost_keys
        lost_keys = remove_lost(dsk, keys, self.tasks)
        if lost_keys == keys:
            return lost_keys
        if lost_keys:
            news = {"op": "cancelled-keys", "keys": list(lost_keys), "reason": "lost dependencies"}
            self.report(news, client=_SENDER.get())
            keys -= lost_keys
        return set()

    async def add_worker(self, comm: Any, **registration: Any) -> None:
        """Add a worker; a standby refuses it."""
        check_role(comm, "worker")
        if not self.failover.active:
            message = f"{self.address} is a standby; join the active supervisor"
            await comm.write({"status": "error", "message": message, "time": time.time()})
            return
        theirs = compatible.reported_versions(
            registration["versions"], registration.get("extra", {}).get("mars")
        )
        try:
            compatible.check("the supervisor", compatible.versions(), "the worker", theirs)
        except VersionMismatch as error:
            answer = {"status": "error", "message": str(error), "mismatch": True}
            await comm.write(answer | {"time": time.time()})
            return
        await super().add_worker(comm, **registration)

    async def handle_worker(self, comm: Any, worker: str) -> None:
        """Follow a worker that has joined; one that has returned may take tasks at once."""
        self.absence.note(self.running)
        await super().handle_worker(comm, worker)

    async def remove_worker(
        self, address: str, *, expected: bool = False, close: bool = True, **options: Any
    ) -> Any:
        """Remove a worker; its waiting tasks are not suspected of its death.

        A worker that does not answer, and reconnects to supervisors, is not closed. Its connection
        is aborted, and it returns with its results when it continues.
        """
        address = self.coerce_address(address)
        worker, stream = self.workers.get(address), self.stream_comms.get(address)
        if not expected and self.status is Status.running:
            await clear_suspicion(self, address)
            if self.workers.get(address) is not worker:  # it has returned meanwhile
                return "already-removed"
        may_return = not expected and self.unclaimed_results.follows(address)
        if may_return and worker is not None:
            self.unclaimed_results.leave(address, options["stimulus_id"])
        status = await super().remove_worker(
            address, expected=expected, close=close and not may_return, **options
        )
        self.absence.note(self.running)
        if may_return and stream is not None:
            stream.abort()
        return status

    async def check_worker_ttl(self) -> None:
        """Restart workers that are silent, but not those that could not be heard."""
        self.silence.correct()
        await super().check_worker_ttl()

    def handle_worker_status_change(self, status: Any, worker: Any, stimulus_id: str) -> None:
        """Record a status."""
        super().handle_worker_status_change(status, worker, stimulus_id)
        self.absence.note(self.running)

    async def add_client(self, comm: Any, client: str, versions: dict[str, Any]) -> None:
        """Add a client, after the workers of an earlier supervisor have joined."""
        mine, theirs = compatible.versions(), compatible.reported_versions(versions)
        try:
            compatible.check("the supervisor", mine, "the client", theirs)
        except VersionMismatch as error:
            await comm.write([{"op": "stream-start", "error": str(error)}])
            return
        if (leader := await self.failover.elsewhere()) is not None:
            await comm.write([{"op": "stream-start", "error": self._refusal(leader)}])
            return
        if self.failover.active:
            await self.failover.settled()
        async with self.unclaimed_results.only_connection(client):
            await super().add_client(comm, client, versions)

    async def handle_stream(self, comm: Any, extra: dict[str, Any] | None = None) -> None:
        """Follow a connection; the client of one that broke may return."""
        try:
            await super().handle_stream(comm, extra)
        finally:
            if extra and "client" in extra:
                self.unclaimed_results.disconnected(extra["client"])

    def holders(self, keys: Collection[Key]) -> dict[str, Any]:
        """Return where results are, for clients that fetch them."""
        return holders(self, keys)

    def waiting(self, client: str) -> str | None:
        """Return why a client's tasks wait for workers, ``None`` if they do not."""
        return why_waiting(self, client)

    def _refusal(self, active: str) -> str:
        """Return the error for a client of a standby, which has no workers."""
        return f"{self.address} is a standby; connect to the active supervisor, {active}"

    async def step_down(self, why: str = "another supervisor has taken over") -> None:
        """Close, because another supervisor is active in a higher epoch, or may soon be."""
        if self.deposed:
            return
        logger.warning("%s steps down: %s", self.address, why)
        self.log_event("supervisor", {"action": "deposed", "reason": why})
        self.deposed = True
        await self.close(reason="deposed")

    async def close(self, *args: Any, **options: Any) -> None:
        """Close; if another supervisor may continue, first abort all connections."""
        await self.failover.stop()
        if len(self.supervisors) > 1:
            # Otherwise ending jobs would free results, and clients would lose tasks of closing
            # workers.
            for stream in [*self.client_comms.values(), *self.stream_comms.values()]:
                stream.abort()
        await self.failover.release()
        await super().close(*args, **options)

    @property
    def standby(self) -> bool:
        """Whether this supervisor is not the active one."""
        return not self.failover.active

    @property
    def web_address(self) -> str:
        """The address of the web service."""
        assert self.web is not None
        return f"{self.web[0]}:{self.http_server.port}"

    def __repr__(self) -> str:
        return super().__repr__().replace(type(self).__name__, "Scheduler", 1)

    def identity(self, n_workers: int = -1) -> dict[str, Any]:
        """Return the identity of a Dask scheduler, with the data of a supervisor."""
        facts: dict[str, Any] = super().identity(n_workers)
        # Stock clients and tools check this word.
        facts["type"] = "Scheduler"
        facts["marsdask"] = {
            "version": installed_version(),
            "versions": compatible.versions(),
            "compiles": True,
            "role": "standby" if self.standby else "active",
            "epoch": self.failover.epoch,
            "active": self.failover.leader,
            "supervisors": list(self.supervisors),
            "web": "https" if self.http_server.ssl_options else "http",
        }
        return facts

    def _to_dict(self, *, exclude: Container[str] = ()) -> dict[str, Any]:
        """Return a dump for debugging, with the entries of a Dask scheduler's."""
        facts: dict[str, Any] = super()._to_dict(exclude=exclude)
        del facts["marsdask"]
        return facts
