"""Combine chunks in one task, and define the program that such a task runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..grids.blockwise import Axes, Blockwise, Via, pick
from ..grids.grid import Grid, Ref
from ..grids.ownership import CopiedBlocks, may_be_views
from ..grids.select import Select
from ..grids.shuffle import ShuffleMerge
from ..machine.costs import cost_of
from ..sizes import Index
from ..snapshots.functions import function_name


class Step(NamedTuple):
    """One kernel call inside a program: arguments are slots of earlier values."""

    func: Callable[..., Any]
    slots: tuple[int, ...]
    star: int | None
    """The slot of a tuple of further arguments."""
    kwargs: Mapping[str, Any]
    dead: tuple[int, ...]
    """Slots that nothing after this step reads."""
    grid: str


class Program:
    """Several kernels as one function; temporaries die at their last use."""

    __slots__ = ("steps",)

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps: tuple[Step, ...] = steps

    def __call__(self, *leaves: Any) -> Any:
        values: list[Any] = [*leaves]
        step = self.steps[0]
        try:
            for step in self.steps:
                args = [values[slot] for slot in step.slots]
                if step.star is not None:
                    args.extend(values[step.star])
                values.append(step.func(*args, **step.kwargs))
                del args
                for slot in step.dead:
                    values[slot] = None
        except BaseException as error:
            if not hasattr(error, "marsdask_grid"):
                error.marsdask_grid = step.grid  # type: ignore[attr-defined]
            raise
        return values[-1]

    @property
    def __name__(self) -> str:
        return "_".join(function_name(step.func) for step in self.steps[-3:])

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.steps,)


class Leaf(NamedTuple):
    """An argument of a program that differs from chunk to chunk."""

    grid: Grid | None
    varying: Callable[[Index], tuple[Any, ...]] | None
    axes: Axes

    def value(self, index: Index) -> Any:
        """Return the constant arguments of one chunk (not for leaves that are chunks)."""
        assert self.varying is not None
        return self.varying(pick(index, self.axes))


class Choice(NamedTuple):
    """A :class:`.Select` that a task reads through: its ``axes`` and the chosen source."""

    rule: Select
    axes: Axes
    source: int


@dataclass
class Template:
    """The structure of the tasks of one grid, including absorbed producers.

    It may cover some chunks only: those for which all ``choices`` are the same.
    """

    grid: Grid
    leaves: list[Leaf] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    grids: list[tuple[Grid, Axes]] = field(default_factory=list)
    """The grid behind each step, with the axes that lead to its chunk."""
    choices: list[Choice] = field(default_factory=list)
    program: Program | None = None

    @cached_property
    def tabled(self) -> bool:
        """Whether tables map chunks to the task's inputs."""
        tables = (axis for leaf in self.leaves for axis in leaf.axes if isinstance(axis, Via))
        # Each of several joined grids has its own run of chunks; it is treated like an axis.
        return any(not (table.partial and isinstance(table.positions, range)) for table in tables)


#: A grid inside a task, by name, and the axes that lead to its chunk.
Node = tuple[str, Axes]

#: What a step is given, in the order of its arguments.
Nodes = tuple[Node, ...]


class GridStep(NamedTuple):
    """A grid computed in a task, and what it is given, before slots are known."""

    node: Node
    grid: Grid
    below: Nodes


#: A step before the last uses of values are known: rule, slots, star, name of the grid.
Draft = tuple[Blockwise, tuple[int, ...], int | None, str]


@dataclass
class TemplatesBySource:
    """The templates of a grid (or of some of its chunks), by the source that is chosen."""

    rule: Select
    axes: Axes
    templates: dict[int, Template | TemplatesBySource] = field(default_factory=dict)


class TaskGrid(NamedTuple):
    """The grid whose tasks compute the chunks, and the axes from its chunk to theirs."""

    name: str
    axes: Axes
    single: frozenset[Via] = frozenset()
    """Tables by which one chunk only of that grid leads there, along an axis that was lost."""


class Fusion:
    """Decides, grid by grid, which producers are fused into their consumers.

    A producer is fused if all its consumers are in the tasks of one grid, by equal axes. No two of
    these tasks may need the same chunk. A value that is read twice is kept until its last use.
    Tasks whose memory does not suffice for that (``fits``) fuse only values with one reader. Grids
    that only select chunks of others are skipped, so tasks of one grid may differ. Grids below
    those that are held as a ``whole`` are not run again.
    """

    def __init__(
        self,
        targets: Iterable[Grid],
        kept: Collection[str],
        *,
        inline: bool,
        budget: int | None = None,
        fits: Callable[[Template], bool] | None = None,
        whole: Callable[[Grid], bool] = lambda _: False,
    ) -> None:
        self._kept = kept
        self._whole = whole
        self._inline = inline
        self._budget = budget
        self._fits = fits
        self._targets = {grid.name for grid in targets}
        self._grids: dict[str, Grid] = {}
        self._consumers: dict[str, set[tuple[Grid, Axes | None]]] = {}
        self._templates: dict[str, Template | TemplatesBySource] = {}
        self._spreads: dict[str, bool] = {}
        self._narrow: set[str] = set()
        """Grids whose tasks take in only what has one reader."""
        self._task_grids: dict[str, TaskGrid | None] = {}
        self._inlined: set[str] = set()
        self._settle(self._walk(targets))

    def _walk(self, targets: Iterable[Grid]) -> Iterable[Grid]:
        """Return every grid, consumers first, and record its consumers with their axes."""
        order: list[Grid] = []
        stack = [(grid, False) for grid in targets]
        while stack:
            grid, expanded = stack.pop()
            if expanded:
                order.append(grid)
                continue
            if grid.name in self._grids:
                continue
            self._grids[grid.name] = grid
            stack.append((grid, True))
            if self._whole(grid):
                continue
            rule = grid.rule
            edges: Iterable[Axes | None] = (
                rule.axes if isinstance(rule, Blockwise | Select) else [None] * len(rule.inputs)
            )
            for source, edge in zip(rule.inputs, edges, strict=True):
                self._consumers.setdefault(source.name, set()).add((grid, edge))
                stack.append((source, False))
        return reversed(order)

    def inlined(self, grid: Grid) -> bool:
        """Tell whether the grid's chunks are computed inside the tasks that need them."""
        return grid.name in self._inlined

    def _settle(self, grids: Iterable[Grid]) -> None:
        """Find the tasks that compute the chunks of grids, consumers first."""
        for grid in grids:
            name = grid.name
            task_grid = self._task_grid(grid) if self._fusible(grid) else None
            repeated = self._repeated(grid)
            if repeated or task_grid is not None:
                self._inlined.add(name)
                self._task_grids[name] = task_grid
            else:
                self._inlined.discard(name)
                self._task_grids[name] = TaskGrid(name, tuple(range(grid.ndim)))

    def _task_grid(self, grid: Grid) -> TaskGrid | None:
        """Return the one task grid that computes a producer's chunks, ``None`` without one."""
        consumers = self._consumers.get(grid.name, ())
        task_grids = {self._through(consumer, edge, grid) for consumer, edge in consumers}
        task_grid = task_grids.pop() if len(task_grids) == 1 else None
        if task_grid is None or not used_once(
            self._grids[task_grid.name], task_grid.axes, task_grid.single
        ):
            return None
        return None if len(consumers) > 1 and task_grid.name in self._narrow else task_grid

    def _through(self, consumer: Grid, edge: Axes | None, grid: Grid) -> TaskGrid | None:
        task_grid = self._task_grids[consumer.name]
        if task_grid is None or edge is None:
            return None
        axes = _compose(grid, edge, task_grid.axes)
        single = {
            way
            for way, count in zip(axes, grid.numblocks, strict=True)
            if count == 1 and isinstance(way, Via) and way.once()
        }
        return TaskGrid(task_grid.name, axes, task_grid.single | single)

    def _fusible(self, grid: Grid) -> bool:
        is_result = grid.name in self._targets or grid.name in self._kept
        return isinstance(grid.rule, Blockwise | Select) and not is_result

    def _repeated(self, grid: Grid) -> bool:
        """Tell whether the work is cheap enough to repeat in every task that needs a chunk."""
        rule = grid.rule
        if not self._fusible(grid):
            return False
        if not isinstance(rule, Blockwise):
            return True
        if not rule.cheap:
            return False
        return not rule.sources or (self._inline and not self._spread(grid))

    def _spread(self, grid: Grid) -> bool:
        """Tell whether the chunks are parts for a shuffle that exceeds the memory.

        Fused into its reader, a part would keep the chunk that it was cut from in memory.
        """
        if self._budget is None:
            return False
        spreads = self._spreads.get(grid.name)
        if spreads is None:
            is_merged = any(
                isinstance(c.rule, ShuffleMerge) for c, _ in self._consumers.get(grid.name, ())
            )
            spreads = self._spreads[grid.name] = is_merged and 2 * _nbytes(grid) > self._budget
        return spreads

    def template(self, grid: Grid, index: Index) -> Template:
        """Return the template of the task of a chunk of a blockwise grid, or of selected chunks."""
        template = self._templates.get(grid.name)
        while isinstance(template, TemplatesBySource):
            template = template.templates.get(template.rule.source(pick(index, template.axes)))
        return self._new(grid, index) if template is None else template

    def templates(self, grid: Grid) -> list[Template]:
        """Return the templates of all tasks of a grid."""
        for index in grid.indices():
            first = self.template(grid, index)
            if not first.choices:
                return [first]
            break
        narrow = grid.name in self._narrow
        templates = {
            id(template): template for template in (self.template(grid, i) for i in grid.indices())
        }
        if narrow != (grid.name in self._narrow):
            # Earlier decisions are invalid after the first task that does not fit.
            return self.templates(grid)
        return list(templates.values())

    def _new(self, grid: Grid, index: Index) -> Template:
        template = self._build(grid, index)
        if self._fits is not None and grid.name not in self._narrow and not self._fits(template):
            self._narrow.add(grid.name)
            self._templates.pop(grid.name, None)
            self._settle(step for step, _ in reversed(template.grids) if step is not grid)
            template = self._build(grid, index)
        templates: dict[Any, Template | TemplatesBySource] = self._templates
        key: Any = grid.name
        for rule, axes, source in template.choices:
            by_source = templates.setdefault(key, TemplatesBySource(rule, axes))
            assert isinstance(by_source, TemplatesBySource)
            templates, key = by_source.templates, source
        templates[key] = template
        return template

    def _build(self, root: Grid, index: Index) -> Template:
        template = Template(root)
        selections: dict[Node, Node] = {}
        leaf_slots: dict[Any, int] = {}
        order = self._order(root, index, selections, leaf_slots, template)
        base = len(template.leaves)
        step_slots: dict[Any, int] = {
            step.node: base + position for position, step in enumerate(order)
        }
        last_use: dict[int, int] = {}
        drafts: list[Draft] = []
        for position, ((name, axes), grid, below) in enumerate(order):
            rule = grid.rule
            assert isinstance(rule, Blockwise)
            slots = tuple(
                step_slots[node]
                if (node := _real(source, selections)) in step_slots
                else leaf_slots[node]
                for source in below
            )
            star = leaf_slots.get((name, axes, "varying"))
            for slot in (*slots, *(() if star is None else (star,))):
                last_use[slot] = position
            drafts.append((rule, slots, star, name))
            template.grids.append((grid, axes))
        deferred = _deferred(drafts, base)
        uses = Counter(slot for _, slots, _, _ in drafts for slot in slots)
        for position, (rule, slots, star, name) in enumerate(drafts):
            live_slots = {*slots, *(() if star is None else (star,))}
            dead = tuple(sorted(slot for slot in live_slots if last_use[slot] == position))
            func = deferred.get(base + position, rule.func)
            if cost_of(func).writes and (places := _read_by_others(template, uses, slots)):
                func = CopiedBlocks(func, places)
            template.steps.append(Step(func, slots, star, rule.kwargs or {}, dead, name))
        if len(template.steps) > 1:
            template.program = Program(tuple(template.steps))
        return template

    def _order(
        self,
        root: Grid,
        index: Index,
        selected: dict[Node, Node],
        leaf_slots: dict[Any, int],
        template: Template,
    ) -> list[GridStep]:
        """List the grids computed in one task, producers first, and register the task's leaves.

        Grids that only select chunks compute none: ``selected`` maps them to their sources.
        """
        order: list[GridStep] = []
        visited: set[Node] = set()
        stack: list[tuple[Grid, Axes, Nodes | None]] = [(root, tuple(range(root.ndim)), None)]
        while stack:
            grid, axes, below = stack.pop()
            node = (grid.name, axes)
            rule = grid.rule
            if node in visited:
                continue
            if grid is not root and not self.inlined(grid):
                visited.add(node)
                _add_leaf(Leaf(grid, None, axes), node, leaf_slots, template)
                continue
            if isinstance(rule, Select):
                visited.add(node)
                source, way = _choose(rule, axes, index, template)
                selected[node] = source.name, way
                stack.append((source, way, None))
                continue
            assert isinstance(rule, Blockwise)
            if below is not None:
                visited.add(node)
                order.append(GridStep(node, grid, below))
                if rule.varying is not None:
                    varying = Leaf(None, rule.varying, axes)
                    _add_leaf(varying, (*node, "varying"), leaf_slots, template)
                continue
            ways = [_compose(*edge, axes) for edge in zip(rule.sources, rule.axes, strict=True)]
            source_ways = list(zip(rule.sources, ways, strict=True))
            stack.append((grid, axes, tuple((source.name, way) for source, way in source_ways)))
            stack.extend((source, way, None) for source, way in reversed(source_ways))
        return order


def _add_leaf(leaf: Leaf, name: Any, leaf_slots: dict[Any, int], template: Template) -> None:
    leaf_slots[name] = len(template.leaves)
    template.leaves.append(leaf)


def _choose(rule: Select, axes: Axes, index: Index, template: Template) -> tuple[Grid, Axes]:
    """Return the source of a chunk and the axes to it, and record the choice."""
    position = rule.source(pick(index, axes))
    if len(rule.sources) > 1:
        template.choices.append(Choice(rule, axes, position))
    source = rule.sources[position]
    return source, _compose(source, rule.axes[position], axes)


def _real(node: Node, selected: Mapping[Node, Node]) -> Node:
    """Return the source of a grid that only selects chunks of others."""
    while node in selected:
        node = selected[node]
    return node


def _read_by_others(
    template: Template, uses: Mapping[int, int], slots: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the slots of arguments that other steps may read later."""
    base = len(template.leaves)
    return tuple(
        place
        for place, slot in enumerate(slots)
        if slot < base or uses[slot] > 1 or may_be_views(template.grids[slot - base][0])
    )


def _deferred(drafts: list[Draft], base: int) -> dict[int, Callable[..., Any]]:
    """Return, by slot, deferred values: their steps run when the values are read.

    The reader uses equal tiles for all arguments, so no tile is computed twice. Arguments that
    broadcast, or are deferred, are excluded.
    """
    readers: dict[int, list[Draft]] = {}
    for draft in drafts:
        for slot in draft[1]:
            readers.setdefault(slot, []).append(draft)
    ways = {slot: cost_of(rule.func).deferred for slot, (rule, *_) in enumerate(drafts, base)}
    functions: dict[int, Callable[..., Any]] = {}
    for slot, func in ways.items():
        if not callable(func) or len(readers.get(slot, ())) != 1:
            continue
        ((reader, slots, _, _),) = readers[slot]
        source = reader.sources[slots.index(slot)]
        alike = all(grid.chunks == source.chunks for grid in reader.sources)
        others_made = all(
            ways.get(slot_of_step) is None for slot_of_step in slots if slot_of_step != slot
        )
        if alike and others_made and cost_of(reader.func).tiled:
            functions[slot] = func
    return functions


def _nbytes(grid: Grid) -> int:
    return sum(grid.nbytes(index) or 0 for index in grid.indices())


def leaf_ref(leaf: Leaf, index: Index) -> Ref:
    """Return the chunk for a leaf in the task of chunk ``index``."""
    assert leaf.grid is not None
    return Ref(leaf.grid, pick(index, leaf.axes))


def _compose(source: Grid, edge: Axes, axes: Axes) -> Axes:
    """Return the axes to a source, composed with the ``axes`` to its consumer."""
    counts = source.numblocks
    ways = (_along(axis, axes) for axis in edge)
    return tuple(
        None if count == 1 and not (isinstance(way, Via) and way.partial) else way
        for way, count in zip(ways, counts, strict=True)
    )


def _along(axis: int | Via | None, axes: Axes) -> int | Via | None:
    if axis is None or isinstance(axis, int):
        return None if axis is None else axes[axis]
    return axis if axis.axis is None else axis.under(axes[axis.axis])


def used_once(consumer: Grid, axes: Axes, single: Collection[Via] = ()) -> bool:
    """Tell whether no two chunks of the consumer need the same chunk of the producer."""
    covered_axes = {axis.axis if isinstance(axis, Via) and axis.once() else axis for axis in axes}
    covered_axes.update(way.axis for way in single)
    return all(count == 1 or axis in covered_axes for axis, count in enumerate(consumer.numblocks))
