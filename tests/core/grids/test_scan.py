"""Each chunk goes on from what those before it come to."""

from __future__ import annotations

import pytest

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.scan import scan
from marsdask.core.sizes import Chunks, unknown_sizes
from tests.core.grids.bare_rules import value
from tests.core.toys import Numbers


def source(*sizes: int, unknown: bool = False) -> Grid:
    """Return the numbers from 0 in chunks, whose lengths may be unknown."""
    grid = Numbers(sizes).tile()
    assert isinstance(grid, Grid)
    chunks: Chunks = (unknown_sizes("n", sizes),) if unknown else grid.chunks
    return Grid(grid.rule, chunks, grid.meta, grid.itemsize)


def text_of(block: list[int]) -> str:
    return "".join(map(str, block))


def nested(texts: list[str]) -> list[str]:
    """Combine texts by a function that is not associative."""
    found = ["-"]
    for text in texts:
        found.append(f"({found[-1]}{text})")
    return found


def go_on(block: list[int], starts: list[str] | None = None, position: int = 0) -> str:
    before = starts[position] if starts is not None and position else ""
    return before + text_of(block)


@pytest.mark.parametrize("unknown", [True, False])
def test_totals_are_combined_in_order(unknown: bool) -> None:
    """From the left; chunks of one element and of none are chunks as others."""
    grid = scan(source(2, 1, 0, 1, unknown=unknown), 0, text_of, nested, go_on)
    found = [value(grid, index) for index in grid.indices()]
    assert found == ["01", "(-01)2", "((-01)2)", "(((-01)2))3"]


def test_nothing_is_before_the_first_chunk_that_is_not_empty() -> None:
    """Where that is known: what a start looks like need not be known of types without a zero."""
    grid = scan(source(0, 0, 2, 1), 0, text_of, nested, go_on)
    assert [value(grid, index) for index in grid.indices()] == ["", "", "01", "(((-))01)2"]


def test_a_single_chunk_starts_from_nothing() -> None:
    """Neither totals nor starts are made."""
    grid = scan(source(3), 0, text_of, nested, go_on)
    assert value(grid, (0,)) == "012"
    assert len(grid.rule.inputs) == 1


def test_a_scan_may_begin_at_the_end() -> None:
    """What follows a chunk precedes it; empty chunks behind all others count as nothing."""
    grid = scan(source(2, 1, 0, 1, 0), 0, text_of, nested, go_on, backward=True)
    found = [value(grid, index) for index in grid.indices()]
    assert found == ["((((-)3))2)01", "(((-)3))2", "((-)3)", "3", ""]
