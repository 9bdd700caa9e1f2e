"""Projected bytes of chunks and tasks, checked against the budget before execution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dask.utils import format_bytes

from marsdask.scheduler.base import Hint, dtype_of

from ..errors import MemoryBudgetError, ResultsTooLarge
from ..grids.blockwise import Blockwise, pick
from ..grids.grid import Call, Grid, Ref, ResultKeys
from ..grids.ownership import may_be_views
from ..grids.select import Select
from ..machine.costs import cost_of
from ..machine.plan import Plan
from ..node import MultiOutput, Node
from ..sizes import Index, known_chunks, numbers, upper
from .fusion import Template

#: The share of the budget that a suggested chunk size fills: buffers do not shrink with it.
ROOM = 0.75


@dataclass(frozen=True, slots=True)
class Projection:
    """The projected memory of a task."""

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
    """Return the bytes of a chunk, or of the chunks in a list that a kernel uses at once."""
    if isinstance(arg, Ref):
        return arg.grid.nbytes(arg.index) or 0
    if type(arg) is not list:
        return 0
    return (max if cost_of(func).piecewise else sum)([0, *(_argument(a, func) for a in arg)])


def _estimate(nbytes: int | None, arguments: Sequence[int]) -> int:
    """Return the bytes of a result; without a bound, those of its inputs."""
    return sum(arguments) if nbytes is None else nbytes


def project_template(template: Template, index: Index) -> Projection:
    """Project a task that runs a fused program: temporaries live until their last use."""
    chunks = [
        None if leaf.grid is None else (leaf.grid, pick(index, leaf.axes))
        for leaf in template.leaves
    ]
    sizes = [0 if chunk is None else chunk[0].nbytes(chunk[1]) or 0 for chunk in chunks]
    results = [grid.nbytes(pick(index, axes)) for grid, axes in template.grids]
    # Neighbouring parts of one chunk are several leaves but one input.
    return _project(template, sizes, results, dict(zip(chunks, sizes, strict=True)))


def fitting(template: Template, limit: int) -> bool:
    """Tell whether each task of a template fits if all chunks are the largest of their grids."""
    leaves = [(leaf.grid, leaf.axes) for leaf in template.leaves]
    sizes = [0 if grid is None else grid.largest or 0 for grid, _ in leaves]
    results = [grid.largest for grid, _ in template.grids]
    inputs = dict(zip(leaves, sizes, strict=True))
    return _project(template, sizes, results, inputs).total <= limit


def _project(
    template: Template,
    sizes: list[int],
    results: Sequence[int | None],
    inputs: Mapping[Any, int],
) -> Projection:
    temporaries = _Temporaries(len(sizes))
    peak = 0
    for step, nbytes in zip(template.steps, results, strict=True):
        cost = cost_of(step.func)
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
    nbytes = results[-1] if results else sizes[-1]
    return Projection(sum(inputs.values()), Hint(nbytes, peak))


class _Temporaries:
    """The bytes of a program's values; a view keeps its base alive."""

    def __init__(self, leaves: int) -> None:
        self.live = 0
        # Inputs are counted separately: as values of the program they take no memory.
        self._owners = list(range(leaves))
        self._bytes = dict.fromkeys(self._owners, 0)
        self._users = dict.fromkeys(self._owners, 1)

    def add(self, nbytes: int, base: int | None) -> None:
        """Add the next value, which is a view of ``base`` if that is given."""
        slot = len(self._owners)
        owner = slot if base is None else self._owners[base]
        self._owners.append(owner)
        self._bytes.setdefault(owner, nbytes)
        self._users[owner] = self._users.get(owner, 0) + 1
        self.live += nbytes

    def drop(self, slot: int) -> None:
        """Free a value."""
        owner = self._owners[slot]
        self._users[owner] -= 1
        if not self._users[owner]:
            self.live -= self._bytes[owner]


#: Advice for results that are too large.
_INSTEAD = "reduce it, write it with to_zarr() or to_parquet(), or use a smaller dtype"

#: Advice for operations that have to keep too much.
_BEFORE = "choose rows and columns before it, or use a smaller dtype"


def check_results(grids: Sequence[Grid], plan: Plan) -> None:
    """Raise if results are too large to keep or to fetch, before execution.

    Existing results and results without a known bound are not counted. Views keep what they are
    views of; to fetch several chunks they are copied.
    """
    nbytes = sum(_kept(source for grid in grids for source in _selected(grid)).values())
    largest = max(grids, key=_whole, default=None)
    name = "" if largest is None else _written(largest)
    fetched = max(nbytes, sum(_whole(grid) for grid in grids if len(grid) > 1))
    _check_bytes(name, nbytes, fetched, plan)


def check_looking(nodes: Iterable[Node], roots: Sequence[Node], plan: Plan) -> None:
    """Raise for too large values of nodes that look at their inputs, before these are made.

    They are no views: a sort has memory of its own.
    """
    for node in nodes:
        if isinstance(node, MultiOutput) or not known_chunks(node.chunks):
            continue
        if (node.holds_all or node in roots) and node.itemsize and _is_sized(node.meta):
            nbytes = int(node.itemsize * math.prod(map(sum, map(numbers, node.chunks))))
            fetched, advice = (nbytes, _INSTEAD) if node in roots else (0, _BEFORE)
            _check_bytes(_described(node), nbytes, fetched, plan, advice)


def check_kept(grids: Sequence[Grid], plan: Plan) -> None:
    """Raise if the results of a stage are too large to keep for the next one, before they are made.

    Among these are the parts of rows that a merge moves: all have to be there before any is merged.
    """
    nbytes = sum(_kept(grids).values())
    name = _written(max(grids, key=_whole)) if grids else ""
    _check_bytes(name, nbytes, 0, plan, _BEFORE)


def _check_bytes(name: str, kept: int, fetched: int, plan: Plan, instead: str = _INSTEAD) -> None:
    memory, disk = plan.budget or 0, plan.spill or 0
    if plan.spill is not None and kept > memory + disk:
        where = f"memory ({format_bytes(memory)}) and spill directories ({format_bytes(disk)})"
        settings = "options.spill_dirs and options.spill_limit, or a worker's --spill-dirs,"
        advice = f"{instead}; {settings} give more room"
        raise ResultsTooLarge(name, kept, memory + disk, where, advice)
    if plan.client is not None and fetched > plan.client:
        raise too_large_to_fetch(name, fetched, plan.client)


def too_large_to_fetch(name: str, nbytes: int, room: int) -> ResultsTooLarge:
    """Return the error for results that exceed the memory of the calling process."""
    instead = f"{_INSTEAD}, or keep it in chunks by execute()"
    return ResultsTooLarge(name, nbytes, room, "this process's memory", instead)


def _selected(grid: Grid) -> Iterator[Grid]:
    """Yield the grids that are joined in a grid, or itself; held ones take no more memory."""
    stack = [grid]
    while stack:
        current = stack.pop()
        if isinstance(current.rule, Select) and len(current.rule.sources) > 1:
            stack.extend(
                source for source in current.rule.sources if type(source.rule) is not ResultKeys
            )
        else:
            yield current


def _kept(grids: Iterable[Grid]) -> dict[Grid, int]:
    """Return the bytes that results surely keep of grids: of themselves, or of what they show."""
    bytes_by_grid: dict[Grid, int] = {}
    for grid in grids:
        base, nbytes = _base(grid)
        bytes_by_grid[base] = max(nbytes, bytes_by_grid.get(base, 0))
    return bytes_by_grid


def _base(grid: Grid) -> tuple[Grid, int]:
    """Return the grid that the chunks of a grid are views of, and the bytes that they keep of it.

    A constant or a range is made anew for each chunk.
    """
    base, nbytes = grid, _whole(grid)
    while nbytes and may_be_views(base):
        sources = base.rule.inputs
        if len(sources) != 1 or type(sources[0].rule) is ResultKeys:
            return base, 0
        (base,) = sources
        copies = len(grid) if _is_made_anew(base) else len(base)
        nbytes = min(nbytes, _whole(base) * copies // max(1, len(base)))
    return base, nbytes


def _is_made_anew(grid: Grid) -> bool:
    rule = grid.rule
    return isinstance(rule, Blockwise) and rule.cheap and not rule.sources


def is_kept(grid: Grid) -> bool:
    """Tell whether the chunks of a grid take memory of their own, and how much is certain."""
    return not _is_elsewhere(grid) and _whole(grid) > 0


def _is_elsewhere(grid: Grid) -> bool:
    """Tell whether chunks may be views that take no memory, such as broadcast ones."""
    if not may_be_views(grid):
        return False
    # A user's function may return its block, which is then kept instead of the result.
    is_mapped = isinstance(grid.rule, Blockwise) and not cost_of(grid.rule.func).view
    nbytes = _whole(grid)
    return not is_mapped or any(
        may_be_views(source) or _whole(source) < nbytes for source in grid.rule.inputs
    )


def _whole(grid: Grid) -> int:
    """Return the bytes of all chunks, 0 if they are only estimated."""
    if grid.width is None or not known_chunks(grid.chunks) or not _is_sized(grid.meta):
        return 0
    return int(grid.width * math.prod(map(sum, map(numbers, grid.chunks))))


def _is_sized(meta: Any) -> bool:
    """Tell whether the dtypes of all columns determine the size of an element."""
    dtypes = getattr(meta, "dtypes", None)
    columns = [dtype_of(meta)] if dtypes is None or not hasattr(dtypes, "__iter__") else dtypes
    return all(getattr(dtype, "kind", "O") != "O" for dtype in columns)


def refuse(chunks: Sequence[Ref], projection: Projection, budget: int) -> MemoryBudgetError:
    """Return the error for a task that exceeds the memory limit.

    ``chunks`` are those that the task reads and computes, its result first. The error names the
    largest chunk, its operation, the user's line, and a size that fits.
    """
    grid, index = largest = max(chunks, key=_nbytes)
    nbytes = projection.total
    suggestion = _suggestion(largest, nbytes, budget)
    return MemoryBudgetError(_written(grid), index, nbytes, budget, suggestion)


def _written(grid: Grid) -> str:
    """Name the operation of a grid, and the user's line."""
    return grid.rule.label if grid.node is None else _described(grid.node)


def _described(node: Node) -> str:
    return node.label if node.origin is None else f"{node.label} (written at {node.origin})"


def _nbytes(ref: Ref) -> int:
    return ref.grid.nbytes(ref.index) or 0


def _suggestion(largest: Ref, needed: int, budget: int) -> str:
    """Suggest a chunk size that fits, shrinking every axis of the largest chunk alike."""
    grid, index = largest
    sizes = [upper(axis[i]) or 1 for axis, i in zip(grid.chunks, index, strict=True)]
    divisible = sum(size > 1 for size in sizes)
    if not divisible:
        return "make the input's chunks smaller or raise options.memory_limit"
    factor = (ROOM * budget / needed) ** (1 / divisible)
    fitting = tuple(_power_of_two(size * factor) for size in sizes)
    return (
        f"chunks of {fitting} would fit: pass chunk_size= or rechunk, or raise options.memory_limit"
    )


def _power_of_two(size: float) -> int:
    """Return a power of two that is not larger, so that the chunks align with other operations."""
    return 1 << max(0, int(size).bit_length() - 1)
