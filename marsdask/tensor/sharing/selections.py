"""How a view shows its part of the elements, and how what is written to it goes back to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marsdask.core.collection import Writes
from marsdask.core.node import Node, Part
from marsdask.core.sizes import known
from marsdask.core.snapshots.tokens import values_of

from ..chunkwise.map_blocks import MapBlocks
from ..chunkwise.rechunk import whole_along
from ..elementwise.nodes import Elementwise
from ..elementwise.ufuncs import WithErrstate, apply
from ..indexing.advanced import Take
from ..indexing.assignment import SetSlice
from ..indexing.getitem import array_field, named_fields
from ..indexing.inplace import with_part
from ..indexing.iteration import Element
from ..indexing.scatter import SetKnown, replace_values
from ..indexing.setitem import seen
from ..indexing.slicing import EVERYTHING, Slice, Taken
from ..manipulation.reshape import Reshape, reshape
from ..manipulation.shape import Broadcast, View
from ..manipulation.views import SeenAs, seen_as
from ..operands import ToDense, as_node
from ..sparse.blocks import is_sparse
from ..unknown_lengths import UnknownLengthCall


class _Source:
    """Stands for what a step shows a part of."""

    def __repr__(self) -> str:
        return "source"


SOURCE: Final = _Source()


@dataclass(frozen=True, slots=True)
class ViewStep:
    """An operation that shows a part of its input: a node without the input."""

    kind: type[Node]
    fields: tuple[Any, ...]

    def shown(self, source: Node) -> Node:
        """Return the node that shows the part of another input."""
        if self.kind is ToDense and not is_sparse(source.meta):
            return source  # what was written to a sparse tensor has made it dense
        node: Node = self.kind(*(_replaced(item, SOURCE, source) for item in self.fields))
        return node


def _replaced(item: Any, old: Any, new: Any) -> Any:
    if item is old:
        return new
    if type(item) is tuple and any(part is old for part in item):
        return tuple(new if part is old else part for part in item)
    return item


def shown(node: Node, steps: tuple[ViewStep, ...]) -> Node:
    """Return what steps show of a node."""
    for step in steps:
        node = step.shown(node)
    return node


def distance(
    node: Node, ends: tuple[Node, ...], through: tuple[type[Node], ...] = ()
) -> tuple[Node, int, set[type[Node]]] | None:
    """Return which of some nodes a node shows a part of, in how many operations of which kinds.

    ``None`` means that it makes new elements.
    """
    count = 0
    kinds: set[type[Node]] = set()
    while node not in ends:
        source = _source_of(node, through)
        if source is None:
            return None
        kinds.add(type(node))
        count += 1
        node = source
    return node, count, kinds


def _source_of(node: Any, through: tuple[type[Node], ...]) -> Node | None:
    """Return the input that a node shows a part of, ``None`` if it makes new elements."""
    kind = type(node)
    if kind in _SIMPLE:
        source: Node = node.a
        return source
    if (kind not in _SHOW or kind is Take) and kind not in through:
        return None
    if kind is Elementwise and function_of(node) not in _SHOW_FUNCTIONS:
        return None
    if kind is MapBlocks and node.func is not array_field and kind not in through:
        return None
    sources = set(node.inputs)
    return sources.pop() if len(sources) == 1 else None


def function_of(node: Any) -> Any:
    """Return the function of an elementwise node, without the state of errors at its call."""
    return node.func.func if isinstance(node.func, WithErrstate) else node.func


def steps_between(node: Node, count: int) -> list[ViewStep]:
    """Return the steps of the last so many operations that made a node."""
    steps: list[ViewStep] = []
    for _ in range(count):
        source = node.inputs[0]
        steps.extend(reversed(_steps_of(node, source)))
        node = source
    return steps[::-1]


def _steps_of(node: Node, source: Node) -> list[ViewStep]:
    if isinstance(node, Element):
        count, ndim = len(node.places), len(source.chunks)
        tail = (EVERYTHING,) * (ndim - count)
        ranges = (*(range(place, place + 1) for place in node.places), *tail)
        return [
            ViewStep(Slice, (SOURCE, ranges)),
            ViewStep(View, (SOURCE, tuple(range(count, ndim)))),
        ]
    fields = tuple(_replaced(value, source, SOURCE) for value in values_of(node))
    return [ViewStep(type(node), fields)]


READ_ONLY = ValueError("assignment destination is read-only")

UNTRACED = NotImplementedError(
    "writing to a view that was made before its lengths were known is not supported; make it again "
    "after execute(), or write to a .copy()"
)


def refusal_of(kinds: set[type[Node]], writes: Writes) -> Exception | None:
    """Return the error of a write to what operations show, ``None`` if it can be traced."""
    if writes == "refused" or Broadcast in kinds:
        return READ_ONLY
    return UNTRACED if UnknownLengthCall in kinds else None


def written_back(node: Node, steps: tuple[ViewStep, ...], value: Node) -> tuple[Node, bool]:
    """Return all elements with ``value`` in place of what steps show of them.

    Tell also whether ``value`` is still the shortest way to that part.
    """
    sources = [node]
    for step in steps:
        sources.append(step.shown(sources[-1]))
    keeps = not (type(value) is SetSlice and all(step.kind in (Slice, View) for step in steps))
    for source, part in zip(sources[-2::-1], sources[:0:-1], strict=True):
        if part is not source:  # it is for a sparse tensor that was made dense
            value = _written(as_node(source), part, as_node(value))
    return value, keeps or not steps


def _written(source: Node, part: Any, value: Node) -> Node:
    if isinstance(part, Elementwise):
        return _SHOW_FUNCTIONS[function_of(part)](source, part, value)
    write = _SHOW.get(type(part))
    if write is None:
        raise NotImplementedError(f"writing to a view by {part.label} is not supported: .copy() it")
    return write(source, part, value)


def _slice_written(a: Node, part: Slice, value: Node) -> Node:
    ranges = part.taken
    if type(value) is SetSlice and value.a is part:
        # An assignment to a part of the part is one to a part of the whole.
        inner = [_within(*pair) for pair in zip(ranges, value.taken, strict=True)]
        if None not in inner:
            return SetSlice(a, value.value, tuple(inner))  # type: ignore[arg-type]
    if type(a) is SetSlice and a.taken == ranges:
        a = a.a  # nobody sees what was assigned there before
    return SetSlice(a, value, ranges)


def _within(outer: Taken, inner: Taken) -> Taken | None:
    """Return what a selection of a selection selects, ``None`` if lengths are unknown."""
    if EVERYTHING in (outer, inner):
        return inner if outer == EVERYTHING else outer
    if not (isinstance(outer, range) and isinstance(inner, range)):
        return None
    step = outer.step * inner.step
    start = outer.start + outer.step * inner.start
    return range(start, start + step * len(inner), step)


def _view_written(a: Node, part: View, value: Node) -> Node:
    axes = part.axes
    back = [axes.index(axis) if axis in axes else None for axis in range(len(a.chunks))]
    if type(value) is SetSlice and value.a is part and not _hides(axes, value.taken):
        ranges = tuple(EVERYTHING if place is None else value.taken[place] for place in back)
        return SetSlice(a, seen(value.value, back), ranges)
    return seen(value, back)


def _hides(axes: tuple[int | None, ...], taken: tuple[Taken, ...]) -> bool:
    """Tell whether nothing is taken of an axis that the source does not have."""
    return any(
        axis is None and isinstance(part, range) and not part
        for axis, part in zip(axes, taken, strict=True)
    )


def _reshape_written(a: Node, part: Reshape, value: Node) -> Node:
    del part
    lengths = [size for size in a.shape if not known((size,))]
    if len(lengths) > 1:
        raise NotImplementedError(
            "writing to a reshaped view of several unknown lengths is not supported; "
            "execute() first, or write to a .copy()"
        )
    return reshape.node(value, tuple(n if known((n,)) else -1 for n in a.shape))


def _dense_written(a: Node, part: ToDense, value: Node) -> Node:
    del a, part
    return value


def _bytes_written(a: Node, part: Node, value: Node) -> Node:
    del part
    if isinstance(value.meta.dtype, type(a.meta.dtype)) and value.meta.dtype == a.meta.dtype:
        return value
    if value.meta.dtype.itemsize == a.meta.dtype.itemsize:
        return apply(seen_as, value, kind=a.meta.dtype)
    return SeenAs(value, a.meta.dtype)


def _real_written(a: Node, part: Node, value: Node) -> Node:
    del part
    return apply(with_part, a, value, part="real") if a.meta.dtype.kind == "c" else value


def _imag_written(a: Node, part: Node, value: Node) -> Node:
    del part
    return apply(with_part, a, value, part="imag")


def with_fields(block: Any, value: Any, names: Any) -> Any:
    """Return a copy of a structured block with other values of some fields."""
    out = np.array(block)
    out[names if isinstance(names, str) else list(names)] = value
    return out


def _fields_written(a: Node, part: Elementwise, value: Node) -> Node:
    return apply(with_fields, a, value, **dict(part.kwargs))


def with_array_field(value: Any, block: Any, name: str) -> Any:
    """Return a copy of a structured block with another field; the axes of its own come first."""
    count = np.ndim(value) - np.ndim(block)
    out = np.array(block)
    out[name] = np.moveaxis(value, range(count), range(-count, 0))
    return out


def _array_field_written(a: Node, part: MapBlocks, value: Node) -> Node:
    ndim, added = len(a.chunks), len(part.added)
    own = seen(value, [*part.added, *range(ndim)])
    own = whole_along(own, tuple(range(added)), ndim + added)
    empty = np.empty((0,) * ndim, a.meta.dtype)
    inputs = ((own, a), (None, None), (0, 1), part.kwargs, ())
    return MapBlocks(with_array_field, *inputs, empty, dropped=tuple(range(added)))


def _points_written(a: Node, part: Take, value: Node) -> Node:
    everything = (EVERYTHING,) * len(a.chunks)
    points = tuple(map(np.asarray, part.points))
    return SetKnown(a, value, points, part.axes, everything, replace_values)


Written = Callable[[Any, Any, Any], Node]
"""``written(source, part, value)`` returns the source with ``value`` in place of its part."""

#: Operations that show a part of their input, and how a write to it goes back, if it can.
_SHOW: dict[type[Node], Written | None] = {
    Slice: _slice_written,
    View: _view_written,
    Element: None,  # shown as a slice
    Reshape: _reshape_written,
    ToDense: _dense_written,
    SeenAs: _bytes_written,
    Elementwise: None,  # by its function
    MapBlocks: _array_field_written,
    Broadcast: None,
    Take: _points_written,
    Part: None,
    UnknownLengthCall: None,
}

#: Those of one input, by its name.
_SIMPLE = {Slice, View, Element, Reshape, ToDense, SeenAs, Broadcast}

_SHOW_FUNCTIONS: dict[Any, Written] = {
    np.real: _real_written,
    np.imag: _imag_written,
    seen_as: _bytes_written,
    named_fields: _fields_written,
}
