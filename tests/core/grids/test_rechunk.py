"""Which parts of old chunks make each new one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.rechunk import (
    JoinPieces,
    Recut,
    cover,
    pieces_of,
    recut,
    split_and_join,
    split_chunks,
)
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.sizes import Unknown, borders
from marsdask.tensor.kernels.assembly import assemble
from tests.core.grids.bare_rules import value
from tests.core.toys import Numbers

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=6).map(tuple)


def source(*sizes: int) -> Grid:
    """Return the numbers from 0 in chunks."""
    grid = Numbers(sizes).tile()
    assert isinstance(grid, Grid)
    return grid


def cut(block: list[int], parts: tuple[slice, ...]) -> list[int]:
    return block[parts[0]]


def join(blocks: list[list[int]], parts: tuple[tuple[slice, ...], ...]) -> list[int]:
    return [x for block, part in zip(blocks, parts[0], strict=True) for x in block[part]]


def test_pieces_cover_each_new_chunk_in_order() -> None:
    """A new chunk is parts of old ones; an empty one is an empty part of one."""
    assert pieces_of((2, 3), (1, 3, 1)) == [
        [(0, slice(0, 1))],
        [(0, slice(1, 2)), (1, slice(0, 2))],
        [(1, slice(2, 3))],
    ]
    assert pieces_of((2, 1), (0, 3)) == [
        [(0, slice(0, 0))],
        [(0, slice(0, 2)), (1, slice(0, 1))],
    ]


@given(old=SIZES, new=SIZES)
def test_pieces_are_what_each_new_chunk_covers(old: Any, new: Any) -> None:
    """Whatever the chunks, among them empty ones."""
    new = (*new, max(0, sum(old) - sum(new)))
    starts = borders(old)
    expected = [cover(starts, begin, end) for begin, end in itertools.pairwise(borders(new))]
    assert pieces_of(old, new) == expected


def test_chunks_of_any_kind_are_cut_and_joined() -> None:
    """The kernels say how; values stay in order."""
    grid = recut(source(2, 3, 1), ((1, 5),), join, cut)
    assert [value(grid, index) for index in grid.indices()] == [[0], [1, 2, 3, 4, 5]]
    assert recut(grid, grid.chunks, join, cut) is grid


def test_parts_of_chunks_are_views() -> None:
    """A finer cut reads one chunk each; one that crosses borders is not refined."""
    grid = split_chunks(source(2, 3), ((1, 1, 3),), cut)
    assert grid is not None
    assert [value(grid, index) for index in grid.indices()] == [[0], [1], [2, 3, 4]]
    assert split_chunks(source(2, 3), ((3, 2),), cut) is None


def test_a_grid_is_not_cut_into_another_length() -> None:
    """Chunks that lose elements, or of unknown lengths, are an error of whoever asks for them."""
    grid = source(2, 2, 2)
    with pytest.raises(ValueError, match="do not add up"):
        recut(grid, ((4, 3),), join, cut)
    with pytest.raises(ValueError, match="unknown"):
        recut(grid, ((Unknown("n"),),), join, cut)


@pytest.mark.parametrize(("budget", "rule"), [(None, Recut), (2**20, JoinPieces)])
def test_pieces_are_results_where_chunks_do_not_fit(budget: int | None, rule: type) -> None:
    """A task that would read far more than memory reads copies of pieces instead."""
    ones = blockwise(np.ones, [], chunks=()).rule
    rows = Grid(ones, ((16,) * 32, (512,)), np.empty((0, 0)))
    token = current_plan.set(Plan(budget=budget))
    try:
        assert type(recut(rows, ((512,), (16,) * 32), join).rule) is rule
        assert type(recut(rows, ((32,) * 16, (512,)), join).rule) is Recut
    finally:
        current_plan.reset(token)


def test_pieces_are_joined_to_the_same_chunks() -> None:
    """Whatever the cuts, an axis of equal cuts has one piece."""
    source = mt.tensor(np.arange(120).reshape(2, 12, 5), chunk_size=((2,), (5, 5, 2), (3, 2))).node
    grid = source.tile()
    assert isinstance(grid, Grid)
    for chunks in [((2,), (12,), (1,) * 5), ((1, 1), (1, 8, 3), (3, 2)), ((2,), (4,) * 3, (5,))]:
        whole, pieces = recut(grid, chunks, assemble), split_and_join(grid, chunks, assemble)
        assert pieces.chunks == chunks
        for index in whole.indices():
            assert np.array_equal(value(pieces, index), value(whole, index))
