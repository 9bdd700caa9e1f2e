"""Boolean selection inside a fused program, without materializing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marsdask.core.node import Node
from marsdask.core.sizes import known_chunks

from ..indexing.boolean import BooleanIndexing
from ..sparse.blocks import is_sparse
from .fused_ufuncs import UfuncProgram, UfuncStep, fusible, join_programs
from .tile_selection import places, take_elements

Parts = list[tuple[Any, Sequence[Any], UfuncProgram]]


def without_filters(
    operands: Sequence[Node], program: UfuncProgram | None, alone: Callable[[Node], bool]
) -> tuple[tuple[Node, ...], UfuncProgram] | None:
    """Return a program that selects by one mask from the sources of all operands.

    ``None`` if this is impossible. Its values are unordered, on as many axes as the mask has.
    """
    filters = [node for node in operands if isinstance(node, BooleanIndexing) and alone(node)]
    if len(filters) < len(operands) or len({node.mask for node in filters}) != 1:
        return None
    mask = filters[0].mask
    if not all(_flat(node) for node in filters):
        return None
    where = ("where", mask)
    parts: Parts = [(where, (mask,), _step(places, 1, np.dtype(np.intp)))]
    for number, node in enumerate(filters):
        choice = _step(take_elements, 2, node.meta.dtype, purpose=f"picked {number}")
        parts.append((node, (node.a, where), choice))
    if program is not None:
        parts.append((None, operands, program))
    return join_programs(parts)


def _flat(node: BooleanIndexing) -> bool:
    """Tell whether a mask selects single elements of an array of the same memory order."""
    a, mask = node.a, node.mask
    return (
        a.chunks == mask.chunks
        and known_chunks(a.chunks)
        and not (is_sparse(a.meta) or is_sparse(mask.meta))
        and fusible([a.meta.dtype, mask.meta.dtype])
    )


def _step(
    func: Callable[..., Any], count: int, dtype: np.dtype[Any], **kwargs: Any
) -> UfuncProgram:
    step = UfuncStep(func, tuple(range(count)), (), tuple(kwargs.items()), dtype)
    return UfuncProgram(count, (step,))
