"""Logging of the commands and of the worker processes that they start."""

from __future__ import annotations

import logging
import logging.config
import os
import sys
from collections.abc import MutableMapping

from . import json_logs
from .sizes import ConfigError

#: Loggers of the commands; distributed configures all others.
LOGGERS = ("marsdask", "distributed")

_FORMAT = "%(asctime)s - %(name)s - %(levelname)s - %(message)s"
_LEVELS = ("debug", "info", "warning", "error", "critical")

#: The variable that tells distributed about the file; its key has no underscores.
_FILE_VARIABLE = "DASK_DISTRIBUTED__LOGGING-FILE-CONFIG"


def configure(
    level: str | None,
    form: str | None,
    conf: str | None,
    environ: MutableMapping[str, str] = os.environ,
) -> None:
    """Set up logging here and, through the environment, in child processes.

    ``conf`` is a file for ``logging.config``. By default ``logging.conf`` in the working directory
    is used if it exists. The file sets the level and the format. The format ``json`` writes a line
    of JSON for each record.
    """
    chosen = (level or "info").lower()
    if chosen not in _LEVELS:
        raise ConfigError(f"invalid --log-level: {level!r}; choose from {', '.join(_LEVELS)}")
    path = conf or ("logging.conf" if os.path.isfile("logging.conf") else None)
    if path is not None:
        _forget_distributed()
        try:
            logging.config.fileConfig(path, disable_existing_loggers=False)
        except Exception as error:  # noqa: BLE001 - the file contains expressions
            raise ConfigError(f"cannot read the logging configuration {path}: {error}") from None
        environ[_FILE_VARIABLE] = os.path.abspath(path)
        return
    if form == json_logs.NAME:
        config = json_logs.configuration(LOGGERS, chosen)
        logging.config.dictConfig(config)
        # Dask's configuration reads literals of Python.
        environ["DASK_LOGGING"] = repr(config)
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(form or _FORMAT))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(chosen.upper())
        logger.handlers = [handler]
        logger.propagate = False
    # A worker process reads these when it imports distributed.
    environ["DASK_LOGGING__DISTRIBUTED"] = environ["DASK_LOGGING__MARSDASK"] = chosen
    environ["DASK_DISTRIBUTED__ADMIN__LOG_FORMAT"] = form or _FORMAT


def _forget_distributed() -> None:
    """Undo the logging that distributed set up on import: the file configures its loggers."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] == "distributed":
            logger.handlers, logger.propagate = [], True
            logger.setLevel(logging.NOTSET)
