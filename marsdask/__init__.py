"""Mars on Dask task graphs: ``import marsdask`` where a program imported ``mars`` or ``dask``."""

import functools
import importlib
import os
from typing import Any

from dask import annotate, delayed
from dask.base import is_dask_collection, tokenize

from . import config, session
from .core.collection import Collection, ExecutableTuple, execute, fetch, fetch_log
from .core.config import describe_option, get_option, option_context, options, set_option
from .core.registry import register_package
from .core.session import (
    Session,
    current_bounds,
    get_default_session,
    new_session,
    stop_server,
)
from .dask_verbs import compute, optimize, persist, visualize
from .scheduler.get import limited_by

# Dask's verbs, which run plain graphs, are to keep the limits of sessions, too.
limited_by(current_bounds)

# Sessions make mutable tensors, and tensors make frames.
for _package in ("tensor", "dataframe", "remote"):
    register_package(_package, functools.partial(importlib.import_module, f"marsdask.{_package}"))
register_package("marsdask", functools.partial(importlib.import_module, "marsdask"))

__version__ = "0.1.0"

#: Imported when first used: a tensor program needs no pandas.
_LAZY = ("compat", "dataframe", "deploy", "learn", "remote", "scheduler", "tensor")

__all__ = [
    "Collection",
    "ExecutableTuple",
    "Session",
    "annotate",
    "compute",
    "config",
    "delayed",
    "describe_option",
    "execute",
    "fetch",
    "fetch_log",
    "get_default_session",
    "get_option",
    "is_dask_collection",
    "new_session",
    "optimize",
    "option_context",
    "options",
    "persist",
    "session",
    "set_option",
    "stop_server",
    "tokenize",
    "visualize",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, "__version__"})


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Children of a process that has the alias of Mars's name get it, too.
if "MARSDASK_ALIAS" in os.environ:
    importlib.import_module(f"{__name__}.compat.alias").install_as_parent()
