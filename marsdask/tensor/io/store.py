"""Write tensors to objects that support slice assignment, or to what replaces them."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from dask.delayed import Delayed
from dask.utils import SerializableLock

from marsdask.core.collection import Collection, execute, wrap
from marsdask.core.files.places import Place, of_the_call, overlap
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.chunk_positions import SlicesAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.session import ensure_session
from marsdask.core.sizes import Chunks, Index, Sizes, numbers, shape_text

from ..chunkwise.rechunk import rechunk
from ..creation.from_data import Dataset
from ..operands import as_node, empty
from .replacements import Replacement
from .targets import Target


@dataclass(frozen=True)
class RegionAt:
    """Gives each chunk its slices of the target."""

    parts: SlicesAt
    region: tuple[slice, ...]

    def __call__(self, index: Index) -> tuple[tuple[slice, ...]]:
        return (within(self.region, self.parts(index)[0]),)


def within(region: tuple[slice, ...], parts: tuple[slice, ...]) -> tuple[slice, ...]:
    """Return the slices for parts of a region."""
    if not region:
        return parts
    slices = []
    for outer, part in zip(region, parts, strict=True):
        start, step = outer.start or 0, outer.step or 1
        slices.append(slice(start + step * part.start, start + step * part.stop, step))
    return tuple(slices)


@dataclass(frozen=True, eq=False)
class Write(Node):
    """Every chunk written to its position; blocks are the written values, or placeholders."""

    label: ClassVar[str] = "store"

    pins_grid: ClassVar[bool] = True

    a: Node
    target: Any = field(repr=False)
    region: tuple[slice, ...] = ()
    returns: bool = False
    """Whether the blocks are read back."""
    serial: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Writing again is not the same as having written."""

    @property
    def meta(self) -> Any:
        dtype = self.a.meta.dtype if self.returns else np.dtype(bool)
        return empty(dtype, len(self.a.chunks))

    @property
    def chunks(self) -> Chunks:
        return self._out_chunks(self.a.chunks)

    def _out_chunks(self, chunks: Chunks) -> Chunks:
        return chunks if self.returns else tuple((1,) * len(sizes) for sizes in chunks)

    def tile(self, a: Grid) -> Any:
        (a,) = yield from resolved(a)
        if isinstance(self.target, Replacement):
            return self._replacing(a)
        return map_blocks(
            write_block,
            a,
            chunks=self._out_chunks(a.chunks),
            meta=self.meta,
            varying=RegionAt(SlicesAt(a.chunks), self.region),
            kwargs={"target": self.target, "returns": self.returns},
        )

    def _replacing(self, a: Grid) -> Grid:
        """Write all blocks beside, then give them their name, then read them back if asked."""
        target, out = {"target": self.target}, self._out_chunks(a.chunks)
        single: dict[str, Any] = {"chunks": ((1,),), "itemsize": 1.0}
        opening = gather(begin_target, **single, kwargs=target)
        inputs = (opening, (None,)), (a, tuple(range(a.ndim)))
        parts = SlicesAt(a.chunks)
        marks = tuple((1,) * len(sizes) for sizes in a.chunks)
        blocks = blockwise(write_beside, inputs, chunks=marks, varying=parts, kwargs=target)
        whole = gather(finish_target, blocks, **single, kwargs=target)
        options = target | {"returns": self.returns}
        return blockwise(
            read_back, [(whole, (None,))], chunks=out, meta=self.meta, varying=parts, kwargs=options
        )


@kernel(scratch=1.0)
def write_block(block: Any, parts: tuple[slice, ...], target: Any, returns: bool) -> Any:
    """Write a block to its place."""
    if block.size:
        target.write(parts, block)
    if returns:
        return target(parts) if block.size else block
    return np.ones((1,) * block.ndim, bool)


def begin_target(target: Replacement) -> Any:
    """Make room for the blocks of a target."""
    target.begin()
    return np.ones(1, bool)


@kernel(scratch=1.0)
def write_beside(begun: Any, block: Any, parts: tuple[slice, ...], target: Replacement) -> Any:
    """Write a block to its place in what is incomplete."""
    del begun
    if block.size:
        target.write_unless_failed(parts, block)
    return np.ones((1,) * block.ndim, bool)


def finish_target(blocks: list[Any], target: Replacement) -> Any:
    """Give a target its name, now that all blocks are written."""
    del blocks
    target.finish()
    return np.ones(1, bool)


def read_back(whole: Any, parts: tuple[slice, ...], target: Replacement, returns: bool) -> Any:
    """Read a block of a complete target, or return a placeholder."""
    del whole
    return target(parts) if returns else np.ones((1,) * len(parts), bool)


def write(
    tensors: Sequence[Any],
    targets: Sequence[Any],
    regions: Sequence[tuple[slice, ...]],
    *,
    compute: bool = True,
    returns: bool = False,
    **options: Any,
) -> list[Any]:
    """Write tensors, immediately or when the returned node is executed.

    With ``returns`` the values are read back; a later execution writes first.
    """
    tensors = apart(tensors, targets, compute=compute)
    triples = list(zip(tensors, targets, regions, strict=True))
    results = [
        wrap(Write(as_node(x), target, region, returns=returns and not compute))
        for x, target, region in triples
    ]
    if not compute:
        return results
    try:
        _run(results, targets, options)
    except BaseException:
        for target in targets:
            if isinstance(target, Replacement):
                target.discard()
        raise
    if not returns:
        return results
    return [
        wrap(Dataset(Region(target, region), (item.node.name,), x.dtype, _known(x)))
        for item, (x, target, region) in zip(results, triples, strict=True)
    ]


def _run(written: Sequence[Any], targets: Sequence[Any], options: Mapping[str, Any]) -> None:
    if options:
        for item in written:
            item.compute(**options)
        return
    if not ensure_session().scheduler.capabilities.shared_memory:
        for target in targets:
            if isinstance(target, Target):
                target.check_shareable()
    execute(*written)


def apart(tensors: Sequence[Any], targets: Sequence[Any], *, compute: bool) -> list[Any]:
    """Return the tensors, computed if they read what the targets overwrite in place.

    Raise ``ValueError`` if they are to be written later.
    """
    places = [
        place
        for target in targets
        if not isinstance(target, Replacement)
        for place in target.places
    ]
    apart = []
    for tensor in tensors:
        place = overlap([tensor.node], places)
        if place is not None and not compute:
            raise ValueError(
                f"the tensor reads {place}, which is to be written later: execute() it first, or "
                "write to another place"
            )
        apart.append(tensor if place is None else wrap(tensor.node).execute())
    return apart


def _known(tensor: Any) -> Chunks:
    return tuple(numbers(sizes) for sizes in tensor.compute_chunk_sizes().node.chunks)


@dataclass(frozen=True)
class Region:
    """Reads parts of a region that was written to a target."""

    target: Any = field(repr=False)
    region: tuple[slice, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """The array that is read."""
        places: tuple[Place, ...] = self.target.places
        return places

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        return self.target(within(self.region, parts))


def store(
    sources: Any,
    targets: Any,
    lock: Any = True,
    regions: Any = None,
    compute: bool = True,
    return_stored: bool = False,
    load_stored: bool | None = None,
    **kwargs: Any,
) -> Any:  # nothing, a tensor or several: compute= and return_stored= decide
    """Write tensors to objects that support slice assignment. See dask.array.store.

    ``lock=True`` writes one chunk at a time into each target. Return nothing, or with
    ``return_stored`` tensors over the written data. Without ``compute``, return tensors whose
    execution writes.

    Raise ``NotImplementedError`` if other processes compute the chunks and the target is in this
    process's memory. Use a memory-mapped file, a zarr array on disk or the path of an HDF5 file.
    """
    del load_stored
    if isinstance(sources, Collection):
        sources, targets = [sources], [targets]
    sources, targets = list(sources), list(targets)
    if not all(isinstance(source, Collection) for source in sources):
        raise ValueError("All sources must be tensors")
    if len(sources) != len(targets):
        raise ValueError(
            f"Different number of sources [{len(sources)}] and targets [{len(targets)}]"
        )
    several = isinstance(regions, list) or (
        isinstance(regions, tuple) and any(isinstance(item, tuple) for item in regions)
    )
    places = list(regions) if several else [regions] * len(sources)
    if len(places) != len(sources):
        raise ValueError(
            f"Different number of sources [{len(sources)}] and targets [{len(targets)}] than "
            f"regions [{len(places)}]"
        )
    opened = [item.compute() if isinstance(item, Delayed) else item for item in targets]
    slices = [region_of(place, x.ndim) for place, x in zip(places, sources, strict=True)]
    sources = list(map(_fitted, sources, opened, slices))
    outputs = [
        Target(of_the_call(target), SerializableLock() if lock is True else lock or None)
        for target in opened
    ]
    results = write(sources, outputs, slices, compute=compute, returns=return_stored, **kwargs)
    if compute and not return_stored:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def _fitted(x: Any, target: Any, region: tuple[slice, ...]) -> Any:
    """Check a tensor's shape, and rechunk it so that no two tasks write to one zarr chunk."""
    check_shape(target, x, region)
    if not x.ndim or type(target).__module__.partition(".")[0] != "zarr":
        return x
    x = x.compute_chunk_sizes()
    storage = getattr(target, "shards", None) or target.chunks
    return rechunk(x, storage_cut(x.node.chunks, storage, region))


def region_of(region: Any, ndim: int) -> tuple[slice, ...]:
    """Return a slice for each axis; none of what is to be filled as a whole."""
    if region is None:
        return ()
    items = region if isinstance(region, tuple) else (region,)
    if not all(isinstance(item, slice) for item in items) or len(items) > ndim:
        raise ValueError(f"a region is a tuple of {ndim} slices, not {region!r}")
    if any((item.start or 0) < 0 or (item.step or 1) < 0 for item in items):
        raise ValueError(f"a region counts from the start, forwards: {region!r}")
    return (*items, *[slice(None)] * (ndim - len(items)))


def check_shape(target: Any, x: Any, region: tuple[slice, ...]) -> None:
    """Raise ``ValueError`` if a target or its region has another shape, if known."""
    shape = getattr(target, "shape", None)
    if shape is None:
        return
    if region and len(shape) == len(region):
        shape = tuple(len(range(*part.indices(n))) for part, n in zip(region, shape, strict=True))
    fits = len(shape) == x.ndim and all(
        math.isnan(own) or own == n for own, n in zip(x.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"could not broadcast input array from shape {shape_text(x.shape)} into shape "
            f"{shape_text(shape)}"
        )


def storage_cut(chunks: Chunks, storage: Sequence[int], region: tuple[slice, ...]) -> Chunks:
    """Split axes at borders of the storage's chunks, so that no two tasks write to one of them."""
    cuts: list[Sizes] = []
    for axis, (sizes, unit) in enumerate(zip(chunks, storage, strict=True)):
        part = region[axis] if region else slice(None)
        start, step = part.start or 0, part.step or 1
        length = sum(numbers(sizes))
        if step != 1:
            cuts.append((length,))
            continue
        whole = max(unit, max(numbers(sizes), default=1) // unit * unit)
        borders = [*range((start // whole + 1) * whole, start + length, whole), start + length]
        cuts.append(tuple(b - a for a, b in zip([start, *borders], borders, strict=False)) or (0,))
    return tuple(cuts)
