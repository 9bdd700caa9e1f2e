"""A stage is split into batches of tasks; each batch follows the batches that it needs.

The whole graph of a large job is never in memory. A batch's results are kept until the last batch
that needs them. Use counts are computed before the first batch, except for grids that use each
chunk once.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from marsdask.scheduler.base import Hint

from ..dask.source import DaskKeys
from ..grids.blockwise import Blockwise
from ..grids.grid import Grid, Ref, ResultKeys
from ..grids.select import Select
from ..grids.shuffle import ShuffleMerge
from ..grids.tree import PartialReduce
from ..sizes import Index
from .fusion import used_once
from .lowering import Hints, Lowering, Tasks, collection_paused


class Batch(NamedTuple):
    """The next tasks of a stage."""

    tasks: Tasks
    hints: Hints
    wanted: tuple[Any, ...]
    """Its results that were asked for."""
    kept: tuple[Any, ...]
    dropped: tuple[Any, ...]
    later: int
    """Tasks to come, at most."""
    earlier: int
    """Tasks of earlier batches."""
    readers: dict[Any, int]
    """The number of tasks that need a result, where later batches have some that do."""
    grids: dict[str, Grid]
    """The grids of all tasks so far, by name."""


class _BatchTask(NamedTuple):
    """A task is added to a batch after the tasks that it needs."""

    ref: Ref
    key: Any
    task: Any
    hint: Hint
    needs: list[Ref]


@dataclass
class _Marks:
    """A number for each chunk of a grid."""

    strides: Index
    numbers: Any

    @classmethod
    def of(cls, grid: Grid, typecode: str) -> _Marks:
        strides = []
        size = 1
        for count in reversed(grid.numblocks):
            strides.append(size)
            size *= count
        return cls(
            tuple(reversed(strides)), array(typecode, bytes(size * array(typecode).itemsize))
        )

    def at(self, index: Index) -> int:
        """Return the position of a chunk."""
        return sum(map(int.__mul__, index, self.strides))


class Batches:
    """Lower ``targets`` in batches; the other arguments are those of ``lower``."""

    def __init__(
        self,
        targets: Sequence[Ref],
        size: int,
        *,
        held: Collection[Any] = (),
        held_grids: Collection[str] = (),
        budget: int | None = None,
        limit: int | None = None,
        inline: bool = True,
    ) -> None:
        self._targets = targets
        self._size = size
        self.lowering = Lowering(targets, held, held_grids, budget, limit, inline=inline)
        self._wanted = {ref.grid.name for ref in targets}
        self._uses: dict[str, list[bool]] = {}
        """For each grid, its uses by others: whether each chunk is used there once."""
        self._seen: dict[str, _Marks] = {}
        self._counts: dict[str, _Marks] = {}
        self._open: dict[Any, None] = {}
        self._kept: dict[Any, None] = {}
        self._dropped: list[Any] = []
        self._readers: dict[Any, int] = {}
        self._given = tuple(
            r.grid.key(r.index) for r in targets if isinstance(r.grid.rule, ResultKeys)
        )
        self._largest = self._survey()

    @property
    def worthwhile(self) -> bool:
        """Whether the tasks exceed one batch."""
        return self._largest > self._size

    def _survey(self) -> int:
        """Collect the grids that get tasks, and return the largest possible number of tasks."""
        grids = {ref.grid.name: ref.grid for ref in self._targets}
        stack = list(grids.values())
        total = 0
        while stack:
            grid = stack.pop()
            if isinstance(grid.rule, DaskKeys):
                return 0  # a client's own graph comes in one piece
            if isinstance(grid.rule, ResultKeys) or self.lowering.whole(grid):
                continue
            total += len(grid)
            for source, single in self._edges(grid):
                self._uses.setdefault(source.name, []).append(single)
                if source.name not in grids:
                    grids[source.name] = source
                    stack.append(source)
        return total

    def _edges(self, grid: Grid) -> Iterator[tuple[Grid, bool]]:
        """List the grids that a grid's tasks read, and whether they read each chunk once."""
        rule = grid.rule
        if isinstance(rule, Blockwise | Select):
            yield from self._leaves(grid)
            return
        for source in rule.inputs:
            parts = isinstance(rule, ShuffleMerge) and source is rule.parts
            single = parts or isinstance(rule, PartialReduce)
            if not self.lowering.fusion.inlined(source):
                yield source, single
                continue
            for leaf, alone in self._leaves(source):
                yield leaf, single and alone

    def _leaves(self, grid: Grid) -> Iterator[tuple[Grid, bool]]:
        leaves = {
            (leaf.grid.name, leaf.axes): leaf.grid
            for template in self.lowering.fusion.templates(grid)
            for leaf in template.leaves
            if leaf.grid is not None
        }
        for (_, axes), source in leaves.items():
            yield source, used_once(grid, axes)

    def __iter__(self) -> Iterator[Batch]:
        with collection_paused():
            self._count()
        stack: list[Ref | _BatchTask] = list(reversed(self._targets))
        count = 0
        self._seen.clear()
        while stack:
            with collection_paused():
                self._fill(stack)
            earlier, count = count, count + len(self.lowering.tasks)
            yield self._cut(earlier, max(1, self._largest - count) if stack else 0)

    def _fill(self, stack: list[Ref | _BatchTask]) -> None:
        """Take tasks off the stack, each after its inputs, until a batch is full."""
        tasks = self.lowering.tasks
        while stack and len(tasks) < self._size:
            item = stack.pop()
            if isinstance(item, _BatchTask):
                self._put(item)
            elif self._fresh(item):
                job = self._make(item)
                stack.append(job)
                stack.extend(reversed(job.needs))

    def _fresh(self, ref: Ref) -> bool:
        """Tell whether a chunk needs a task and is met for the first time."""
        grid, index = ref
        marks = self._seen.get(grid.name)
        if marks is None:
            if isinstance(grid.rule, ResultKeys):
                return False
            marks = self._seen[grid.name] = _Marks.of(grid, "B")
        position = marks.at(index)
        if marks.numbers[position]:
            return False
        marks.numbers[position] = 1
        keys = self.lowering.held
        return not keys or grid.key(index) not in keys

    def _make(self, ref: Ref) -> _BatchTask:
        key = ref.grid.key(ref.index)
        task, hint, needs = self.lowering.make(key, ref.grid, ref.index)
        return _BatchTask(ref, key, task, hint, needs)

    def _put(self, made: _BatchTask) -> None:
        self.lowering.tasks[made.key] = made.task
        self.lowering.hints[made.key] = made.hint
        if made.ref.grid.name not in self._wanted:
            self._open[made.key] = None
        counts = self._counts.get(made.ref.grid.name)
        if counts is not None:
            self._readers[made.key] = counts.numbers[counts.at(made.ref.index)]
        for ref in made.needs:
            self._use(ref)

    def _use(self, ref: Ref) -> None:
        """Count one use of a chunk; it is dropped after the last one."""
        grid, index = ref
        if grid.name in self._wanted or isinstance(grid.rule, ResultKeys):
            return
        counts = self._counts.get(grid.name)
        if counts is not None:
            position = counts.at(index)
            counts.numbers[position] -= 1
            if counts.numbers[position]:
                return
        key = grid.key(index)
        if key in self._kept:
            del self._kept[key]
            self._dropped.append(key)
        else:
            self._open.pop(key, None)

    def _count(self) -> None:
        """Count the uses of chunks that are used more than once, without creating tasks."""
        names = {name for name, uses in self._uses.items() if uses != [True]} - self._wanted
        if not names:
            return
        stack = list(self._targets)
        while stack:
            ref = stack.pop()
            if not self._fresh(ref):
                continue
            needs = self.lowering.needs(ref.grid, ref.index)
            stack.extend(needs)
            for grid, index in needs:
                if grid.name in names and not isinstance(grid.rule, ResultKeys):
                    marks = self._counts.get(grid.name)
                    if marks is None:
                        marks = self._counts[grid.name] = _Marks.of(grid, "L")
                    marks.numbers[marks.at(index)] += 1

    def _cut(self, earlier: int, later: int) -> Batch:
        lowering = self.lowering
        keys = tuple(key for key in lowering.tasks if key[0] in self._wanted)
        keys, self._given = self._given + keys, ()
        batch = Batch(
            lowering.tasks,
            lowering.hints,
            keys,
            tuple(self._open),
            tuple(self._dropped),
            later,
            earlier,
            dict(self._readers),
            lowering.grids,
        )
        self._kept |= self._open
        self._open.clear()
        self._dropped.clear()
        self._readers.clear()
        lowering.tasks, lowering.hints = {}, {}
        return batch
