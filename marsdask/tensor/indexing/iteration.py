"""Iteration over rows and elements: results are read directly, not compiled."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import slice_grid
from marsdask.core.node import MemoryOrder, Node
from marsdask.core.results.stored import Stored
from marsdask.core.session import Session
from marsdask.core.sizes import Chunks, borders, known, numbers
from marsdask.core.snapshots.tokens import token

from ..blocks import assemble
from ..manipulation.shape import view_grid
from ..memory_order import reduced
from ..operands import empty, is_masked
from ..sparse.blocks import dense, is_sparse
from ..typing import ArrayLike, public_view
from .slicing import EVERYTHING, Slice

#: Bytes that a loop holds in memory at a time, or one row if that is larger.
BATCH = 2**24


class RowBatch:
    """Some rows of a tensor, computed together on access to the first of them."""

    def __init__(self, a: Node, rows: range) -> None:
        self.a = a
        self.rows = rows
        self._values: Any = None

    def read(self, session: Session, places: tuple[int, ...]) -> Any:
        """Return a copy of a row, or of a part of it."""
        if self._values is None:
            tail = (EVERYTHING,) * (len(self.a.chunks) - 1)
            part = wrap(Slice(self.a, (self.rows, *tail)))
            self._values = part.compute(session=session)
        value = self._values[(places[0] - self.rows.start, *places[1:], ...)].copy("K")
        return value if value.ndim else value[()]


@dataclass(frozen=True, eq=False)
class Element(Node):
    """The part at one position of each leading axis."""

    label: ClassVar[str] = "getitem"

    a: Node
    places: tuple[int, ...]
    batch: RowBatch | None = field(default=None, repr=False)
    """The batch in which the element may be read together with its neighbours."""

    @property
    def name(self) -> str:
        return f"getitem-{token(Element, self.a, self.places)}"

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, len(self.chunks))

    @property
    def chunks(self) -> Chunks:
        return self.a.chunks[len(self.places) :]

    @property
    def memory_order(self) -> MemoryOrder:
        return reduced(self.a.memory_order, range(len(self.places)), keeps=False)

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        count = len(self.places)
        ranges = [range(place, place + 1) for place in self.places]
        part = slice_grid(a, (*ranges, *(None,) * (a.ndim - count)))
        return view_grid(part, tuple(range(count, a.ndim)))

    def at_hand(self, session: Session) -> Any:
        if self.batch is not None:
            return self.batch.read(session, self.places)
        source = self.a
        if not isinstance(source, Stored) or not _in_memory(source, session):
            return None
        layout = source.result.layout
        ranges: list[Any] = list(map(range, map(len, layout.chunks)))
        local = []
        for axis, place in enumerate(self.places):
            starts = borders(numbers(layout.chunks[axis]))
            ranges[axis] = (bisect.bisect_right(starts, place) - 1,)
            local.append(place - starts[ranges[axis][0]])
        keys = [layout.keys[index] for index in itertools.product(*ranges)]
        blocks = session.scheduler.gather(keys)
        parts = [block[(*local, ...)] for block in blocks]
        places = itertools.product(*map(range, map(len, ranges[len(local) :])))
        grid = dict(zip(places, parts, strict=True))
        return assemble(grid, self.meta, owned=False, order=self.memory_order)

    def __reduce__(self) -> tuple[Any, ...]:
        return Element, (self.a, self.places)


def _in_memory(stored: Stored, session: Session) -> bool:
    """Tell whether a session has the result in readable memory."""
    scheduler = session.scheduler
    return stored.result.scheduler is scheduler and scheduler.capabilities.shared_memory


def element(node: Node, key: Any) -> Node | None:
    """Return the node for integers as the key of a result, ``None`` for other keys."""
    places = key if type(key) is tuple else (key,)
    if not isinstance(node, Stored | Element) or not 0 < len(places) <= len(node.chunks):
        return None
    if any(type(place) is not int for place in places) or is_sparse(node.meta):
        return None
    lengths = node.shape[: len(places)]
    if any(not -n <= i < n for i, n in zip(places, lengths, strict=True)):  # type: ignore[operator]
        return None  # told where all keys are
    places = tuple(i % n for i, n in zip(places, lengths, strict=True))
    if isinstance(node, Element):
        return Element(node.a, node.places + places, node.batch)
    return Element(node, places)


def rows(tensor: Any) -> Iterator[Any]:
    """Iterate over the first axis, whose length is known: rows are computed a batch at a time."""
    node = tensor.node
    apart = is_sparse(node.meta) or not known(node.shape) or is_masked(tensor)
    if apart or isinstance(node, Element):
        yield from (tensor[i] for i in range(int(tensor.shape[0])))
        return
    width = max(1, math.prod(numbers(node.shape[1:])) * node.meta.dtype.itemsize)
    most = max(1, BATCH // width)
    for start, stop in itertools.pairwise(borders(numbers(node.chunks[0]))):
        for begin in range(start, stop, most):
            around = RowBatch(tensor.node, range(begin, min(begin + most, stop)))
            for i in around.rows:
                if tensor.node is not around.a:  # it was written to: read no old values
                    around = RowBatch(tensor.node, range(i, around.rows.stop))
                yield _row(tensor, around, i)


@public_view
def _row(tensor: Any, around: RowBatch, place: int) -> Node:
    """Return a row, which is a view, or an element, which is none."""
    del tensor
    return Element(around.a, (place,), around)


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Iterate over the indices and values of elements, in C order. See numpy.ndenumerate.

    Differs from NumPy: a tensor is computed a batch of rows at a time.

    Parameters
    ----------
    arr : array_like
        The elements.

    Yields
    ------
    index : tuple of int
        The place of an element.
    value : scalar
        The element.

    Examples
    --------
    >>> list(mt.ndenumerate(mt.array([[5, 6]])))
    [((0, 0), np.int64(5)), ((0, 1), np.int64(6))]
    """
    tensor: Any = arr
    if not _has_rows(tensor):
        yield from np.ndenumerate(np.asarray(tensor))
        return
    node = tensor.node if known(tensor.node.shape) else tensor.execute().node
    length, *tail = numbers(node.shape)
    most = max(1, BATCH // max(1, math.prod(tail) * node.meta.dtype.itemsize))
    for begin in range(0, length, most):
        block = dense(tensor[begin : begin + most].compute())
        for (row, *places), value in np.ndenumerate(block):
            yield (begin + row, *places), value


def _has_rows(obj: Any) -> bool:
    """Recognise tensors that have axes."""
    if not isinstance(obj, Collection) or not obj.node.chunks:
        return False
    return isinstance(obj.node.meta, np.ndarray) or is_sparse(obj.node.meta)
