"""Convert Dask's arrays and delayed values to tensors, and back: no data is copied."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from marsdask.core.collection import Collection
from marsdask.core.compilation.static_graph import check_static
from marsdask.core.dask.source import DaskGraph, FromDask, KeysOf
from marsdask.core.node import Node
from marsdask.core.protocol.layer import MarsLayer, graph_of, key_of
from marsdask.core.registry import package
from marsdask.core.sizes import Chunks, Sizes, Unknown, known_or_nan

from ..chunks import as_shape
from ..typing import itself, public

if TYPE_CHECKING:
    import dask.array as da

    from marsdask.dataframe import DataFrame

    from ..tensor import Tensor


def is_dask_array(obj: Any) -> bool:
    """Recognise dask.arrays, without importing dask.array."""
    kinds = ((kind.__module__, kind.__name__) for kind in type(obj).__mro__)
    return ("dask.array.core", "Array") in kinds


def dask_node(array: Any) -> Node:
    """Return the node of a dask.array: its original node, or one over its keys."""
    graph = array.__dask_graph__()
    own = graph.layers.get(array.name) if isinstance(graph, HighLevelGraph) else None
    if isinstance(own, MarsLayer):
        return own.root(array.name)
    chunks = tuple(_adopted_sizes(array.name, sizes) for sizes in array.chunks)
    meta = np.empty((0,) * len(chunks), array.dtype)
    return FromDask(array.name, meta, chunks, DaskGraph(array), KeysOf(array.name))


@public
def from_dask(array: Any) -> Node:
    """Return a tensor over the keys of a dask.array; its chunks become the tensor's.

    Parameters
    ----------
    array : dask.array.Array
        The array.

    Returns
    -------
    Tensor
        A tensor of the same chunks.

    Raises
    ------
    TypeError
        If it is no dask.array.

    Examples
    --------
    >>> import dask.array as da
    >>> mt.from_dask(da.ones(3)).sum().compute()
    np.float64(3.0)
    """
    if isinstance(array, Collection):
        return itself(array)
    if not is_dask_array(array):
        raise TypeError(
            f"from_dask() takes a dask.array, not {type(array).__name__}; for delayed values there "
            "is from_delayed(), for frames marsdask.dataframe.from_dask()"
        )
    return dask_node(array)


def _adopted_sizes(name: str, sizes: tuple[Any, ...]) -> Sizes:
    if len(sizes) == 1 and math.isnan(sizes[0]):
        return (Unknown(name),)
    return tuple(
        Unknown(name, position) if math.isnan(size) else int(size)
        for position, size in enumerate(sizes)
    )


def to_dask(tensor: Collection) -> da.Array:
    """Return a dask.array over the tensor's own keys, of the same chunks.

    Parameters
    ----------
    tensor : Tensor
        The tensor.

    Returns
    -------
    dask.array.Array
        An array of the same chunks.

    Examples
    --------
    >>> mt.ones(3).to_dask().sum().compute()
    np.float64(3.0)
    """
    import dask.array as da  # imported on use, because it is heavy

    node = tensor.node
    check_static(node)
    chunks = tuple(tuple(map(known_or_nan, sizes)) for sizes in node.chunks)
    return da.Array(graph_of(node), node.name, chunks, meta=node.meta)


def to_dataframe(tensor: Collection, *args: Any, **kwargs: Any) -> DataFrame:
    """Return a frame of a tensor's columns; arguments are those of marsdask.dataframe.DataFrame.

    Parameters
    ----------
    *args, **kwargs
        Arguments of :class:`marsdask.dataframe.DataFrame`, such as ``columns``.

    Returns
    -------
    DataFrame
        A frame of the same columns.

    Examples
    --------
    >>> mt.ones((2, 2)).to_dataframe(columns=["a", "b"]).sum().compute().tolist()
    [2.0, 2.0]
    """
    frame: DataFrame = package("dataframe").DataFrame(tensor, *args, **kwargs)
    return frame


def to_dask_dataframe(
    tensor: Collection, columns: Any = None, index: Any = None, meta: Any = None
) -> Any:
    """Return a dask.dataframe of a tensor's columns. See dask.array.Array.to_dask_dataframe.

    Returns
    -------
    dask.dataframe.DataFrame or Series
        A frame of the same columns.
    """
    return to_dask(tensor).to_dask_dataframe(columns=columns, index=index, meta=meta)


def to_delayed(tensor: Collection) -> np.ndarray[Any, Any]:
    """Return an object array with a dask.delayed value for each chunk.

    Parameters
    ----------
    tensor : Tensor
        The tensor.

    Returns
    -------
    ndarray of dask.delayed.Delayed
        One for each chunk, at its place.

    Examples
    --------
    >>> mt.ones(4, chunk_size=2).to_delayed().shape
    (2,)
    """
    node = tensor.node
    check_static(node)
    graph = graph_of(node)
    layer = node.name if node.name in graph.layers else None
    out = np.empty(tuple(map(len, node.chunks)), dtype=object)
    for index in itertools.product(*map(range, out.shape)):
        out[index] = Delayed(key_of(node, index), graph, layer=layer)
    return out


@public
def from_delayed(
    value: Any, shape: Any, dtype: Any = None, meta: Any = None, name: Any = None
) -> Node:
    """Return a tensor of one chunk computed by a dask.delayed value; its shape is not checked.

    Parameters
    ----------
    value : dask.delayed.Delayed or distributed.Future
        What makes the array.
    shape : tuple of int
        Its shape, which nothing checks; nan is a length that is not known yet.
    dtype : dtype, optional
        Its type.
    meta : array, optional
        An array of its type.
    name : optional
        Has no effect: a tensor's name comes from the value's key.

    Returns
    -------
    Tensor
        A tensor of one chunk.

    Raises
    ------
    TypeError
        If neither ``dtype`` nor ``meta`` is given.

    Examples
    --------
    >>> mt.from_delayed(marsdask.delayed(np.ones)(3), (3,), float).compute()
    array([1., 1., 1.])
    """
    del name
    if dtype is None and meta is None:
        raise TypeError("from_delayed() takes the type of the array: dtype= or meta=")
    value = value if hasattr(value, "__dask_graph__") else delayed(value)
    name = f"delayed-{value.key}"
    lengths = [shape] if isinstance(shape, int) else list(shape)
    is_nan = [isinstance(size, float) and math.isnan(size) for size in lengths]
    sizes = iter(as_shape([n for n, lacks in zip(lengths, is_nan, strict=True) if not lacks]))
    chunks: Chunks = tuple(
        (Unknown(name, axis) if lacks else next(sizes),) for axis, lacks in enumerate(is_nan)
    )
    meta = np.empty((0,) * len(chunks), meta.dtype if dtype is None else np.dtype(dtype))
    keys = {(0,) * len(chunks): value.key}
    return FromDask(name, meta, chunks, DaskGraph(value.__dask_graph__()), keys)


def to_backend(tensor: Tensor, backend: str | None = None, **kwargs: Any) -> Tensor:
    """Return the tensor with chunks of a backend; only NumPy is available."""
    del kwargs
    if backend not in (None, "numpy"):
        raise NotImplementedError(f"backend={backend!r} is not supported; use 'numpy'")
    return tensor
