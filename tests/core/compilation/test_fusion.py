"""Fusion: which chunks are made inside the tasks that need them, and never twice."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.compilation import fusion
from marsdask.core.compilation.lowering import lower
from marsdask.core.grids.blockwise import Blockwise, Via, blockwise, same
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from tests.core.toys import total_of
from tests.strategies import draws

MADE: Counter[str] = Counter()


def made(*blocks: Any, label: str) -> str:
    """Write down what a chunk is made of, and count it."""
    MADE[label] += 1
    return f"{label}({','.join(blocks)})"


@kernel(scratch=0.0)
def plain(*blocks: Any, label: str) -> str:
    """Do the same without working memory."""
    return made(*blocks, label=label)


def grid_of(label: str, *inputs: Any, count: int = 4, func: Any = made, **how: Any) -> Grid:
    """Return a grid of one axis over others, each given with its axes or along the same axis."""
    pairs = [item if isinstance(item, tuple) else (item, (0,)) for item in inputs]
    kwargs = {"label": label}
    return blockwise(func, pairs, chunks=((100,) * count,), itemsize=8, kwargs=kwargs, **how)


def view_of(grid: Grid) -> Grid:
    """Return a view of each chunk, cheap enough to be taken again."""
    return blockwise(same, [(grid, (0,))], chunks=grid.chunks, itemsize=8, cheap=True)


def tasks_of(*grids: Grid, **how: Any) -> dict[str, int]:
    """Return how many tasks each grid has, by the label of what it makes."""
    tasks, _, _ = lower([ref for grid in grids for ref in grid.refs()], **how)
    names = {grid.name: label_of(grid) for grid in grids_below(*grids)}
    return dict(Counter(names[key[0]] for key in tasks))


def label_of(grid: Grid) -> str:
    """Return the label that a grid was made with, else what its rule is called."""
    kwargs = grid.rule.kwargs if isinstance(grid.rule, Blockwise) else None
    return str((kwargs or {}).get("label", grid.rule.label))


def grids_below(*grids: Grid) -> list[Grid]:
    """List grids and all that they are made of."""
    found = {grid.name: grid for grid in grids}
    stack = list(grids)
    while stack:
        for source in stack.pop().rule.inputs:
            if source.name not in found:
                found[source.name] = source
                stack.append(source)
    return list(found.values())


def test_a_diamond_is_one_task() -> None:
    """Who is read twice, by the same axes in one task, is made there: as ``a`` in ``a[a > 0]``."""
    a = grid_of("a")
    assert tasks_of(grid_of("top", a, grid_of("mask", a))) == {"top": 4}


def test_diamonds_may_nest() -> None:
    """Whoever reads it is made there too, however deep that is."""
    a = grid_of("a")
    b = grid_of("b", a, grid_of("left", a))
    c = grid_of("c", b, grid_of("right", b, a))
    assert tasks_of(grid_of("top", c, a)) == {"top": 4}


def test_a_diamond_of_views() -> None:
    """Cheap views on the way count for nothing: two outputs of one call, read in one task."""
    a = grid_of("a")
    assert tasks_of(grid_of("top", view_of(view_of(a)), grid_of("b", view_of(a)))) == {"top": 4}


def test_two_tasks_share_a_task() -> None:
    """What two results need is made once, in a task of its own."""
    a = grid_of("a")
    assert tasks_of(grid_of("b", a), grid_of("c", a)) == {"a": 4, "b": 4, "c": 4}


def test_other_axes_are_another_chunk() -> None:
    """As ``x + x[::-1]`` and ``x + x.T``: a task needs two chunks, and each is needed twice."""
    a = grid_of("a")
    backwards = (a, (Via(0, range(3, -1, -1)),))
    assert tasks_of(grid_of("top", a, backwards)) == {"top": 4, "a": 4}


def test_equal_tables_are_equal_axes() -> None:
    """A diamond over one slice of a producer is one task for each chunk of the slice."""
    a = grid_of("a")
    half = (a, (Via(0, range(2, 4)),))
    b = grid_of("b", half, count=2)
    assert tasks_of(grid_of("top", b, half, count=2)) == {"top": 2}


def test_what_all_need_is_made_once() -> None:
    """As ``x - x.mean()``: one chunk for all tasks is a task, and so is what it is made of."""
    a = grid_of("a")
    total = gather(total_of, a, chunks=((1,),), itemsize=8)
    assert tasks_of(grid_of("top", a, (total, (None,)))) == {"top": 4, "a": 4, "total_of": 1}
    first = grid_of("first", (a, (None,)), count=1)
    assert tasks_of(grid_of("top", a, (first, (None,)))) == {"top": 4, "a": 4, "first": 1}


def test_one_chunk_is_one_chunk_by_any_axes() -> None:
    """Where there is one chunk, no axis and the first axis lead to the same."""
    a = grid_of("a", count=1)
    assert tasks_of(grid_of("top", a, (grid_of("b", (a, (None,)), count=1), (None,)), count=1)) == {
        "top": 1
    }


def test_targets_and_kept_grids_have_tasks() -> None:
    """What is a result itself, or held for later, is not made inside others."""
    a = grid_of("a")
    b = grid_of("b", a)
    top = grid_of("top", a, b)
    assert tasks_of(top, b) == {"top": 4, "b": 4, "a": 4}
    assert tasks_of(top, held_grids={a.name}) == {"top": 4, "a": 4}


def test_a_diamond_that_would_not_fit_is_not_fused() -> None:
    """The inputs of a task stay until it ends: in tasks apart, fewer are there at a time."""
    p, q = grid_of("p", func=plain), grid_of("q", func=plain)
    a = grid_of("a", p, q, func=plain)
    b = grid_of("b", a, func=plain)
    top = grid_of("top", a, b, func=plain)
    kept = {"held_grids": {p.name, q.name}}
    inputs = {"p": 4, "q": 4}
    # Two inputs, and three values at a time; apart, three of them at most.
    assert tasks_of(top, **kept, limit=5 * 800) == {"top": 4, **inputs}
    assert tasks_of(top, **kept, limit=5 * 800 - 1) == {"top": 4, "a": 4, **inputs}
    assert tasks_of(top, **kept, limit=3 * 800) == {"top": 4, "a": 4, **inputs}


def test_below_a_diamond_that_does_not_fit() -> None:
    """What the value that is read twice is made of is made in its tasks then."""
    p, q = grid_of("p", func=plain), grid_of("q", func=plain)
    below = grid_of("below", p, q, func=plain)
    view = view_of(grid_of("a", below, func=plain))
    top = grid_of("top", view, grid_of("b", view, func=plain), func=plain)
    kept = {"held_grids": {p.name, q.name}}
    assert tasks_of(top, **kept, limit=5 * 800) == {"top": 4, "p": 4, "q": 4}
    assert tasks_of(top, **kept, limit=4 * 800) == {"top": 4, "a": 4, "p": 4, "q": 4}


@kernel(writes=True)
def writing(*blocks: Any, label: str) -> str:
    """Do the same in the memory of the first block."""
    return made(*blocks, label=label)


def test_a_task_is_planned_in_one_walk(monkeypatch: Any) -> None:
    """Also if its kernels write: who reads what is counted once, and each way is found once."""
    counted = mock.Mock(side_effect=Counter)
    composed = mock.Mock(side_effect=fusion._compose)
    monkeypatch.setattr(fusion, "Counter", counted)
    monkeypatch.setattr(fusion, "_compose", composed)
    top = grid_of("g0")
    for number in range(1, 51):
        top = grid_of(f"g{number}", top, func=writing)
    assert tasks_of(top) == {"g50": 4}
    assert counted.call_count == 1
    assert composed.call_count == 2 * 50  # which grid is fused, and how its chunk is reached


@st.composite
def graphs(draw: st.DrawFn) -> list[Grid]:
    """Draw grids that read each other by all kinds of axes."""
    grids = [grid_of("g0", cheap=draw(st.booleans())), grid_of("g1", count=1)]
    for number in range(2, draw(st.integers(3, 9))):
        count = draw(st.sampled_from([1, 2, 4, 4, 4]))
        inputs = []
        for source in draw(st.lists(st.sampled_from(grids), min_size=1, max_size=3)):
            ways: list[Any] = [None]
            if len(source) == count:
                ways += [0, 0, 0, 0, Via(0, range(count - 1, -1, -1))]
            if len(source) == 4 and count == 2:
                ways += [Via(0, range(2)), Via(0, (3, 3))]
            inputs.append((source, (draw(st.sampled_from(ways)),)))
        cheap = draw(st.integers(0, 3)) == 0
        grids.append(grid_of(f"g{number}", *inputs, count=count, cheap=cheap, func=plain))
    return grids


@draws(200)
@given(graphs(), st.data())
def test_values_are_the_same_and_nothing_is_made_twice(
    grids: list[Grid], data: st.DataObject
) -> None:
    """Of any graph and any results: as without fusion, and each chunk once unless it is cheap."""
    targets = data.draw(st.lists(st.sampled_from(grids), min_size=1, max_size=2, unique=True))
    kept = {grid.name for grid in data.draw(st.lists(st.sampled_from(grids)))}
    limit = data.draw(st.sampled_from([None, 4000, 3200]))
    refs = [ref for grid in targets for ref in grid.refs()]
    apart, _, _ = lower(refs, held_grids={grid.name for grid in grids_below(*grids)})
    expected = run(apart)
    try:
        tasks, _, _ = lower(refs, held_grids=kept, inline=data.draw(st.booleans()), limit=limit)
    except MemoryError:
        return
    MADE.clear()
    found = run(tasks)
    keys = [ref.grid.key(ref.index) for ref in refs]
    assert [found[key] for key in keys] == [expected[key] for key in keys]
    for grid in grids:
        if not grid.rule.cheap:  # type: ignore[attr-defined]
            assert MADE[label_of(grid)] <= len(grid), grid.name


def run(tasks: Any) -> dict[Any, Any]:
    """Return the value of every task."""
    values: dict[Any, Any] = {}
    stack = list(tasks)
    while stack:
        key = stack[-1]
        missing = [name for name in tasks[key].dependencies if name not in values]
        stack.extend(missing)
        if not missing:
            stack.pop()
            if key not in values:
                values[key] = tasks[key](values)
    return values
