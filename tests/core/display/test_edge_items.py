"""The items at the edges of a result."""

from __future__ import annotations

import pytest

from marsdask.core.display.edge_items import edges_of


@pytest.mark.parametrize(
    ("sizes", "head", "tail", "expected"),
    [
        ((5,), 2, 1, ((0, 0, 2), (0, 4, 5))),
        ((2, 2, 2), 3, 1, ((0, 0, 2), (1, 0, 1), (2, 1, 2))),
        ((2, 2, 2), 4, 4, ((0, 0, 2), (1, 0, 2), (2, 0, 2))),
        ((0, 3, 0), 1, 1, ((1, 0, 1), (1, 2, 3))),
        ((0,), 2, 2, ((0, 0, 0),)),
        ((1, 1), 0, 1, ((1, 0, 1),)),
    ],
)
def test_edges_are_found_in_their_chunks(sizes, head, tail, expected):
    """Position, start and stop in the chunk; all of a short axis."""
    assert edges_of(sizes, head, tail) == expected
