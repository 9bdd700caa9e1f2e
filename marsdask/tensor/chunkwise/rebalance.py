"""The positions of a tensor's chunks, and rechunking to equal sizes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from marsdask.core.node import Node
from marsdask.core.sizes import borders

from ..manipulation.join import length
from ..manipulation.shape import normalize_axis
from ..operands import as_node
from ..typing import public
from .rechunk import rechunk


def is_scalar(a: Any) -> bool:
    """Tell whether a tensor has no axes. As in Mars.

    Returns
    -------
    bool
        True for a tensor of shape ``()``.

    Examples
    --------
    >>> mt.ones(3).sum().is_scalar()
    True
    """
    return not as_node(a).chunks


def chunk_slices(a: Any, idx: Sequence[int]) -> tuple[slice, ...]:
    """Return the part of a tensor for the chunk at an index. As in Mars.

    Parameters
    ----------
    idx : sequence of int
        The place of the chunk on each axis.

    Returns
    -------
    tuple of slice
        The positions of its elements on each axis.

    Raises
    ------
    ValueError
        If the index has another number of items than the tensor has axes.

    Examples
    --------
    >>> mt.ones(5, chunk_size=3).get_chunk_slices((1,))
    (slice(3, 5, None),)
    """
    chunks = as_node(a).chunks
    if len(idx) != len(chunks):
        raise ValueError(f"a chunk's index has {len(chunks)} items here, not {len(idx)}")
    slices = []
    for sizes, position in zip(chunks, idx, strict=True):
        starts = borders(sizes)
        slices.append(slice(starts[position], starts[position + 1]))
    return tuple(slices)


@public
def rebalance(
    tensor: Any,
    factor: float | None = None,
    axis: int = 0,
    num_partitions: int | None = None,
    reassign_worker: bool = True,
) -> Node:
    """Rechunk an axis into chunks of equal sizes. As in Mars.

    Their number is unchanged, ``num_partitions``, or ``factor`` for each processor of this machine.
    The scheduler assigns chunks to workers.

    Parameters
    ----------
    factor : float, optional
        How many chunks for each processor of this machine.
    axis : int
        The axis to cut.
    num_partitions : int, optional
        How many chunks.
    reassign_worker : bool
        Has no effect: the scheduler chooses the workers.

    Returns
    -------
    Tensor
        The same values in other chunks.

    Examples
    --------
    >>> mt.ones(8, chunk_size=5).rebalance(num_partitions=4).chunks
    ((2, 2, 2, 2),)
    """
    del reassign_worker
    node = as_node(tensor)
    axis = normalize_axis(axis, len(node.chunks))
    count = num_partitions or len(node.chunks[axis])
    if factor is not None:
        count = max(1, round(factor * (os.cpu_count() or 1)))
    whole, remainder = divmod(length(node, axis), count)
    sizes = tuple(whole + (position < remainder) for position in range(count))
    return rechunk.node(node, {axis: tuple(size for size in sizes if size) or (0,)})
