"""The elements that points need are few ranges, from which the points are taken again."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.core.grids.parts import MOST_RUNS, outer_cut

POINTS = [[], [7], [3, 9, 3], [0, 10**12, 10**12 + 1, 5], [*range(0, 10**12, 10**11)], [5, 4, 3]]


@pytest.mark.parametrize("points", POINTS)
def test_points_are_found_among_the_elements_of_the_ranges(points):
    """Each point is the element at its new position, and few others are among them."""
    cut = outer_cut(np.array(points, int))
    assert cut is not None
    elements = [position for run in cut.runs for position in run]
    assert [elements[place] for place in cut.local] == points
    assert cut.length == len(elements) <= max(1, 4 * len(points))


def test_points_in_too_many_places_are_no_ranges():
    """Parts cost a node each."""
    squares = np.arange(2 * MOST_RUNS) ** 2
    assert outer_cut(squares * 10) is None
