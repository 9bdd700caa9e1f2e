"""The session's connection to a supervisor: a scheduler that uses its workers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from dask.utils import parse_bytes
from distributed import Client, Security
from distributed.comm import CommClosedError

from .. import limits
from ..base import Callback, Capabilities, ChunkInfo, Handle, Hint, Key, TaskGraph
from ..cluster.versions import check, versions
from ..dask import PATIENCE, DaskScheduler, identity
from ..supervisor.affinity.affinities import with_affinity
from ..supervisor.compilation.packing import packed
from ..supervisor.fair_share import check_weight
from ..supervisor.server import installed_version
from ..web.authentication import client_token
from ..web.web_client import web_security
from .job import RemoteJob
from .local_cluster import LocalProcess
from .reconnect import FAREWELL, ReconnectingClient

logger: Final = logging.getLogger(__name__)

#: Seconds after which the client asks why graphs and results take so long, and the longest time
#: until it asks again: the time is doubled.
_SOON, _SELDOM = 2.0, 30.0


class SupervisorScheduler(DaskScheduler):
    """Runs graphs on a supervisor's workers.

    ``address`` is the supervisor's, or that of its web service (``http://host:port``). Without one
    a cluster of ``n_worker`` processes is started on this host. They share ``n_cpu`` cores and
    ``memory_limit`` bytes, spill to ``spill_dirs`` and end with the scheduler. ``token`` is that of
    the web service (default: ``MARS_WEB_TOKEN``, or the content of the file
    ``MARS_WEB_TOKEN_FILE``), and ``ca_file`` the certificate of its own authority. A session of
    ``weight`` 2 gets twice the share of the cluster that a session of weight 1 gets; weights are
    from 0.001 to 1000.
    """

    name = "supervisor"
    capabilities = Capabilities(locality=True, spill=True, resilient=True)
    client_class = ReconnectingClient
    _looking = False
    """Whether it will ask why graphs or results take so long."""
    _reason: str | None = None
    """The last answer."""

    def __init__(
        self,
        address: str | Client | None = None,
        *,
        n_worker: int | None = None,
        n_cpu: int | None = None,
        memory_limit: float | str | None = None,
        spill_dirs: str | Sequence[str] | None = None,
        web: bool | int = False,
        connect_timeout: float = PATIENCE,
        token: str | None = None,
        ca_file: str | None = None,
        weight: float = 1.0,
    ) -> None:
        self.weight = check_weight(weight)
        self._local: LocalProcess | None = None
        self._gathering: set[object] = set()
        """The calls that wait for results."""
        self._sessions: set[str] = set()
        """The submissions that the supervisor has received."""
        if address is None:
            dirs = [spill_dirs] if isinstance(spill_dirs, str) else list(spill_dirs or ())
            self._local = _start(n_worker, n_cpu, memory_limit, dirs, web)
            address = self._local.address
        security = Security() if self._local is None else self._local.security
        if isinstance(address, str) and address.startswith(("http://", "https://")):
            address, secret = without_token(address)
            token = token or secret
            security = web_security(address, client_token(token), ca_file)
            address = comm_address(address)
        try:
            super().__init__(address, connect_timeout=connect_timeout, security=security)
        except BaseException:
            self._end_local()
            raise
        identity = self._greeted()
        # Another version may lower the same nodes to other tasks.
        compiles = identity.get("compiles", False) and identity["version"] == installed_version()
        self.capabilities = replace(type(self).capabilities, compiles=compiles)

    def _greeted(self) -> Mapping[str, Any]:
        """Return the supervisor's identity; refuse incompatible versions."""
        try:
            facts: Mapping[str, Any] = identity(self.client).get("marsdask", {})
            check("this client", versions(), "the supervisor", facts.get("versions", {}))
        except BaseException:
            self.close()
            raise
        return facts

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        *,
        hints: Mapping[Key, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> Handle:
        """Send the missing part of the graph, with affinities of its sources."""
        if hints:
            hints = with_affinity(graph, hints)
        handle = super().submit(graph, keys, hints=hints, callbacks=callbacks)
        self._look_later()
        return handle

    def _look_later(self, pause: float = _SOON) -> None:
        if not self._looking:
            self._looking = True
            loop: Any = self.client.loop
            loop.add_callback(loop.call_later, pause, self._look, pause)

    def _look(self, pause: float) -> None:
        self._looking = False
        if self._waits():
            asyncio.ensure_future(self._warn())  # noqa: RUF006 - no caller waits
            self._look_later(min(2 * pause, _SELDOM))

    def _waits(self) -> bool:
        """Return whether something is under way that does not warn of itself, as jobs do."""
        submissions = (
            handle for handle in list(self._running) if not isinstance(handle, RemoteJob)
        )
        return bool(self._gathering) or any(handle.state == "running" for handle in submissions)

    async def _warn(self) -> None:
        """Warn if tasks wait for workers."""
        client: Any = self.client
        with suppress(OSError, AttributeError):  # an older supervisor cannot answer
            reason = await client.scheduler.mars_waiting(client=client.id)
            if reason is not None and reason != self._reason:
                logger.warning("the job waits: %s", reason)
            self._reason = reason

    @contextmanager
    def _gathers(self) -> Iterator[None]:
        self._gathering.add(call := object())
        self._look_later()
        try:
            yield
        finally:
            self._gathering.discard(call)

    def compile(
        self,
        compilation: Any,
        *,
        session: str = "",
        name: str = "",
        callbacks: Iterable[Callback] = (),
    ) -> RemoteJob:
        """Start a compilation that the supervisor drives; it is sent pickled.

        When it is done, :attr:`RemoteJob.outcome` contains the places of the results; each key has
        gained one reference.
        """
        self._check_open()
        data = packed(compilation)
        self._sessions.add(session)
        job = RemoteJob(self, callbacks)
        with self._held.exclusive():
            self._check_open()
            self._running.add(job)
        job.start(data, session, name)
        return job

    def claim(self, job: str | None, keys: Iterable[Key]) -> None:
        """Take one reference of each result of a job, which then need not hold them any longer.

        Unlike a request, this message arrives in order with those that release keys.
        """
        self.hold(keys)
        client: Any = self.client
        if client.status != "closed":
            client._send_to_scheduler({"op": "mars-claim", "job": job})

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        """Fetch held results; repeat the request if another supervisor took over meanwhile."""
        with self._gathers():
            return self._gather(keys)

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        """Describe held results, where they are."""
        with self._gathers():
            return super().info(keys)

    def _gather(self, keys: Sequence[Key]) -> list[Any]:
        client: Any = self.client
        generation = getattr(client, "generation", None)
        try:
            return super().gather(keys)
        except OSError as error:
            if generation is None or not self._is_cut(keys, error, generation):
                raise
            if not client.sync(client.resumed, generation):
                raise
            return super().gather(keys)

    def _is_cut(self, keys: Sequence[Key], error: OSError, generation: int) -> bool:
        """Return whether an error comes from the connection, not from a task or a value."""
        client: Any = self.client
        if any(future.status == "error" for future in self._held.get(keys)):
            return False
        disconnected = client.status != "running" or client.generation != generation
        return disconnected or isinstance(error, CommClosedError)

    @property
    def web_address(self) -> str | None:
        """The address of the web service of a cluster that was started here, with its token."""
        return self._local.web if self._local is not None else None

    def close(self) -> None:
        """Cancel and release everything; end the cluster that was started here."""
        if self._is_inherited():
            super().close()
            return
        try:
            self._leave()
        finally:  # also after a Ctrl-C
            self._end_local()

    def _leave(self) -> None:
        client, sessions = self._client, list(self._sessions)
        self._sessions.clear()
        super().close()
        if sessions and client.status == "running":  # another owner closes it
            peer: Any = client.scheduler
            arguments = {"client": client.id, "sessions": sessions}
            try:
                client.sync(peer.mars_leave, **arguments, callback_timeout=FAREWELL)
            except OSError as error:
                logger.warning("could not report the end of a session to the supervisor: %r", error)

    def _end_local(self) -> None:
        if self._local is not None:
            self._local.close()


def without_token(address: str) -> tuple[str, str | None]:
    """Return a browser's address, and the token that it may contain (``?token=...``)."""
    parts = urlsplit(address)
    tokens = parse_qs(parts.query).get("token")
    return (address, None) if not tokens else (parts._replace(query="").geturl(), tokens[-1])


def comm_address(address: str) -> str:
    """Return the client's address for a browser's ``address``.

    The path below a proxy keeps its last slash: it may be another path without it.
    """
    for web, comm in (("https://", "wss://"), ("http://", "ws://")):
        if address.startswith(web):
            place = address.removeprefix(web)
            host, _, path = place.partition("/")
            return comm + (place if path else host)
    return address


def _start(
    n_worker: int | None,
    n_cpu: int | None,
    memory_limit: float | str | None,
    spill_dirs: list[str],
    web: bool | int,
) -> LocalProcess:
    for name, count in (("n_worker", n_worker), ("n_cpu", n_cpu)):
        if count is not None and count < 1:
            raise ValueError(f"{name} must be at least 1, not {count}")
    n_worker = n_worker or n_cpu or limits.cpus()
    n_cpu = None if n_cpu is None else max(n_cpu, n_worker)
    port = None if web is False else 0 if web is True else web
    return LocalProcess(
        n_worker=n_worker,
        n_cpu=n_cpu,
        memory=_memory(memory_limit),
        spill_dirs=spill_dirs,
        web=port,
    )


def _memory(wish: float | str | None) -> int | None:
    if wish is None or wish == "auto":
        return None
    if isinstance(wish, float) and wish <= 1:
        return int(limits.memory() * wish)
    return int(parse_bytes(wish))
