"""Dask ``get`` functions: ``dask.compute(x, scheduler=marsdask.scheduler.get)``.

Each scheduler is created at the first call and reused. It holds results only until the call
returns.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dask.config
from dask.task_spec import GraphNode

from . import registry
from .base import Callback, Key, Scheduler
from .dask_graph import flatten, nest, to_tasks
from .observe import observing

#: The name of the constructor's argument for the number of workers.
_WORKERS = {"threads": "nthreads", "processes": "nprocesses"}


class _Shared:
    """A scheduler and the graphs that run on it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.running: dict[int, Mapping[Key, GraphNode]] = {}


# One entry per process: a forked child inherits the table, but not the threads.
_shared: dict[tuple[int, str, int | None], _Shared] = {}
_lock = threading.Lock()


def _create(name: str, workers: int | None) -> Scheduler:
    options = {_WORKERS[name]: workers} if workers and name in _WORKERS else {}
    return registry.create(name, **options)


@contextlib.contextmanager
def _lease(name: str, workers: int | None, graph: Mapping[Key, GraphNode]) -> Iterator[Scheduler]:
    """Return the shared scheduler, or another one if a running graph has a key of this graph.

    A scheduler treats equal keys as equal tasks, but two calls of ``get`` may use one key for
    different tasks.
    """
    with _lock:
        shared = _shared.get((os.getpid(), name, workers))
        if shared is None:
            shared = _Shared(_create(name, workers))
            _shared[os.getpid(), name, workers] = shared
        free = all(graph.keys().isdisjoint(other) for other in shared.running.values())
        if free:
            shared.running[id(graph)] = graph
    if free:
        try:
            yield shared.scheduler
        finally:
            with _lock:
                del shared.running[id(graph)]
    else:
        scheduler = _create(name, workers)
        try:
            yield scheduler
        finally:
            scheduler.close()


def _run(
    name: str,
    workers: int | None,
    graph: Mapping[Key, GraphNode],
    keys: list[Key],
    callbacks: Iterable[Callback] = (),
) -> dict[Key, Any]:
    with _lease(name, workers, graph) as scheduler:
        handle = scheduler.submit(graph, keys, callbacks=callbacks)
        try:
            handle.wait()
            return dict(zip(keys, scheduler.gather(keys), strict=True))
        finally:
            handle.cancel()
            scheduler.release(keys)


def _workers(num_workers: int | None, pool: Any) -> int | None:
    """Return the number of workers that Dask's options request; only the size of a pool counts."""
    size = num_workers or dask.config.get("num_workers", None)
    if size is None:
        pool = pool if pool is not None else dask.config.get("pool", None)
        size = getattr(pool, "_max_workers", None) or getattr(pool, "_processes", None)
    return size


def _get(
    name: str,
    dsk: Any,
    keys: Any,
    *,
    num_workers: int | None = None,
    pool: Any = None,
    callbacks: Any = None,
    rerun_exceptions_locally: bool | None = None,
    **_: Any,
) -> Any:
    rerun = rerun_exceptions_locally
    if rerun is None:
        rerun = dask.config.get("rerun_exceptions_locally", False)
    wanted = list(dict.fromkeys(flatten(keys)))
    graph = to_tasks(dsk)
    workers = _workers(num_workers, pool)
    with observing(callbacks) as observers:
        try:
            values = _run(name, workers, graph, wanted, observers)
        except Exception:
            if not rerun or name == "synchronous":
                raise
            values = _run("synchronous", None, graph, wanted)
    return nest(keys, values)


def get_threads(dsk: Any, keys: Any, **kwargs: Any) -> Any:
    """Compute ``keys`` of a Dask graph on the ``threads`` scheduler.

    Takes the arguments of ``dask.threaded.get``; only the size of ``pool`` is used.
    """
    return _get("threads", dsk, keys, **kwargs)


def get_processes(dsk: Any, keys: Any, **kwargs: Any) -> Any:
    """Compute ``keys`` of a Dask graph in other processes; scripts need no ``__main__`` guard."""
    return _get("processes", dsk, keys, **kwargs)


def get_sync(dsk: Any, keys: Any, **kwargs: Any) -> Any:
    """Compute ``keys`` of a Dask graph in the calling thread, for debugging."""
    return _get("synchronous", dsk, keys, **kwargs)


get = get_threads
