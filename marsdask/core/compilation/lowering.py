"""From chunk grids to Dask tasks with size hints; only the needed chunks are lowered."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypedDict, Unpack

from dask.task_spec import Alias, GraphNode, List, Task, TaskRef

from marsdask.scheduler.base import Hint

from ..dask.source import DaskGraph, DaskKeys
from ..grids.blockwise import Blockwise, pick, same
from ..grids.grid import Grid, Ref, ResultKeys
from ..grids.ownership import CopiedBlocks
from ..grids.select import Select
from ..machine.costs import cost_of
from ..sizes import Index
from .fusion import Fusion, Leaf, Template, leaf_ref
from .memory import Projection, fitting, project_cell, project_template, refuse

Tasks = dict[Any, GraphNode]
Hints = dict[Any, Hint]

#: The rules whose tasks have templates.
_FUSED = (Blockwise, Select)


class LoweringOptions(TypedDict, total=False):
    """Keyword arguments of :func:`lowered`."""

    held: Collection[Any]
    held_grids: Collection[str]
    budget: int | None
    limit: int | None
    inline: bool
    adopt: bool


def lower(
    targets: Sequence[Ref], **options: Unpack[LoweringOptions]
) -> tuple[Tasks, Hints, dict[str, Grid]]:
    """Return the tasks for ``targets``, their hints, and their grids by name.

    See :func:`lowered` for the options.
    """
    lowering = lowered(targets, **options)
    return lowering.tasks, lowering.hints, lowering.grids


def lowered(
    targets: Sequence[Ref],
    *,
    held: Collection[Any] = (),
    held_grids: Collection[str] = (),
    budget: int | None = None,
    limit: int | None = None,
    inline: bool = True,
    adopt: bool = True,
) -> Lowering:
    """Return a :class:`Lowering` with the tasks for ``targets``.

    ``held`` are keys that need no task; grids named in ``held_grids`` have such chunks, so they are
    not fused away. ``budget`` is the memory for all tasks together, ``limit`` that for one task
    (default: the budget). Larger tasks raise an error. ``inline`` allows repeating cheap work
    inside each task that needs it. ``adopt`` includes the tasks of adopted Dask graphs; otherwise
    only their keys are used.
    """
    limit = budget if limit is None else limit
    lowering = Lowering(targets, held, held_grids, budget, limit, inline=inline)
    with collection_paused():
        lowering.run(targets)
    if adopt:
        for graph, keys in lowering.adopted.values():
            tasks = graph.needed(keys)
            lowering.tasks.update(tasks)
            lowering.hints.update(graph.hints(tasks))
    return lowering


def lower_again(
    targets: Sequence[Ref], lowerings: Mapping[str, Lowering], held: Collection[Any]
) -> tuple[Tasks, Hints]:
    """Return the tasks for chunks whose results are lost, down to held ones, and their hints.

    ``lowerings`` made the tasks of these grids before. Other grids' chunks are inputs.
    """
    tasks: Tasks = {}
    hints: Hints = {}
    stack = list(reversed(targets))
    while stack:
        grid, index = ref = stack.pop()
        lowering, key = lowerings.get(grid.name), grid.key(index)
        if lowering is not None and key not in tasks and key not in held:
            tasks[key], hints[key], needs = lowering.make(key, *ref)
            stack.extend(reversed(needs))
    return tasks, hints


@contextmanager
def collection_paused() -> Iterator[None]:
    """Disable garbage collection while the graph grows: a million tasks contain no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _is_whole(grid: Grid, held: Collection[Any], names: Collection[str]) -> bool:
    """Tell whether all chunks of a grid are held, so that its ancestors need not run."""
    if grid.name not in names:
        return False
    return all(grid.key(index) in held for index in grid.indices())


class Lowering:
    """Creates the tasks of chunks; the caller chooses the chunks and their order."""

    def __init__(
        self,
        targets: Sequence[Ref],
        held: Collection[Any],
        held_grids: Collection[str],
        budget: int | None,
        limit: int | None,
        *,
        inline: bool,
    ) -> None:
        grids = {ref.grid.name: ref.grid for ref in targets}
        self.held = held
        # No method of its own: a cycle would keep all nodes until the collector runs.
        self.whole: Callable[..., bool] = partial(_is_whole, held=held, names=held_grids)
        self.fusion: Fusion = Fusion(
            grids.values(),
            held_grids,
            inline=inline,
            budget=budget,
            fits=None if limit is None else partial(fitting, limit=limit),
            whole=self.whole,
        )
        self.limit = limit
        self.tasks: Tasks = {}
        self.hints: Hints = {}
        self.grids: dict[str, Grid] = {}
        self.adopted: dict[int, tuple[DaskGraph, list[Any]]] = {}
        self._projections: dict[tuple[Any, ...], Projection] = {}
        self._interned: dict[Hint, Hint] = {}
        self._noted: dict[int, Template] = {}
        """Templates whose grids are among :attr:`grids`."""

    def run(self, targets: Sequence[Ref]) -> None:
        """Create every task that the targets need."""
        # Tasks are created depth first, so that the order of creation is an order to run them in.
        stack = list(reversed(targets))
        visited = set()
        while stack:
            ref = stack.pop()
            key = ref.grid.key(ref.index)
            if key in visited or key in self.held or isinstance(ref.grid.rule, ResultKeys):
                continue
            visited.add(key)
            if isinstance(ref.grid.rule, DaskKeys):
                graph = ref.grid.rule.graph
                self.adopted.setdefault(id(graph), (graph, []))[1].append(key)
            else:
                self.tasks[key], self.hints[key], needs = self.make(key, ref.grid, ref.index)
                stack.extend(needs if isinstance(ref.grid.rule, _FUSED) else reversed(needs))

    def make(self, key: Any, grid: Grid, index: Index) -> tuple[GraphNode, Hint, list[Ref]]:
        """Return the task of a chunk, its hint, and the chunks that it needs, in order."""
        refs: list[Ref] = []
        task: GraphNode
        if isinstance(grid.rule, _FUSED):
            template = self._template(grid, index)
            task = self._blockwise(key, template, index, refs)
            projection = self._project(template, index)
        else:
            self.grids[grid.name] = grid
            call = grid.rule.cell(index)
            args = [self._argument(arg, refs) for arg in call.args]
            kwargs = {name: self._argument(arg, refs) for name, arg in call.kwargs.items()}
            func = CopiedBlocks(call.func) if cost_of(call.func).writes else call.func
            task = Task(key, func, *args, **kwargs)
            projection = project_cell(grid, index, call, refs)
        if self.limit is not None and projection.total > self.limit:
            raise refuse(
                [Ref(grid, index), *self._within(grid, index), *refs], projection, self.limit
            )
        return task, self._interned.setdefault(projection.hint, projection.hint), refs

    def needs(self, grid: Grid, index: Index) -> list[Ref]:
        """Return the chunks that a chunk's task needs."""
        if isinstance(grid.rule, _FUSED):
            return self._leaf_refs(grid, index)
        refs: list[Ref] = []
        call = grid.rule.cell(index)
        for arg in (*call.args, *call.kwargs.values()):
            self._argument(arg, refs)
        return refs

    def _leaf_refs(self, grid: Grid, index: Index) -> list[Ref]:
        leaves = self._template(grid, index).leaves
        return [leaf_ref(leaf, index) for leaf in leaves if leaf.grid is not None]

    def _within(self, grid: Grid, index: Index) -> list[Ref]:
        """Return the chunks computed inside the task of a chunk."""
        if not isinstance(grid.rule, _FUSED):
            return []
        return [Ref(step, pick(index, axes)) for step, axes in self._template(grid, index).grids]

    def _template(self, grid: Grid, index: Index) -> Template:
        template = self.fusion.template(grid, index)
        if id(template) not in self._noted:
            self._noted[id(template)] = template
            self.grids.update((absorbed.name, absorbed) for absorbed, _ in template.grids)
            self.grids[grid.name] = grid
        return template

    def _blockwise(self, key: Any, template: Template, index: Index, refs: list[Ref]) -> GraphNode:
        leaves = [self._leaf(leaf, index, refs) for leaf in template.leaves]
        if template.program is not None:
            return Task(key, template.program, *leaves)
        if not template.steps:
            (alias,) = leaves
            return Alias(key, alias)
        (step,) = template.steps
        args = [leaves[slot] for slot in step.slots]
        if step.func is same and args and isinstance(args[0], TaskRef) and step.star is None:
            return Alias(key, args[0])
        if step.star is not None:
            args.extend(leaves[step.star])
        return Task(key, step.func, *args, **step.kwargs)

    def _leaf(self, leaf: Leaf, index: Index, refs: list[Ref]) -> Any:
        if leaf.grid is None:
            return leaf.value(index)
        ref = leaf_ref(leaf, index)
        refs.append(ref)
        return TaskRef(ref.grid.key(ref.index))

    def _argument(self, arg: Any, refs: list[Ref]) -> Any:
        if isinstance(arg, Ref):
            return self._reference(arg, refs)
        if type(arg) is list:
            items = [self._argument(item, refs) for item in arg]
            return List(items) if any(isinstance(i, TaskRef | GraphNode) for i in items) else items
        return arg

    def _reference(self, ref: Ref, refs: list[Ref]) -> Any:
        """Refer to a chunk, or repeat its work if it is cheap."""
        if not self.fusion.inlined(ref.grid):
            refs.append(ref)
            return TaskRef(ref.grid.key(ref.index))
        task = self._blockwise(None, self._template(ref.grid, ref.index), ref.index, refs)
        return task if isinstance(task, Task) else TaskRef(task.target)  # type: ignore[attr-defined]

    def _project(self, template: Template, index: Index) -> Projection:
        """Project once for each combination of block sizes."""
        if template.tabled:
            return project_template(template, index)
        sizes = (
            id(template),
            template.grid.nbytes(index),
            *(
                leaf.grid.nbytes(pick(index, leaf.axes))
                for leaf in template.leaves
                if leaf.grid is not None
            ),
        )
        projection = self._projections.get(sizes)
        if projection is None:
            projection = self._projections[sizes] = project_template(template, index)
        return projection
