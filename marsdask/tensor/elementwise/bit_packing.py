"""Pack bits into bytes, and unpack bytes into bits."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.sizes import numbers

from ..chunkwise.axis_ratios import AxisRatio
from ..chunkwise.rechunk import rechunk
from ..indexing.getitem import getitem
from ..manipulation.join import concatenate, length
from ..manipulation.reshape import with_axis
from ..typing import public
from ..unknown_lengths import ResultSpec, resized, waits_for_lengths

_BYTES: Final = np.dtype(np.uint8)


def _along(a: Any, axis: int | None) -> tuple[Any, int]:
    node, axis = with_axis(a, axis)
    return wrap(node), axis


@public
@waits_for_lengths(lambda a, axis, **_: resized(a, axis, np.uint8))
def packbits(a: Any, axis: int | None = None, bitorder: Any = "big") -> Node:
    """Return eight bits as a byte. See numpy.packbits."""
    tensor, axis = _along(a, axis)
    np.packbits(np.zeros(0, tensor.dtype), bitorder=bitorder)  # checks types
    length(tensor.node, axis)  # waits for it
    sizes = tensor.chunks[axis]
    if any(size % 8 for size in sizes[:-1]):
        step = max(8, int(max(sizes)) // 8 * 8)
        tensor = rechunk(tensor, {axis: step})
    return AxisRatio(np.packbits, tensor.node, axis, 8, 1, _BYTES, (("bitorder", bitorder),))


def _unpacked(a: Any, axis: int | None, count: int | None, **_: Any) -> ResultSpec:
    spec = resized(a, axis, np.uint8)
    if count is None or count < 0:
        return spec
    lengths = list(spec.lengths)
    lengths[0 if axis is None else axis] = (operator.index(count),)
    return ResultSpec(spec.dtype, tuple(lengths))


@public
@waits_for_lengths(_unpacked)
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: Any = "big"
) -> Node:
    """Return bytes as eight bits each. See numpy.unpackbits."""
    tensor, axis = _along(a, axis)
    np.unpackbits(np.zeros(0, tensor.dtype), bitorder=bitorder)  # checks types
    whole = length(tensor.node, axis) * 8
    bits = AxisRatio(np.unpackbits, tensor.node, axis, 1, 8, _BYTES, (("bitorder", bitorder),))
    if count is None:
        return bits
    if -count > whole:
        raise ValueError("-count larger than number of elements")
    before = (slice(None),) * axis
    if count <= whole:
        return getitem.node(bits, (*before, slice(count)))
    shape = list(numbers(bits.shape))
    shape[axis] = count - whole
    return concatenate.node([bits, np.zeros(shape, np.uint8)], axis)
