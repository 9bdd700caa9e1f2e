"""Log records: lines of JSON for programs that collect logs, and a limit for what repeats."""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

#: The value of ``--log-format`` that asks for it.
NAME: Final = "json"

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


class JsonFormatter(logging.Formatter):
    """Writes one object a line: time, level, logger, message, process, and the error if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields: dict[str, Any] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(
                "T", "milliseconds"
            ),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


def configuration(loggers: Iterable[str], level: str) -> dict[str, Any]:
    """Return what ``logging.config.dictConfig`` reads, in processes of workers too."""
    settings = {"level": level.upper(), "handlers": [NAME], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {NAME: {"class": f"{__name__}.{JsonFormatter.__qualname__}"}},
        "filters": {NAME: {"()": f"{__name__}.{LogLimit.__qualname__}"}},
        "handlers": {
            NAME: {"class": "logging.StreamHandler", "formatter": NAME, "filters": [NAME]}
        },
        "loggers": dict.fromkeys(loggers, settings),
    }
