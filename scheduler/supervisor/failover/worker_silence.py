"""For how long workers have not been heard, without the time for which nobody listened.

distributed compares the clock with the time of the last heartbeat. After the supervisor was frozen,
or its clock was set ahead, it would restart all workers: their heartbeats wait in its sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distributed.metrics import monotonic, time
from distributed.scheduler import heartbeat_interval
from tornado.ioloop import PeriodicCallback

#: Looks at the workers within their time to live.
_LOOKS = 10

#: Part of the time to live that counts between two looks at most.
_MOST = 2 / _LOOKS


class WorkerSilence:
    """Corrects when the workers of ``scheduler`` were last seen, each time before it looks.

    A silent worker is restarted by the same clock as ever if the supervisor listens all the time.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._looked = monotonic()
        self._listened = 0.0
        """Seconds for which the supervisor has listened."""
        self._heard: dict[str, tuple[float, float]] = {}
        """By worker: when it was last seen, and how long the supervisor had listened then."""
        if scheduler.worker_ttl:
            self._look_often()

    def _look_often(self) -> None:
        interval = max(self._scheduler.worker_ttl / _LOOKS, heartbeat_interval(0))
        look = PeriodicCallback(self._scheduler.check_worker_ttl, interval * 1000)
        self._scheduler.periodic_callbacks["worker-ttl"] = look

    def correct(self) -> None:
        """Set the times of workers that would otherwise be judged by other than their silence."""
        workers: Mapping[str, Any] = self._scheduler.workers
        ttl = max(self._scheduler.worker_ttl, 10 * heartbeat_interval(len(workers)))
        before, self._looked, now = self._looked, monotonic(), time()
        self._listened += min(self._looked - before, ttl * _MOST)
        heard, self._heard = self._heard, {}
        for address, ws in workers.items():
            last, listened = heard.get(address, (None, 0.0))
            if last != ws.last_seen:
                listened = self._listened
            silent = self._listened - listened
            if abs(now - ws.last_seen - silent) > ttl * _MOST:
                ws.last_seen = now - silent
            self._heard[address] = ws.last_seen, listened
