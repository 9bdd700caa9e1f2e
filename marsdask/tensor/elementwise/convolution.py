"""Convolutions of long vectors with short ones, chunk by chunk."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import Via, blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import run_of
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import Chunks, Index, known

from ..chunkwise.rechunk import recut
from ..chunkwise.single_task import single_chunks
from ..indexing.getitem import getitem
from ..manipulation.join import flip, length
from ..operands import as_node, empty
from ..typing import public
from ..unknown_lengths import ResultSpec, waits_for_lengths
from .ufuncs import conj


@dataclass(frozen=True)
class IsLastAt:
    """Tells each chunk whether it is the first and whether it is the last."""

    count: int

    def __call__(self, index: Index) -> tuple[bool, bool]:
        return index[0] == 0, index[0] == self.count - 1


@dataclass(frozen=True, eq=False)
class Convolution(Node):
    """All overlaps of a vector with a shorter one: chunks grow by one per element of that."""

    label: ClassVar[str] = "convolve"

    a: Node
    v: Node
    size: int
    """The length of the shorter one."""

    @property
    def meta(self) -> Any:
        return empty(np.result_type(self.a.meta.dtype, self.v.meta.dtype), 1)

    @property
    def chunks(self) -> Chunks:
        return (self._longer(self._cut(self.a.chunks[0])),)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        run, rest = run_of(taken[0]) or (None, None)
        if run is None or rest is None or not known(self.a.chunks[0]):
            return None
        begin = max(0, run.start - self.size + 1)
        end = min(run.stop, length(self.a, 0))
        inner = self.replaced(a=part(self.a, (range(min(begin, end), end),)))
        shift = run.start - begin
        return part(inner, (range(rest.start + shift, rest.stop + shift, rest.step),))

    def _cut(self, sizes: Any) -> tuple[int, ...]:
        """Merge chunks that are shorter than the overlap with the next one."""
        lengths: list[int] = []
        for size in sizes:
            if lengths and lengths[-1] < self.size - 1:
                lengths[-1] += size
            else:
                lengths.append(size)
        return tuple(lengths)

    def _longer(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return (*sizes[:-1], sizes[-1] + self.size - 1)

    def tile(self, a: Grid, v: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        (short,) = yield from single_chunks(v)
        sizes = self._cut(a.chunks[0])
        a = recut(a, (sizes,))
        before = Via(0, (0, *range(len(sizes) - 1)))
        return blockwise(
            convolve_block,
            [(a, (0,)), (a, (before,)), short],
            chunks=(self._longer(sizes),),
            meta=self.meta,
            varying=IsLastAt(len(sizes)),
        )


@kernel(scratch=2.0)
def convolve_block(block: Any, before: Any, short: Any, first: bool, last: bool) -> Any:
    """Return the overlaps that start before the end of a block; the last block has all the rest."""
    reach = len(short) - 1
    around = block if first else np.concatenate([before[len(before) - reach :], block])
    if not len(around):
        return np.zeros(0, np.result_type(block, short))
    # No zero padding: it would turn infinity into nan.
    result = np.convolve(around, short)
    return result[0 if first else reach : len(result) if last else len(around)]


def _vectors(a: Any, v: Any) -> tuple[Any, Any]:
    vectors = [wrap(as_node(x)) for x in (a, v)]
    vectors = [x.reshape(1) if x.ndim == 0 else x for x in vectors]
    if any(x.ndim != 1 for x in vectors):
        raise ValueError("object too deep for desired array")
    if any(length(x.node, 0) == 0 for x in vectors):
        raise ValueError("an empty vector cannot be convolved")
    return vectors[0], vectors[1]


#: NumPy's modes, and their old numbers.
_MODES = {"valid": 0, "same": 1, "full": 2, "v": 0, "s": 1, "f": 2, 0: 0, 1: 1, 2: 2}


def _convolved(a: Any, v: Any, **_: Any) -> ResultSpec:
    return ResultSpec(np.result_type(as_node(a).meta.dtype, as_node(v).meta.dtype), (None,))


@public
@waits_for_lengths(_convolved)
def convolve(a: Any, v: Any, mode: Any = "full") -> Node:
    """Return the discrete convolution of two vectors. See numpy.convolve.

    Every task reads the whole shorter vector.
    """
    if isinstance(mode, bool) or mode not in _MODES:
        raise ValueError(f"mode is 'full', 'same' or 'valid', not {mode!r}")
    a, v = _vectors(a, v)
    long, short = (a, v) if a.size >= v.size else (v, a)
    full = Convolution(long.node, short.node, short.size)
    if _MODES[mode] == 2:
        return full
    if _MODES[mode] == 0:
        return getitem.node(full, slice(short.size - 1, long.size))
    start = (short.size - 1) // 2
    return getitem.node(full, slice(start, start + long.size))


@public
@waits_for_lengths(_convolved)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Node:
    """Return the cross-correlation of two vectors. See numpy.correlate."""
    a, v = _vectors(a, v)
    if v.dtype.kind in "cO":  # others would change their type
        v = conj(v)
    if a.size < v.size:
        return flip.node(convolve.node(flip.node(a), v, mode))
    return convolve.node(a, flip.node(v), mode)
