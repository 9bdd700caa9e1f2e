"""From chunk grids to Dask tasks with size hints: only the chunks that are needed, key by key."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask.task_spec import Alias, GraphNode, List, Task, TaskRef

from marsdask.scheduler.base import Hint

from .adopted import AdoptedRule, DaskGraph
from .chunk import Grid, Held, Ref
from .fusion import Fusion, Leaf, Template, leaf_ref
from .memory import Projection, project_cell, project_template, refuse
from .shapes import Blockwise, pick, same
from .types import Index

Tasks = dict[Any, GraphNode]
Hints = dict[Any, Hint]


def lower(
    targets: Sequence[Ref],
    *,
    held: Collection[Any] = (),
    held_grids: Collection[str] = (),
    budget: int | None = None,
    inline: bool = True,
    adopt: bool = True,
) -> tuple[Tasks, Hints, dict[str, Grid]]:
    """Return the tasks that make ``targets``, their hints, and the grids they belong to by name.

    ``held`` are keys that need no task; grids named in ``held_grids`` have such chunks, so they are
    not fused away. ``inline`` allows doing cheap work again inside each task that needs it.
    ``adopt`` brings in the tasks of adopted Dask graphs, whose keys are only referred to without.
    """
    lowering = _Lowering(targets, held, held_grids, budget, inline=inline)
    with _collection_paused():
        lowering.run(targets)
    if adopt:
        for graph, keys in lowering.adopted.values():
            lowering.tasks.update(graph.needed(keys))
    return lowering.tasks, lowering.hints, lowering.grids


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Let no garbage collection walk the growing graph: a million tasks hold no cycle to find."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Lowering:
    def __init__(
        self,
        targets: Sequence[Ref],
        held: Collection[Any],
        held_grids: Collection[str],
        budget: int | None,
        *,
        inline: bool,
    ) -> None:
        grids = {ref.grid.name: ref.grid for ref in targets}
        self.fusion = Fusion(grids.values(), held_grids, inline=inline, budget=budget)
        self.held = held
        self.budget = budget
        self.tasks: Tasks = {}
        self.hints: Hints = {}
        self.grids: dict[str, Grid] = {}
        self.adopted: dict[int, tuple[DaskGraph, list[Any]]] = {}
        self._projections: dict[tuple[Any, ...], Projection] = {}
        self._interned: dict[Hint, Hint] = {}
        self._stack: list[Ref] = []

    def run(self, targets: Sequence[Ref]) -> None:
        # Depth first and in order, so that the tasks' order of creation is an order to run them in.
        self._stack = list(reversed(targets))
        seen = set()
        while self._stack:
            ref = self._stack.pop()
            key = ref.grid.key(ref.index)
            if key in seen or key in self.held or isinstance(ref.grid.rule, Held):
                continue
            seen.add(key)
            if isinstance(ref.grid.rule, AdoptedRule):
                graph = ref.grid.rule.graph
                self.adopted.setdefault(id(graph), (graph, []))[1].append(key)
            else:
                self._emit(key, ref.grid, ref.index)

    def _emit(self, key: Any, grid: Grid, index: Index) -> None:
        refs: list[Ref] = []
        if isinstance(grid.rule, Blockwise):
            depth = len(self._stack)
            template = self._template(grid)
            self.tasks[key] = self._blockwise(key, template, index)
            refs = self._stack[depth:]
            projection = self._project(template, index)
        else:
            self.grids[grid.name] = grid
            call = grid.rule.cell(index)
            args = [self._argument(arg, refs) for arg in call.args]
            kwargs = {name: self._argument(arg, refs) for name, arg in call.kwargs.items()}
            self._stack.extend(reversed(refs))
            self.tasks[key] = Task(key, call.func, *args, **kwargs)
            projection = project_cell(grid, index, call, refs)
        if self.budget is not None and projection.total > self.budget:
            raise refuse(
                [Ref(grid, index), *self._within(grid, index), *refs], projection, self.budget
            )
        self.hints[key] = self._interned.setdefault(projection.hint, projection.hint)

    def _within(self, grid: Grid, index: Index) -> list[Ref]:
        """Return the chunks that are made on the way to one."""
        if not isinstance(grid.rule, Blockwise):
            return []
        return [Ref(step, pick(index, axes)) for step, axes in self._template(grid).grids]

    def _template(self, grid: Grid) -> Template:
        template = self.fusion.template(grid)
        if grid.name not in self.grids:
            self.grids.update((absorbed.name, absorbed) for absorbed, _ in template.grids)
        return template

    def _blockwise(self, key: Any, template: Template, index: Index) -> GraphNode:
        leaves = [self._leaf(leaf, index) for leaf in template.leaves]
        if template.program is not None:
            return Task(key, template.program, *leaves)
        (step,) = template.steps
        args = [leaves[slot] for slot in step.slots]
        if step.func is same and args and isinstance(args[0], TaskRef) and step.star is None:
            return Alias(key, args[0])
        if step.star is not None:
            args.extend(leaves[step.star])
        return Task(key, step.func, *args, **step.kwargs)

    def _leaf(self, leaf: Leaf, index: Index) -> Any:
        if leaf.grid is None:
            return leaf.value(index)
        ref = leaf_ref(leaf, index)
        self._stack.append(ref)
        return TaskRef(ref.grid.key(ref.index))

    def _argument(self, arg: Any, refs: list[Ref]) -> Any:
        if isinstance(arg, Ref):
            return self._reference(arg, refs)
        if type(arg) is list:
            items = [self._argument(item, refs) for item in arg]
            return List(items) if any(isinstance(i, TaskRef | GraphNode) for i in items) else items
        return arg

    def _reference(self, ref: Ref, refs: list[Ref]) -> Any:
        """Refer to a chunk, or do its work in place when it is cheap."""
        if not self.fusion.inlined(ref.grid):
            refs.append(ref)
            return TaskRef(ref.grid.key(ref.index))
        template = self._template(ref.grid)
        refs.extend(leaf_ref(leaf, ref.index) for leaf in template.leaves if leaf.grid is not None)
        depth = len(self._stack)
        task = self._blockwise(None, template, ref.index)
        # The caller stacks every ref at once, in order.
        del self._stack[depth:]
        return task if isinstance(task, Task) else TaskRef(task.target)  # type: ignore[attr-defined]

    def _project(self, template: Template, index: Index) -> Projection:
        """Project once for each combination of block sizes."""
        if template.tabled:
            return project_template(template, index)
        sizes = (
            template.grid.name,
            template.grid.nbytes(index),
            *(
                leaf.grid.nbytes(pick(index, leaf.axes))
                for leaf in template.leaves
                if leaf.grid is not None
            ),
        )
        found = self._projections.get(sizes)
        if found is None:
            found = self._projections[sizes] = project_template(template, index)
        return found
