"""Chunks with parts of their neighbours, however short these are."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.grids import neighbours
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.neighbours import HaloRuns, merge_sizes, reaches_far, stencil
from marsdask.core.grids.rechunk import cover
from marsdask.core.sizes import Unknown, unknown_sizes
from tests.core.grids.bare_rules import value
from tests.core.toys import Numbers

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=6).map(tuple)
DEPTHS = st.tuples(st.integers(0, 9), st.integers(0, 9))


def take(block: list[int], part: slice) -> list[int]:
    return block[part]


def join(blocks: list[list[int]]) -> list[int]:
    return list(itertools.chain.from_iterable(blocks))


def around(parts: list[list[int]], own: list[int], begin: int, *, depth: Any) -> Any:
    """Return for each element of a chunk those from so many before it to so many after it."""
    rows = join(parts)
    assert rows[begin : begin + len(own)] == own
    before, after = depth
    places = range(begin, begin + len(own))
    return [rows[max(0, at - before) : at + after + 1] for at in places]


@given(sizes=SIZES, depth=DEPTHS, unknown=st.booleans())
def test_each_element_sees_those_around_it(sizes: Any, depth: Any, unknown: bool) -> None:
    """Across chunks of one element and of none, whether lengths are known or not."""
    grid = Numbers(sizes).tile()
    assert isinstance(grid, Grid)
    if unknown:
        grid = Grid(grid.rule, (unknown_sizes("n", sizes),), grid.meta, grid.itemsize)
    found = stencil(grid, depth, around, take=take, join=join, kwargs={"depth": depth})
    whole = list(range(sum(sizes)))
    before, after = depth
    expected = [whole[max(0, at - before) : at + after + 1] for at in whole]
    rows: list[Any] = join([value(found, index) for index in found.indices()])
    assert rows == expected


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("none", [[0, 1], [0, 1, 2]]),
        ("periodic", [[1, 2, 0, 1], [2, 0, 1, 2, 0]]),
        ("reflect", [[1, 0, 0, 1], [0, 0, 1, 2, 2]]),
        ("nearest", [[0, 0, 0, 1], [0, 0, 1, 2, 2]]),
        (7, [[None, None, 0, 1], [None, 0, 1, 2, None]]),
    ],
)
def test_what_lies_beyond_the_ends(edge: Any, expected: Any) -> None:
    """Nothing, elements of the axis, or a constant."""
    elements = [[0], [1, 2]]
    found = [
        [
            item
            for run in runs
            for item in ([None] * run.length if run.constant else _read(elements, run))
        ]
        for runs in HaloRuns((1, 2), (2, 1), edge)
    ]
    assert found == expected


@given(sizes=SIZES, depth=DEPTHS, edge=st.sampled_from(["none", "periodic", "nearest", 7]))
def test_lengths_of_halos_are_those_of_their_runs(sizes: Any, depth: Any, edge: Any) -> None:
    """The lengths of all chunks are counted without their runs."""
    halos = HaloRuns(sizes, depth, edge)
    assert list(halos.lengths) == [sum(run.length for run in runs) for runs in halos]
    assert halos[-1:] == [halos[len(sizes) - 1]]


def test_runs_are_made_of_the_chunks_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand chunks, those of one are read for one, and none for the lengths."""
    asked: list[int] = []

    def counted(starts: Any, begin: int, end: int) -> Any:
        asked.append(begin)
        return cover(starts, begin, end)

    monkeypatch.setattr(neighbours, "cover", counted)
    halos = HaloRuns((2,) * 1000, (1, 1), "none")
    assert halos.lengths == (3, *(4,) * 998, 3)
    assert not asked
    assert [run.position for run in halos[5]] == [4, 5, 6]
    assert len(asked) == 1


def _read(elements: list[list[int]], run: Any) -> list[int]:
    read: list[int] = elements[run.position][run.part]
    return read if len(read) == run.length else read * run.length


def test_short_chunks_are_joined() -> None:
    """Until none is smaller; the last one takes what is left."""
    assert merge_sizes(3, (1, 1, 1, 4, 1)) == (3, 5)
    assert merge_sizes(9, (1, 1)) == (2,)
    assert merge_sizes(9, unknown_sizes("n", (1, 1))) == unknown_sizes("n", (1, 1))


def test_what_reaches_far() -> None:
    """Parts that are longer than chunks on the average, or may be."""
    assert reaches_far(unknown_sizes("n", (4, 4)), (5, 0))
    assert not reaches_far(unknown_sizes("n", (4, 4)), (0, 4))
    assert reaches_far((Unknown("n"),), (1, 0))
