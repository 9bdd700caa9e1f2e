"""Schedulers by name, and the other values that specify a scheduler."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .base import Scheduler
from .errors import UnknownScheduler, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "marsdask.schedulers"

Factory = Callable[..., Scheduler]

#: Modules are imported on first use: most programs need one of them.
_BUILTIN = {
    "inline": ("inprocess.inline", "InlineScheduler"),
    "threads": ("inprocess.threads", "ThreadsScheduler"),
    "processes": ("inprocess.processes", "ProcessesScheduler"),
    "synchronous": ("inprocess.inline", "SynchronousScheduler"),
    "dask": ("dask", "DaskScheduler"),
    "supervisor": ("remote.client", "SupervisorScheduler"),
}

#: Dask's names for these schedulers.
_ALIASES = {
    "threading": "threads",
    "multiprocessing": "processes",
    "sync": "synchronous",
    "single-threaded": "synchronous",
    "distributed": "dask",
}

_registered: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Let ``create(name, **options)`` call ``factory(**options)``, also for a known name."""
    _registered[name] = factory


def names() -> tuple[str, ...]:
    """Return every known name: built in, registered here, or installed as an entry point."""
    installed = (entry.name for entry in _installed())
    return tuple(sorted({*_BUILTIN, *_registered, *installed}))


def _installed() -> EntryPoints:
    from importlib import metadata

    return metadata.entry_points(group=ENTRY_POINTS)


def _factory(name: str) -> Factory:
    if name in _registered:
        return _registered[name]
    if name in _BUILTIN:
        module, attribute = _BUILTIN[name]
        loaded = importlib.import_module(f".{module}", __package__)
        return getattr(loaded, attribute)  # type: ignore[no-any-return]
    for entry in _installed().select(name=name):
        return entry.load()  # type: ignore[no-any-return]
    raise UnknownScheduler(name, names())


def create(name: str, **options: Any) -> Scheduler:
    """Return a new scheduler; its constructor gets the options."""
    return _call(_factory(_ALIASES.get(name, name)), name, options)


def _call(factory: Factory, name: str, options: dict[str, Any]) -> Scheduler:
    """Call a constructor; raise TypeError for an option that it lacks."""
    parameters = inspect.signature(factory).parameters
    if not any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values()):
        for option in options:
            if option not in parameters:
                hint = did_you_mean(option, parameters) or f"; choose from {', '.join(parameters)}"
                raise TypeError(f"scheduler {name!r} got an unexpected option {option!r}{hint}")
    return factory(**options)


def _is_client(obj: Any) -> bool:
    # A client exists only if distributed is imported, and importing it takes half a second.
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(obj, distributed.Client)


def _on_cluster(cluster: Any, options: dict[str, Any]) -> Scheduler:
    """Return the scheduler for a client or an address: supervisors compile by themselves."""
    if getattr(cluster, "asynchronous", False):  # its own loop cannot wait for it
        return create("dask", client=cluster, **options)
    dask = importlib.import_module(".dask", __package__)
    identity = dask.identity(cluster, options.get("connect_timeout", dask.PATIENCE))
    if "marsdask" in identity:
        return create("supervisor", address=cluster, **options)
    return create("dask", client=cluster, **options)


def resolve(obj: Any = None, **options: Any) -> Scheduler:
    """Return the scheduler that ``obj`` specifies.

    ``obj`` is a scheduler (returned unchanged), a name, an address, a ``distributed.Client``, a
    Dask ``get`` function, or ``None`` for the default. An address is like ``"tcp://host:8786"`` or,
    for a web service, ``"http://host:7005"``. The caller closes the scheduler.
    """
    if obj is None:
        return create("threads", **options)
    if isinstance(obj, str):
        if obj.startswith(("http://", "https://")):
            return create("supervisor", address=obj, **options)
        if "://" in obj:
            return _on_cluster(obj, options)
        return create(obj, **options)
    if _is_client(obj):
        return _on_cluster(obj, options)
    if isinstance(obj, Scheduler) and not isinstance(obj, type):
        return obj
    if callable(obj):
        module = importlib.import_module(".callable", __package__)
        return module.CallableScheduler(obj, **options)  # type: ignore[no-any-return]
    raise TypeError(f"expected a scheduler, a name, a client or a Dask get, not {obj!r}")
