"""Functions that make so many elements along an axis of each so many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.parts import run_of
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, numbers

from ..chunks import regular
from ..operands import empty
from .rechunk import recut


@dataclass(frozen=True, eq=False)
class AxisRatio(Node):
    """A function of blocks; ``few`` elements along an axis become ``many``, the last ones fewer.

    Chunks end where a group of elements does.
    """

    func: Callable[..., Any]
    a: Node
    axis: int
    few: int
    many: int
    dtype: np.dtype[Any]
    options: tuple[tuple[str, Any], ...]

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self._result(self.a.chunks)

    def _result(self, chunks: Chunks) -> Chunks:
        sizes = tuple(-(-size * self.many // self.few) for size in numbers(chunks[self.axis]))
        return (*chunks[: self.axis], sizes, *chunks[self.axis + 1 :])

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        below: list[range | None] = [*taken]
        beside: list[range | None] = [None] * len(taken)
        if (own := taken[self.axis]) is not None:
            span, rest = run_of(own) or (None, None)
            if span is None or rest is None:
                return None
            first = span.start // self.many
            length = numbers(self.a.shape)[self.axis]
            stop = min(length, -(-span.stop // self.many) * self.few)
            below[self.axis] = range(first * self.few, stop)
            shift = span.start - first * self.many
            beside[self.axis] = range(rest.start + shift, rest.stop + shift, rest.step)
        return part(self.replaced(a=part(self.a, tuple(below))), tuple(beside))

    def tile(self, a: Grid) -> Grid:
        sizes = numbers(a.chunks[self.axis])
        if any(size % self.few for size in sizes[:-1]):  # others than those at the call
            step = max(self.few, max(sizes) // self.few * self.few)
            splits = (*a.chunks[: self.axis], regular(sum(sizes), step))
            a = recut(a, (*splits, *a.chunks[self.axis + 1 :]))
        options = {**dict(self.options), "axis": self.axis}
        return map_blocks(
            self.func, a, chunks=self._result(a.chunks), meta=self.meta, kwargs=options
        )
