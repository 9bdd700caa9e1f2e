"""A limit for log lines that repeat: whoever may cause them cannot fill the disk with them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

#: Maximum number of lines of one message in each period, and its length in seconds.
MOST, PERIOD = 300, 60.0

#: Maximum number of messages that are counted.
_MESSAGES: Final = 1000


class LogLimit(logging.Filter):
    """Lets through ``most`` records of one message in a period; the next one says how many not.

    Records have the same message if they differ only in its arguments.
    """

    def __init__(
        self,
        most: int = MOST,
        period: float = PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._most, self._period, self._clock = most, period, clock
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record."""
        key = (record.name, str(record.msg))
        with self._lock:
            start, count = self._counts.get(key, (self._clock(), 0))
            omitted = 0
            if self._clock() - start >= self._period:
                omitted, start, count = max(0, count - self._most), self._clock(), 0
            if key not in self._counts and len(self._counts) >= _MESSAGES:
                self._counts.clear()
            self._counts[key] = (start, count + 1)
        if omitted:
            record.msg = f"{record.msg} ({omitted:,} more lines of this kind were not logged)"
        return count < self._most
