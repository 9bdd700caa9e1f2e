"""Assignment to a whole tensor or a part along its axes, and shared functions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection, collect, rebind
from marsdask.core.grids.align import is_one
from marsdask.core.grids.blockwise import Axes, Via, blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import AxisCut, cut_axis
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MemoryOrder, Node, PartOf, SameChunks, SameMeta
from marsdask.core.node import Taken as Cut
from marsdask.core.sizes import Chunks, Index, Size, Sizes, known, numbers

from ..chunkwise.rechunk import recut
from ..elementwise.nodes import Elementwise, cast
from ..kernels.duck_arrays import alike, is_foreign
from ..manipulation.shape import whole
from ..operands import as_node, is_masked, to_change
from ..sparse.blocks import is_sparse
from .output_rules import OUTPUT, OutputRule
from .slicing import EVERYTHING, Taken, settle


@dataclass(frozen=True)
class KeyAt:
    """Gives each chunk its part that is assigned to, ``None`` if there is none."""

    keys: tuple[dict[int, slice] | None, ...]
    """For each axis the part of every chunk that has one; ``None`` is the whole axis."""

    def __call__(self, index: Index) -> tuple[tuple[slice, ...] | None]:
        key: list[slice] = []
        for parts, i in zip(self.keys, index, strict=True):
            if parts is not None and i not in parts:
                return (None,)
            key.append(EVERYTHING if parts is None else parts[i])
        return (tuple(key),)


def writable(block: Any) -> Any:
    """Return a copy of a block; one without axes may be a scalar, and becomes an array."""
    return block.copy() if is_foreign(block) else np.array(block)


def keys_of(cuts: Sequence[AxisCut | None]) -> KeyAt:
    """Return the function that gives each chunk its assigned part."""
    return KeyAt(
        tuple(
            None if cut is None else dict(zip(cut.positions, cut.parts, strict=True))
            for cut in cuts
        )
    )


def spread_over(
    a: Grid, value: Grid, cuts: Sequence[AxisCut | None], axes: Sequence[int | None]
) -> tuple[Grid, Axes]:
    """Rechunk a value like the parts it is assigned to; return the value's chunk for each chunk.

    ``axes`` has the array's axis for each of the value's; axes without one are unchanged.
    """
    value = whole(value, [i for i, sizes in enumerate(value.chunks) if is_one(sizes)])
    target, edges = value_chunks(a, value.chunks, cuts, axes)
    return recut(value, target), edges


def value_chunks(
    a: Grid, chunks: Chunks, cuts: Sequence[AxisCut | None], axes: Sequence[int | None]
) -> tuple[Chunks, Axes]:
    """Return the chunks of :func:`spread_over` for a value in ``chunks``, and the edges."""
    edges: list[int | Via | None] = []
    target: list[Sizes] = []
    for axis, sizes in zip(axes, chunks, strict=True):
        if axis is None or sizes == (1,):
            target.append(sizes)
            edges.append(None)
            continue
        cut = cuts[axis]
        splits = a.chunks[axis] if cut is None else cut.sizes
        check_length(sizes, splits, axis)
        target.append(splits)
        if cut is None:
            edges.append(axis)
        else:
            places = {position: i for i, position in enumerate(cut.positions)}
            edges.append(Via(axis, tuple(places.get(i, 0) for i in range(a.numblocks[axis]))))
    return tuple(target), tuple(edges)


@dataclass(frozen=True, eq=False)
class SetItem(SameMeta, SameChunks):
    """An array like the one assigned to."""

    label: ClassVar[str] = "setitem"

    value: Node

    # Cached: a loop of assignments makes long chains, which would be traversed at every step.

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order


def check_length(own: Sizes, wanted: Sizes, axis: int) -> None:
    """Raise ``ValueError`` for a value of unknown length that does not fit."""
    if own != wanted and sum(numbers(own)) != sum(numbers(wanted)):
        raise ValueError(
            f"could not broadcast input array of length {sum(numbers(own))} into the "
            f"{sum(numbers(wanted))} elements along axis {axis}"
        )


def cuts_of(a: Grid, taken: Sequence[Taken]) -> list[AxisCut | None]:
    """Return the part of each chunk along each axis, ``None`` where it is the whole axis."""
    return [
        None if part == EVERYTHING else cut_axis(numbers(sizes), settle(part, numbers(sizes), axis))
        for axis, (sizes, part) in enumerate(zip(a.chunks, taken, strict=True))
    ]


@kernel(scratch=0.0)
def put(block: Any, value: Any, key: tuple[slice, ...] | None) -> Any:
    """Return a copy of a block with a part assigned to."""
    if key is None:
        return block
    out = writable(block)
    out[key] = alike(out, value)[1]
    return out


@dataclass(frozen=True, eq=False)
class SetSlice(SetItem):
    """An array with one part replaced; the value has its axes, of length one if repeated."""

    taken: tuple[Taken, ...]

    def sliced(self, taken: Cut, part: PartOf) -> Node | None:
        target = part(self.a, taken)
        meeting = [
            _meeting(own, place, length)
            for own, place, length in zip(self.taken, taken, self.a.shape, strict=True)
        ]
        if None in meeting:
            return None
        if any(places is not None and not places for places, _ in meeting):  # type: ignore[misc]
            return target
        ranges = zip(self.value.shape, (span for _, span in meeting), strict=True)  # type: ignore[misc]
        value = part(self.value, tuple(None if size == 1 else span for size, span in ranges))
        places = tuple(EVERYTHING if own is None else own for own, _ in meeting)  # type: ignore[misc]
        return self.replaced(a=target, value=value, taken=places)

    def tile(self, a: Grid, value: Grid) -> Generator[Look, Any, Grid]:
        a, value = yield from _comparable(a, value, self.taken)
        cuts = cuts_of(a, self.taken)
        own = tuple(range(a.ndim))
        value, edges = spread_over(a, value, cuts, own)
        inputs = [(a, own), (value, edges)]
        return blockwise(put, inputs, chunks=a.chunks, meta=a.meta, varying=keys_of(cuts))


#: The most positions of an axis that are compared with those assigned to.
MOST_COMPARED = 2**16


def _meeting(
    own: Taken, part: range | None, length: Size
) -> tuple[range | None, range | None] | None:
    """Return where a part of an axis is assigned to, and which of the values it is assigned.

    ``None`` for all; ``None`` alone if that is not known.
    """
    if own == EVERYTHING:
        return None, part
    if not isinstance(own, range):
        return None
    if part is None:
        return (own, None) if isinstance(length, int) else None
    if len(part) > MOST_COMPARED:
        return None
    places = [place for place, position in enumerate(part) if position in own]
    if not places:
        return range(0), range(0)
    values = [own.index(part[place]) for place in places]
    return as_range(places), as_range(values)


def as_range(numbers: list[int]) -> range:
    """Return equally spaced numbers, at least one, as a range."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    return range(numbers[0], numbers[0] + step * len(numbers), step)


def _comparable(
    a: Grid, value: Grid, taken: Sequence[Taken]
) -> Generator[Look, Any, tuple[Grid, Grid]]:
    """Compute unknown sizes only if the result depends on them."""
    for axis, part in enumerate(taken):
        sizes = value.chunks[axis]
        is_same = part == EVERYTHING and sizes in ((1,), a.chunks[axis])
        if not is_same and not (known(sizes) and known(a.chunks[axis])):
            a, value = yield from resolved(a, value)
            break
    return a, value


def assign(target: Any, node: Node, casting: Any = "same_kind", rule: OutputRule = OUTPUT) -> Any:
    """Make ``target`` hold the node, cast to the target's type; return the target.

    This implements ``out=`` and in-place operators: earlier expressions of ``target`` keep its old
    value.
    """
    if not isinstance(target, Collection):
        raise TypeError("out= takes a tensor; to fill an array, assign the result of compute()")
    old = to_change(target).node
    if not is_sparse(old.meta):
        node = as_node(node)  # a dense array stays one
    if is_masked(node) and not is_masked(old):
        raise NotImplementedError(
            "a masked tensor in place of a plain one is not supported; use x.filled() or x.data"
        )
    rule.check(old, node, casting)
    fits = node.shape == old.shape
    if node.incomplete or node.meta.dtype != old.meta.dtype:
        if is_masked(node):
            node = collect(node).astype(old.meta.dtype).node
        else:
            node = Elementwise(cast, (node,), (("dtype", old.meta.dtype),))
    if not fits:  # its lengths are compared once they are known
        node = SetSlice(old, node, (EVERYTHING,) * len(old.chunks))
    rebind(target, node)
    return target


def into(out: Any, node: Node, casting: Any = "same_kind", rule: OutputRule = OUTPUT) -> Node:
    """Return a node, or the tensor ``out`` that now holds it.

    Public functions return that tensor itself; functions called inside operations have none.
    """
    result: Node = node if out is None else assign(out, node, casting, rule)
    return result
