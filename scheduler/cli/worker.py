"""``mars-worker``: the worker processes of this host."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import dask.config
from distributed.comm import CommClosedError
from distributed.core import Status, rpc

from ..cluster.leader import identify, with_scheme
from ..cluster.versions import check, versions
from ..errors import NoSupervisor, VersionMismatch
from ..worker import MarsNanny, binding
from ..worker.memory_ledger import MemoryLedger
from . import discovery, find_supervisor
from .readiness import ReadinessServer
from .resources import HARD, SOFT, Resources, resolve
from .serve import CLEAN, FAILED, report, serve
from .settings import Settings, read
from .sizes import ConfigError, parse_number

logger: Final = logging.getLogger(__name__)

#: Timeouts for moving unique results to other workers, and for ending processes, in seconds.
DRAIN, CLOSE = 3.5, 4.0

#: The variable in which Dask's operator for Kubernetes names a worker, to end it by this name.
_NAME: Final = "DASK_WORKER_NAME"

#: Seconds between two attempts to restart processes: initial and maximum value.
_PAUSES = 0.1, 5.0

#: Errors while joining a supervisor that disappears; its host name may disappear, too.
_GONE = (ConnectionError, CommClosedError, TimeoutError, socket.gaierror)

#: Errors of the operating system for an address that a process cannot bind.
_UNBOUND = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)

#: Reasons to end of workers that should join another supervisor.
_LOST = (
    "scheduler-close",
    "worker-handle-scheduler-connection-broken",
    "nanny-unregister-failed",
    "nanny-instantiate-failed",  # a process died while there was no supervisor to join
)


class WorkerService:
    """Nannies in this process, each with a worker process; they outlive their supervisor."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.resources = resolve(settings.given)
        settings.tell_spare_ports(self.resources.processes)
        self._claims = contextlib.ExitStack()
        self._nannies: dict[int, MarsNanny] = {}
        self._known = settings.supervisors
        self._strangers: set[str] | None = None
        self._readiness = ReadinessServer.start(self, settings.host)
        timeout = settings.given.death_timeout
        self.death_timeout = None if timeout is None else parse_number("--death-timeout", timeout)
        dask.config.set(self.resources.config | memory_config(self.resources))
        modules = dask.config.get("distributed.worker.preload")
        # This process has imported them; the preload imports them where tasks run.
        modules = [*modules, *(settings.given.load_modules or ())]
        dask.config.set({"distributed.worker.preload": modules})

    async def start(self) -> None:
        """Find the supervisor and start the workers with it."""
        host = self.settings.host
        try:
            await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), None)
        except socket.gaierror as error:
            raise ConfigError(
                f"cannot listen at {host} ({error}); choose another with -H"
            ) from None
        if self.settings.join is not None:
            security = await find_supervisor.certified(
                self._known, self.settings.join, "worker", self.death_timeout
            )
            self.settings = replace(self.settings, security=security, join=None)
        if self.settings.given.no_bind_cpu:
            cores = None
        else:
            cores = self._claims.enter_context(binding.claimed(self.resources.n_cpu))
        for name in binding.POOL_VARIABLES:
            os.environ.setdefault(name, "1")
        self.cores = cores
        self.host = MemoryLedger.start(self.resources.processes, self.resources.memory)
        with self._addressed():
            await self._join(range(self.resources.processes))

    @contextlib.contextmanager
    def _addressed(self) -> Iterator[None]:
        """Report in one line what to change if a process cannot bind its address."""
        try:
            yield
        except RuntimeError as error:  # distributed raises it for any cause
            cause = _causes(error)[-1]
            if not isinstance(cause, OSError) or cause.errno not in _UNBOUND:
                raise
            where = f"{self.settings.host}, ports {', '.join(map(str, self.settings.ports))}"
            raise ConfigError(
                f"cannot listen at {where} ({cause}); choose others with -H, -p or -e"
            ) from error

    async def _join(self, positions: Iterable[int]) -> None:
        """Start the workers of these positions; on failure, close all of them."""
        endpoints, security = self.settings.supervisors, self.settings.security
        candidates = self._known or await find_supervisor.endpoints(endpoints, security)
        address = await find_supervisor.active_supervisor(
            candidates, security, self.death_timeout, others=self._begun
        )
        if not endpoints:
            logger.info("joining the supervisor at %s, which runs on this host", address)
        self.address = address
        identity = await self._greet()
        self._known = candidates = endpoints or identity.get("supervisors") or [address]
        if self._strangers is None:
            here = {with_scheme(endpoint, security) for endpoint in discovery.on_this_host()}
            self._strangers = here - {
                with_scheme(endpoint, security) for endpoint in (address, *candidates)
            }
        options = worker_options(self.settings, self.resources, self.cores, self.host)
        supervisors = [with_scheme(endpoint, security) for endpoint in candidates]
        new = {
            position: MarsNanny(address, supervisors=supervisors, **options[position])
            for position in positions
        }
        self._nannies |= new
        outcomes = await asyncio.gather(*new.values(), return_exceptions=True)
        try:
            for nanny, error in zip(new.values(), outcomes, strict=True):
                if isinstance(error, Exception) and nanny.exitcode:
                    raise ConfigError(_ended(nanny.exitcode)) from error
                if isinstance(error, BaseException):
                    raise error
            report(f"Mars Worker started at {self.endpoint}")
        except BaseException:
            await asyncio.gather(*(nanny.close() for nanny in new.values()))
            raise

    def _begun(self) -> list[str]:
        """Return the one supervisor that has started on this host since the first one was found.

        Supervisors that ran beside the first one belong to other clusters. With several new ones
        the choice would be arbitrary.
        """
        if self.settings.supervisors or self._strangers is None:
            return []
        security = self.settings.security
        here = [with_scheme(address, security) for address in discovery.on_this_host()]
        newcomers = [address for address in here if address not in self._strangers]
        return newcomers if len(newcomers) == 1 else []

    async def _greet(self) -> dict[str, Any]:
        """Return the identity of the supervisor; refuse incompatible versions."""
        arguments = self.settings.security.get_connection_args("worker")
        identity: dict[str, Any] = (await identify(self.address, arguments)).get("marsdask", {})
        try:
            check("this worker", versions(), "the supervisor", identity.get("versions", {}))
        except VersionMismatch as error:
            raise ConfigError(str(error)) from error
        return identity

    @property
    def ready(self) -> bool:
        """Whether each worker process runs, and has joined a supervisor."""
        nannies = self._nannies.values()
        return bool(nannies) and all(nanny.status is Status.running for nanny in nannies)

    async def retire(self) -> None:
        """Move all results to other workers, as long as the supervisor lives; get no more tasks."""
        retiring = asyncio.ensure_future(self._drain(None, remove=False))
        arguments = self.settings.security.get_connection_args("worker")
        while True:
            await asyncio.wait({retiring}, timeout=DRAIN)
            if retiring.done():
                return
            try:
                await identify(self.address, arguments, DRAIN)
            except OSError as error:
                logger.warning("nothing to retire from: %s", error)
                retiring.cancel()
                return

    @property
    def endpoint(self) -> str:
        """The addresses of the worker processes."""
        addresses = (nanny.worker_address for nanny in self._nannies.values())
        return ", ".join(filter(None, addresses))

    async def finished(self) -> int:
        """Serve the current supervisor until the workers are closed.

        Workers that lost the supervisor rejoin at once, without waiting for the others.
        """
        ends = self._ends(self._nannies)
        while ends:
            ended, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            positions = [ends.pop(item) for item in ended]
            orphans = [item for item in positions if self._nannies[item].reason in _LOST]
            if orphans:
                if not await self._rejoin(orphans, ends):
                    return FAILED
                ends |= self._ends(orphans)
        return self._code()

    async def _rejoin(
        self, lost: Collection[int], others: Collection[asyncio.Future[None]]
    ) -> bool:
        """Restart workers that lost the supervisor; return whether one was found in time.

        An error of the restart ends no other worker: it is raised once none of them runs.
        """
        addresses = sorted({self._nannies[position].scheduler_addr for position in lost})
        logger.warning("workers have lost the supervisor at %s", ", ".join(addresses))
        pause, longest = _PAUSES
        while True:
            try:
                with self._addressed():
                    await self._join(lost)
            except NoSupervisor as error:
                if _over(others):
                    logger.error("%s", error)  # noqa: TRY400 - its traceback says no more
                    return False
                logger.warning("%s", error)
            except Exception as error:
                causes = _causes(error)
                why = error if isinstance(error, ConfigError) else repr(causes[-1])
                if any(isinstance(cause, _GONE) for cause in causes):
                    logger.warning("cannot join the supervisor at %s: %s", self.address, why)
                elif _over(others):
                    raise
                else:
                    logger.error("cannot restart workers: %s", why)  # noqa: TRY400
            else:
                return True
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    def _ends(self, positions: Iterable[int]) -> dict[asyncio.Future[None], int]:
        return {
            asyncio.ensure_future(self._nannies[position].finished()): position
            for position in positions
        }

    def _code(self) -> int:
        """Return the exit code of the first process that failed without being restarted."""
        for nanny in self._nannies.values():
            if nanny.exitcode and not nanny.restart_worker:
                return nanny.exitcode if nanny.exitcode > 0 else 128 - nanny.exitcode
        return CLEAN

    async def stop(self, signum: int) -> int:
        """Leave the cluster in order, and end every process."""
        reason = f"signal-{signum}"
        for nanny in self._nannies.values():
            nanny.close_gracefully(reason=reason)  # processes that end now are not restarted
        await self._drain()
        closing = [nanny.close(timeout=CLOSE, reason=reason) for nanny in self._nannies.values()]
        await asyncio.gather(*closing)
        self._claims.close()
        self._readiness.close()
        # KubeDL restarts a worker after this exit code only.
        return 128 + signum if signum == signal.SIGTERM else CLEAN

    async def _drain(self, patience: float | None = DRAIN, *, remove: bool = True) -> None:
        nannies = [nanny for nanny in self._nannies.values() if nanny.worker_address]
        addresses = [nanny.worker_address for nanny in nannies]
        if not addresses:
            return
        arguments = self.settings.security.get_connection_args("worker")
        try:
            address = nannies[0].scheduler_addr
            async with rpc(address, connection_args=arguments) as supervisor:
                retiring = supervisor.retire_workers(
                    workers=addresses, close_workers=False, remove=remove
                )
                await asyncio.wait_for(retiring, patience)
        except Exception as error:  # noqa: BLE001 - nothing may keep the processes from ending
            why = "timed out" if isinstance(error, TimeoutError) else error
            logger.warning("could not move all results to other workers: %s", why)


def _over(ends: Iterable[asyncio.Future[None]]) -> bool:
    return all(end.done() for end in ends)


def _ended(code: int) -> str:
    """Say how a worker process ended that had not joined yet."""
    how = f"with code {code}" if code > 0 else f"by signal {-code}"
    return f"a worker process ended {how} while it started; what it said stands above"


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, the first cause last."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    return chain


def memory_config(resources: Resources) -> dict[str, Any]:
    """Return Mars's limits as the configuration of each process."""
    target = min(SOFT, resources.cache / resources.memory)
    nbytes = resources.config.get("marsdask.shared.limit", resources.cache)
    return {
        "distributed.worker.memory.target": target,
        "distributed.worker.memory.spill": (target + SOFT) / 2,
        "distributed.worker.memory.pause": SOFT,
        "distributed.worker.memory.terminate": HARD,
        "marsdask.shared.limit": nbytes // resources.processes,
    }


def worker_options(
    settings: Settings,
    resources: Resources,
    cores: list[int] | None,
    host: MemoryLedger | None = None,
) -> list[dict[str, Any]]:
    """Return the arguments of each worker process."""
    shares = binding.share(cores, resources.processes) if cores is not None else None
    ports = settings.ports + [0] * resources.processes
    options = []
    for position, nthreads in enumerate(resources.threads):
        arguments: dict[str, Any] = {
            "host": settings.host,
            "worker_port": ports[position],
            "nthreads": nthreads,
            "memory_limit": resources.memory // resources.processes,
            "security": settings.security,
            "restart_worker": not settings.given.disable_proc_recover,
            "io_threads": resources.io_threads,
            "io_parallel": resources.io_parallel,
        }
        if settings.token is not None:
            arguments["token"] = settings.token
        if settings.advertise is not None:
            arguments["advertise"] = settings.advertise
        if name := os.environ.get(_NAME):
            arguments["name"] = f"{name}-{position}" if resources.processes > 1 else name
        if host is not None:
            arguments["ledger"] = host.path, position
        if shares is not None:
            arguments["cores"] = shares[position]
        if resources.spill_dirs:
            arguments["spill_dirs"] = resources.spill_dirs
        options.append(arguments | _devices(resources.devices, position, resources.processes))
    return options


def _devices(devices: list[str] | None, position: int, processes: int) -> dict[str, Any]:
    if devices is None:
        return {}
    mine = devices[position::processes]
    resources = {"resources": {"GPU": float(len(mine))}} if mine else {}
    return {"env": {"CUDA_VISIBLE_DEVICES": ",".join(mine)}, **resources}


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run the workers of this host."""
    name = prog or os.path.basename(sys.argv[0])
    settings = read("worker", name, argv)
    return serve(name, lambda: WorkerService(settings))


if __name__ == "__main__":
    sys.exit(main(prog="mars-worker"))
