"""Convert Dask's frames and delayed values, and back: keys stay, nothing is copied."""

from __future__ import annotations

from contextvars import Context
from typing import TYPE_CHECKING, Any, overload

import dask
import pandas as pd
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, wrap
from marsdask.core.compilation.static_graph import check_static
from marsdask.core.dask.source import DaskGraph, FromDask, KeysOf
from marsdask.core.protocol.layer import graph_of, key_of
from marsdask.core.public import public_call, returns_itself
from marsdask.core.sizes import unknown_sizes

if TYPE_CHECKING:
    import dask.array
    import dask.bag
    import dask.dataframe

    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


@public_call
@returns_itself
def from_dask(frame: Any) -> Any:  # a frame, a series or an index, as Dask's is
    """Return a frame, series or index over the partitions of a dask.dataframe.

    Dask optimizes its graph at once, before marsdask's own rules. As a ``dask.dataframe`` keeps no
    annotations of ``dask.annotate``, those of this call are those of its tasks.

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
    # Of annotations that are in effect, Dask warns that its frames ignore them.
    frame = Context().run(frame.optimize) if dask.get_annotations() else frame.optimize()
    keys = frame.__dask_keys__()
    name = keys[0][0]
    assert keys == [(name, position) for position in range(len(keys))]
    return _adopt(name, frame._meta, frame.__dask_graph__(), len(keys), KeysOf(name))


@public_call
def from_dask_dataframe(frame: Any) -> DataFrame | Series | Index:
    """Return a frame over the partitions of a dask.dataframe: Mars's name of ``from_dask``.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame, Series or Index
        Dask's object.

    Returns
    -------
    DataFrame, Series or Index
        A lazy object of the same partitions.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> len(md.from_dask_dataframe(dd.from_dict({"a": [1, 2]}, npartitions=2)))
    2
    """
    result: DataFrame | Series | Index = from_dask(frame)
    return result


@overload
def from_delayed(
    parts: Any,
    meta: pd.DataFrame,
    divisions: Any = None,
    prefix: Any = None,
    verify_meta: bool = True,
) -> DataFrame: ...
@overload
def from_delayed(
    parts: Any, meta: pd.Series, divisions: Any = None, prefix: Any = None, verify_meta: bool = True
) -> Series: ...
@overload
def from_delayed(
    parts: Any, meta: pd.Index, divisions: Any = None, prefix: Any = None, verify_meta: bool = True
) -> Index: ...
@overload
def from_delayed(
    parts: Any,
    meta: None = None,
    divisions: Any = None,
    prefix: Any = None,
    verify_meta: bool = True,
) -> DataFrame | Series | Index: ...
@public_call
@keeps_lazy("items")
def from_delayed(
    parts: Any,
    meta: Any = None,
    divisions: Any = None,
    prefix: str | None = None,
    verify_meta: bool = True,
) -> Any:
    """Return a frame whose partitions are dask.delayed values.

    ``divisions``, ``prefix`` and ``verify_meta`` are Dask's, and change nothing.

    Parameters
    ----------
    parts : dask.delayed.Delayed, or sequence of these
        One value for each partition.
    meta : pandas.DataFrame, optional
        A frame with the columns and types, which are not checked. Without it the first value is
        computed at once.
    divisions, prefix, verify_meta : optional
        Not used.

    Returns
    -------
    DataFrame
        A lazy frame.

    Raises
    ------
    TypeError
        If there are no values.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2]})
    >>> len(md.from_delayed([marsdask.delayed(frame)], frame).compute())
    2
    """
    del divisions, prefix, verify_meta
    parts = [parts] if isinstance(parts, Delayed) else list(parts)
    if not parts:
        raise TypeError("Must supply at least one delayed object")
    meta = parts[0].compute() if meta is None else meta
    graph = HighLevelGraph.merge(*(part.__dask_graph__() for part in parts))
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


def to_dask_array(
    frame: Any, lengths: Any = None, meta: Any = None, **options: Any
) -> dask.array.Array:
    """Return a dask.array of the values. See dask.dataframe.DataFrame.to_dask_array.

    Lengths that are known stay known; the arguments change nothing.
    """
    del lengths, meta, options
    array: dask.array.Array = frame.to_tensor().to_dask()
    return array


def to_dask_dataframe(
    frame: Collection,
) -> dask.dataframe.DataFrame | dask.dataframe.Series | dask.dataframe.Index:
    """Return a dask.dataframe over the same chunks, as ``to_dask`` does.

    Returns
    -------
    dask.dataframe.DataFrame, Series or Index
        Dask's object.

    Examples
    --------
    >>> len(md.DataFrame({"a": [1, 2]}).to_dask_dataframe())
    2
    """
    result: dask.dataframe.DataFrame = to_dask(frame)
    return result


def to_delayed(frame: Collection) -> list[Delayed]:
    """Return a dask.delayed value for each partition."""
    node = frame.node
    check_static(node)
    graph = graph_of(node)
    layer = node.name if node.name in graph.layers else None
    count = len(node.chunks[0])
    return [Delayed(key_of(node, (position,)), graph, layer=layer) for position in range(count)]


def to_bag(rows: Collection, index: bool = False, format: str = "tuple") -> dask.bag.Bag:
    """Return the rows as a dask.bag. See dask.dataframe.DataFrame.to_bag.

    Parameters
    ----------
    index : bool
        Whether the labels of rows are among their values.
    format : str
        ``"tuple"``, or ``"dict"`` for a dict of each row.

    Returns
    -------
    dask.bag.Bag
        A tuple or a dict of each row, or a value of a series.

    Examples
    --------
    >>> md.DataFrame({"a": [1, 2]}).to_bag().compute(scheduler="sync")
    [(1,), (2,)]
    """
    bag: dask.bag.Bag = to_dask(rows).to_bag(index=index, format=format)
    return bag
