"""Which chunks become one task, and the program such a task runs."""

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
from ..grids.shuffle import Merged
from ..sizes import Index
from .costs import cost_of


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
        self.steps = steps

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
        return "_".join(getattr(step.func, "__name__", "call") for step in self.steps[-3:])

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
    """A :class:`.Select` that a task reads through, met by ``axes``, and which source it chose."""

    rule: Select
    axes: Axes
    source: int


@dataclass
class Template:
    """How the tasks of one grid look, its absorbed producers included.

    Or of some chunks of the grid: those for which all ``choices`` are the same.
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
        """Whether which chunks are the task's inputs is looked up in tables."""
        tables = (axis for leaf in self.leaves for axis in leaf.axes if isinstance(axis, Via))
        # Where several grids are joined, each has its own run of chunks: as good as an axis.
        return any(not (table.partial and isinstance(table.positions, range)) for table in tables)


#: A grid inside a task, by name, and the axes that lead to its chunk.
Node = tuple[str, Axes]

#: A step before it is known which values it uses last: rule, slots, star, name of the grid.
Draft = tuple[Blockwise, tuple[int, ...], int | None, str]


@dataclass
class Fork:
    """The templates of a grid (or of some of its chunks), by the source that is chosen."""

    rule: Select
    axes: Axes
    ways: dict[int, Template | Fork] = field(default_factory=dict)


class Home(NamedTuple):
    """The grid in whose tasks chunks are made, and the axes that lead there from its chunk."""

    name: str
    axes: Axes
    single: frozenset[Via] = frozenset()
    """Tables by which one chunk only of that grid leads there, along an axis that was lost."""


class Fusion:
    """Decides, grid by grid, which producers disappear into their consumers.

    A producer does if every way from it leads into the tasks of one grid, by equal axes, and no
    two of these tasks need the same chunk. A value that is read twice on the way is kept
    meanwhile: tasks that do not fit (``fits``) for that take in only what has one reader. What
    only selects chunks of others is looked through: tasks of one grid may so differ. What lies
    below grids that are held as a ``whole`` runs no more.
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
        self._templates: dict[str, Template | Fork] = {}
        self._spreads: dict[str, bool] = {}
        self._narrow: set[str] = set()
        """Grids whose tasks take in only what has one reader."""
        self._homes: dict[str, Home | None] = {}
        self._inlined: set[str] = set()
        self._settle(self._walk(targets))

    def _walk(self, targets: Iterable[Grid]) -> Iterable[Grid]:
        """Return every grid, consumers first, and note who consumes it and by which axes."""
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
        """Tell whether the grid's chunks are made inside the tasks that need them."""
        return grid.name in self._inlined

    def _settle(self, grids: Iterable[Grid]) -> None:
        """Find where the chunks of grids are made; their consumers come first."""
        for grid in grids:
            name = grid.name
            home = self._home(grid) if self._fusible(grid) else None
            repeated = self._repeated(grid)
            if repeated or home is not None:
                self._inlined.add(name)
                self._homes[name] = home
            else:
                self._inlined.discard(name)
                self._homes[name] = Home(name, tuple(range(grid.ndim)))

    def _home(self, grid: Grid) -> Home | None:
        """Return the one place where a producer's chunks are made once, ``None`` without one."""
        consumers = self._consumers.get(grid.name, ())
        homes = {self._through(consumer, edge, grid) for consumer, edge in consumers}
        home = homes.pop() if len(homes) == 1 else None
        if home is None or not once(self._grids[home.name], home.axes, home.single):
            return None
        return None if len(consumers) > 1 and home.name in self._narrow else home

    def _through(self, consumer: Grid, edge: Axes | None, grid: Grid) -> Home | None:
        home = self._homes[consumer.name]
        if home is None or edge is None:
            return None
        axes = _compose(grid, edge, home.axes)
        single = {
            way
            for way, count in zip(axes, grid.numblocks, strict=True)
            if count == 1 and isinstance(way, Via) and way.once()
        }
        return Home(home.name, axes, home.single | single)

    def _fusible(self, grid: Grid) -> bool:
        held = grid.name in self._targets or grid.name in self._kept
        return isinstance(grid.rule, Blockwise | Select) and not held

    def _repeated(self, grid: Grid) -> bool:
        """Tell whether the work is so little that every task that needs a chunk does it."""
        rule = grid.rule
        if not self._fusible(grid):
            return False
        if not isinstance(rule, Blockwise):
            return True
        if not rule.cheap:
            return False
        return not rule.sources or (self._inline and not self._spread(grid))

    def _spread(self, grid: Grid) -> bool:
        """Tell whether the chunks are parts for an exchange of more than can be held at a time.

        Made inside the task that needs it, a part would need all it was cut from in memory.
        """
        if self._budget is None:
            return False
        found = self._spreads.get(grid.name)
        if found is None:
            merged = any(isinstance(c.rule, Merged) for c, _ in self._consumers.get(grid.name, ()))
            found = self._spreads[grid.name] = merged and 2 * _nbytes(grid) > self._budget
        return found

    def template(self, grid: Grid, index: Index) -> Template:
        """Return the shape of the task of a chunk of a blockwise grid, or of selected chunks."""
        found = self._templates.get(grid.name)
        while isinstance(found, Fork):
            found = found.ways.get(found.rule.source(pick(index, found.axes)))
        return self._new(grid, index) if found is None else found

    def templates(self, grid: Grid) -> list[Template]:
        """Return the shapes of all tasks of a grid."""
        for index in grid.indices():
            first = self.template(grid, index)
            if not first.choices:
                return [first]
            break
        narrow = grid.name in self._narrow
        found = {id(one): one for one in (self.template(grid, i) for i in grid.indices())}
        if narrow != (grid.name in self._narrow):
            # What was found before the first task that does not fit holds no longer.
            return self.templates(grid)
        return list(found.values())

    def _new(self, grid: Grid, index: Index) -> Template:
        found = self._build(grid, index)
        if self._fits is not None and grid.name not in self._narrow and not self._fits(found):
            self._narrow.add(grid.name)
            self._templates.pop(grid.name, None)
            self._settle(step for step, _ in reversed(found.grids) if step is not grid)
            found = self._build(grid, index)
        ways: dict[Any, Template | Fork] = self._templates
        way: Any = grid.name
        for rule, axes, source in found.choices:
            fork = ways.setdefault(way, Fork(rule, axes))
            assert isinstance(fork, Fork)
            ways, way = fork.ways, source
        ways[way] = found
        return found

    def _build(self, root: Grid, index: Index) -> Template:
        template = Template(root)
        selected: dict[Node, Node] = {}
        leaf_slots: dict[Any, int] = {}
        order = self._order(root, index, selected, leaf_slots, template)
        base = len(template.leaves)
        step_slots: dict[Any, int] = {
            node: base + position for position, node in enumerate(node for node, _ in order)
        }
        last_use: dict[int, int] = {}
        drafts: list[Draft] = []
        for position, ((name, axes), grid) in enumerate(order):
            rule = grid.rule
            assert isinstance(rule, Blockwise)
            slots = tuple(
                step_slots[node]
                if (node := _real((source.name, _compose(source, edge, axes)), selected))
                in step_slots
                else leaf_slots[node]
                for source, edge in zip(rule.sources, rule.axes, strict=True)
            )
            star = leaf_slots.get((name, axes, "varying"))
            for slot in (*slots, *(() if star is None else (star,))):
                last_use[slot] = position
            drafts.append((rule, slots, star, name))
            template.grids.append((grid, axes))
        deferred = _deferred(drafts, base)
        for position, (rule, slots, star, name) in enumerate(drafts):
            used = {*slots, *(() if star is None else (star,))}
            dead = tuple(sorted(slot for slot in used if last_use[slot] == position))
            func = deferred.get(base + position, rule.func)
            if cost_of(func).writes and (others := _read_by_others(template, drafts, slots)):
                func = CopiedBlocks(func, others)
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
    ) -> list[tuple[Node, Grid]]:
        """List the grids made in one task, producers first, and register the task's leaves.

        What only selects chunks makes none: ``selected`` says what it stands for.
        """
        order: list[tuple[Node, Grid]] = []
        done: set[Node] = set()
        stack: list[tuple[Grid, Axes, bool]] = [(root, tuple(range(root.ndim)), False)]
        while stack:
            grid, axes, expanded = stack.pop()
            node = (grid.name, axes)
            rule = grid.rule
            if node in done:
                continue
            if grid is not root and not self.inlined(grid):
                done.add(node)
                leaf_slots[node] = len(template.leaves)
                template.leaves.append(Leaf(grid, None, axes))
                continue
            if isinstance(rule, Select):
                done.add(node)
                source, way = _choose(rule, axes, index, template)
                selected[node] = source.name, way
                stack.append((source, way, False))
                continue
            assert isinstance(rule, Blockwise)
            if expanded:
                done.add(node)
                order.append((node, grid))
                if rule.varying is not None:
                    leaf_slots[(*node, "varying")] = len(template.leaves)
                    template.leaves.append(Leaf(None, rule.varying, axes))
                continue
            stack.append((grid, axes, True))
            for source, edge in zip(reversed(rule.sources), reversed(rule.axes), strict=True):
                stack.append((source, _compose(source, edge, axes), False))
        return order


def _choose(rule: Select, axes: Axes, index: Index, template: Template) -> tuple[Grid, Axes]:
    """Return the source that a chunk is taken of, and the way there, and note the choice."""
    which = rule.source(pick(index, axes))
    if len(rule.sources) > 1:
        template.choices.append(Choice(rule, axes, which))
    source = rule.sources[which]
    return source, _compose(source, rule.axes[which], axes)


def _real(node: Node, selected: Mapping[Node, Node]) -> Node:
    """Return what a node stands for, if that only selects chunks of others."""
    while node in selected:
        node = selected[node]
    return node


def _read_by_others(
    template: Template, drafts: list[Draft], slots: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the places of arguments that something besides this one step may read later."""
    base = len(template.leaves)
    uses = Counter(slot for _, own, _, _ in drafts for slot in own)
    return tuple(
        place
        for place, slot in enumerate(slots)
        if slot < base or uses[slot] > 1 or may_be_views(template.grids[slot - base][0])
    )


def _deferred(drafts: list[Draft], base: int) -> dict[int, Callable[..., Any]]:
    """Return, by slot, what stands for steps whose results need not be made before they are read.

    The one reader goes through its arguments tile by tile, and they are all alike: none of them
    broadcasts, so nothing is made twice, and none is deferred besides, so all share the tiles.
    """
    readers: dict[int, list[Draft]] = {}
    for draft in drafts:
        for slot in draft[1]:
            readers.setdefault(slot, []).append(draft)
    ways = {slot: cost_of(rule.func).deferred for slot, (rule, *_) in enumerate(drafts, base)}
    found: dict[int, Callable[..., Any]] = {}
    for slot, func in ways.items():
        if not callable(func) or len(readers.get(slot, ())) != 1:
            continue
        ((reader, slots, _, _),) = readers[slot]
        source = reader.sources[slots.index(slot)]
        alike = all(grid.chunks == source.chunks for grid in reader.sources)
        others_made = all(ways.get(other) is None for other in slots if other != slot)
        if alike and others_made and cost_of(reader.func).tiled:
            found[slot] = func
    return found


def _nbytes(grid: Grid) -> int:
    return sum(grid.nbytes(index) or 0 for index in grid.indices())


def leaf_ref(leaf: Leaf, index: Index) -> Ref:
    """Return the chunk that a leaf stands for in the task of chunk ``index``."""
    assert leaf.grid is not None
    return Ref(leaf.grid, pick(index, leaf.axes))


def _compose(source: Grid, edge: Axes, axes: Axes) -> Axes:
    """Return the axes that lead to a source from where its consumer's ``axes`` lead from."""
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


def once(consumer: Grid, axes: Axes, single: Collection[Via] = ()) -> bool:
    """Tell whether no two chunks of the consumer need the same chunk of the producer."""
    found = {axis.axis if isinstance(axis, Via) and axis.once() else axis for axis in axes}
    found.update(way.axis for way in single)
    return all(count == 1 or axis in found for axis, count in enumerate(consumer.numblocks))
