"""Drive ``tile()``: a resumable compilation of nodes into stages of tasks, without IO."""

from __future__ import annotations

import contextvars
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from marsdask.scheduler.base import ChunkInfo, Done, Machine, Stage

from ..errors import MemoryBudgetError
from ..graph import Graph
from ..grids.grid import Grid, Look, Ref, current_node
from ..grids.incomplete_types import is_typed, must_look, over_found_types, with_found_types
from ..grids.logical import as_shown
from ..grids.ownership import owned
from ..machine.plan import Plan, current_plan
from ..node import Node
from ..registry import class_of
from ..results.layout import Layout
from ..sizes import Chunks, Size, Unknown
from .batches import Batch, Batches
from .frontier import Frontier
from .lowering import Lowering, Tasks, lower_again, lowered
from .memory import check_kept, check_looking, check_results
from .passes import run_passes
from .rules.coalescing import shown
from .rules.simplification import substitute
from .stage_results import StageResults
from .verification import StageSpecification, verify_tiling

Infos = Mapping[Any, ChunkInfo]

#: How many times smaller blocks are tried where those of usual size do not fit.
FINENESS = (4, 16, 64)


@dataclass
class _PausedTiling:
    """A generator tiling that waits for infos."""

    tiling: Generator[Any, Any, Any]
    look: Look
    context: contextvars.Context


class Compilation:
    """Compile ``roots`` stage by stage; the result depends only on the given infos.

    ``results`` holds nodes computed before, by name. Results that are ``lasting`` share no memory
    with the user's own arrays.
    """

    blind: ClassVar[bool] = False
    """Whether nothing can be run on the way, so that no tiling may look."""

    def __init__(
        self,
        roots: Sequence[Node],
        *,
        plan: Plan | None = None,
        results: Mapping[str, Node] | None = None,
        check: bool = False,
        lasting: bool = False,
    ) -> None:
        self.roots: tuple[Node, ...] = tuple(roots)
        self.plan: Plan = plan or Plan()
        self.grids: dict[str, Grid] = {}
        self.logical: Graph = substitute(Graph(self.roots), results or {})
        self._check = check
        self._lasting = lasting
        self._begun = self._started = False

    def fit(self, machine: Machine) -> None:
        """Plan for the machine that will run it; call it before the first :meth:`advance`."""
        self.plan = self.plan.on(machine)

    def _begin(self, plan: Plan) -> None:
        self._begun = True
        self.graph: Graph = run_passes(self.logical, plan, check=self._check)
        self._shown = shown(self.graph, plan)
        self._frontier = Frontier(self.graph)
        self._tiled: dict[Node, Any] = {}
        self._paused: dict[Node, _PausedTiling] = {}
        self._looked: dict[Node, list[Grid]] = {}
        self._untold: set[Node] = set()
        """The tiled nodes of incomplete types that nobody asked for."""
        self._infos: dict[Any, ChunkInfo] = {}
        self._held = StageResults()
        self._metas: dict[Node, tuple[Any, Any]] = {}
        self._final = False
        self._batches: Iterator[Batch] | None = None
        self._specification: StageSpecification | None = None
        self._made_by: dict[str, Lowering] = {}
        """The lowering that made the tasks of a grid, if the scheduler takes batches."""
        self._lowering: Lowering | None = None

    def advance(self, infos: Infos) -> Stage | Done:
        """Take the infos of the last stage's keys; return the next stage or the end."""
        if not self._begun:
            self._begin(self.plan)
        self._infos.update(infos)
        if self._batches is not None:
            return self._next_batch()
        if self._final:
            return self._cast() or self._done()
        try:
            return self._next()
        except MemoryBudgetError as error:
            if self._started:
                raise
            return self._next_of_others(error)

    def _next_of_others(self, error: MemoryBudgetError) -> Stage:
        """Return the first stage of the first plan that fits; raise the error of the users' chunks.

        Merged blocks may be too large, and so may be the chunks that users chose.
        """
        finer = [replace(self.plan, fineness=fineness) for fineness in FINENESS]
        if self.plan.coalesce:
            finer.insert(0, replace(self.plan, coalesce=False))
        for plan in finer:
            self.plan = plan
            self._begin(plan)
            try:
                return self._next()
            except MemoryBudgetError as other:
                error = other if plan.fineness == 1 else error
        raise error

    def _next(self) -> Stage:
        self._held.settle()
        self._tile_all()
        if self._paused:
            if not self._started:
                check_looking(self._paused, self.graph.roots, self.plan)
            check_kept(
                [grid for paused in self._paused.values() for grid in paused.look.whole], self.plan
            )
            refs = [ref for paused in self._paused.values() for ref in paused.look.run()]
        else:
            self._final = True
            check_results([self._tiled[root] for root in self.graph.roots], self.plan)
            if self._lasting and self.plan.shared_memory:
                self._tiled.update({root: owned(self._tiled[root]) for root in self.graph.roots})
            refs = self._results()
        stage = self._stage(refs)
        self._started = True
        return stage

    def _results(self) -> list[Ref]:
        return [ref for root in self.graph.roots for ref in self._tiled[root].refs()]

    def _cast(self) -> Stage | None:
        """Return a stage that gives all chunks of each lasting result its types, if some differ."""
        if not self._lasting:
            return None
        self._lasting = False  # once is enough
        new = {
            physical: class_of(root.meta)._cast(
                self._tiled[physical], self._settled(root, physical), self._infos_of(physical)
            )
            for root, physical in zip(self.roots, self.graph.roots, strict=True)
        }
        if all(self._tiled[root] is grid for root, grid in new.items()):
            return None
        self._tiled.update(new)
        self._held.settle()
        return self._stage(self._results())

    def _infos_of(self, root: Node) -> list[ChunkInfo]:
        grid: Grid = self._tiled[root]
        return [self._infos[grid.key(index)] for index in grid.indices()]

    def _settled(self, root: Node, physical: Node) -> Any:
        infos = self._infos_of(physical)
        types = [(info.dtype, info.columns, info.labels) for info in infos]
        before, meta = self._metas.get(root, (None, None))
        if before != types:
            meta = class_of(root.meta)._settled(root.meta, infos)
            self._metas[root] = types, meta
        return meta

    def _stage(self, refs: Sequence[Ref]) -> Stage:
        how: dict[str, Any] = {
            "held": self._held.keys,
            "held_grids": self._held.grids,
            "budget": self.plan.budget,
            "limit": self.plan.task_limit,
            "inline": self.plan.shared_memory,
        }
        if self._check:
            self._specification = StageSpecification(self._held.keys, {ref.grid for ref in refs})
        batches = None if self.plan.batch is None else Batches(refs, self.plan.batch, **how)
        if batches is not None and batches.worthwhile:
            self._held.plan(refs, self._needed_later())
            self._batches, self._lowering = iter(batches), batches.lowering
            return self._next_batch()
        lowering = lowered(refs, **how)
        tasks, hints, grids = lowering.tasks, lowering.hints, lowering.grids
        if self.plan.batch is not None:
            lowering.tasks, lowering.hints = {}, {}
            self._remember(lowering, tasks)
        self._held.plan(refs, self._needed_later())
        self.grids.update(grids)
        keys = tuple(dict.fromkeys(ref.grid.key(ref.index) for ref in refs))
        if self._specification is not None:
            self._specification.verify(tasks, hints, grids, wanted=keys, dropped=self._held.dropped)
        return Stage(tasks, keys, hints, samples=bool(self._paused), dropped=self._held.dropped)

    def _needed_later(self) -> list[Grid]:
        """Return the grids that later tilings may read."""
        if self._final:
            return []
        tilings = [self._tiled[node] for node in self._frontier.needed]
        grids = [
            grid
            for tiling in tilings
            for grid in (tiling if isinstance(tiling, tuple) else (tiling,))
        ]
        return [
            *grids,
            *(grid for grids_looked_at in self._looked.values() for grid in grids_looked_at),
        ]

    def _next_batch(self) -> Stage:
        assert self._batches is not None
        batch = next(self._batches)
        assert self._lowering is not None
        self._remember(self._lowering, batch.tasks)
        if not batch.later:
            self._batches = None
            batch = batch._replace(dropped=(*batch.dropped, *self._held.dropped))
        self.grids.update(batch.grids)
        if self._specification is not None:
            self._specification.verify(
                batch.tasks,
                batch.hints,
                batch.grids,
                wanted=batch.wanted,
                kept=batch.kept,
                dropped=batch.dropped,
            )
        return Stage(
            batch.tasks,
            batch.wanted,
            batch.hints,
            samples=bool(self._paused),
            later=batch.later,
            earlier=batch.earlier,
            readers=batch.readers,
            kept=batch.kept,
            dropped=batch.dropped,
        )

    def _remember(self, lowering: Lowering, tasks: Tasks) -> None:
        for name in {key[0] for key in tasks}:
            self._made_by.setdefault(name, lowering)

    def recompute(self, keys: Collection[Any], held: Collection[Any]) -> Stage:
        """Return the tasks of lost results of earlier stages, down to results that are held."""
        refs = [Ref(self.grids[key[0]], tuple(key[1:])) for key in keys]
        tasks, hints = lower_again(refs, self._made_by, held)
        return Stage(tasks, (), hints)

    def _done(self) -> Done:
        outputs: dict[str, Layout] = {}
        keys: dict[Any, None] = {}
        for root, physical in zip(self.roots, self.graph.roots, strict=True):
            grid: Grid = self._tiled[physical]
            layout = {index: grid.key(index) for index in grid.indices()}
            nbytes = {index: self._infos[key].nbytes for index, key in layout.items()}
            meta = self._settled(root, physical)
            outputs[root.name] = Layout(
                self._actual_chunks(grid), layout, nbytes, meta, grid.partitioning
            )
            keys.update(dict.fromkeys(layout.values()))
        return Done(outputs, tuple(keys))

    def _actual_chunks(self, grid: Grid) -> Chunks:
        """Replace unknown sizes by those of the results."""
        return tuple(
            tuple(
                self._actual(grid, axis, position) if isinstance(size, Unknown) else size
                for position, size in enumerate(sizes)
            )
            for axis, sizes in enumerate(grid.chunks)
        )

    def _actual(self, grid: Grid, axis: int, position: int) -> Size:
        index = tuple(position if a == axis else 0 for a in range(grid.ndim))
        shape = self._infos[grid.key(index)].shape
        if shape is not None and axis < len(shape):
            return shape[axis]
        return grid.chunks[axis][position]

    def _tile_all(self) -> None:
        self._frontier.add(self._paused)
        while (node := self._frontier.take()) is not None:
            paused = self._paused.get(node)
            if paused is not None:
                self._resume(node, paused)
            else:
                self._start(node)

    def _start(self, node: Node) -> None:
        context = contextvars.copy_context()
        context.run(current_node.set, node)
        context.run(current_plan.set, self.plan)
        inputs = [self._tiled[child] for child in node.inputs]
        if self.blind:
            tiling = context.run(node.tile_blind, *inputs)
        elif is_typed(node):
            tiling = context.run(node.tile, *inputs)
        else:
            tiling = context.run(self._tile_over_types, node, inputs)
        if isinstance(tiling, Generator):
            self._step(node, tiling, None, context)
        else:
            self._finish(node, tiling, context)

    def _tile_over_types(self, node: Node, inputs: Sequence[Any]) -> Any:
        """Return the tiling of a node over the types that its inputs turned out to have.

        Results that nobody else reads may have chunks of several types.
        """
        concrete = over_found_types(node, inputs, self._untold)
        look = must_look(node, concrete)
        if look and not self._frontier.depends_on_types(node):
            self._untold.add(node)
            look = False
        return with_found_types(concrete, concrete.tile(*inputs), look=look)

    def _finish(self, node: Node, tiled: Any, context: contextvars.Context) -> None:
        if node in self._shown:
            tiled = context.run(as_shown, node, tiled)
        if self._check:
            verify_tiling(node, tiled, shown=node in self._shown)
        # Grids are named in order: naming the end of a long chain first would recurse along it.
        for grid in tiled if isinstance(tiled, tuple) else (tiled,):
            _ = grid.name
        self._tiled[node] = tiled
        self._frontier.advance(node)
        self._looked.pop(node, None)

    def _resume(self, node: Node, paused: _PausedTiling) -> None:
        keys = [ref.grid.key(ref.index) for ref in paused.look.refs()]
        if all(key in self._infos for key in keys):
            del self._paused[node]
            answer = [self._infos[key] for key in keys]
            self._step(node, paused.tiling, answer, paused.context)

    def _step(
        self,
        node: Node,
        tiling: Generator[Any, Any, Any],
        answer: Any,
        context: contextvars.Context,
    ) -> None:
        """Run a generator until it ends or yields a request for unknown infos."""
        while True:
            try:
                request = context.run(tiling.send, answer)
            except StopIteration as stop:
                self._finish(node, stop.value, context)
                return
            look = request if isinstance(request, Look) else Look((request,))
            run = {ref.grid: None for ref in look.run()}
            self._looked.setdefault(node, []).extend(run)
            keys = [ref.grid.key(ref.index) for ref in look.refs()]
            if not all(key in self._infos for key in keys):
                self._paused[node] = _PausedTiling(tiling, look, context)
                return
            answer = [self._infos[key] for key in keys]

    def locate(self, key: Any, error: BaseException) -> tuple[Grid | None, Any]:
        """Return the grid and the index of a failed key."""
        name = getattr(error, "marsdask_grid", None) or (key[0] if isinstance(key, tuple) else key)
        index = key[1:] if isinstance(key, tuple) else None
        return self.grids.get(name), index
