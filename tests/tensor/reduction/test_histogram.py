"""Histograms against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import (
    arrays_and_chunks,
    assert_like_numpy,
    assert_same,
    chunkings,
    draws,
    values,
)

RULES = ("auto", "sqrt", "sturges", "rice", "scott", "doane", "fd", "stone")

CASES: dict[str, Any] = {
    "bins": lambda xp, a: xp.histogram(a, 3),
    "range": lambda xp, a: xp.histogram(a, 4, (0, 3)),
    "no range": lambda xp, a: xp.histogram(a, 4, (2, 2)),
    "falling range": lambda xp, a: xp.histogram(a, 4, (2, 1)),
    "endless range": lambda xp, a: xp.histogram(a, 4, (0, np.inf)),
    "edges": lambda xp, a: xp.histogram(a, [-2, 0, 0.5, 3]),
    "falling edges": lambda xp, a: xp.histogram(a, [2, 1]),
    "density": lambda xp, a: xp.histogram(a, [-5, 0, 0.5, 9], density=True),
    "weights": lambda xp, a: xp.histogram(a, 3, (-9, 9), weights=a * 2),
    "weights shape": lambda xp, a: xp.histogram(a, 3, weights=np.ones((7, 7, 7, 7))),
    "no bins": lambda xp, a: xp.histogram(a, 0),
    "bins of floats": lambda xp, a: xp.histogram(a, 2.5),
    "bins of bins": lambda xp, a: xp.histogram(a, [[1, 2]]),
    "unknown rule": lambda xp, a: xp.histogram(a, "nonsense"),
    "weighted rule": lambda xp, a: xp.histogram(a, "auto", weights=a),
    "edges alone": lambda xp, a: xp.histogram_bin_edges(a, 5),
    **{rule: lambda xp, a, rule=rule: xp.histogram(a, rule) for rule in RULES},
    **{
        f"{rule} in range": lambda xp, a, rule=rule: xp.histogram(a, rule, (0, 3)) for rule in RULES
    },
}

POINTS: dict[str, Any] = {
    "bins": lambda xp, a: xp.histogramdd(a, 3),
    "several bins": lambda xp, a: xp.histogramdd(a, [2, [0, 1, 4]]),
    "wrong bins": lambda xp, a: xp.histogramdd(a, [2]),
    "wrong ranges": lambda xp, a: xp.histogramdd(a, 2, [(0, 1)]),
    "range": lambda xp, a: xp.histogramdd(a, 2, [(0, 3), None], density=True),
    "weights": lambda xp, a: xp.histogramdd(a, 2, weights=a[:, 0]),
    "vector": lambda xp, a: xp.histogramdd(a[:, 0], 2),
    "plane": lambda xp, a: xp.histogram2d(a[:, 0], a[:, 1], 3),
    "plane, edges": lambda xp, a: xp.histogram2d(a[:, 0], a[:, 1], [0, 1, 2, 3]),
    "plane, both": lambda xp, a: xp.histogram2d(a[:, 0], a[:, 1], [2, [0, 1]], density=True),
    "plane, lengths": lambda xp, a: xp.histogram2d(a[:, 0], a[1:, 1]),
}


@pytest.mark.parametrize("name", CASES)
@draws(4)
@given(
    case=arrays_and_chunks(("i1", "i8", "f4", "f8"), min_dims=0, max_dims=2), merged=st.booleans()
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


@pytest.mark.parametrize("name", POINTS)
@draws(4)
@given(data=st.data())
def test_points_equal_numpy(name: str, data: st.DataObject) -> None:
    """Counts of points in boxes, and each axis's edges."""
    rows = data.draw(st.integers(1, 6))
    array = data.draw(values("f8", (rows, 2), nan=False))
    case = array, data.draw(chunkings(array.shape))
    assert_like_numpy(lambda xp, a: _flat(POINTS[name](xp, a)), case)


def _flat(found: Any) -> list[Any]:
    """Return counts and edges as one list."""
    counts, *edges = found
    return [counts, *(edges[0] if isinstance(edges[0], list | tuple) else edges)]


def test_values_of_many_chunks() -> None:
    """Of a grid of chunks, lazily given edges and ends, and of data of unknown size."""
    x = np.random.default_rng(0).normal(size=(300, 20))
    a = mt.tensor(x, chunk_size=(37, 6))
    edges = np.linspace(-2, 2, 9)
    assert_same(mt.histogram(a, mt.tensor(edges, chunk_size=3))[0], np.histogram(x, edges)[0])
    lazy = mt.histogram(a, 7, (a.min(), a.max()))
    assert_same(lazy[0], np.histogram(x, 7)[0])
    chosen = mt.histogram(a[a > 0], "fd")
    expected = np.histogram(x[x > 0], "fd")
    assert_same(chosen[0], expected[0])
    assert_same(chosen[1], expected[1])


def test_bools_are_counted_as_numbers() -> None:
    """Without the warning that NumPy gives."""
    lazy = mt.tensor([True, False, True], chunk_size=2)
    assert_same(mt.histogram(lazy, 2)[0], [1, 2])


def test_extents_that_are_not_finite() -> None:
    """Only running tells of them."""
    counts, _ = mt.histogram(mt.tensor([1.0, np.nan, 3.0], chunk_size=1))
    with pytest.raises(ValueError, match="not finite"):
        counts.compute()


def test_many_equal_bins() -> None:
    """Are found by computing, not by searching; the counts are the same."""
    x = np.random.default_rng(0).normal(size=5000)
    lazy = mt.tensor(x, chunk_size=1300)
    assert_same(mt.histogram(lazy, 3000)[0], np.histogram(x, 3000)[0])
    assert_same(mt.histogram(lazy, 3000, (-1, 1))[0], np.histogram(x, 3000, (-1, 1))[0])


def test_edges_that_are_a_tensor_are_returned() -> None:
    """As NumPy returns the array that it is given."""
    edges: Any = mt.tensor([0, 2, 5.0], chunk_size=2)
    counts, found = mt.histogram(mt.arange(5, chunk_size=2), edges)
    assert found is edges
    assert counts.compute().tolist() == [2, 3]


@pytest.mark.parametrize("ends", [1, [0], [0, 1, 2], np.ones((1, 2)), mt.ones((1, 2))], ids=str)
def test_a_range_is_a_pair(ends: Any) -> None:
    """What is none is told by its shape."""
    with pytest.raises((TypeError, ValueError), match="range must be a pair"):
        mt.histogram(mt.arange(5), 3, ends)


@pytest.mark.parametrize("bins", [3, [2]])
@pytest.mark.parametrize("sample", [np.array(3.0), [1.0, 3.0], np.array([1.0, 2.0])], ids=repr)
def test_points_of_one_coordinate(sample: Any, bins: Any) -> None:
    """One number is a point, and several numbers are points on a line."""
    expected, edges = np.histogramdd(sample, bins)
    lazy = [mt.tensor(x) for x in sample] if isinstance(sample, list) else mt.tensor(sample)
    counts, bounds = mt.histogramdd(lazy, bins)
    np.testing.assert_array_equal(counts.compute(), expected)
    np.testing.assert_array_equal(bounds[0].compute(), edges[0])


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_counts_of_points_are_part_of_those_of_all_points(axes: int, density: bool) -> None:
    """As in NumPy's memory, so that ravel() copies them and a write to it is not seen."""
    points = np.arange(4.0 * axes).reshape(4, axes)
    counts, expected = (
        xp.histogramdd(of(points), 2, density=density)[0]
        for xp, of in ((mt, mt.tensor), (np, np.array))
    )
    assert str(counts.flags) == str(expected.flags)
    for array in (counts, expected):
        array.ravel()[:1] = 9
    np.testing.assert_array_equal(counts.compute(), expected)
