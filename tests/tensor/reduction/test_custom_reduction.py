"""Reductions by a user's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same

X = np.arange(24.0).reshape(4, 6)


def counted(x: Any, axis: Any, keepdims: Any) -> Any:
    ones = np.ones_like(x, dtype=float)
    return {"n": ones.sum(axis, keepdims=keepdims), "total": x.sum(axis, keepdims=keepdims)}


def added(parts: Any, axis: Any, keepdims: Any) -> Any:
    return {key: parts[key].sum(axis, keepdims=keepdims) for key in parts}


def divided(parts: Any, axis: Any, keepdims: Any) -> Any:
    found = added(parts, axis, keepdims)
    return found["total"] / found["n"]


@given(arrays_and_chunks(("i8", "f8"), 1, 3, min_side=1, nan=False), st.data())
def test_reductions_of_ones_own(array_and_chunks: Any, data: Any) -> None:
    """Over any axes, in groups of any size, partial results single arrays or several."""
    array, chunks = array_and_chunks
    axes = data.draw(st.none() | st.sets(st.integers(0, array.ndim - 1), min_size=1).map(tuple))
    keepdims = data.draw(st.booleans())
    lazy = mt.tensor(array, chunks=[tuple(filter(None, cut)) for cut in chunks])
    every = data.draw(st.sampled_from([None, 2, 3]))
    options = {"axis": axes, "keepdims": keepdims, "split_every": every}
    assert_same(
        mt.reduction(lazy, np.max, np.max, dtype=array.dtype, **options),
        array.max(axes, keepdims=keepdims),
    )
    average = mt.reduction(lazy, counted, divided, combine=added, dtype=float, **options)
    assert_same(average, array.mean(axes, keepdims=keepdims), rtol=1e-12)


def test_partial_results_in_lists() -> None:
    """Without ``concatenate``, one level for each axis."""

    def largest(parts: Any, axis: Any, keepdims: Any) -> Any:
        parts = [row if isinstance(row, list) else [row] for row in parts]
        return max(part.max() for row in parts for part in row).reshape((1,) * 2 * keepdims)

    def of_chunk(x: Any, axis: Any, keepdims: Any) -> Any:
        return x.max(axis, keepdims=keepdims)

    lazy = mt.tensor(X, chunk_size=1)
    keepdims: Any
    for keepdims in (False, True):
        found = mt.reduction(lazy, of_chunk, largest, concatenate=False, dtype=float,
                             keepdims=keepdims)  # fmt: skip
        assert_same(found, X.max(keepdims=keepdims))


def test_weights_output_sizes_and_unknown_lengths() -> None:
    """Weights are cut as the chunks are; a reduced axis may keep several elements."""

    def weighted(x: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
        return (x * weights).sum(axis, keepdims=keepdims)

    lazy = mt.tensor(X, chunk_size=(2, 4))
    found = mt.reduction(lazy, weighted, np.sum, axis=1, weights=np.arange(6.0), dtype=float)
    assert_same(found, (X * np.arange(6.0)).sum(1))

    def two(x: Any, axis: Any, keepdims: Any) -> Any:
        return np.sort(x, axis=axis[0])[-2:]

    top = mt.reduction(lazy, two, two, axis=0, keepdims=True, output_size=2, dtype=float)
    assert_same(top, X[-2:])
    kept = lazy[lazy[:, 0] > 0]
    assert_same(mt.reduction(kept, np.sum, np.sum, axis=0), X[1:].sum(0))
    with pytest.raises(ValueError, match="split_every"):
        mt.reduction(lazy, np.sum, np.sum, split_every=1)
