"""Some chunks of grids, and parts of them."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.compilation.batches import Batches
from marsdask.core.compilation.lowering import lower
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.grids.blockwise import Axes, Via, blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.select import chosen, concatenate_grids, cut_axis
from marsdask.core.grids.tree import gather
from marsdask.scheduler.inprocess.evaluate import evaluate
from tests.core.grids.bare_rules import value

#: The names of the chunks made since the test began.
MADE: list[str] = []


def make(row: int, column: int, name: str) -> str:
    MADE.append(f"{name}{row}{column}")
    return MADE[-1]


def mark(block: str, sign: str) -> str:
    return f"{sign}({block})"


def both(a: str, b: str) -> str:
    return f"[{a}{b}]"


class Itself:
    """Gives each chunk its index."""

    def __call__(self, index: Any) -> Any:
        return index


def source(name: str, rows: int, columns: int, size: int = 1) -> Grid:
    """Return chunks that are called by their name and place; each is made by a task."""
    chunks = ((size,) * rows, (1,) * columns)
    return blockwise(make, [], chunks=chunks, varying=Itself(), kwargs={"name": name}, itemsize=8)


def marked(grid: Grid, sign: str) -> Grid:
    """Return a map of one grid."""
    return blockwise(mark, [(grid, (0, 1))], chunks=grid.chunks, kwargs={"sign": sign}, itemsize=8)


def paired(a: Grid, b: Grid) -> Grid:
    """Return a map of two grids; axes of one chunk broadcast."""
    chunks = tuple(max(pair, key=len) for pair in zip(a.chunks, b.chunks, strict=True))
    inputs: list[tuple[Grid, Axes]] = [
        (grid, tuple(None if count == 1 else axis for axis, count in enumerate(grid.numblocks)))
        for grid in (a, b)
    ]
    return blockwise(both, inputs, chunks=chunks, itemsize=8)


def turned(grid: Grid) -> Grid:
    """Return a grid with its axes exchanged."""
    return blockwise(mark, [(grid, (1, 0))], chunks=grid.chunks[::-1], kwargs={"sign": "t"})


def reversed_rows(grid: Grid) -> Grid:
    """Return a map of rows from the last to the first."""
    rows = Via(0, range(grid.numblocks[0] - 1, -1, -1))
    return blockwise(mark, [(grid, (rows, 1))], chunks=grid.chunks, kwargs={"sign": "r"})


def run(grid: Grid, *given: Grid, **how: Any) -> tuple[list[Any], int]:
    """Return the values of all chunks, and by how many tasks; those ``given`` have none."""
    values = {held.key(index): value(held, index) for held in given for index in held.indices()}
    names = {held.name for held in given}
    tasks, _, _ = lower(grid.refs(), held=dict(values), held_grids=names, **how)
    for key in [*tasks]:
        _need(tasks, key, values)
    return [values[grid.key(index)] for index in grid.indices()], len(tasks)


def _need(tasks: Any, key: Any, values: dict[Any, Any]) -> None:
    if key not in values:
        for needed in tasks[key].dependencies:
            _need(tasks, needed, values)
        values[key] = evaluate(tasks[key], values)


def run_in_batches(grid: Grid, size: int) -> list[Any]:
    """Return the values of all chunks, made so many tasks at a time, keeping what is said."""
    kept: dict[Any, Any] = {}
    found: dict[Any, Any] = {}
    for batch in Batches(grid.refs(), size):
        values = {**kept, **found}
        for key, task in batch.tasks.items():
            values[key] = evaluate(task, values)
        found.update((key, values[key]) for key in batch.wanted)
        kept.update((key, values[key]) for key in batch.kept)
        for key in batch.dropped:
            del kept[key]
    assert not kept
    return [found[grid.key(index)] for index in grid.indices()]


@st.composite
def grids(draw: Any) -> Grid:
    """Draw a graph of grids with a few sources, in which grids are used again."""
    shape = st.integers(1, 3)
    pool = [source(name, draw(shape), draw(shape), draw(st.sampled_from([1, 9]))) for name in "ab"]
    for _ in range(draw(st.integers(1, 7))):
        one, other = (draw(st.sampled_from(pool)) for _ in range(2))
        axis = draw(st.integers(0, 1))
        kind = draw(st.sampled_from(["join", "join", "mark", "pair", "turn", "choose", "reverse"]))
        if kind == "join" and one.numblocks[1 - axis] == other.numblocks[1 - axis]:
            pool.append(concatenate_grids([one, other], axis))
        elif kind == "pair" and all(
            m == n or 1 in {m, n} for m, n in zip(one.numblocks, other.numblocks, strict=True)
        ):
            pool.append(paired(one, other))
        elif kind == "turn":
            pool.append(turned(one))
        elif kind == "reverse":
            pool.append(reversed_rows(one))
        elif kind == "choose":
            places = st.lists(st.integers(0, one.numblocks[axis] - 1), min_size=1, max_size=3)
            positions = [tuple(draw(places)) if i == axis else None for i in range(2)]
            pool.append(chosen(one, positions))
        else:
            pool.append(marked(one, "m"))
    return pool[-1]


def test_tasks_that_do_not_fit_select_as_well() -> None:
    """Where memory is short, a value that is read twice is made apart, and chosen as before."""
    small, large = source("a", 1, 1), source("b", 2, 1, size=9)
    twice = marked(concatenate_grids([small, large], 0), "m")
    several = concatenate_grids([source(name, 1, 1) for name in "cde"], 0)
    grid = paired(twice, paired(twice, several))
    expected = [value(grid, index) for index in grid.indices()]
    counts = set()
    for limit in range(60, 400, 10):
        with suppress(MemoryBudgetError):
            found, count = run(grid, large, limit=limit)
            assert found == expected
            counts.add(count)
    assert len(counts) > 1


@given(grid=grids(), inline=st.booleans(), size=st.integers(1, 4))
def test_what_is_selected_is_what_the_rules_say(grid: Grid, inline: bool, size: int) -> None:
    """Tasks that look through selections make the chunks that the rules say, each work once."""
    expected = [value(grid, index) for index in grid.indices()]
    MADE.clear()
    found, _ = run(grid, inline=inline)
    assert found == expected
    assert max(Counter(MADE).values()) == 1
    MADE.clear()
    assert run_in_batches(grid, size) == expected
    assert max(Counter(MADE).values()) == 1
    assert run(gather(sorted, grid, chunks=((1,),)))[0] == [sorted(expected)]


def test_a_map_of_joined_grids_is_one_task_a_chunk() -> None:
    """Neither the join nor what is joined has tasks of its own."""
    grid = marked(concatenate_grids([source("a", 3, 1), marked(source("b", 2, 1), "n")], 0), "m")
    values, count = run(grid)
    assert values == ["m(a00)", "m(a10)", "m(a20)", "m(n(b00))", "m(n(b10))"]
    assert count == 5
    tables = concatenate_grids(
        [concatenate_grids([source(name, 1, 1) for name in row], 0) for row in ("ab", "cd")], 1
    )
    assert run(marked(tables, "m")) == (["m(a00)", "m(c00)", "m(b00)", "m(d00)"], 4)


def test_a_join_is_no_task() -> None:
    """What is asked for under the join's keys is made there, once."""
    assert run(concatenate_grids([source("a", 2, 1), source("b", 1, 1)], 0)) == (
        ["a00", "a10", "b00"],
        3,
    )


def test_a_chunk_taken_twice_is_made_once() -> None:
    """It has a task of its own, which both others read."""
    a = source("a", 1, 1)
    MADE.clear()
    assert run(marked(concatenate_grids([a, a], 0), "m")) == (["m(a00)", "m(a00)"], 3)
    assert MADE == ["a00"]


def test_what_two_selected_chunks_need_is_made_once() -> None:
    """Though it is met by the same axes on both ways."""
    x, b, c = source("x", 1, 2), source("b", 1, 2), source("c", 1, 2)
    MADE.clear()
    values, count = run(marked(concatenate_grids([paired(x, b), paired(x, c)], 0), "m"))
    assert values == ["m([x00b00])", "m([x01b01])", "m([x00c00])", "m([x01c01])"]
    assert Counter(MADE).most_common(1)[0][1] == 1
    assert count == 2 + 4


def test_a_selection_that_several_read_has_no_tasks() -> None:
    """Each reads the chunks themselves."""
    a, b = source("a", 1, 1), source("b", 1, 1)
    both_ends = concatenate_grids([a, b], 0)
    values, count = run(paired(both_ends, reversed_rows(both_ends)), a, b)
    assert values == ["[a00r(b00)]", "[b00r(a00)]"]
    assert count == 2


def test_chunks_that_are_held_are_read_under_their_own_keys() -> None:
    """A selection of what has run before refers to it."""
    a, b = source("a", 1, 1), source("b", 1, 1)
    grid = marked(concatenate_grids([a, b], 0), "m")
    tasks, _, _ = lower(grid.refs(), held={a.key((0, 0))}, held_grids={a.name})
    assert len(tasks) == 2
    assert set(tasks[grid.key((0, 0))].dependencies) == {a.key((0, 0))}


def test_the_memory_of_a_selection_is_that_of_its_chunks() -> None:
    """A task that reads through one holds the chunk that it chose, and no other."""
    a, b = source("a", 1, 1), source("b", 1, 1)
    big = blockwise(mark, [(a, (0, 1))], chunks=((1000,), (1,)), kwargs={"sign": "x"}, itemsize=8)
    grid = marked(concatenate_grids([big, b], 0), "m")
    _, hints, _ = lower(grid.refs())
    first, second = (hints[grid.key(index)] for index in grid.indices())
    assert (first.nbytes, second.nbytes) == (8000, 8)
    assert (second.peak or 0) < 100 < (first.peak or 0)


@pytest.mark.parametrize("positions", [(0, 1, 2), (2, 2, 0)])
def test_some_chunks_are_a_grid(positions: tuple[int, ...]) -> None:
    """In any order, and more than once."""
    grid = chosen(source("a", 3, 1), [positions, None])
    assert grid.numblocks == (3, 1)
    assert run(grid)[0] == [f"a{place}0" for place in positions]


@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6).map(tuple),
    start=st.integers(-12, 12),
    stop=st.integers(-12, 12),
    step=st.sampled_from([1, 2, 3, 7, -1, -2, -9]),
)
def test_cut_axis_takes_each_element_once_and_in_order(sizes, start, stop, step) -> None:
    """The parts of the old chunks, put together, are the slice."""
    axis = np.arange(sum(sizes))
    blocks = np.split(axis, np.cumsum(sizes)[:-1])
    taken = range(*slice(start, stop, step).indices(len(axis)))
    cut = cut_axis(sizes, taken)
    parts = [blocks[i][part] for i, part in zip(cut.positions, cut.parts, strict=True)]
    assert np.concatenate(parts).tolist() == list(taken)
    assert tuple(map(len, parts)) == cut.sizes
    assert all(cut.sizes) or cut.sizes == (0,)
