"""Positions in triangles, from their order alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marsdask.tensor.creation.triangles import TriangleShape


@pytest.mark.parametrize("lower", [True, False])
def test_places_of_all_elements(lower):
    """They are NumPy's, for every shape and diagonal."""
    reference = np.tril_indices if lower else np.triu_indices
    for n, m, k in itertools.product(range(5), range(5), range(-6, 7)):
        triangle = TriangleShape(n, m, k, lower)
        expected = reference(n, k, m)
        assert triangle.size == len(expected[0]), (n, m, k)
        np.testing.assert_array_equal(triangle.places(np.arange(triangle.size)), expected)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("k", [-(10**8), -1, 0, 10**8])
def test_places_of_huge_triangles(lower, k):
    """Roots of large numbers are rounded, positions are not."""
    n = 10**9
    triangle = TriangleShape(n, n, k, lower)
    order = np.arange(1001) * ((triangle.size - 2) // 1000)
    rows, columns = triangle.places(order)
    assert np.all(columns <= rows + k if lower else columns >= rows + k)
    assert np.all((rows >= 0) & (rows < n) & (columns >= 0) & (columns < n))
    part = order[:-1] + 1
    later = triangle.places(part)
    same = later[0] == rows[:-1]
    assert np.all(np.where(same, later[1] - columns[:-1], later[0] - rows[:-1]) >= 1)
