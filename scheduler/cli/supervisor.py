"""``mars-supervisor`` and ``mars-scheduler``, two names of one command."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final

from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

from ..cluster.arbiter import Arbiter, configured
from ..cluster.autoscale import AutoscaleLimits
from ..cluster.leader import timeout
from ..cluster.scaling import Scaler
from ..supervisor import Supervisor
from ..supervisor.compilation.processes import by_default
from . import discovery, sizes
from .readiness import ReadinessServer
from .serve import CLEAN, report, serve
from .settings import Settings, read
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: Seconds after the start until the first job's process is prepared, unless the job comes first.
_QUIET = 2.0

#: Makes an arbiter of the seconds after which a supervisor counts as dead.
NewArbiter = Callable[[float], Arbiter | None]


class SupervisorService:
    """A supervisor in this process."""

    def __init__(
        self,
        settings: Settings,
        scaler: Scaler | None = None,
        arbiter: NewArbiter | None = None,
        plugins: Sequence[SchedulerPlugin] = (),
    ) -> None:
        self.settings = settings
        self._scaler = scaler
        self._plugins = plugins
        patience = timeout()
        self._arbiter = configured(patience) or (arbiter and arbiter(patience))
        settings.tell_spare_ports(1)
        try:
            AutoscaleLimits.configured()
        except ValueError as error:
            raise ConfigError(str(error)) from None
        self._announced = ExitStack()
        self._readiness = ReadinessServer.start(self, settings.host)
        self.supervisor = self._supervisor()
        if settings.given.n_process is not None:
            logger.info("ignoring --n-process: a supervisor is one process")

    def _supervisor(self) -> Supervisor:
        settings = self.settings
        values = settings.given
        port, *surplus = sizes.parse_ports(values.web_port or "0")
        if surplus:
            raise ConfigError(f"invalid -w: {values.web_port!r}; a supervisor has one web port")
        web = (settings.web_host, port)
        supervisors = [] if values.disable_failover else settings.supervisors
        supervisor = Supervisor(
            host=f"{settings.scheme}://{settings.host}",
            port=settings.port,
            web=web,
            advertise=settings.advertise,
            security=settings.security,
            supervisors=supervisors,
            token=settings.token,
            scaler=self._scaler,
            arbiter=self._arbiter,
            authority=None if settings.secure is None else settings.secure.authority,
            compile_processes=by_default(),
        )
        if port and supervisor.http_server.port != port:
            raise ConfigError(f"web port {port} is in use; choose another with -w")
        for plugin in self._plugins:
            supervisor.add_plugin(plugin)
        return supervisor

    async def start(self) -> None:
        """Start the supervisor and report its address."""
        try:
            await self.supervisor
        except RuntimeError as error:  # distributed raises it for any cause
            if not isinstance(error.__cause__, OSError):
                raise
            where = f"{self.settings.host}:{self.settings.port}"
            raise ConfigError(
                f"cannot listen at {where} ({error.__cause__}); choose another with -H, -p or -e"
            ) from error
        asyncio.get_running_loop().call_later(_QUIET, self.supervisor.jobs.prepare)
        endpoint = self.supervisor.address
        self._announced.enter_context(discovery.announced(endpoint))
        report(f"Mars Supervisor started at {endpoint}")
        report(f"Mars Web started at {self.supervisor.web_address}")
        if self.settings.secure is not None:
            host, _, port = endpoint.rpartition("://")[2].rpartition(":")  # IPv6 in brackets
            web = self.supervisor.http_server.port
            report("Join this cluster:", *self.settings.secure.lines(host, int(port), web))

    @property
    def ready(self) -> bool:
        """Whether the supervisor answers, be it the active one or a standby."""
        return self.supervisor.status is Status.running

    async def retire(self) -> None:
        """Do nothing: other supervisors take over once this one has ended."""

    async def finished(self) -> int:
        """Wait until the supervisor is closed; one that lost its role becomes a standby instead."""
        await self.supervisor.finished()
        while self.supervisor.deposed:
            self._announced.close()
            self.supervisor = self._supervisor()
            await self.start()
            await self.supervisor.finished()
        self._announced.close()
        return CLEAN

    async def stop(self, signum: int) -> int:
        """Close the supervisor and its workers' connections."""
        self._announced.close()
        await self.supervisor.close(reason=f"signal-{signum}")
        self._readiness.close()
        return CLEAN


def main(
    argv: Sequence[str] | None = None,
    prog: str | None = None,
    scaler: Scaler | None = None,
    arbiter: NewArbiter | None = None,
    plugins: Sequence[SchedulerPlugin] = (),
) -> int:
    """Run a supervisor.

    ``scaler`` changes the number of its workers, and ``arbiter`` makes what decides between several
    supervisors, unless the configuration names a file. ``plugins`` are told what happens.
    """
    name = prog or os.path.basename(sys.argv[0])
    settings = read("supervisor", name, argv)
    return serve(name, lambda: SupervisorService(settings, scaler, arbiter, plugins))


if __name__ == "__main__":
    sys.exit(main(prog="mars-supervisor"))
