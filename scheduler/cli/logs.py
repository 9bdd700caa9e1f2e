"""Logging of the commands and of the worker processes that they start."""

from __future__ import annotations

import logging
import logging.config
import os
import sys
from collections.abc import MutableMapping
from typing import Final

from ..storage.private_folder import is_sticky, others_write
from . import log_records
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: The file that is used without an option.
_DEFAULT: Final = "logging.conf"

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
    is used, if it exists and only this user or root can have written it. The file sets the level
    and the format. The format ``json`` writes a line of JSON for each record.
    """
    threshold = (level or "info").lower()
    if threshold not in _LEVELS:
        raise ConfigError(f"invalid --log-level: {level!r}; choose from {', '.join(_LEVELS)}")
    exists = conf is None and os.path.isfile(_DEFAULT)
    trusted = exists and _is_trusted(_DEFAULT)
    if conf is not None or trusted:
        _use_file(conf or _DEFAULT, environ)
    elif form == log_records.NAME:
        config = log_records.configuration(LOGGERS, threshold)
        logging.config.dictConfig(config)
        # Dask's configuration reads literals of Python.
        environ["DASK_LOGGING"] = repr(config)
    else:
        _use_format(form or _FORMAT, threshold, environ)
    if exists and not trusted:
        path = os.path.abspath(_DEFAULT)
        logger.warning("ignoring %s, which another user may have written; see --log-conf", path)


def _use_file(path: str, environ: MutableMapping[str, str]) -> None:
    _forget_distributed()
    try:
        logging.config.fileConfig(path, disable_existing_loggers=False)
    except Exception as error:  # noqa: BLE001 - the file contains expressions
        raise ConfigError(f"cannot read the logging configuration {path}: {error}") from None
    environ[_FILE_VARIABLE] = os.path.abspath(path)


def _use_format(form: str, level: str, environ: MutableMapping[str, str]) -> None:
    handler = logging.StreamHandler(sys.stderr)
    try:
        formatter = logging.Formatter(form)
        formatter.format(logging.makeLogRecord({}))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"invalid --log-format: {form!r} ({error}); give names of logging's attributes, such "
            f"as {_FORMAT!r}"
        ) from None
    handler.setFormatter(formatter)
    handler.addFilter(log_records.LogLimit())
    for name in LOGGERS:
        target = logging.getLogger(name)
        target.setLevel(level.upper())
        target.handlers = [handler]
        target.propagate = False
    # A worker process reads these when it imports distributed.
    environ["DASK_LOGGING__DISTRIBUTED"] = environ["DASK_LOGGING__MARSDASK"] = level
    environ["DASK_DISTRIBUTED__ADMIN__LOG_FORMAT"] = form


def _forget_distributed() -> None:
    """Undo the logging that distributed set up on import: the file configures its loggers."""
    for name, target in list(logging.root.manager.loggerDict.items()):
        if isinstance(target, logging.Logger) and name.partition(".")[0] == "distributed":
            target.handlers, target.propagate = [], True
            target.setLevel(logging.NOTSET)


def _is_trusted(path: str) -> bool:
    """Return whether only this user or root can have written a file: it contains expressions.

    In a sticky directory, such as ``/tmp``, nobody else can replace it, but for the owner.
    """
    if not hasattr(os, "geteuid"):
        return True
    file, folder = os.stat(path), os.stat(os.path.dirname(os.path.abspath(path)))
    owners = {file.st_uid, os.lstat(path).st_uid, folder.st_uid}
    if not owners <= {os.geteuid(), 0} or others_write(file):
        return False
    return is_sticky(folder) or not others_write(folder)
