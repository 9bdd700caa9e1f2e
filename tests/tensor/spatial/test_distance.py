"""Distances equal SciPy's, whatever the chunks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.spatial.distance as reference
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.tensor.spatial import distance
from tests.strategies import chunkings, draws, grids, tensor_of

METRICS: dict[str, dict[str, Any]] = {
    "braycurtis": {},
    "canberra": {},
    "chebyshev": {},
    "cityblock": {},
    "correlation": {},
    "cosine": {},
    "dice": {},
    "euclidean": {"w": np.array([1.0, 2.0, 0.5])},
    "hamming": {},
    "jaccard": {},
    "jensenshannon": {},
    "mahalanobis": {},
    "minkowski": {"p": 3},
    "rogerstanimoto": {},
    "russellrao": {},
    "seuclidean": {},
    "sokalsneath": {},
    "sqeuclidean": {},
    "yule": {},
}
BOOLEAN = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}


def points(count: int, metric: str, seed: int) -> Any:
    """Return rows of three features that the metric is made for."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(2.0, size=(count, 3))
    return values > 1.5 if metric in BOOLEAN else values


@pytest.mark.parametrize("metric", METRICS)
@draws(4)
@given(data=st.data())
def test_distances_equal_scipy(metric: str, data: st.DataObject) -> None:
    """Every metric, between two matrices and within one, in blocks and cut by size."""
    seed = data.draw(st.integers(0, 9))
    a, b = points(data.draw(st.integers(4, 8)), metric, seed), points(5, metric, seed + 1)
    first, second = (tensor_of(x, data.draw(chunkings(x.shape))) for x in (a, b))
    limit = data.draw(st.sampled_from([100, 2**20]))
    how = METRICS[metric]
    with grids(merged=False), option_context({"chunk_store_limit": limit}):
        for lazy, expected in [
            (distance.cdist(first, second, metric, **how), reference.cdist(a, b, metric, **how)),
            (distance.pdist(first, metric, **how), reference.pdist(a, metric, **how)),
        ]:
            assert lazy.shape == expected.shape
            np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-7, atol=1e-9)


@given(data=st.data())
def test_condensed_vectors_unfold_and_fold(data: st.DataObject) -> None:
    """``squareform`` is SciPy's, both ways."""
    side = data.draw(st.integers(2, 7))
    vector = np.arange(1.0, 1 + side * (side - 1) // 2)
    lazy = tensor_of(vector, data.draw(chunkings(vector.shape)))
    step = data.draw(st.sampled_from([None, 1, 3]))
    with grids(merged=False):
        square = distance.squareform(lazy, chunk_size=step)
        np.testing.assert_array_equal(square.compute(), reference.squareform(vector))
        back = distance.squareform(square, chunk_size=step)
        np.testing.assert_array_equal(back.compute(), vector)


def test_no_block_is_larger_than_the_limit() -> None:
    """Blocks of distances are bounded however the points are cut."""
    points = mt.ones((1000, 2))
    with option_context({"chunk_store_limit": 80_000}):
        for lazy in (distance.cdist(points, points), distance.pdist(points)):
            assert np.prod([max(sizes) for sizes in lazy.chunks]) * 8 <= 80_000


def test_functions_and_filtered_points() -> None:
    """A metric may be a function, and how many points there are may be unknown."""
    values = np.random.default_rng(0).normal(size=(9, 3))
    kept = mt.tensor(values, chunk_size=4)
    kept, wanted = kept[kept[:, 0] > 0], values[values[:, 0] > 0]
    metric = reference.chebyshev
    np.testing.assert_allclose(
        distance.cdist(kept, kept, metric).compute(), reference.cdist(wanted, wanted, metric)
    )
    np.testing.assert_allclose(distance.pdist(kept).compute(), reference.pdist(wanted))


def test_tensors_are_parameters() -> None:
    """Weights may be lazy."""
    values, weights = np.random.default_rng(0).normal(size=(5, 3)), np.array([1.0, 2, 3])
    found = distance.pdist(mt.tensor(values, chunk_size=2), w=mt.tensor(weights, chunk_size=2))
    np.testing.assert_allclose(found.compute(), reference.pdist(values, w=weights))


def test_distances_go_where_they_should() -> None:
    """And are what they are of type and shape."""
    values = np.random.default_rng(0).normal(size=(5, 3))
    x = mt.tensor(values, chunk_size=2)
    square, condensed = mt.zeros((5, 5)), mt.zeros(10)
    assert distance.cdist(x, x, out=square) is square
    assert distance.pdist(x, out=condensed) is condensed
    np.testing.assert_allclose(square.compute(), reference.cdist(values, values))
    np.testing.assert_allclose(condensed.compute(), reference.pdist(values))
    with pytest.raises(ValueError, match="output operand"):
        distance.pdist(x, out=square)


def test_bad_input_is_refused() -> None:
    """At the call what can be known, else when computed."""
    x = mt.ones((3, 2))
    for call, text in [
        (lambda: distance.cdist(x, mt.ones((3, 4))), "same number of columns"),
        (lambda: distance.cdist(mt.ones(3), x), "2-dimensional"),
        (lambda: distance.pdist(x, "nonsense"), "nonsense"),
        (lambda: distance.pdist(mt.ones((2, 3)), "mahalanobis"), "too small"),
        (lambda: distance.squareform(mt.ones(4)), "binomial"),
        (lambda: distance.squareform(x), "square"),
        (lambda: distance.squareform(mt.ones(3), force="tovector"), "Forcing"),
        (lambda: distance.squareform(mt.arange(9).reshape(3, 3)).compute(), "symmetric"),
        (lambda: distance.squareform(mt.ones((3, 3))).compute(), "diagonal"),
    ]:
        with warnings.catch_warnings(), pytest.raises(ValueError, match=text):
            call()
    np.testing.assert_array_equal(
        distance.squareform(mt.ones((3, 3)), checks=False).compute(), np.ones(3)
    )


def test_metrics_that_scipy_has_given_up():
    """Mars's wminkowski is minkowski, where its results are asked for."""
    x, w = np.arange(12.0).reshape(4, 3) ** 1.5, np.array([1.0, 2.0, 0.5])
    lazy = mt.tensor(x, chunk_size=2)
    with pytest.raises(ValueError, match="wminkowski"):
        distance.pdist(lazy, "wminkowski", p=3, w=w)
    with option_context({"mars_results": True}):
        found = [
            distance.pdist(lazy, "wminkowski", p=3, w=w),
            distance.cdist(lazy, lazy, "wminkowski", p=3, w=w),
        ]
    expected = reference.pdist(x, "minkowski", p=3, w=w)
    np.testing.assert_allclose(found[0].compute(), expected)
    np.testing.assert_allclose(found[1].compute(), reference.squareform(expected))
