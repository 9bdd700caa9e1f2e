"""Convert the arguments of a Dask ``get`` to tasks, and flat results to nested results."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from dask._task_spec import convert_legacy_graph
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import GraphNode

from .base import KEPT, Key
from .order import plan


def materialize(dsk: Any) -> dict[Key, Any]:
    """Return the plain dict of a mapping, a ``HighLevelGraph``, an ``Expr`` or a collection."""
    if not isinstance(dsk, Mapping) and hasattr(dsk, "__dask_graph__"):
        dsk = dsk.__dask_graph__()
    if not isinstance(dsk, Mapping):
        raise TypeError(f"expected a Dask graph, not {type(dsk).__name__}")
    return dict(dsk)


def to_tasks(dsk: Any) -> dict[Key, GraphNode]:
    """Return the graph with every value a ``GraphNode``.

    Legacy tuples become tasks, and other values become data. A key that is an alias of itself (a
    persisted result) is dropped, because the scheduler holds it already.
    """
    tasks: dict[Key, GraphNode] = convert_legacy_graph(materialize(dsk))
    return tasks


def sizes_of(dsk: Any) -> dict[Key, int]:
    """Return the bytes of the results whose sizes the layers of a graph know."""
    if isinstance(dsk, HighLevelGraph):
        layers = [(layer, (layer.annotations or {}).get(KEPT)) for layer in dsk.layers.values()]
        sizes = {
            key: size_of(key) for layer, size_of in layers if callable(size_of) for key in layer
        }
    else:
        annotations = getattr(dsk, "__dask_annotations__", None)
        sizes = {} if annotations is None else annotations().get(KEPT, {})
    return {key: nbytes for key, nbytes in sizes.items() if nbytes}


def flatten(keys: Any) -> Iterator[Key]:
    """Yield the keys of nested lists; a tuple is a key."""
    if isinstance(keys, list):
        for key in keys:
            yield from flatten(key)
    else:
        yield keys


def nest(keys: Any, values: Mapping[Key, Any]) -> Any:
    """Return the values in the shape of ``keys``, as Dask does: lists become tuples."""
    if isinstance(keys, list):
        return tuple(nest(key, values) for key in keys)
    return values[keys]


def cull(
    graph: Mapping[Key, GraphNode], keys: Sequence[Key], held: Container[Key]
) -> tuple[dict[Key, GraphNode], set[Key]]:
    """Return the part of the graph that has to run for ``keys``, and the held keys that it needs.

    Raises for cycles, and for keys that are neither defined nor held, like
    :func:`~.order.plan`.
    """
    tasks = {key: graph[key] for key in plan(graph, keys, held)}
    inputs = {key for key in keys if key not in tasks}
    for node in tasks.values():
        inputs.update(key for key in node.dependencies if key not in tasks)
    return tasks, inputs
