"""Projected bytes of chunks and tasks, and the check of the budget before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from marsdask.scheduler.base import Hint

from .chunk import Grid, Ref
from .errors import MemoryBudgetError
from .fusion import Template
from .shapes import pick, scratch_of
from .types import Index, upper

#: Bytes that a chunk of unbounded size is taken for (a partial result, an object).
UNBOUNDED = 0


@dataclass(frozen=True, slots=True)
class Projection:
    """What a task is expected to take."""

    inputs: int
    hint: Hint

    @property
    def total(self) -> int:
        """Bytes needed while the task runs with all its inputs in memory."""
        return self.inputs + (self.hint.peak or 0)


def project_cell(grid: Grid, index: Index, refs: Sequence[Ref]) -> Projection:
    """Project a task that runs one kernel over ``refs``."""
    sizes = [ref.grid.nbytes(ref.index) or UNBOUNDED for ref in refs]
    out = grid.nbytes(index)
    scratch = int(grid.rule.scratch * max(sizes, default=0))
    return Projection(sum(sizes), Hint(out, (out or UNBOUNDED) + scratch))


def project_template(template: Template, index: Index) -> Projection:
    """Project a task that runs a fused program: temporaries live until their last use."""
    chunks = [
        None if leaf.grid is None else (leaf.grid, pick(index, leaf.axes))
        for leaf in template.leaves
    ]
    sizes = [0 if chunk is None else chunk[0].nbytes(chunk[1]) or UNBOUNDED for chunk in chunks]
    # Neighbouring parts of one chunk are several leaves but one input.
    inputs = sum(dict(zip(chunks, sizes, strict=True)).values())
    leaves = len(sizes)
    live = peak = 0
    out: int | None = 0
    for step, (grid, axes) in zip(template.steps, template.grids, strict=True):
        out = grid.nbytes(pick(index, axes))
        own = out or UNBOUNDED
        largest = max((sizes[slot] for slot in step.slots), default=0)
        peak = max(peak, live + own + int(scratch_of(step.func) * largest))
        sizes.append(own)
        live += own - sum(sizes[slot] for slot in step.dead if slot >= leaves)
    return Projection(inputs, Hint(out, peak))


def check_budget(grid: Grid, index: Index, projection: Projection, budget: int | None) -> None:
    """Refuse a task that cannot fit, before the first one runs.

    Raises :class:`MemoryBudgetError` naming the operation, the chunk and a size that would fit.
    """
    if budget is None or projection.total <= budget:
        return
    node = grid.node
    name = node.label if node is not None else grid.rule.label
    if node is not None and node.origin is not None:
        name = f"{name} (written at {node.origin})"
    raise MemoryBudgetError(
        name, index, projection.total, budget, _suggestion(grid, index, projection.total, budget)
    )


def _suggestion(grid: Grid, index: Index, needed: int, budget: int) -> str:
    """Say a chunk size that would fit, shrinking every axis alike."""
    sizes = [upper(axis[i]) or 1 for axis, i in zip(grid.chunks, index, strict=True)]
    divisible = sum(size > 1 for size in sizes)
    if not divisible:
        return "make the input's chunks smaller or raise options.memory_limit"
    factor = (budget / needed) ** (1 / divisible)
    fitting = tuple(max(1, int(size * factor)) for size in sizes)
    return (
        f"chunks of {fitting} would fit: pass chunk_size= or rechunk, or raise options.memory_limit"
    )
