"""Concatenate fetched blocks, and display the corners of tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np
from dask.utils import format_bytes

from marsdask.core.config import options
from marsdask.core.display.notebook import card, picture
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder
from marsdask.core.sizes import Index, known_or_nan
from marsdask.scheduler.base import ChunkInfo

from .kernels.duck_arrays import alike, in_memory, is_array, is_foreign
from .memory_order import empty_in, lies_in
from .sparse.blocks import is_sparse, join_blocks


def assemble(
    blocks: Mapping[Index, Any], meta: Any, *, owned: bool, order: MemoryOrder = None
) -> Any:
    """Return one array from all blocks in an order of axes, or a scalar for a 0-d tensor.

    A single shared block is copied, so that callers cannot modify it.
    """
    if is_sparse(meta):
        counts = tuple(1 + max(places) for places in zip(*blocks, strict=True))
        return join_blocks([blocks[index] for index in sorted(blocks)], counts)
    if any(isinstance(block, np.ma.MaskedArray) for block in blocks.values()):
        return _assemble_masked(blocks)
    if len(blocks) == 1:
        ((index, block),) = blocks.items()
        if index == () and not is_array(block) and not np.isscalar(block):
            return block  # an object, such as a list in a cell of a frame
        if is_foreign(block):
            return block if owned else block.copy()
        if np.ndim(block) == 0:
            return block if isinstance(block, str) else np.asarray(block)[()]
        if owned and _is_alone(block) and lies_in(block, order):
            return block
        return _copied(block, order)
    starts = [
        [0, *itertools.accumulate(sizes)] for sizes in _sizes(blocks, ndim=len(next(iter(blocks))))
    ]
    like = next(filter(is_foreign, blocks.values()), blocks[(0,) * len(starts)])
    shape = tuple(start[-1] for start in starts)
    dtype = _common_dtype({block.dtype for block in blocks.values()}, meta.dtype)
    out = empty_in(like, dtype, shape, order)
    for index, block in blocks.items():
        out[
            tuple(
                slice(start[position], start[position + 1])
                for start, position in zip(starts, index, strict=True)
            )
        ] = alike(out, block)[1]
    return out


def given(value: Any) -> Any:
    """Return a value as the user wants it: one without axes may be Python's.

    Times stay NumPy's: their numbers say nothing without the unit.
    """
    plain = isinstance(value, np.generic) and value.dtype.kind not in "mMO"
    return value.item() if plain and options.python_scalars else value


def _copied(block: Any, order: MemoryOrder) -> Any:
    """Return a copy of a block in an order."""
    if order is None:
        return block.copy()
    return block.transpose(order).copy().transpose(np.argsort(order))


def meta_from_infos(meta: Any, infos: Sequence[ChunkInfo]) -> Any:
    """Return the meta with the type of the concatenated chunks, whatever was declared."""
    dtype = _common_dtype({info.dtype for info in infos}, meta.dtype)
    if dtype == meta.dtype:
        return meta
    # A meta without axes may hold an object, which need not be a value of the type.
    return meta.astype(dtype) if meta.ndim else np.zeros((), dtype)


def _common_dtype(dtypes: set[Any], declared: Any) -> Any:
    """Return the common type of blocks, or the declared one if no type holds all."""
    if not dtypes or None in dtypes or dtypes == {declared}:
        return declared
    try:
        return np.result_type(*dtypes)
    except TypeError:
        return declared


@kernel(scratch=0.0)
def cast(block: Any, dtype: Any) -> Any:
    """Return a chunk of a type."""
    return block.astype(dtype, copy=False)


def cast_chunks(grid: Grid, meta: Any, infos: Sequence[ChunkInfo]) -> Grid:
    """Return the grid with the common type in all chunks, or itself if they are equal."""
    if {info.dtype for info in infos} <= {None, meta.dtype}:
        return grid
    kwargs = {"dtype": meta.dtype}
    return map_blocks(cast, grid, chunks=grid.chunks, meta=meta, kwargs=kwargs)


def _assemble_masked(blocks: Mapping[Index, Any]) -> Any:
    """Return one masked array; of no axes, the number or the masked constant."""
    if len(blocks) == 1:
        (block,) = blocks.values()
        return block[()] if block.ndim == 0 else block.copy()
    parts = (np.ma.getdata, np.ma.getmaskarray)
    data, mask = (
        assemble({i: part(block) for i, block in blocks.items()}, part(first), owned=True)
        for part in parts
        for first in [next(iter(blocks.values()))]
    )
    return np.ma.masked_array(data, mask=mask)


def _is_alone(block: Any) -> bool:
    """Tell whether an array is writeable and shares its memory with no other array."""
    return bool(block.flags.writeable) and not isinstance(block.base, np.ndarray)


def _sizes(blocks: Mapping[Index, Any], ndim: int) -> list[list[int]]:
    """Return the lengths of the blocks along each axis, from the blocks at its edge."""
    counts = [1 + max(index[axis] for index in blocks) for axis in range(ndim)]
    return [
        [
            blocks[tuple(i if dim == axis else 0 for dim in range(ndim))].shape[axis]
            for i in range(counts[axis])
        ]
        for axis in range(ndim)
    ]


def text(tensor: Any) -> str:
    """Return an executed tensor's values as NumPy prints them; only the corners are fetched."""
    if is_sparse(tensor.node.meta):
        return str(tensor.fetch())
    corners, complete = _shown(tensor)
    if complete:
        return str(corners)
    with np.printoptions(threshold=0):
        return str(corners)


def representation(tensor: Any) -> str:
    """Return NumPy's text of an executed tensor's value."""
    if is_sparse(tensor.node.meta):
        return repr(tensor.fetch())
    corners, complete = _shown(tensor)
    if complete:
        return repr(np.asarray(corners))
    with np.printoptions(threshold=0):
        values, rest = repr(np.asarray(corners)).rsplit(f"shape={corners.shape}", 1)
    values, rest = values.rstrip(), f"shape={tensor.shape}{rest}"
    width = len(values) - (values.rfind("\n") + 1) + len(rest) + 1
    wraps = width > np.get_printoptions()["linewidth"] or tensor.dtype.kind in "SUV"
    return f"{values}{_NEXT_LINE if wraps else ' '}{rest}"


#: What NumPy begins the next line of an array's text with.
_NEXT_LINE: Final = "\n" + " " * len("array(")


def _shown(tensor: Any) -> tuple[Any, bool]:
    """Return the printed part of the value, and whether that is all of it."""
    shape = tensor.shape
    options = np.get_printoptions()
    if math.prod(shape) <= options["threshold"]:
        return in_memory(tensor.fetch()), True
    edge = options["edgeitems"]
    # One element more than is printed, so that NumPy abbreviates the array.
    return in_memory(tensor._corners([(edge + 1, edge)] * len(shape))), False


def html(tensor: Any) -> str:
    """Return a table of a tensor's properties, a picture of its chunks, and corners if executed."""
    node = tensor.node
    executed = tensor._is_executed()
    largest = tuple(max(map(known_or_nan, sizes)) for sizes in node.chunks)
    rows = {
        "Shape": tensor.shape,
        "Chunks": f"{math.prod(map(len, node.chunks))} of up to {largest}",
        "Type": tensor.dtype,
    }
    size = math.prod(tensor.shape)
    if not math.isnan(size):
        rows["Bytes"] = format_bytes(size * tensor.dtype.itemsize)
    if len(node.chunks) > 2:
        rows["Picture"] = f"the last two of {len(node.chunks)} axes"
    lines = [
        f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items()
    ]
    table = (
        f"<table><tbody><tr><td><table><tbody>{''.join(lines)}</tbody></table></td>"
        f"<td>{picture(node.chunks)}</td></tr></tbody></table>"
    )
    values = f"<pre>{escape(text(tensor))}</pre>" if executed else ""
    return card(type(tensor).__name__, [node.label], table + values, executed=executed)


def svg(tensor: Any, size: int = 500) -> str:
    """Return a drawing of the chunks, as Dask draws them.

    Parameters
    ----------
    size : int
        The size of the drawing in pixels.

    Returns
    -------
    str
        The drawing.

    Raises
    ------
    NotImplementedError
        If a size is not known yet, or the tensor has no axes.

    Examples
    --------
    >>> mt.ones((4, 4), chunk_size=2).to_svg().startswith("<svg")
    True
    """
    # Heavy: for notebooks only.
    import dask.array.svg

    if any(math.isnan(length) for length in tensor.shape):
        raise NotImplementedError(
            "drawing unknown chunk sizes is not supported; use execute() or compute_chunk_sizes() "
            "first"
        )
    if not tensor.ndim or not tensor.size:
        lacks = "0-length dimensions" if tensor.ndim else "0 dimensions"
        raise NotImplementedError(f"drawing a tensor of {lacks} is not supported; use repr()")
    return str(dask.array.svg.svg(tensor.chunks, size=size))
