"""Which chunks become one task, and the program such a task runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..grids.blockwise import Axes, Blockwise, Via, pick
from ..grids.grid import Grid, Ref
from ..grids.shuffle import Merged
from ..ownership import WithCopies, may_be_views
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


@dataclass
class Template:
    """How the tasks of one grid look, its absorbed producers included."""

    grid: Grid
    leaves: list[Leaf] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    grids: list[tuple[Grid, Axes]] = field(default_factory=list)
    """The grid behind each step, with the axes that lead to its chunk."""
    program: Program | None = None

    @cached_property
    def tabled(self) -> bool:
        """Whether which chunks are the task's inputs is looked up in tables."""
        return any(isinstance(axis, Via) for leaf in self.leaves for axis in leaf.axes)


#: A step before it is known which values it uses last: rule, slots, star, name of the grid.
Draft = tuple[Blockwise, tuple[int, ...], int | None, str]


#: The grid in whose tasks a chunk is made, by name, and the axes that lead there from its chunk.
Home = tuple[str, Axes]


class Fusion:
    """Decides, grid by grid, which producers disappear into their consumers.

    A producer does if every way from it leads into the tasks of one grid, by equal axes, and no
    two of these tasks need the same chunk. A value that is read twice on the way is kept
    meanwhile: tasks that do not fit (``fits``) for that take in only what has one reader.
    """

    def __init__(
        self,
        targets: Iterable[Grid],
        kept: Collection[str],
        *,
        inline: bool,
        budget: int | None = None,
        fits: Callable[[Template], bool] | None = None,
    ) -> None:
        self._kept = kept
        self._inline = inline
        self._budget = budget
        self._fits = fits
        self._targets = {grid.name for grid in targets}
        self._grids: dict[str, Grid] = {}
        self._consumers: dict[str, set[tuple[Grid, Axes | None]]] = {}
        self._templates: dict[str, Template] = {}
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
            rule = grid.rule
            edges: Iterable[Axes | None] = (
                rule.axes if isinstance(rule, Blockwise) else [None] * len(rule.inputs)
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
                self._homes[name] = name, tuple(range(grid.ndim))

    def _home(self, grid: Grid) -> Home | None:
        """Return the one place where a producer's chunks are made once, ``None`` without one."""
        consumers = self._consumers.get(grid.name, ())
        homes = {self._through(consumer, edge, grid) for consumer, edge in consumers}
        home = homes.pop() if len(homes) == 1 else None
        if home is None or not once(self._grids[home[0]], home[1]):
            return None
        return None if len(consumers) > 1 and home[0] in self._narrow else home

    def _through(self, consumer: Grid, edge: Axes | None, grid: Grid) -> Home | None:
        home = self._homes[consumer.name]
        if home is None or edge is None:
            return None
        return home[0], _compose(grid, edge, home[1])

    def _fusible(self, grid: Grid) -> bool:
        held = grid.name in self._targets or grid.name in self._kept
        return isinstance(grid.rule, Blockwise) and not held

    def _repeated(self, grid: Grid) -> bool:
        """Tell whether the work is so little that every task that needs a chunk does it."""
        rule = grid.rule
        if not isinstance(rule, Blockwise) or not rule.cheap or not self._fusible(grid):
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

    def template(self, grid: Grid) -> Template:
        """Return the shape of the tasks of a blockwise grid."""
        found = self._templates.get(grid.name)
        if found is None:
            found = self._build(grid)
            if self._fits is not None and not self._fits(found):
                self._narrow.add(grid.name)
                self._settle(step for step, _ in reversed(found.grids[:-1]))
                found = self._build(grid)
            self._templates[grid.name] = found
        return found

    def _build(self, root: Grid) -> Template:
        template = Template(root)
        leaf_slots: dict[Any, int] = {}
        order = self._order(root, leaf_slots, template)
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
                if (node := (source.name, _compose(source, edge, axes))) in step_slots
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
                func = WithCopies(func, others)
            template.steps.append(Step(func, slots, star, rule.kwargs or {}, dead, name))
        if len(template.steps) > 1:
            template.program = Program(tuple(template.steps))
        return template

    def _order(
        self, root: Grid, leaf_slots: dict[Any, int], template: Template
    ) -> list[tuple[tuple[str, Axes], Grid]]:
        """List the grids made in one task, producers first, and register the task's leaves."""
        order: list[tuple[tuple[str, Axes], Grid]] = []
        done: set[tuple[str, Axes]] = set()
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
    return tuple(
        None if count == 1 else _along(axis, axes) for axis, count in zip(edge, counts, strict=True)
    )


def _along(axis: int | Via | None, axes: Axes) -> int | Via | None:
    if axis is None or isinstance(axis, int):
        return None if axis is None else axes[axis]
    return axis if axis.axis is None else axis.under(axes[axis.axis])


def once(consumer: Grid, axes: Axes) -> bool:
    """Tell whether no two chunks of the consumer need the same chunk of the producer."""
    found = {axis.axis if isinstance(axis, Via) and axis.once() else axis for axis in axes}
    return all(count == 1 or axis in found for axis, count in enumerate(consumer.numblocks))
