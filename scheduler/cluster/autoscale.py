"""Change the number of workers by the load: more after a backlog, fewer after idle time."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import Any, Final

import dask.config
from dask.utils import parse_timedelta
from tornado.ioloop import PeriodicCallback

from .scaling import CannotScale

logger: Final = logging.getLogger(__name__)

#: Seconds between two looks at the load, and for new workers to join before another change.
_ROUND, _PATIENCE = 5.0, 300.0

_SECTION: Final = "marsdask.autoscale"


@dataclass(frozen=True)
class AutoscaleLimits:
    """How many hosts of workers there may be, and how long a load lasts before they change."""

    least: int
    most: int
    backlog: float = 20.0
    """Seconds in which more are needed, before more are started."""
    idle: float = 40.0
    """Seconds in which fewer are needed, before some end."""

    @classmethod
    def configured(cls) -> AutoscaleLimits | None:
        """Return those of the configuration, ``None`` if the number of workers is fixed."""
        settings: dict[str, Any] = dask.config.get(_SECTION, None) or {}
        settings = {name.replace("-", "_"): value for name, value in settings.items()}
        if not settings.get("enabled"):
            return None
        least = int(settings.get("min_workers", 1))
        most = int(settings.get("max_workers", least))
        if not 0 <= least <= most:
            raise ValueError(f"{_SECTION}: min-workers {least} exceeds max-workers {most}")
        backlog = parse_timedelta(settings.get("scheduler_backlog_timeout") or cls.backlog)
        idle = parse_timedelta(settings.get("worker_idle_timeout") or cls.idle)
        return cls(least, most, backlog, idle)


@dataclass
class AutoscalePolicy:
    """Decides from the load over time; it knows neither clocks nor clusters."""

    limits: AutoscaleLimits
    _since: float = 0.0
    _direction: int = 0
    _wanted: int = 0
    _asked: int | None = None
    _changed: float = 0.0

    def decide(self, now: float, asked: int, joined: int, wanted: int) -> int | None:
        """Return the number of hosts to ask for, if it should change now.

        ``asked`` is how many are asked for, ``joined`` how many of them have workers, and
        ``wanted`` how many the load would occupy.
        """
        limits = self.limits
        if asked != self._asked:
            self._asked, self._changed = asked, now
        if not limits.least <= asked <= limits.most:
            return max(limits.least, min(asked, limits.most))
        if asked != joined and now - self._changed < _PATIENCE:
            self._direction = 0
            return None  # the last change is under way
        wanted = max(limits.least, min(wanted, limits.most))
        direction = (wanted > asked) - (wanted < asked)
        if direction != self._direction:
            self._since, self._direction, self._wanted = now, direction, wanted
        # A peak asks for no more than what was needed all the time, and a lull keeps as many.
        self._wanted = min(self._wanted, wanted) if direction > 0 else max(self._wanted, wanted)
        patience = limits.backlog if direction > 0 else limits.idle
        if not direction or now - self._since < patience:
            return None
        self._direction = 0
        return self._wanted


class Autoscaler:
    """Applies the policy to the cluster of a supervisor that can rescale."""

    def __init__(self, server: Any, limits: AutoscaleLimits) -> None:
        self._server = server
        self._told: str | None = None
        self.policy = AutoscalePolicy(limits)

    async def look(self) -> None:
        """Compare the load with the number of hosts, and begin a change if it is time."""
        server = self._server
        rescaling = server.rescaling
        if not server.failover.active or rescaling.state in ("moving", "scaling"):
            return
        try:
            requested = await rescaling.scaler.count()
        except CannotScale as error:
            if str(error) != self._told:  # once, not every few seconds
                logger.warning("cannot tell the number of workers: %s", error)
            self._told = str(error)
            return
        present = len(rescaling.hosts())
        count = self.policy.decide(time.monotonic(), requested, present, self._wanted(present))
        if count is not None:
            logger.info("changing the number of hosts of workers from %d to %d", requested, count)
            rescaling.start(count)

    def _wanted(self, hosts: int) -> int:
        """Return how many hosts the load would occupy, by distributed's estimate of workers."""
        server = self._server
        if not server.workers or not hosts:
            return int(bool(server.unrunnable or server.queued))
        workers: int = server.adaptive_target()
        return math.ceil(workers * hosts / len(server.workers))


def start(server: Any) -> Autoscaler | None:
    """Begin to watch the load of a supervisor, if the configuration asks for that."""
    limits = AutoscaleLimits.configured()
    if limits is None:
        return None
    if server.rescaling.scaler is None:
        logger.warning("ignoring %s: nothing here starts and ends workers", _SECTION)
        return None
    autoscaler = Autoscaler(server, limits)
    callback = PeriodicCallback(autoscaler.look, _ROUND * 1000)
    server.periodic_callbacks["marsdask-autoscale"] = callback
    callback.start()
    return autoscaler
