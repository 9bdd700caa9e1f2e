"""Reshape: axes merged and split in C order, with as little data movement as possible."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import MOST_POINTS, part_of
from marsdask.core.machine.costs import kernel
from marsdask.core.node import DiagonalOf, MemoryOrder, Node, PartOf, Taken
from marsdask.core.sizes import (
    Chunks,
    Index,
    Size,
    Sizes,
    Unknown,
    known,
    known_chunks,
    numbers,
    shape_of,
    upper,
)

from ..chunks import whole_number
from ..chunkwise.rechunk import rechunk, recut
from ..indexing.advanced import Take
from ..memory_order import is_dense, letter_of, reshaped
from ..operands import as_node, empty
from ..signatures import shows
from ..typing import public, view_face
from .shape import normalize_axis, view
from .strides import runs_of, strided

Shape = tuple[int, ...]

#: Arrays of as many elements have no flat positions.
LARGEST = 2**63


class Group(NamedTuple):
    """Neighbouring axes that become neighbouring axes of the same number of elements."""

    old: Shape
    """The lengths before."""
    new: Shape
    """The lengths after."""


class ReshapeStep(NamedTuple):
    """The chunks of one group at each step: all are bands of the leading axis."""

    before: tuple[Sizes, ...]
    flat: Sizes
    recut: Sizes
    after: tuple[Sizes, ...]


def groups(old: Shape, new: Shape) -> list[Group]:
    """Match axes of equal products, from the front; neither shape has a zero."""
    pairs: list[Group] = []
    i = j = 0
    while i < len(old) or j < len(new):
        source, target = [*old[i : i + 1]], [*new[j : j + 1]]
        i, j = i + len(source), j + len(target)
        while math.prod(source) != math.prod(target):
            if math.prod(source) < math.prod(target):
                source.append(old[i])
                i += 1
            else:
                target.append(new[j])
                j += 1
        pairs.append(Group(tuple(source), tuple(target)))
    return pairs


def step_of(group: Group, chunks: tuple[Sizes, ...]) -> ReshapeStep:
    """Plan one group: existing bands if possible, else bands of about the chunks' size."""
    if len(group.old) == len(group.new) == 1:
        return ReshapeStep(chunks, chunks[0], chunks[0], chunks)
    cuts = [numbers(sizes) for sizes in chunks]
    stride, inner = math.prod(group.old[1:]), math.prod(group.new[1:])
    lead: Sizes = cuts[0] if cuts else (1,)
    if any(len(sizes) > 1 for sizes in cuts[1:]):
        band = max(1, math.prod(map(max, cuts)) // stride)
        lead = _banded(numbers(lead), band)
    flat = tuple(size * stride for size in numbers(lead))
    pieces = flat if group.new else (1,)
    if any(size % inner for size in flat):
        borders = {border // inner * inner for border in itertools.accumulate(flat)} - {0}
        pieces = tuple(b - a for a, b in itertools.pairwise([0, *sorted(borders)]))
    before = (lead, *((length,) for length in group.old[1:])) if group.old else ()
    after = (
        (tuple(size // inner for size in pieces), *((length,) for length in group.new[1:]))
        if group.new
        else ()
    )
    return ReshapeStep(before, flat, pieces, after)


def _banded(sizes: tuple[int, ...], band: int) -> Sizes:
    """Split every size into bands, none longer than ``band``."""
    bands: list[int] = []
    for size in sizes:
        count = -(-size // band) or 1
        bands.extend(size // count + (i < size % count) for i in range(count))
    return tuple(bands)


def plan(chunks: Chunks, shape: Shape) -> list[ReshapeStep]:
    """Plan the whole reshape of an array of known sizes and at least one element."""
    steps = []
    axis = 0
    old = shape_of(chunks)
    for group in groups(old, shape):
        steps.append(step_of(group, chunks[axis : axis + len(group.old)]))
        axis += len(group.old)
    return steps


@dataclass(frozen=True)
class ShapesAt:
    """Gives each chunk its new shape: one index per input group, several axes per output group."""

    groups: tuple[tuple[Sizes, ...], ...]
    """For each axis of the index the sizes of the axes it becomes, the first of them cut."""

    def __call__(self, index: Index) -> tuple[tuple[Any, ...]]:
        shape: list[Any] = []
        for cuts, i in zip(self.groups, index, strict=True):
            shape.extend([cuts[0][i], *(sizes[0] for sizes in cuts[1:])] if cuts else ())
        return (tuple(shape),)


@kernel(scratch=0.0, shares=True)
def reform(block: Any, shape: Shape) -> Any:
    """Return a block in another shape: a view if it is contiguous."""
    return block.reshape(shape)


def _merge(a: Grid, steps: list[ReshapeStep]) -> Grid:
    """Make every group one axis."""
    a = recut(a, tuple(sizes for step in steps for sizes in step.before))
    axes: list[int | None] = []
    for position, step in enumerate(steps):
        axes.extend([position, *[None] * (len(step.before) - 1)] if step.before else ())
    flat = tuple(step.flat for step in steps)
    return blockwise(
        reform,
        [(a, tuple(axes))],
        chunks=flat,
        meta=empty(a.meta.dtype, len(flat)),
        varying=ShapesAt(tuple((sizes,) for sizes in flat)),
    )


def _split(a: Grid, steps: list[ReshapeStep]) -> Grid:
    """Make every axis the axes of its group."""
    chunks = tuple(sizes for step in steps for sizes in step.after)
    places: list[int | None] = []
    start = 0
    for step in steps:
        places.append(start if step.after else None)
        start += len(step.after)
    cuts = tuple(step.after for step in steps if step.after)
    axes = tuple(place for place in places if place is not None)
    return blockwise(
        reform,
        [(a, tuple(places))],
        chunks=chunks,
        meta=empty(a.meta.dtype, len(chunks)),
        varying=_Leading(axes, ShapesAt(cuts)),
    )


@dataclass(frozen=True)
class _Leading:
    """Returns the shape for the leading axis of each group."""

    axes: tuple[int, ...]
    shapes: ShapesAt

    def __call__(self, index: Index) -> tuple[tuple[Any, ...]]:
        return self.shapes(tuple(index[axis] for axis in self.axes))


def nothing(shape: Shape, dtype: np.dtype[Any]) -> Any:
    """Return an array without elements."""
    return np.empty(shape, dtype)


def reshape_grid(a: Grid, shape: Shape) -> Grid:
    """Return a grid of known sizes in another shape."""
    if 0 in shape:
        kwargs = {"shape": shape, "dtype": a.meta.dtype}
        chunks = tuple((size,) for size in shape)
        return blockwise(
            nothing, [], chunks=chunks, meta=empty(a.meta.dtype, len(shape)), kwargs=kwargs
        )
    steps = plan(a.chunks, shape)
    flat = _merge(a, steps)
    return _split(recut(flat, tuple(step.recut for step in steps)), steps)


@dataclass(frozen=True, eq=False)
class Reshape(Node):
    """The elements in C order in another shape; one length may be -1 while it is unknown."""

    a: Node
    form: Shape

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, len(self.form))

    @property
    def chunks(self) -> Chunks:
        if not known_chunks(self.a.chunks):
            return tuple(self._length(size) for size in self.form)
        if 0 in self.form:
            return tuple((size,) for size in self.form)
        return tuple(sizes for step in plan(self.a.chunks, self.form) for sizes in step.after)

    @property
    def memory_order(self) -> MemoryOrder:
        return reshaped(self.a, self.form)

    def _length(self, size: int) -> Sizes:
        if size != -1:
            return (size,)
        bounds = [upper(length) for length in self.a.shape]
        factor = -math.prod(self.form) or 1
        return (Unknown(self.name, -1, None if None in bounds else math.prod(bounds) // factor),)  # type: ignore[arg-type]

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        if not known(self.a.shape) or 0 in self.form:
            return None
        below: list[range | None] = []
        form: list[int] = []
        cuts = iter(zip(self.form, taken, strict=True))
        for group in groups(numbers(self.a.shape), self.form):
            own = [next(cuts) for _ in group.new]
            if len(group.old) == len(group.new) == 1:
                below.append(own[0][1])
            elif any(span is not None for _, span in own):
                along = _along(group, [span for _, span in own])
                if along is None:
                    return self._runs(taken, part) or self._points(taken)
                below.append(along)
            else:
                below.extend([None] * len(group.old))
            form.extend(length if span is None else len(span) for length, span in own)
        if 0 in form:
            return None
        return self.replaced(a=part(self.a, tuple(below)), form=tuple(form))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        del along
        if len(self.a.chunks) != 1 or len(self.form) != 2 or not known(self.a.shape):
            return None
        width = self.form[1]
        start, step = rows.start * width + columns.start, rows.step * width + columns.step
        return part_of(self.a, (range(start, start + len(rows) * step, step),))

    def _runs(self, taken: Taken, part: PartOf) -> Node | None:
        """Return some elements of a vector by the few runs in which they lie."""
        ranges = _ranges(self.form, taken)
        if len(self.a.chunks) != 1 or not all(ranges):
            return None
        runs = runs_of(self.a, strided(self.form, ranges), part)
        return None if runs is None else Reshape(runs, tuple(map(len, ranges)))

    def _points(self, taken: Taken) -> Node | None:
        """Return some elements by their positions in the source, if they are not too many."""
        ranges = _ranges(self.form, taken)
        shape = tuple(map(len, ranges))
        if not 0 < math.prod(shape) <= MOST_POINTS or math.prod(self.form) >= LARGEST:
            return None
        flat = np.ravel_multi_index(np.ix_(*ranges), self.form).ravel()
        source = numbers(self.a.shape)
        points = np.unravel_index(flat, source) if source else ()
        if not points:
            return None
        taken_points = Take(self.a, tuple(points), tuple(range(len(source))), 0)
        return Reshape(taken_points, shape)

    def tile(self, a: Grid) -> Any:
        return self._settled(a) if known_chunks(a.chunks) else self._look(a)

    def _look(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        return self._settled(a)

    def _settled(self, a: Grid) -> Grid:
        return reshape_grid(a, settle(shape_of(a.chunks), self.form))


def _ranges(shape: Shape, taken: Sequence[range | None]) -> list[range]:
    """Return what is taken of each axis."""
    return [range(n) if span is None else span for n, span in zip(shape, taken, strict=True)]


def _along(group: Group, taken: Sequence[range | None]) -> range | None:
    """Return what is taken of an axis that became several, if it is one range."""
    ranges = _ranges(group.new, taken)
    if len(group.old) != 1 or not all(ranges):
        return None
    return strided(group.new, ranges).as_range


@dataclass(frozen=True, eq=False)
class ReshapeBlockwise(Rule):
    """Each chunk is a chunk of the source in another shape, in the order of the chunks."""

    label: ClassVar[str] = "reshape"

    source: Grid
    target: Chunks

    @cached_property
    def _counts(self) -> Index:
        return tuple(map(len, self.target))

    def cell(self, index: Index) -> Call:
        flat = int(np.ravel_multi_index(index, self._counts)) if index else 0
        there = tuple(int(i) for i in np.unravel_index(flat, self.source.numblocks))
        shape = tuple(sizes[i] for sizes, i in zip(self.target, index, strict=True))
        return Call(reform, (Ref(self.source, there), shape))


@dataclass(frozen=True, eq=False)
class ReshapeBlocks(Node):
    """Reshape every chunk; the element order may change."""

    label: ClassVar[str] = "reshape"

    pins_grid: ClassVar[bool] = True

    a: Node
    splits: Chunks

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, len(self.splits))

    @property
    def chunks(self) -> Chunks:
        return self.splits

    def tile(self, a: Grid) -> Grid:
        return Grid(ReshapeBlockwise(a, self.splits), self.splits, self.meta)


def by_blocks(node: Node, shape: Shape) -> Node:
    """Return a reshape that joins no chunks, if it only merges axes; else any.

    Of axes that become one, all but the last are cut into single elements: what is left of a chunk
    is a chunk of the result.
    """
    if not known_chunks(node.chunks) or 0 in shape:
        return Reshape(node, shape)
    pairs = groups(numbers(node.shape), shape)
    if any(len(group.new) > 1 for group in pairs):
        return Reshape(node, shape)
    before: list[Sizes] = []
    after: list[Sizes] = []
    for group in pairs:
        first = len(before)
        before.extend((1,) * length for length in group.old[:-1])
        if group.old:
            # An axis that goes has one element, in one chunk: empty ones would stay.
            before.append(node.chunks[first + len(group.old) - 1] if group.new else (1,))
        if group.new:
            whole = before[-1] if group.old else (1,)
            after.append(whole * math.prod(group.old[:-1]))
    return ReshapeBlocks(as_node(rechunk.node(node, tuple(before))), tuple(after))


def settle(old: tuple[Size, ...], new: Shape) -> Shape:
    """Return the new shape with -1 replaced; raises ``ValueError`` if the elements do not fit."""
    if new.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if not known(old):
        return new
    count = math.prod(numbers(old))
    product = math.prod(size for size in new if size != -1)
    fits = count % product == 0 if product and -1 in new else count == product and -1 not in new
    if any(size < -1 for size in new) or not fits:
        raise ValueError(f"cannot reshape array of size {count} into shape {_text(new)}")
    return tuple(count // product if size == -1 else size for size in new)


def _text(shape: Shape) -> str:
    """Return a shape as in the errors of NumPy's reshape: a leading -1 is shown as newaxis."""
    sizes = itertools.dropwhile(lambda size: size < 0, shape)
    text = ",".join("newaxis" if size < 0 else str(size) for size in sizes)
    return f"({text}{',' if len(shape) == 1 else ''})"


def _is_copied(found: Any, *args: Any, copy: bool | None = None, **kwargs: Any) -> bool:
    """Tell whether a copy was asked for."""
    del found, args, kwargs
    return bool(copy)


@view_face(copies=_is_copied)
@shows("newshape", "copy", "merge_chunks", "limit")
def reshape(a: Any, shape: Any = None, *more: Any, order: str = "C", **kwargs: Any) -> Node:
    """Give the elements another shape; one length may be -1. See numpy.reshape.

    Differs from NumPy: a wrong length of an axis of unknown chunks may raise only when it runs.
    With ``merge_chunks=False`` axes are merged without joining chunks, as in Dask.
    """
    shape = kwargs.pop("newshape", shape)
    merges = kwargs.pop("merge_chunks", True)
    for name in ("limit", "copy"):  # of Dask and NumPy; chunks are chosen here
        kwargs.pop(name, None)
    check_keywords(kwargs, ())
    if shape is None:
        raise TypeError("reshape() missing 1 required positional argument: 'shape'")
    node = as_node(a)
    lengths = _lengths(shape, more)
    letter = letter_of(order, a, default="C")
    if letter == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if letter == "F":
        result = reshape.node(_reversed(node), lengths[::-1])
        return _reversed(result)
    form = settle(node.shape, lengths)
    if known(node.shape) and form == node.shape and not isinstance(a, np.ndarray):
        return node
    return Reshape(node, form) if merges else by_blocks(node, form)


def _lengths(shape: Any, more: tuple[Any, ...]) -> Shape:
    """Return the lengths that were given as one argument or as several."""
    if not more and np.iterable(shape):
        return tuple(map(whole_number, shape))
    try:
        return tuple(map(whole_number, (shape, *more)))
    except TypeError:
        if more:
            raise
        raise TypeError(
            f"expected a sequence of integers or a single integer, got '{shape!r}'"
        ) from None


def _reversed(node: Node) -> Node:
    return view(node, range(len(node.chunks))[::-1])


def _is_gathered(found: Any, a: Any, order: str = "C") -> bool:
    """Tell whether the elements do not lie one after the other yet."""
    del found
    letter = letter_of(order, a, default="C")
    if letter == "K":
        return not is_dense(a)
    return not (a.flags.f_contiguous if letter == "F" else a.flags.c_contiguous)


@view_face(copies=_is_gathered)
def ravel(a: Any, order: str = "C") -> Node:
    """Return the elements in one axis. See numpy.ravel."""
    letter = letter_of(order, a, default="C")
    node = as_node(a)
    if len(node.chunks) == 1:
        return node
    if letter == "K":
        node, letter = view(node, node.memory_order or range(len(node.chunks))), "C"
    return reshape.node(node, (-1,), order=letter)


def with_axis(a: Any, axis: Any, *, sparse: bool = False) -> tuple[Node, int]:
    """Return an operand with an axis: its elements in one if none is given, or for a scalar."""
    node = as_node(a, sparse=sparse and axis is not None)
    if axis is None or not node.chunks:
        node, axis = as_node(ravel.node(a if axis is None else node)), 0 if axis is None else axis
    return node, normalize_axis(axis, len(node.chunks))


@public
def flatten(a: Any, order: str = "C") -> Node:
    """Return the elements in one axis. See numpy.ndarray.flatten."""
    return ravel.node(a, order)
