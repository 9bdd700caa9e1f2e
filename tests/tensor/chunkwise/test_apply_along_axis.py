"""Functions of the user's over lines and elements, against NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.errors import MemoryBudgetError
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws


def larger(a: Any, b: Any, scale: int = 1) -> Any:
    return (a + 0.5 if a > b else b * 1.0) * scale


def halves(a: Any, b: Any) -> Any:
    return a // b, a % b


def scaled(v, k, scale):
    return v * k + scale


CASES: dict[str, Any] = {
    "along 0": lambda xp, a: xp.apply_along_axis(np.sort, 0, a),
    "along 1": lambda xp, a: xp.apply_along_axis(np.max, 1, a),
    "along, wider": lambda xp, a: xp.apply_along_axis(lambda v, k: np.outer(v, v[:k]), -1, a, 1),
    "along, no axis": lambda xp, a: xp.apply_along_axis(np.sort, 5, a),
    "over": lambda xp, a: xp.apply_over_axes(xp.sum, a, [0, 1]),
    "over one": lambda xp, a: xp.apply_over_axes(xp.cumsum, a, -1),
    "over, shape": lambda xp, a: xp.apply_over_axes(lambda x, axis: x[None], a, 0),
    "vectorize": lambda xp, a: xp.vectorize(larger)(a, 2),
    "vectorize keyword": lambda xp, a: xp.vectorize(larger)(a, b=a[0], scale=3),
    "vectorize excluded": lambda xp, a: xp.vectorize(larger, excluded=["scale"])(a, a, scale=2),
    "vectorize several": lambda xp, a: xp.vectorize(halves)(a, 3),
    "vectorize types": lambda xp, a: xp.vectorize(halves, otypes="fd")(a, 3),
    "vectorize vectors": lambda xp, a: xp.vectorize(np.ptp, signature="(n)->()")(a),
    "vectorize vectors, types": lambda xp, a: xp.vectorize(
        scaled, otypes="f", signature="(n),()->(n)", excluded=["scale"]
    )(a, a[:, 0], scale=3),
    "frompyfunc": lambda xp, a: xp.frompyfunc(larger, 2, 1)(a, 2),
    "frompyfunc several": lambda xp, a: xp.frompyfunc(halves, 2, 2)(a, 3),
    "frompyfunc arguments": lambda xp, a: xp.frompyfunc(halves, 2, 2)(a),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i4", "f8"), min_dims=2, max_dims=2, min_side=1, nan=False),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


def test_arguments_of_ours() -> None:
    """Dask's ``dtype=`` and ``shape=`` spare the call with ones."""
    x = np.arange(12.0).reshape(3, 4)
    lazy = mt.tensor(x, chunk_size=2)
    first = mt.apply_along_axis(lambda v: v[:2], 0, lazy, dtype="f8", shape=(2,))
    assert_same(first, x[:2])
    with pytest.raises(NotImplementedError, match="partial"):
        mt.vectorize(larger, signature="(n),()->(n)")(lazy, b=2)
    with pytest.raises(ValueError, match="excluded"):
        mt.vectorize(larger, excluded=[0])(1)


def test_functions_are_pickled() -> None:
    """As functions, not as NumPy's wrappers of them."""
    found = mt.frompyfunc(larger, 2, 1)(mt.arange(4, chunk_size=2), 2)
    again = pickle.loads(pickle.dumps(found))
    assert again.compute().tolist() == [2, 2, 2, 3.5]


def test_a_line_that_does_not_fit() -> None:
    """The function is not called with ones that are larger than the memory."""
    with pytest.raises(MemoryBudgetError, match="a line of"):
        mt.apply_along_axis(np.cumsum, 0, mt.arange(10**14))


def test_lines_of_unknown_length() -> None:
    """They are whole, however many chunks the run finds."""
    array = np.array([1.0, 0, 3, 4, 0, 5])
    x = mt.tensor(array, chunk_size=2)
    found = mt.argwhere(x > 2)
    places = np.argwhere(array > 2)
    result = mt.apply_along_axis(np.sum, 1, mt.unwrap(mt.dot(found, found.T)))
    expected = np.apply_along_axis(np.sum, 1, np.unwrap(np.dot(places, places.T)))
    np.testing.assert_allclose(result.compute(), expected)
