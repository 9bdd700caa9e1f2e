"""Projected bytes of chunks and tasks, and the check of the budget before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from marsdask.scheduler.base import Hint

from .chunk import Call, Grid, Ref
from .errors import MemoryBudgetError
from .fusion import Template
from .shapes import cost_of, pick
from .types import Index, upper

#: The share of the budget that a suggested chunk size is to fill: buffers do not shrink with it.
ROOM = 0.75


@dataclass(frozen=True, slots=True)
class Projection:
    """What a task is expected to take."""

    inputs: int
    hint: Hint

    @property
    def total(self) -> int:
        """Bytes needed while the task runs with all its inputs in memory."""
        return self.inputs + (self.hint.peak or 0)


def project_cell(grid: Grid, index: Index, call: Call, refs: Sequence[Ref]) -> Projection:
    """Project a task that runs one kernel; ``refs`` are the chunks it holds while it runs."""
    inputs = sum(ref.grid.nbytes(ref.index) or 0 for ref in set(refs))
    arguments = [_argument(arg, call.func) for arg in (*call.args, *call.kwargs.values())]
    cost = cost_of(call.func)
    nbytes = grid.nbytes(index)
    own = 0 if cost.view else _estimate(nbytes, arguments)
    share = cost.scratch if grid.rule.scratch is None else grid.rule.scratch
    scratch = max(cost.least, int(share * max(arguments, default=0)) + min(own, cost.buffer))
    return Projection(inputs, Hint(nbytes, own + scratch))


def _argument(arg: Any, func: Callable[..., Any]) -> int:
    """Return the bytes of a chunk, or those that a kernel works on at once of a list of chunks."""
    if isinstance(arg, Ref):
        return arg.grid.nbytes(arg.index) or 0
    if type(arg) is not list:
        return 0
    return (max if cost_of(func).piecewise else sum)([0, *(_argument(a, func) for a in arg)])


def _estimate(nbytes: int | None, arguments: Sequence[int]) -> int:
    """Return the bytes of a result: as many as its inputs have if nothing bounds it."""
    return sum(arguments) if nbytes is None else nbytes


def project_template(template: Template, index: Index) -> Projection:
    """Project a task that runs a fused program: temporaries live until their last use."""
    chunks = [
        None if leaf.grid is None else (leaf.grid, pick(index, leaf.axes))
        for leaf in template.leaves
    ]
    sizes = [0 if chunk is None else chunk[0].nbytes(chunk[1]) or 0 for chunk in chunks]
    # Neighbouring parts of one chunk are several leaves but one input.
    inputs = sum(dict(zip(chunks, sizes, strict=True)).values())
    temporaries = _Temporaries(len(sizes))
    peak = 0
    nbytes: int | None = 0
    for step, (grid, axes) in zip(template.steps, template.grids, strict=True):
        cost = cost_of(step.func)
        nbytes = grid.nbytes(pick(index, axes))
        arguments = [sizes[slot] for slot in step.slots]
        size = _estimate(nbytes, arguments)
        base = max(step.slots, key=sizes.__getitem__, default=None) if cost.view else None
        temporaries.add(0 if cost.view else size, base)
        scratch = int(cost.scratch * max(arguments, default=0)) + min(size, cost.buffer)
        scratch = max(cost.least, scratch)
        peak = max(peak, temporaries.live + scratch)
        sizes.append(size)
        for slot in step.dead:
            temporaries.drop(slot)
    return Projection(inputs, Hint(nbytes, peak))


class _Temporaries:
    """The bytes that a program's values take; a view keeps what it looks at."""

    def __init__(self, leaves: int) -> None:
        self.live = 0
        # Inputs are counted apart: as values of the program they take nothing.
        self._owners = list(range(leaves))
        self._bytes = dict.fromkeys(self._owners, 0)
        self._users = dict.fromkeys(self._owners, 1)

    def add(self, nbytes: int, base: int | None) -> None:
        """Take the next value, which is a view of the value ``base`` if that is given."""
        slot = len(self._owners)
        owner = slot if base is None else self._owners[base]
        self._owners.append(owner)
        self._bytes.setdefault(owner, nbytes)
        self._users[owner] = self._users.get(owner, 0) + 1
        self.live += nbytes

    def drop(self, slot: int) -> None:
        """Let go of a value."""
        owner = self._owners[slot]
        self._users[owner] -= 1
        if not self._users[owner]:
            self.live -= self._bytes[owner]


def refuse(chunks: Sequence[Ref], projection: Projection, budget: int) -> MemoryBudgetError:
    """Return the refusal of a task that cannot fit, which is told before the first one runs.

    ``chunks`` are those that the task reads and makes, its result first. The error names the
    operation behind the largest one, the user's line, the chunk and a size that would fit.
    """
    grid, index = largest = max(chunks, key=_nbytes)
    node = grid.node
    name = node.label if node is not None else grid.rule.label
    if node is not None and node.origin is not None:
        name = f"{name} (written at {node.origin})"
    needed = projection.total
    return MemoryBudgetError(name, index, needed, budget, _suggestion(largest, needed, budget))


def _nbytes(ref: Ref) -> int:
    return ref.grid.nbytes(ref.index) or 0


def _suggestion(largest: Ref, needed: int, budget: int) -> str:
    """Say a chunk size that would fit, shrinking every axis of the largest chunk alike."""
    grid, index = largest
    sizes = [upper(axis[i]) or 1 for axis, i in zip(grid.chunks, index, strict=True)]
    divisible = sum(size > 1 for size in sizes)
    if not divisible:
        return "make the input's chunks smaller or raise options.memory_limit"
    factor = (ROOM * budget / needed) ** (1 / divisible)
    fitting = tuple(_rounded(size * factor) for size in sizes)
    return (
        f"chunks of {fitting} would fit: pass chunk_size= or rechunk, or raise options.memory_limit"
    )


def _rounded(size: float) -> int:
    """Return a power of two that is not larger: such cuts meet those of other operations."""
    return 1 << max(0, int(size).bit_length() - 1)
