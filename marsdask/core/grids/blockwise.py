"""Each chunk from one chunk of every input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..machine.costs import kernel
from ..sizes import Chunks, Index
from ..snapshots.functions import function_name
from .grid import Call, Grid, Ref, Rule


@dataclass(frozen=True)
class Via:
    """A table of chunks along one axis: output chunk ``i`` takes ``positions[i]``.

    A range takes little memory, whatever its length. Without an axis it is always the first.
    """

    axis: int | None
    positions: Sequence[int]
    partial: bool = False
    """Whether only some output chunks take the input; what the table says for others is void."""

    def under(self, outer: int | Via | None) -> Via:
        """Return the table of an output whose own axis is reached by ``outer``."""
        if outer is None:
            return Via(None, self.positions[:1])
        if isinstance(outer, int):
            return Via(outer, self.positions, self.partial)
        mine, theirs = self.positions, outer.positions
        partial = self.partial or outer.partial
        if isinstance(mine, range) and isinstance(theirs, range) and theirs:
            start, step = mine.start + mine.step * theirs[0], mine.step * theirs.step
            return Via(outer.axis, range(start, start + step * len(theirs), step), partial)
        table = tuple(mine[place] if 0 <= place < len(mine) else -1 for place in theirs)
        return Via(outer.axis, table, partial)

    def once(self) -> bool:
        """Tell whether no chunk of the input is taken twice."""
        positions = self.positions
        return isinstance(positions, range) or len(set(positions)) == len(positions)


Axes = tuple[int | Via | None, ...]


@dataclass(frozen=True, eq=False)
class ByKernel(Rule):
    """Chunks that one kernel computes, with keys named after it."""

    func: Callable[..., Any]

    @property
    def label(self) -> str:
        return function_name(self.func).strip("_")


@dataclass(frozen=True, eq=False)
class Blockwise(ByKernel):
    """Chunk ``i`` from one chunk of each input.

    Input ``k`` contributes its chunk at ``[i[a] for a in axes[k]]``; ``None`` means 0, a
    :class:`Via` is looked up in its table. ``varying(i)`` gives further constant arguments of chunk
    ``i``.
    """

    sources: tuple[Grid, ...] = ()
    axes: tuple[Axes, ...] = ()
    kwargs: Mapping[str, Any] | None = None
    varying: Callable[[Index], tuple[Any, ...]] | None = None
    cheap: bool = False
    """Whether doing it again costs less than keeping it: a view, a constant."""

    def cell(self, index: Index) -> Call:
        args: tuple[Any, ...] = tuple(
            Ref(source, pick(index, axes))
            for source, axes in zip(self.sources, self.axes, strict=True)
        )
        if self.varying is not None:
            args += self.varying(index)
        return Call(self.func, args, self.kwargs or {})


def pick(index: Index, axes: Axes) -> Index:
    """Return the index of the input's chunk for the output's chunk ``index``."""
    return tuple(
        0
        if axis is None
        else index[axis]
        if isinstance(axis, int)
        else axis.positions[0 if axis.axis is None else index[axis.axis]]
        for axis in axes
    )


def blockwise(
    func: Callable[..., Any],
    inputs: Sequence[tuple[Grid, Axes]],
    *,
    chunks: Chunks,
    meta: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    varying: Callable[[Index], tuple[Any, ...]] | None = None,
    cheap: bool = False,
    itemsize: float | None = None,
) -> Grid:
    """Map ``func`` over chunks, with explicit axes for each input."""
    sources = tuple(grid for grid, _ in inputs)
    axes = tuple(axes for _, axes in inputs)
    rule = Blockwise(func, sources, axes, kwargs or None, varying, cheap)
    return Grid(rule, chunks, meta, itemsize)


def map_blocks(
    func: Callable[..., Any],
    *grids: Grid,
    chunks: Chunks | None = None,
    meta: Any = None,
    itemsize: float | None = None,
    cheap: bool = False,
    varying: Callable[[Index], tuple[Any, ...]] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Grid:
    """Map ``func`` over aligned chunks; axes match from the last, one-chunk axes broadcast.

    ``chunks`` defaults to those of the input with the most chunks.
    """
    if chunks is None:
        chunks = max(grids, key=len).chunks
    ndim = len(chunks)
    inputs = []
    for grid in grids:
        offset = ndim - grid.ndim
        axes = tuple(
            None if count == 1 else axis + offset for axis, count in enumerate(grid.numblocks)
        )
        inputs.append((grid, axes))
    return blockwise(
        func,
        inputs,
        chunks=chunks,
        meta=meta,
        kwargs=kwargs,
        varying=varying,
        cheap=cheap,
        itemsize=itemsize,
    )


@kernel(view=True)
def same(block: Any) -> Any:
    """Return the block itself."""
    return block
