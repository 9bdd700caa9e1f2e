"""Dask's names in dask.array, besides functions of arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.collection import compute as compute_ours
from marsdask.core.node import Node
from marsdask.core.protocol.layer import MergeLayers

from .elementwise.ufuncs import astype
from .io.dask_arrays import is_dask_array
from .operands import as_node
from .tensor import Tensor
from .typing import public

if TYPE_CHECKING:
    from .tensor import Tensor

Array = Tensor


class PerformanceWarning(Warning):
    """Dask's warning about large or many chunks; here the passes prevent them."""


def register_chunk_type(kind: type) -> None:
    """Raise for backends other than NumPy. See dask.array.register_chunk_type."""
    if not issubclass(kind, np.ndarray):
        raise NotImplementedError(
            f"chunks of type {kind.__name__} are not supported; use map_blocks() to convert them"
        )


def optimize(dsk: Any, keys: Any, **kwargs: Any) -> Any:
    """Optimise a graph, for code that calls Dask's functions by hand.

    Parameters
    ----------
    dsk : mapping
        A graph of Dask's.
    keys : list
        The keys wanted.
    **kwargs
        Have no effect.

    Returns
    -------
    mapping
        The graph of what the keys need.

    Examples
    --------
    >>> graph = mt.optimize({"a": 1, "b": 2}, ["a"])
    """
    return MergeLayers()(dsk, keys, **kwargs)


def compute(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Compute tensors in one graph and return a tuple of the values. See dask.array.compute.

    Returns
    -------
    tuple
        The values, in the order of the arguments.
    """
    if kwargs:
        return tuple(arg.compute(**kwargs) for arg in args)
    tensors = [arg if isinstance(arg, Collection) else wrap(as_node(arg)) for arg in args]
    return tuple(compute_ours(*tensors))


def assert_eq(
    a: Any,
    b: Any,
    check_shape: bool = True,
    check_graph: bool = True,
    check_meta: bool = True,
    check_chunks: bool = True,
    check_ndim: bool = True,
    check_type: bool = True,
    check_dtype: bool = True,
    equal_nan: bool = True,
    scheduler: Any = None,
    **kwargs: Any,
) -> bool:
    """Check that two arrays, lazy or not, are equal, and match their metadata.

    See dask.array.utils.assert_eq. ``kwargs`` are arguments of numpy.allclose.

    Parameters
    ----------
    a, b : array_like
        What to compare.
    check_shape, check_graph, check_meta, check_chunks, check_ndim, check_type, check_dtype : bool
        What to check besides the values.
    equal_nan : bool
        Whether nan equals nan.
    scheduler : optional
        Where to compute.
    **kwargs
        Arguments of ``numpy.allclose``.

    Returns
    -------
    bool
        True.
    """
    del check_graph, check_type
    left, right = (_checked(x, scheduler, chunks=check_chunks, meta=check_meta) for x in (a, b))
    if check_dtype:
        assert left.dtype == right.dtype, f"types {left.dtype} and {right.dtype} differ"
    if check_ndim:
        assert left.ndim == right.ndim, f"{left.ndim} and {right.ndim} axes differ"
    if check_shape:
        assert left.shape == right.shape, f"shapes {left.shape} and {right.shape} differ"
    if left.dtype.kind in "biufc" and right.dtype.kind in "biufc":
        close = np.ma.allclose if np.ma.isMA(left) or np.ma.isMA(right) else np.allclose
        options = {} if close is np.ma.allclose else {"equal_nan": equal_nan}
        assert close(left, right, **options, **kwargs), f"values differ:\n{left}\n{right}"
    else:
        assert np.array_equal(left, right), f"values differ:\n{left}\n{right}"
    return True


def _checked(x: Any, scheduler: Any, *, chunks: bool, meta: bool) -> Any:
    """Return the value, after a comparison with its metadata."""
    if not isinstance(x, Collection):
        if is_dask_array(x):
            x = x.compute(scheduler=scheduler or "sync")
        return x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    value = x.compute() if scheduler is None else x.compute(scheduler=scheduler)
    value = value if isinstance(value, np.ndarray) else np.asarray(value)
    shape, dtype = x.shape, x.dtype  # type: ignore[attr-defined]
    if meta:
        assert value.dtype == dtype, f"the type was to be {dtype} and is {value.dtype}"
    if chunks:
        fits = len(shape) == value.ndim and all(
            math.isnan(n) or n == size for n, size in zip(shape, value.shape, strict=True)
        )
        assert fits, f"the shape was to be {shape} and is {value.shape}"
    return value


@public
def from_dataframe(in_df: Any, dtype: Any = None) -> Node:
    """Return the values of a frame, lazy or not, as a tensor. See DataFrame.to_tensor.

    Parameters
    ----------
    in_df : DataFrame
        A frame of marsdask's, Dask's or pandas's.
    dtype : dtype, optional
        The type to cast to.

    Returns
    -------
    Tensor
        The values, without labels.

    Examples
    --------
    >>> mt.from_dataframe(md.DataFrame({"a": [1, 2]})).compute()
    array([[1],
           [2]])
    """
    # Frames are a layer above.
    lazy = isinstance(in_df, Collection) and not isinstance(in_df, Tensor)
    values = in_df.to_tensor() if lazy else as_node(in_df)
    return values if dtype is None else astype.node(values, dtype)


from_series = from_dataframe
