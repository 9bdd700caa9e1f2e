"""Dask ``get`` functions: ``dask.compute(x, scheduler=marsdask.scheduler.get)``.

Each scheduler is created at the first call and reused. It holds results only until the call
returns. :func:`limited_by` says which limits it has; results that exceed them are refused before
anything runs, as far as the layers of the graph say how large they are (``mars_kept``).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import dask.config
from dask.task_spec import GraphNode
from dask.utils import key_split

from . import limits, registry
from .base import Callback, Key, KnowsMachine, Scheduler, TaskGraph
from .callbacks import observing
from .dask_graph import flatten, nest, sizes_of, to_tasks
from .errors import ResultsTooLarge

#: The name of the constructor's argument for the number of workers.
_WORKERS = {"threads": "nthreads", "processes": "nprocesses"}


#: What Dask's :meth:`dask.base.compute` calls the task that puts a collection together.
_FINAL = "finalize-"

Limits = Mapping[str, Any]


class _SharedScheduler:
    """A scheduler, the limits that it was made with, and the graphs that run on it."""

    def __init__(self, scheduler: Scheduler, bounds: Limits) -> None:
        self.scheduler = scheduler
        self.bounds = bounds
        self.running: dict[int, Mapping[Key, GraphNode]] = {}


# One entry per process: a forked child inherits the table, but not the threads.
_shared: dict[tuple[int, str, int | None], _SharedScheduler] = {}
_lock = threading.Lock()


_current_limits: Callable[[], Limits] = dict


def limited_by(current: Callable[[], Limits]) -> None:
    """Take the arguments of later ``threads`` schedulers from a function, at each call of a get."""
    global _current_limits  # noqa: PLW0603 - a process has one default session
    _current_limits = current


def _create(name: str, workers: int | None, bounds: Limits) -> Scheduler:
    options = {_WORKERS[name]: workers} if workers and name in _WORKERS else {}
    return registry.create(name, **options, **bounds)


@contextlib.contextmanager
def _lease(name: str, workers: int | None, graph: Mapping[Key, GraphNode]) -> Iterator[Scheduler]:
    """Return the shared scheduler, or another one if a running graph has a key of this graph.

    A scheduler treats equal keys as equal tasks, but two calls of ``get`` may use one key for
    different tasks.
    """
    bounds = _current_limits() if name == "threads" else {}
    outdated = None
    with _lock:
        common = _shared.get((os.getpid(), name, workers))
        if common is not None and common.bounds != bounds and not common.running:
            outdated, common = common, None
        if common is None:
            common = _SharedScheduler(_create(name, workers, bounds), bounds)
            _shared[os.getpid(), name, workers] = common
        free = common.bounds == bounds and all(
            graph.keys().isdisjoint(running) for running in common.running.values()
        )
        if free:
            common.running[id(graph)] = graph
    if outdated is not None:
        outdated.scheduler.close()
    if free:
        try:
            yield common.scheduler
        finally:
            with _lock:
                del common.running[id(graph)]
    else:
        scheduler = _create(name, workers, bounds)
        try:
            yield scheduler
        finally:
            scheduler.close()


def _run(
    name: str,
    workers: int | None,
    graph: Mapping[Key, GraphNode],
    keys: list[Key],
    sizes: Mapping[Key, int],
    callbacks: Iterable[Callback] = (),
) -> dict[Key, Any]:
    with _lease(name, workers, graph) as scheduler:
        _check_sizes(scheduler, keys, sizes)
        handle = scheduler.submit(graph, keys, callbacks=callbacks)
        try:
            handle.wait()
            return dict(zip(keys, scheduler.gather(keys), strict=True))
        finally:
            handle.cancel()
            scheduler.release(keys)


def _run_all(
    name: str,
    workers: int | None,
    graph: Mapping[Key, GraphNode],
    keys: Sequence[Key],
    sizes: Mapping[Key, int],
) -> dict[Key, Any]:
    """Run a graph; the caller puts collections together, whose values are its own to hold."""
    final = {
        key: graph[key]
        for key in keys
        if isinstance(key, str) and key.startswith(_FINAL) and key in graph
    }
    parts = [key for node in final.values() for key in node.dependencies]
    outputs = list(dict.fromkeys([*(key for key in keys if key not in final), *parts]))
    _check_together(final, sizes)
    values = _run(name, workers, graph, outputs, sizes)
    return values | {key: node(values) for key, node in final.items()}


def _check_sizes(scheduler: Scheduler, keys: Iterable[Key], sizes: Mapping[Key, int]) -> None:
    """Refuse results that a scheduler cannot hold until they are returned."""
    nbytes = {key: sizes[key] for key in keys if key in sizes}
    machine = scheduler.machine() if nbytes and isinstance(scheduler, KnowsMachine) else None
    if machine is None or machine.spill is None:
        return
    room = (machine.memory or 0) + machine.spill
    if sum(nbytes.values()) > room:
        raise _too_large(nbytes, room, "the scheduler's memory and spill directories")


def _check_together(final: TaskGraph, sizes: Mapping[Key, int]) -> None:
    """Refuse collections that this process cannot hold."""
    nbytes = {
        key: sizes[key] for node in final.values() for key in node.dependencies & sizes.keys()
    }
    if nbytes and sum(nbytes.values()) > (room := limits.memory()):
        raise _too_large(nbytes, room, "this process's memory")


def _too_large(known: Mapping[Any, int], room: int, where: str) -> ResultsTooLarge:
    largest = max(known, key=known.__getitem__)
    name = key_split(largest)
    advice = "reduce it, or write it with to_zarr() or to_parquet()"
    return ResultsTooLarge(name, sum(known.values()), room, where, advice)


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
    outputs = list(dict.fromkeys(flatten(keys)))
    graph, sizes = to_tasks(dsk), sizes_of(dsk)
    workers = _workers(num_workers, pool)
    with observing(callbacks) as observers:
        try:
            if observers:  # which are told of each task
                values = _run(name, workers, graph, outputs, sizes, observers)
            else:
                values = _run_all(name, workers, graph, outputs, sizes)
        except Exception:
            if not rerun or name == "synchronous":
                raise
            values = _run("synchronous", None, graph, outputs, sizes)
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


get: Final = get_threads
