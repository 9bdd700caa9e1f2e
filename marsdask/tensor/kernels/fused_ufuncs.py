"""Chains of elementwise functions as one kernel, evaluated tile by tile in cache.

First use of memory costs ten times as much as memory in cache, so temporaries of whole blocks make
NumPy slow on large arrays. Here a block is split into tiles; each function writes into a small
register that is reused. Only the result has the size of the block.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel
from marsdask.core.snapshots.tokens import token

from .block_views import border_parts
from .duck_arrays import is_foreign
from .lazy_block import LazyBlock, Tile, as_block
from .scratch import in_tiles, scratch
from .tile_selection import take_elements

#: Minimum bytes of one operand's tile: a few of them fit into the second-level cache of a core. A
#: call shorter than about 30 us costs more than its work if another thread waits for the
#: interpreter's lock (benchmarks/README.md).
TILE_BYTES = 2**20

#: Bytes of the tiles of all operands and a register, if they are few: larger tiles mean fewer
#: calls.
TILES_BYTES = 3 * 2**20

#: The width of a tile whose operands have different memory orders.
MIXED_WIDTH = 64

Shape = tuple[int, ...]


@dataclass(frozen=True)
class UfuncStep:
    """One function call: arguments are slots of earlier values, or (below zero) constants."""

    func: Callable[..., Any]
    slots: tuple[int, ...]
    constants: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    dtype: np.dtype[Any]

    def args(self, values: Sequence[Any]) -> list[Any]:
        """Return the arguments of the call."""
        constants = self.constants
        return [values[slot] if slot >= 0 else constants[~slot] for slot in self.slots]

    def moved(self, place: Sequence[int]) -> UfuncStep:
        """Return the step with renumbered slots."""
        slots = tuple([place[slot] if slot >= 0 else slot for slot in self.slots])
        return UfuncStep(self.func, slots, self.constants, self.kwargs, self.dtype)


@dataclass(frozen=True)
class UfuncProgram:
    """Function calls over ``leaves`` operands; the last value is the result."""

    leaves: int
    steps: tuple[UfuncStep, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the result."""
        return self.steps[-1].dtype

    @cached_property
    def token_name(self) -> str:
        """Its token: cached, because a node and its grid include it in their names."""
        return f"program:{token(self.leaves, self.steps)}"

    def __call__(self, *blocks: Any) -> Any:
        """Evaluate over whole operands, for those that are small."""
        values = [np.asarray(block) if isinstance(block, LazyBlock) else block for block in blocks]
        for step in self.steps:
            values.append(step.func(*step.args(values), **dict(step.kwargs)))
        return values[-1]

    @cached_property
    def _registers(self) -> tuple[list[int | None], list[np.dtype[Any]]]:
        """The register that each step writes to (none if it cannot), and the registers' types.

        A register is free again after the last use of its value; a ufunc may overwrite its input.
        """
        last_use = {
            slot: position for position, step in enumerate(self.steps) for slot in step.slots
        }
        free: dict[np.dtype[Any], list[int]] = {}
        dtypes: list[np.dtype[Any]] = []
        registers: list[int | None] = []
        for position, step in enumerate(self.steps):
            for slot in set(step.slots):
                source = slot - self.leaves
                if source >= 0 and last_use[slot] == position:
                    register = registers[source]
                    if register is not None:
                        free.setdefault(dtypes[register], []).append(register)
            if not isinstance(step.func, np.ufunc):
                registers.append(None)
                continue
            if not free.get(step.dtype):
                free.setdefault(step.dtype, []).append(len(dtypes))
                dtypes.append(step.dtype)
            registers.append(free[step.dtype].pop())
        return registers, dtypes

    @cached_property
    def thins(self) -> bool:
        """Whether the result has fewer elements than the operands, because a mask selects."""
        return any(step.func is take_elements for step in self.steps)

    @cached_property
    def itemsize(self) -> int:
        """The bytes of the widest intermediate value."""
        return max(step.dtype.itemsize for step in self.steps)

    def worker(self) -> Worker:
        """Return an evaluator of tiles with its own registers."""
        return Worker(self.leaves, self.steps, *self._registers)


class Worker:
    """Evaluates a program tile by tile in the same registers."""

    def __init__(
        self,
        leaves: int,
        steps: tuple[UfuncStep, ...],
        chosen: list[int | None],
        dtypes: list[np.dtype[Any]],
    ) -> None:
        # Constants precede the operands, so that a call only needs to pick arguments.
        self._constants: list[Any] = []
        self._calls: list[tuple[Callable[..., Any], Callable[[Any], Any], Any, int | None]] = []
        total = sum(len(step.constants) for step in steps)
        for step, register in zip(steps, chosen, strict=True):
            base = len(self._constants)
            self._constants.extend(step.constants)
            places = [base + ~slot if slot < 0 else total + slot for slot in step.slots]
            self._calls.append((step.func, _picker(places), dict(step.kwargs), register))
        self._dtypes = dtypes
        self._shape: Shape | None = None
        self._registers: list[Any] = []

    def _shaped(self, shape: Shape) -> list[Any]:
        self._shape = shape
        self._registers = [
            scratch(f"register {number}", shape, dtype) for number, dtype in enumerate(self._dtypes)
        ]
        return self._registers

    def __call__(self, views: Sequence[Any], shape: Shape, out: Any = None) -> Any:
        """Return the value of one tile, valid until the next call, or written to ``out``."""
        registers = self._registers if shape == self._shape else self._shaped(shape)
        values = [*self._constants, *views]
        last = self._calls[-1]
        for call in self._calls:
            func, pick, kwargs, register = call
            if register is None:
                values.append(func(*pick(values), **kwargs))
                if func is take_elements:
                    registers = [_cut(room, values[-1].shape) for room in registers]
            elif out is not None and call is last:
                values.append(func(*pick(values), out, **kwargs))
            else:
                values.append(func(*pick(values), registers[register], **kwargs))
        if out is not None and values[-1] is not out:
            out[...] = values[-1]
        return values[-1]


def _cut(room: Any, shape: Shape) -> Any:
    """Return the beginning of a register in another shape."""
    return room.reshape(-1)[: math.prod(shape)].reshape(shape)


def _picker(places: Sequence[int]) -> Callable[[Any], Any]:
    """Return a function that picks values at some positions as a sequence."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return operator.itemgetter(slice(places[0], places[0] + 1) if places else slice(0, 0))


def join_programs(
    parts: Sequence[tuple[Any, Sequence[Any], UfuncProgram]],
) -> tuple[tuple[Any, ...], UfuncProgram]:
    """Join programs, given as (name of the value, names of the operands, program).

    An operand that is the value of an earlier part is taken from there. Return the remaining
    operands, and the joined program.
    """
    names = {name for name, _, _ in parts}
    operands = dict.fromkeys(leaf for _, leaves, _ in parts for leaf in leaves if leaf not in names)
    slots = {leaf: position for position, leaf in enumerate(operands)}
    steps: list[UfuncStep] = []
    for name, leaves, program in parts:
        base = len(operands) + len(steps)
        place = [*(slots[leaf] for leaf in leaves), *range(base, base + len(program.steps))]
        steps.extend(step.moved(place) for step in program.steps)
        slots[name] = len(operands) + len(steps) - 1
    return tuple(operands), UfuncProgram(len(operands), tuple(steps))


def as_vectors(blocks: Sequence[Any], shape: Shape) -> tuple[list[Any], str] | None:
    """Return operands of equal memory order as vectors, with that order; else ``None``."""
    whole = [block for block in blocks if block.shape == shape]
    if any(block.size != 1 for block in blocks if block.shape != shape):
        return None
    if any(isinstance(block, LazyBlock) for block in whole):
        return None
    if all(block.flags.c_contiguous for block in whole):
        return [b.reshape(-1) if b.shape == shape else b.reshape(()) for b in blocks], "C"
    if all(block.flags.f_contiguous for block in whole):
        return [b.T.reshape(-1) if b.shape == shape else b.reshape(()) for b in blocks], "F"
    return None


def tile_shape(blocks: Sequence[Any], shape: Shape, itemsize: int, widest: int = 0) -> Shape:
    """Return the tile size along each axis: whole rows first, unless they are too long."""
    live = 1 + sum(block.shape == shape for block in blocks)
    room = max(1, max(TILE_BYTES, TILES_BYTES // live) // itemsize)
    if _mixes_orders(blocks, shape):
        widest = min(widest or MIXED_WIDTH, MIXED_WIDTH)
    sizes: list[int] = []
    for axis, length in enumerate(reversed(shape)):
        size = max(1, min(length, room))
        if axis == 0 and widest:
            size = min(size, widest)
        size = size if axis == 0 else _even(length, size)
        sizes.append(size)
        room = max(1, room // size)
    return tuple(reversed(sizes))


def _even(length: int, size: int) -> int:
    """Return a size that splits an axis equally, or the given one if all such are far less."""
    least = -(-length // max(1, size))
    for count in range(least, min(2 * least, length) + 1):
        if count and length % count == 0:
            return length // count
    return size


def _mixes_orders(blocks: Sequence[Any], shape: Shape) -> bool:
    """Tell whether the fastest axis of some operand is not the last."""
    return len(shape) > 1 and any(
        block.shape == shape and abs(block.strides[-1]) != min(map(abs, block.strides))
        for block in blocks
    )


def tiles(shape: Shape, sizes: Shape) -> Iterator[Tile]:
    """Iterate over the tiles of a block, last axis fastest."""
    return itertools.product(*map(steps, shape, sizes))


def steps(length: int, size: int) -> list[slice]:
    """Return the parts that an axis is cut into."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def at(block: Any, tile: Tile) -> Any:
    """Return the part of an operand for a tile; axes of length one broadcast."""
    if block.ndim == 0:
        return block
    own = tile[len(tile) - block.ndim :]
    if 1 in block.shape:
        own = tuple(
            part if length != 1 else slice(None)
            for part, length in zip(own, block.shape, strict=True)
        )
    return block[own]


def reader(blocks: Sequence[Any], shape: Shape) -> Callable[[Tile], list[Any]]:
    """Return a function that reads the parts of all operands for a tile."""
    if all(block.shape == shape for block in blocks):
        return lambda tile: [block[tile] for block in blocks]
    return lambda tile: [at(block, tile) for block in blocks]


@kernel(scratch=0.0, buffer=TILES_BYTES, tiled=True)
def evaluate_program(*blocks: Any, program: UfuncProgram) -> Any:
    """Evaluate a program over blocks that broadcast against each other."""
    blocks = tuple(map(as_block, blocks))
    if any(map(is_foreign, blocks)):
        return program(*blocks)
    shape = np.broadcast_shapes(*(block.shape for block in blocks))
    itemsize = program.itemsize
    if int(np.prod(shape)) * itemsize <= TILE_BYTES:
        return program(*blocks)
    parts = border_parts(blocks, shape)
    if parts is not None:
        out = np.empty(shape, program.dtype)
        for region in itertools.product(*parts):
            fill(out[region], [at(block, region) for block in blocks], program)
        return out
    flat = as_vectors(blocks, shape)
    if flat is None and _are_columns(blocks, shape):
        out = np.empty(shape, program.dtype, order="F")
        fill(out.T, [np.broadcast_to(block, shape).T for block in blocks], program)
        return out
    out = np.empty(shape, program.dtype, order="F" if flat and flat[1] == "F" else "C")
    if flat is None:
        fill(out, blocks, program)
    else:
        fill((out.T if flat[1] == "F" else out).reshape(-1), flat[0], program)
    return out


def _are_columns(blocks: Sequence[Any], shape: Shape) -> bool:
    """Tell whether all operands of a shape are parts of arrays in Fortran's order."""
    if not all(isinstance(block, np.ndarray) for block in blocks):
        return False
    strides = [list(map(abs, block.strides)) for block in blocks if block.shape == shape]
    return bool(strides) and all(s == sorted(s) and s[0] < s[-1] for s in strides)


def fill(target: Any, blocks: Sequence[Any], program: UfuncProgram) -> None:
    """Write the values of a program over blocks into an array, tile by tile."""
    run = program.worker()
    sizes = tile_shape((*blocks, target), target.shape, program.itemsize)
    views = reader(blocks, target.shape)
    with in_tiles(sizes[-1]):
        for tile in tiles(target.shape, sizes):
            part = target[tile]
            run(views(tile), part.shape, part)


def fusible(dtypes: Collection[np.dtype[Any]]) -> bool:
    """Tell whether values of these types may be stored in registers."""
    return all(dtype.kind in "biufcmM" for dtype in dtypes)
