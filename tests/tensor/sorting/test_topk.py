"""The extreme elements are those that sorting would put first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.tensor.operands import as_node
from marsdask.tensor.sorting.topk import STEP, candidates
from tests import grid_pairs
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
VECTORS = {
    "normal": RNG.normal(size=200),
    "few": RNG.integers(0, 3, 200),
    "bool": RNG.random(200) < 0.5,
    "nan": np.where(RNG.random(200) < 0.1, np.nan, RNG.normal(size=200)),
    "complex": RNG.normal(size=200) + 1j,
    "empty": np.empty(0),
}


_coalesce = grid_pairs.coalesce


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


def best(x, k, axis=-1, largest=True):
    """Return what topk should."""
    ordered = np.flip(np.sort(x, axis), axis) if largest else np.sort(x, axis)
    return np.take(ordered, range(min(k, x.shape[axis])), axis)


@pytest.mark.parametrize("name", VECTORS)
@given(data=st.data())
def test_vectors(name, data):
    """Values, and values at the positions, are the best, in order."""
    x = VECTORS[name]
    k = data.draw(st.sampled_from([0, 1, 7, 150, 300]))
    largest = data.draw(st.booleans())
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    values = mt.topk(lazy, k, largest=largest)
    positions = mt.argtopk(lazy, k, largest=largest)
    assert values.shape == positions.shape == (min(k, len(x)),)
    np.testing.assert_array_equal(values.compute(), best(x, k, largest=largest))
    found = positions.compute()
    np.testing.assert_array_equal(x[found], best(x, k, largest=largest))
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("axis", [0, 1, -1])
@given(data=st.data())
def test_axes(axis, data):
    """Every axis has its own best."""
    x = RNG.integers(0, 9, (6, 7))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    values, positions = mt.topk(lazy, 3, axis, return_index=True)
    np.testing.assert_array_equal(values.compute(), best(x, 3, axis))
    taken = np.take_along_axis(x, positions.compute(), axis)
    np.testing.assert_array_equal(taken, best(x, 3, axis))
    np.testing.assert_array_equal(mt.topk(lazy, -3, axis).compute(), best(x, 3, axis, False))


@pytest.mark.parametrize(
    "x", [np.arange(3.0 * STEP), np.arange(3.0 * STEP)[::-1], np.zeros(3 * STEP)]
)
@pytest.mark.parametrize("largest", [True, False])
def test_the_bound_lets_the_best_through_and_little_else(x, largest):
    """Rising, falling and equal vectors keep a few candidates, the best among them."""
    values, positions = candidates(x, 10, largest)
    assert len(values) <= 2 * STEP
    np.testing.assert_array_equal(x[positions], values)
    np.testing.assert_array_equal(best(values, 10, largest=largest), best(x, 10, largest=largest))


def test_of_fewer_than_wanted():
    """Of an axis of unknown length there may be fewer: the length is unknown too."""
    x = mt.arange(10, chunk_size=3)
    for lazy in (mt.topk(x[x > 6], 5), mt.argtopk(x[x > 6], 5)):
        assert np.isnan(lazy.shape[0])
        assert lazy.execute().shape == (3,)
    assert mt.topk(x, 20).shape == (10,)


def test_wrong_arguments_are_refused_at_the_call():
    """Axes, counts and hints are checked where they are written."""
    lazy = tensor(np.ones((3, 4)))
    with pytest.raises(np.exceptions.AxisError):
        mt.topk(lazy, 1, 2)
    with pytest.raises(TypeError):
        mt.topk(lazy, 1.5)
    with pytest.raises(TypeError, match="bogus"):
        mt.argtopk(lazy, 1, bogus=1)


@pytest.mark.parametrize("k", [2, -3, 11, 14])
@pytest.mark.parametrize("order", [None, "b"])
def test_of_all_elements(k, order):
    """Without an axis the array is flattened, as for Mars."""
    array = np.arange(12).reshape(3, 4) * 7 % 12
    if order is not None:
        array = array.astype([("b", "i8")])
    flat = np.sort(array.ravel())
    expected = flat[::-1][:k] if k > 0 else flat[:-k]
    lazy = mt.tensor(array, chunk_size=2)
    values, positions = mt.topk(lazy, k, axis=None, order=order, return_index=True)
    np.testing.assert_array_equal(values.compute(), expected)
    np.testing.assert_array_equal(array.ravel()[positions.compute()], expected)
    found = mt.argtopk(lazy, k, axis=None, order=order).compute()
    np.testing.assert_array_equal(array.ravel()[found], expected)
