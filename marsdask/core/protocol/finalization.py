"""Collections and values of the results that Dask has computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import DataNode, GraphNode

from ..dask.source import DaskGraph, FromDask, KeysOf
from ..node import MemoryOrder
from ..registry import class_of
from ..sizes import Chunks, Index


def finalize_several(
    results: Any, parts: Sequence[tuple[Any, ...]], make: Any, known: Mapping[int, Any]
) -> Any:
    """Put the computed chunks of a tuple of collections together, in their places."""
    values = [finalize(own, *part) for own, part in zip(results, parts, strict=True)]
    return (make or tuple)(_between(values, known))


def rebuild_several(
    graph: Mapping[Any, Any],
    parts: Sequence[tuple[Any, ...]],
    make: Callable[[Any], Any],
    known: Mapping[int, Any],
    *,
    rename: Mapping[str, str] | None = None,
) -> Any:
    """Return the tuple of collections over a graph that has their keys."""
    return make(_between([rebuild(graph, *part, rename=rename) for part in parts], known))


def _between(values: list[Any], known: Mapping[int, Any]) -> list[Any]:
    """Return the values with the known items at their positions."""
    for position in sorted(known):
        values.insert(position, known[position])
    return values


def finalize(results: Any, kind: Any, meta: Any, ndim: int, order: MemoryOrder = None) -> Any:
    """Concatenate the computed chunks of a collection, for ``__dask_postcompute__``."""
    blocks: dict[Index, Any] = {}
    if ndim == 0:
        blocks[()] = results[0]
    else:
        _collect(results, (), ndim, blocks)
    how = {} if order is None else {"order": order}
    return kind._assemble(blocks, meta, owned=False, **how)


def _collect(results: Any, prefix: Index, ndim: int, blocks: dict[Index, Any]) -> None:
    for position, item in enumerate(results):
        index = (*prefix, position)
        if len(index) == ndim:
            blocks[index] = item
        else:
            _collect(item, index, ndim, blocks)


def rebuild(
    graph: Mapping[Any, Any],
    name: str,
    meta: Any,
    chunks: Chunks,
    order: MemoryOrder = None,
    *,
    rename: Mapping[str, str] | None = None,
) -> Any:
    """Return the collection over a graph with its keys, for ``__dask_postpersist__``."""
    if not isinstance(graph, HighLevelGraph):
        graph = {key: _entry(key, value) for key, value in graph.items()}
    name = (rename or {}).get(name, name)
    node = FromDask(name, meta, chunks, DaskGraph(graph), KeysOf(name), given_order=order)
    return class_of(meta)(node)


def _entry(key: Any, value: Any) -> Any:
    """Distinguish results from references, so that no result is taken for a task."""
    is_graph = isinstance(value, GraphNode) or hasattr(value, "client")
    return value if is_graph else DataNode(key, value)
