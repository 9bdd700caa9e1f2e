"""Log records as lines of JSON, for programs that collect logs."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Iterable
from typing import Any, Final

from .log_limit import LogLimit

#: The value of ``--log-format`` that asks for it.
NAME: Final = "json"


class JsonFormatter(logging.Formatter):
    """Writes one object a line: time, level, logger, message, process, and the error if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        found: dict[str, Any] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(
                "T", "milliseconds"
            ),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info:
            found["error"] = self.formatException(record.exc_info)
        return json.dumps(found, ensure_ascii=False)


def configuration(loggers: Iterable[str], level: str) -> dict[str, Any]:
    """Return what ``logging.config.dictConfig`` reads, in processes of workers too."""
    one = {"level": level.upper(), "handlers": [NAME], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {NAME: {"class": f"{__name__}.{JsonFormatter.__qualname__}"}},
        "filters": {NAME: {"()": f"{LogLimit.__module__}.{LogLimit.__qualname__}"}},
        "handlers": {
            NAME: {"class": "logging.StreamHandler", "formatter": NAME, "filters": [NAME]}
        },
        "loggers": dict.fromkeys(loggers, one),
    }
