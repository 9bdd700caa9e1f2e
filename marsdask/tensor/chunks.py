"""Convert chunk arguments to explicit chunk sizes, and align grids."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final

import dask.config
import numpy as np
from dask.utils import parse_bytes

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.sizes import (
    Chunks,
    Sizes,
    UnknownShapeError,
    numbers,
)

_WANTED = "a chunk size is an int, a tuple of ints, 'auto', '16MiB' or -1, not {!r}"


#: The default of the bytes of a chunk, with us and with Dask.
_LIMIT: Final = 128 * 2**20


#: The most chunks that are chosen for an axis: nobody can compute more, but can slice them.
MOST_CHUNKS: Final = 2**14

#: The most chunks of an axis whose sizes are listed.
MOST_LISTED: Final = 2**24


def whole_number(length: Any) -> int:
    """Return a length as an int; nan is an unknown length from ``.shape``."""
    if isinstance(length, float) and math.isnan(length):
        raise UnknownShapeError(
            "a length is nan: it is not known before execute(); execute() first, or use -1 "
            "(reshape) or a function of the array itself (zeros_like, full_like)"
        )
    return operator.index(length)


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of ints; floats and negatives raise NumPy's errors."""
    if isinstance(shape, Collection) and shape.node.chunks:
        shape = shape.compute()
    if not isinstance(shape, Sequence | np.ndarray) and np.ndim(shape) == 1:
        shape = np.asarray(shape)  # such as a series
    items = shape if isinstance(shape, Sequence | np.ndarray) and np.ndim(shape) else (shape,)
    if isinstance(shape, Sequence) and not shape:
        return ()
    sizes = tuple(whole_number(item) for item in items)
    if any(size < 0 for size in sizes):
        raise ValueError("negative dimensions are not allowed")
    return sizes


def store_limit() -> float:
    """Return the most bytes of a chosen chunk: the option, or Dask's if only that is set."""
    ours: float = options.chunk_store_limit
    return ours if ours != _LIMIT else parse_bytes(dask.config.get("array.chunk-size", _LIMIT))


def chunk_tolerance() -> float:
    """Return how many times as long as before a chunk may become, which Dask is told."""
    return float(dask.config.get("array.chunk-size-tolerance", 1.25))


def normalize_chunks(
    chunk_size: Any,
    shape: Any,
    dtype: Any,
    *,
    limit: float | str | None = None,
    previous: Chunks | None = None,
) -> Chunks:
    """Return the sizes of all chunks along each axis.

    ``chunk_size`` is an int for every axis, or has one item per axis (a tuple or a dict). Items are
    an int, explicit sizes, ``-1`` for the whole axis, ``"auto"`` or ``None`` for the byte limit, or
    a text like ``"16MiB"`` as the limit. With ``previous`` chunks, ``"auto"`` starts from them, as
    in Dask; ``limit`` is the most bytes of a chunk that is chosen.
    """
    shape = as_shape(shape)
    if not shape:
        return ()
    if chunk_size is None or (isinstance(chunk_size, str) and chunk_size == "auto"):
        chunk_size = options.chunk_size
    if isinstance(chunk_size, Mapping):
        per_axis = [chunk_size.get(axis, None) for axis in range(len(shape))]
        extras = [axis for axis in chunk_size if not -len(shape) <= axis < len(shape)]
        if extras:
            raise ValueError(f"chunk_size names axes {extras} of a {len(shape)}-d tensor")
        for axis, size in chunk_size.items():
            per_axis[axis] = size
    elif isinstance(chunk_size, tuple | list) and not (
        len(shape) == 1 and _is_explicit(chunk_size, shape[0])
    ):
        if len(chunk_size) != len(shape):
            raise ValueError(
                f"chunk_size has {len(chunk_size)} items but the tensor has {len(shape)} axes"
            )
        per_axis = list(chunk_size)
    else:
        per_axis = [chunk_size] * len(shape)
    sizes = [_axis_sizes(item, length) for item, length in zip(per_axis, shape, strict=True)]
    texts = [item for item in per_axis if isinstance(item, str) and item != "auto"]
    if limit is None:
        limit = min(map(bytes_of, texts), default=store_limit())
    kind = np.dtype(dtype)
    if previous and None in sizes and 0 not in shape and not kind.hasobject:
        return _chosen_as_dask(sizes, shape, kind, limit, previous)
    return _fill_auto(
        sizes, shape, kind.itemsize, bytes_of(limit) if isinstance(limit, str) else limit
    )


def _chosen_as_dask(
    sizes: list[Sizes | None],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    limit: float | str,
    previous: Chunks,
) -> Chunks:
    """Return what Dask chooses for undecided axes of an array that has chunks already."""
    from dask.array.core import normalize_chunks as choose  # heavy

    request = tuple("auto" if item is None else item for item in sizes)
    chunks = choose(request, shape, limit=limit, dtype=dtype, previous_chunks=previous)
    return tuple(tuple(map(int, axis)) for axis in chunks)


def bytes_of(text: str) -> int:
    """Return the number of bytes in a text like ``"16MiB"``."""
    try:
        return parse_bytes(text)
    except ValueError:
        raise TypeError(_WANTED.format(text)) from None


def _is_explicit(chunk_size: Sequence[Any], length: int) -> bool:
    """Distinguish ``(2, 2, 1)`` for a vector of 5 from ``(2,)`` or ``((2, 3),)``."""
    integers = all(isinstance(item, int | np.integer) for item in chunk_size)
    return (
        integers and (len(chunk_size) != 1 or chunk_size[0] == length) and sum(chunk_size) == length
    )


def _axis_sizes(item: Any, length: int) -> Sizes | None:
    if item is None or isinstance(item, str):
        return None
    if isinstance(item, tuple | list):
        if any(isinstance(size, float | bool | np.floating | np.bool_) for size in item):
            raise TypeError(_WANTED.format(item))
        sizes = tuple(operator.index(size) for size in item)
        if any(size < 0 for size in sizes) or sum(sizes) != length:
            raise ValueError(
                f"Chunks do not add up to shape. Got chunks={tuple(item)}, axis of length {length}"
            )
        return sizes or (0,)
    if isinstance(item, bool) or not isinstance(item, int | np.integer):
        raise TypeError(_WANTED.format(item))
    step = operator.index(item)
    return (length,) if step == -1 else regular(length, step)


def regular(length: int, step: int) -> Sizes:
    """Split an axis into chunks of ``step``, the last one shorter."""
    if length == 0 and step >= 0:
        return (0,)
    if step <= 0:
        raise ValueError(f"a chunk size is positive or -1, not {step}")
    whole, remainder = divmod(length, step)
    if whole > MOST_LISTED:
        op = f"listing the chunks of {step} of an axis of {length} elements"
        raise MemoryBudgetError(op, (whole,), 8 * whole, 8 * MOST_LISTED, "use larger chunks")
    return (step,) * whole + ((remainder,) if remainder else ())


def _fill_auto(
    sizes: list[Sizes | None], shape: tuple[int, ...], itemsize: int, limit: float
) -> Chunks:
    """Split the undecided axes evenly so that a chunk has at most ``limit`` bytes."""
    auto = [axis for axis, item in enumerate(sizes) if item is None]
    if not auto:
        return tuple(item for item in sizes if item is not None)
    fixed = math.prod(max(numbers(item), default=1) or 1 for item in sizes if item is not None)
    room = max(1.0, limit / max(1, itemsize) / fixed)
    splits = dict(enumerate(sizes))
    # Small axes are not split; the others share the remaining factor.
    for count, axis in zip(
        range(len(auto), 0, -1), sorted(auto, key=lambda axis: shape[axis]), strict=True
    ):
        step = max(1, min(shape[axis] or 1, int(room ** (1 / count) + 1e-6)))
        step = max(step, -(-shape[axis] // MOST_CHUNKS))
        splits[axis] = regular(shape[axis], step)
        room /= step
    return tuple(splits[axis] for axis in range(len(shape)))  # type: ignore[misc]


def check_device(device: Any) -> None:
    """Raise for unsupported devices."""
    if device is not None and device != "cpu":
        raise ValueError(f"Unsupported device {device!r}: tensors are on 'cpu'")


def check_order(order: Any) -> None:
    """Raise for an invalid memory order; kernels choose the order of blocks."""
    if order is None:
        return
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order not in tuple("CFAKcfak"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
