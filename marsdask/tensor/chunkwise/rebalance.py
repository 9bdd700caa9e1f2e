"""How a tensor is cut: where its chunks lie, and chunks of equal sizes."""

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
    """Tell whether a tensor has no axes. As in Mars."""
    return not as_node(a).chunks


def chunk_slices(a: Any, idx: Sequence[int]) -> tuple[slice, ...]:
    """Return which part of a tensor the chunk at an index is. As in Mars."""
    chunks = as_node(a).chunks
    if len(idx) != len(chunks):
        raise ValueError(f"a chunk's index has {len(chunks)} items here, not {len(idx)}")
    found = []
    for sizes, position in zip(chunks, idx, strict=True):
        starts = borders(sizes)
        found.append(slice(starts[position], starts[position + 1]))
    return tuple(found)


@public
def rebalance(
    tensor: Any,
    factor: float | None = None,
    axis: int = 0,
    num_partitions: int | None = None,
    reassign_worker: bool = True,
) -> Node:
    """Cut an axis into chunks of equal sizes. As in Mars.

    As many as there are, ``num_partitions``, or ``factor`` for each processor of this machine.
    Which worker takes which chunk is for the scheduler to choose.
    """
    del reassign_worker
    node = as_node(tensor)
    axis = normalize_axis(axis, len(node.chunks))
    count = num_partitions or len(node.chunks[axis])
    if factor is not None:
        count = max(1, round(factor * (os.cpu_count() or 1)))
    whole, rest = divmod(length(node, axis), count)
    sizes = tuple(whole + (position < rest) for position in range(count))
    return rechunk.node(node, {axis: tuple(size for size in sizes if size) or (0,)})
