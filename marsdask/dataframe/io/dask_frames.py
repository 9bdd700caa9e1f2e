"""Convert Dask's frames and delayed values, and back: keys stay, nothing is copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import pandas as pd
from dask.delayed import Delayed

from marsdask.core.collection import Collection, wrap
from marsdask.core.dask.layer import check_static, graph_of, key_of
from marsdask.core.dask.source import DaskGraph, FromDask, KeysOf
from marsdask.core.public import public_call
from marsdask.core.sizes import unknown_sizes

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


@public_call
def from_dask(frame: Any) -> Any:  # a frame, a series or an index, as Dask's is
    """Return a frame, series or index over the partitions of a dask.dataframe.

    Dask optimizes its graph at once, before marsdask's own rules.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame, Series or Index
        Dask's object.

    Returns
    -------
    DataFrame, Series or Index
        A lazy object of the same partitions.

    Raises
    ------
    TypeError
        If ``frame`` is not a dask.dataframe.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> frame = dd.from_pandas(pd.DataFrame({"a": [1, 2]}), npartitions=2)
    >>> md.from_dask(frame)["a"].sum().compute()
    np.int64(3)
    """
    if isinstance(frame, Collection):
        return frame
    if isinstance(frame, Delayed) or not isinstance(
        getattr(frame, "_meta", None), pd.DataFrame | pd.Series | pd.Index
    ):
        raise TypeError(
            f"from_dask() expects a dask.dataframe, got {type(frame).__name__}; use from_delayed() "
            "for delayed values, marsdask.tensor.from_dask() for arrays"
        )
    frame = frame.optimize()
    keys = frame.__dask_keys__()
    name = keys[0][0]
    assert keys == [(name, position) for position in range(len(keys))]
    return _adopt(name, frame._meta, frame.__dask_graph__(), len(keys), KeysOf(name))


@overload
def from_delayed(parts: Sequence[Any], meta: pd.DataFrame) -> DataFrame: ...
@overload
def from_delayed(parts: Sequence[Any], meta: pd.Series) -> Series: ...
@overload
def from_delayed(parts: Sequence[Any], meta: pd.Index) -> Index: ...
@public_call
def from_delayed(parts: Sequence[Any], meta: Any) -> Any:
    """Return a frame whose partitions are dask.delayed values.

    Parameters
    ----------
    parts : sequence of dask.delayed.Delayed
        One value for each partition.
    meta : pandas.DataFrame
        A frame with the columns and types, which are not checked.

    Returns
    -------
    DataFrame
        A lazy frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2]})
    >>> len(md.from_delayed([marsdask.delayed(frame)], frame).compute())
    2
    """
    graph = {key: task for part in parts for key, task in dict(part.__dask_graph__()).items()}
    keys = {(position,): part.key for position, part in enumerate(parts)}
    return _adopt(f"delayed-{parts[0].key}", meta, graph, len(parts), keys)


def _adopt(name: str, meta: Any, graph: Any, count: int, keys: Any) -> Any:
    empty = meta[:0] if isinstance(meta, pd.Index) else meta.iloc[:0]
    sizes = unknown_sizes(name, [None] * count)
    return wrap(FromDask(name, empty, (sizes,), DaskGraph(graph), keys))


def to_dask(frame: Collection) -> Any:
    """Return a dask.dataframe with the frame's own keys and unknown divisions."""
    import dask.dataframe as dd  # slow to import

    node = frame.node
    check_static(node)
    keys = [key_of(node, (position,)) for position in range(len(node.chunks[0]))]
    return dd.from_graph(graph_of(node), node.meta, (None,) * (len(keys) + 1), keys, node.label)


def to_delayed(frame: Collection) -> list[Delayed]:
    """Return a dask.delayed value for each partition."""
    node = frame.node
    check_static(node)
    graph = graph_of(node)
    layer = node.name if node.name in graph.layers else None
    count = len(node.chunks[0])
    return [Delayed(key_of(node, (position,)), graph, layer=layer) for position in range(count)]
