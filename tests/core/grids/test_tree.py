"""Few chunks from many: groups combined level by level."""

from __future__ import annotations

from typing import Any

import pytest

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import Pairwise, combine_groups, sizes_at_most, tree
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.sizes import Unknown, upper
from tests.core.grids.bare_rules import value
from tests.core.toys import Numbers


def source(*sizes: int) -> Grid:
    """Return the numbers from 0 in chunks."""
    grid = Numbers(sizes).tile()
    assert isinstance(grid, Grid)
    return grid


def nested(blocks: list[Any], sign: str = "") -> list[Any]:
    return [sign, *blocks] if sign else list(blocks)


def add(a: list[int], b: list[int]) -> list[int]:
    return a + b


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("width", [2, 3, 8])
def test_lists_and_pairs_are_combined_in_order(count: int, width: int) -> None:
    """Whatever the width, what comes first is combined first; one chunk stays as it is."""
    grid = tree(source(*(1,) * count), Pairwise(add), [0], width=width)
    assert [value(grid, index) for index in grid.indices()] == [[*range(count)]]
    assert grid.numblocks == (1,)


def test_groups_are_given_as_lists() -> None:
    """The function is called with each group, and with what else it is to know."""
    grid = tree(source(1, 1, 1), nested, [0], width=2, kwargs={"sign": "+"})
    assert value(grid, (0,)) == ["+", ["+", [0], [1]], ["+", [2]]]


def test_the_last_group_may_be_left() -> None:
    """Who makes the result of the last group itself gets at most so many chunks."""
    grid = tree(source(*(1,) * 7), nested, [0], width={0: 3}, whole=False)
    assert [value(grid, index) for index in grid.indices()] == [
        [[0], [1], [2]],
        [[3], [4], [5]],
        [[6]],
    ]
    assert value(combine_groups(grid, nested, (3,)), (0,))[-1] == [[6]]


def test_rows_of_a_group_are_bounded_by_those_of_its_chunks() -> None:
    """Equal rows may be one: how many are left only running tells."""
    grid = combine_groups(source(2, 3, 4), nested, (2,), sizes_at_most)
    assert all(isinstance(size, Unknown) for size in grid.chunks[0])
    assert [upper(size) for size in grid.chunks[0]] == [5, 4]


@pytest.mark.parametrize("width", [8, {0: 8}])
def test_groups_are_such_that_memory_can_take_them(width: Any) -> None:
    """Of a width for all axes and of one for each."""
    token = current_plan.set(Plan(workers=1, budget=1000))
    try:
        grid = tree(source(*(10,) * 8), nested, [0], width=width)
    finally:
        current_plan.reset(token)
    assert len(value(grid, (0,))) == 2
