"""Random arrays whose values do not depend on their chunks.

A shape has one canonical tiling. Tile ``k`` is drawn from its own stream, seeded by the state's
entropy, the number of the call and ``k``. Any chunk is assembled from the tiles that it covers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.chunk_positions import Bounds, BoundsAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import run_of
from marsdask.core.grids.select import cut_axis
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import is_large
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Index, Sizes, numbers, shape_of
from marsdask.tensor.chunks import regular
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.kernels.lazy_block import LazyBlock, Tile
from marsdask.tensor.kernels.scratch import scratch

from .samplers import Params, Sampler, by_name

#: Elements of a tile: small enough for the second-level cache, large enough to amortize its seed.
TILE = 2**16

#: The part of a tile that is drawn before it is copied.
TILE_BYTES = 2 * 2**20

#: The limit of drawn elements per wanted one; above it, whole tiles are drawn and split.
WASTE = 1.3


def tile_steps(extent: Sequence[int], events: int = 0) -> tuple[int, ...]:
    """Return the shape of a tile: as square as possible, with the last ``events`` axes whole."""
    room = TILE / max(1, math.prod(extent[len(extent) - events :]))
    steps = list(extent)
    free = sorted(range(len(extent) - events), key=lambda axis: extent[axis])
    for count, axis in zip(range(len(free), 0, -1), free, strict=True):
        side = max(1.0, room ** (1 / count))
        if extent[axis] > side:
            steps[axis] = 2 ** int(math.log2(side) + 1e-9)
        room /= max(1, steps[axis])
    return tuple(max(1, step) for step in steps)


@dataclass(frozen=True, eq=False)
class Draw(Node):
    """Random numbers of one distribution; parameters are constants or tensors that broadcast."""

    law: str
    params: tuple[Any, ...]
    entropy: int | tuple[int, ...]
    call: int
    dtype: np.dtype[Any]
    splits: Chunks
    events: int = 0
    whole: tuple[int, ...] | None = None
    """The shape of which this is a part, and ``start`` its first element."""
    start: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        return self.law

    @property
    def meta(self) -> Any:
        return np.empty((0,) * len(self.splits), self.dtype)

    @property
    def chunks(self) -> Chunks:
        return self.splits

    @property
    def steps(self) -> tuple[int, ...]:
        """The shape of a tile."""
        return tile_steps(self.extent, self.events)

    @property
    def extent(self) -> tuple[int, ...]:
        """The shape that the tiles cover."""
        return self.whole or shape_of(self.splits)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        cuts = [run_of(own) for own in taken]
        if self.inputs or None in cuts:
            return None
        runs, rest = zip(*cuts, strict=True)
        splits = tuple(
            sizes if run is None else cut_axis(numbers(sizes), run).sizes
            for sizes, run in zip(self.splits, runs, strict=True)
        )
        begins = self.start or (0,) * len(runs)
        pairs = zip(begins, runs, strict=True)
        start = tuple(begin + (run.start if run else 0) for begin, run in pairs)
        return part(self.replaced(splits=splits, whole=self.extent, start=start), rest)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node:
        return self.replaced(splits=tuple(new.get(sizes, sizes) for sizes in self.splits))

    def tile(self, *grids: Grid) -> Any:
        if grids:
            return self._with_tensors(grids)
        if self.whole or _waste(self.splits, self.steps) <= WASTE:
            return self._draw((), self.splits)
        return recut(self._draw((), self._aligned()), self.splits)

    def _aligned(self) -> Chunks:
        """Return chunks whose borders are those of tiles, and which are not too large."""
        return align_to_tiles(self.splits, self.steps, self.dtype.itemsize)

    def _with_tensors(self, grids: tuple[Grid, ...]) -> Any:
        """Draw whole tiles, since the length of a number's stream depends on parameters."""
        grids = yield from resolved(*grids)
        chunks = self._aligned()
        lead = len(chunks)
        splits = [
            recut(
                grid,
                tuple(
                    sizes if sizes == (1,) else chunks[lead - grid.ndim + axis]
                    for axis, sizes in enumerate(grid.chunks)
                ),
            )
            for grid in grids
        ]
        return recut(self._draw(tuple(splits), chunks), self.splits)

    def _draw(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        positions = iter(range(len(grids)))
        template = tuple(
            Slot(next(positions)) if isinstance(item, Node) else item for item in self.params
        )
        options = {
            "law": self.law,
            "params": template,
            "seed": (self.entropy, self.call),
            "dtype": self.dtype,
            "extent": self.extent,
            "events": self.events,
        }
        where = ShiftedBoundsAt(chunks, self.start) if self.start else BoundsAt(chunks)
        if not grids:
            return blockwise(draw, [], chunks=chunks, meta=self.meta, varying=where, kwargs=options)
        return map_blocks(
            draw_with, *grids, chunks=chunks, meta=self.meta, varying=where, kwargs=options
        )


@dataclass(frozen=True)
class ShiftedBoundsAt(BoundsAt):
    """Gives each chunk of a part its begin and its end in the whole."""

    start: tuple[int, ...]

    def bounds(self, index: Index) -> Bounds:
        """Return the begin and the end of a chunk along each axis."""
        own = zip(super().bounds(index), self.start, strict=True)
        return tuple((low + start, high + start) for (low, high), start in own)


@dataclass(frozen=True)
class Slot:
    """The placeholder of a parameter that is a tensor."""

    position: int


def _waste(chunks: Chunks, steps: Sequence[int]) -> float:
    """Return the number of drawn elements per wanted one if chunks draw the tiles they cover."""
    waste = 1.0
    for axis, step in zip(chunks, steps, strict=True):
        sizes = numbers(axis)
        length = sum(sizes)
        stops = list(itertools.accumulate(sizes))
        number = sum(
            min(length, -(-stop // step) * step) - (stop - size) // step * step
            for stop, size in zip(stops, sizes, strict=True)
            if size
        )
        waste *= number / length if length else 1.0
    return waste


def align_to_tiles(chunks: Chunks, steps: Sequence[int], itemsize: int = 0) -> Chunks:
    """Return chunks of similar sizes whose borders are those of tiles; large ones are halved."""
    widths = [
        max(step, max(numbers(axis)) // step * step)
        for axis, step in zip(chunks, steps, strict=True)
    ]
    counts = [width // max(1, step) for width, step in zip(widths, steps, strict=True)]
    while max(counts, default=1) > 1 and is_large(math.prod(widths) * itemsize):
        longest = counts.index(max(counts))
        counts[longest] //= 2
        widths[longest] = counts[longest] * steps[longest]
    return tuple(
        regular(sum(numbers(axis)), width) for axis, width in zip(chunks, widths, strict=True)
    )


class RandomBlock(LazyBlock):
    """Random numbers that are drawn as they are read."""

    __slots__ = ("_bounds", "_options")

    def __init__(self, bounds: Bounds, options: Mapping[str, Any]) -> None:
        shape = tuple(stop - start for start, stop in bounds)
        itemsize = np.dtype(options["dtype"]).itemsize
        strides = tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        super().__init__(shape, options["dtype"], strides)
        self._bounds = bounds
        self._options = options
        steps = tile_steps(options["extent"], options["events"])
        self.borders = [
            [0, *(stop - low for stop in range(low - low % step + step, high, step)), high - low]
            for (low, high), step in zip(bounds, steps, strict=True)
        ]

    def read(self, tile: Tile) -> Any:
        pairs = zip(self._bounds, tile, strict=True)
        place = tuple((low + part.start, low + part.stop) for (low, _), part in pairs)
        if place == self._bounds:
            return draw_with(place, **self._options)
        # In reused memory: touching new memory costs a tenth of drawing.
        shape = tuple(stop - start for start, stop in place)
        return draw_into(scratch("drawn", shape, self.dtype), place, **self._options)


@kernel(view=True)
def drawing(bounds: Bounds, **options: Any) -> Any:
    """Return one chunk that is drawn as it is read."""
    return RandomBlock(bounds, options)


@kernel(scratch=0.0, buffer=TILE_BYTES, deferred=drawing)
def draw(bounds: Bounds, **options: Any) -> Any:
    """Return one chunk, assembled from the tiles it covers."""
    return draw_with(bounds, **options)


@kernel(scratch=0.0, buffer=TILE_BYTES)
def draw_with(*args: Any, dtype: np.dtype[Any], **options: Any) -> Any:
    """Return one chunk of numbers whose parameters are tensors."""
    out = np.empty(tuple(stop - start for start, stop in args[-1]), dtype)
    return draw_into(out, *args, dtype=dtype, **options)


def draw_into(
    out: Any,
    *args: Any,
    law: str,
    params: tuple[Any, ...],
    seed: tuple[Any, int],
    dtype: np.dtype[Any],
    extent: tuple[int, ...],
    events: int,
) -> Any:
    """Store the numbers between the bounds, the last argument, in an array, and return it."""
    *blocks, bounds = args
    sampler = by_name(law)
    lead = len(extent) - events
    for number, box in _tiles(bounds, extent, tile_steps(extent, events)):
        sequence = np.random.SeedSequence(seed[0], spawn_key=(seed[1], number))
        generator = np.random.Generator(np.random.SFC64(sequence))
        values = tuple(
            _part(blocks[item.position], bounds, box) if isinstance(item, Slot) else item
            for item in params
        )
        inside = all(a >= c and b <= d for (a, b), (c, d) in zip(box, bounds, strict=True))
        place = tuple(
            slice(max(a, c) - c, min(b, d) - c) for (a, b), (c, d) in zip(box, bounds, strict=True)
        )
        target = out[(*place, ...)]  # an array, also without axes
        shape = tuple(stop - start for start, stop in box)
        if inside and sampler.fills and target.flags.c_contiguous:
            sampler.fill(generator, target, values)
            continue
        block = _drawn(sampler, generator, shape, lead, dtype, values)
        target[...] = block[
            tuple(
                slice(max(a, c) - a, min(b, d) - a)
                for (a, b), (c, d) in zip(box, bounds, strict=True)
            )
        ]
    return out


def _drawn(
    sampler: Sampler,
    generator: np.random.Generator,
    shape: tuple[int, ...],
    lead: int,
    dtype: np.dtype[Any],
    values: Params,
) -> Any:
    if sampler.fills:
        buffer = scratch("cut tile", shape, dtype)
        sampler.fill(generator, buffer, values)
        return buffer
    return np.asarray(sampler.draw(generator, shape[:lead], dtype, values))


def _tiles(
    bounds: Bounds, extent: Sequence[int], steps: Sequence[int]
) -> Iterator[tuple[int, Bounds]]:
    """Iterate over the numbers and positions of the tiles that a chunk covers."""
    if any(start == stop for start, stop in bounds):
        return
    counts = [-(-length // step) for length, step in zip(extent, steps, strict=True)]
    ranges = [
        range(start // step, -(-stop // step))
        for (start, stop), step in zip(bounds, steps, strict=True)
    ]
    for index in itertools.product(*ranges):
        number = 0
        for position, count in zip(index, counts, strict=True):
            number = number * count + position
        yield (
            number,
            tuple(
                (i * step, min((i + 1) * step, length))
                for i, step, length in zip(index, steps, extent, strict=True)
            ),
        )


def _part(block: Any, bounds: Bounds, box: Bounds) -> Any:
    """Return the values of a parameter's block for a tile."""
    block = np.asarray(block)
    skip = len(bounds) - block.ndim
    return block[
        tuple(
            slice(None) if block.shape[axis] == 1 else slice(a - c, b - c)
            for axis, ((a, b), (c, _)) in enumerate(zip(box[skip:], bounds[skip:], strict=True))
        )
    ]
