"""Timers that go on when the clock of a host is set back.

tornado's periodic callbacks and distributed's batched streams wait until a time of that clock. When
it is set back by an hour, they wait for an hour: no heartbeats are sent, and no messages.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from distributed import Client
from distributed.batched import BatchedSend
from tornado.ioloop import PeriodicCallback

logger: Final = logging.getLogger(__name__)

#: Seconds between two looks at the clock.
_PAUSE = 1.0

#: Seconds by which the clock must be set back: shorter waits do no harm.
_STEP = 1.0


class ClockWatch(PeriodicCallback):
    """One of a server's periodic ``callbacks``, which starts the others again, and wakes streams.

    It waits for the event loop's own clock, which is never set.
    """

    def __init__(
        self,
        callbacks: dict[str, PeriodicCallback],
        streams: Callable[[], Iterable[BatchedSend | None]] = tuple,
    ) -> None:
        super().__init__(self.look, _PAUSE * 1000)
        self._callbacks, self._streams = callbacks, streams
        self._ahead = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look at the clock."""
        self.stop()
        self._ahead = time.time() - time.monotonic()
        self._wait()

    def stop(self) -> None:
        """Stop looking at it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def is_running(self) -> bool:
        """Return whether it looks at the clock."""
        return self._timer is not None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._look_again)

    def _look_again(self) -> None:
        self._wait()
        self.look()

    def look(self) -> None:
        """Let go what waits for a time that is far ahead now."""
        now = time.time()
        for stream in self._streams():
            if stream is not None and (stream.next_deadline or now) > now + _STEP:
                stream.next_deadline = None
                stream.waker.set()
        before, self._ahead = self._ahead, now - time.monotonic()
        if self._ahead < before - _STEP:
            logger.warning("the clock was set back by %d s", before - self._ahead)
            self._restart()

    def _restart(self) -> None:
        for name, old in list(self._callbacks.items()):
            if old is not self and old.is_running():
                # It may be at work, and would schedule itself at its end.
                old.stop()
                new = PeriodicCallback(old.callback, old.callback_time, old.jitter)
                self._callbacks[name] = new
                new.start()


def watch(
    callbacks: dict[str, PeriodicCallback],
    streams: Callable[[], Iterable[BatchedSend | None]] = tuple,
) -> None:
    """Add a watch to the periodic callbacks of a server or client, which starts and stops them."""
    callbacks["marsdask-clock"] = ClockWatch(callbacks, streams)


def watch_client(client: Client) -> None:
    """Add a watch to a client of distributed that has been started."""
    callbacks = client._periodic_callbacks
    watch(callbacks, lambda: [client.scheduler_comm])
    callbacks["marsdask-clock"].start()
