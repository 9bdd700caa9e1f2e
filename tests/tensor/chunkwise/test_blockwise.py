"""Functions of chunks that are matched by labels."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given

import marsdask.tensor as mt
from tests.strategies import assert_same, chunkings
from tests.tensor.stages import first_graph

X = np.arange(20.0).reshape(4, 5)
Y = np.arange(15.0).reshape(5, 3)


def sum_of_products(left: Any, right: Any) -> Any:
    return sum(a @ b for a, b in zip(left, right, strict=True))


def add_all(rows: Any) -> Any:
    return np.array([sum(block.sum() for row in rows for block in row)])


@given(chunkings(X.shape), chunkings(Y.shape))
def test_contraction(cut: Any, other: Any) -> None:
    """All chunks along a label that is not in the output: in a list, or as one array."""
    x, y = mt.tensor(X, chunks=cut), mt.tensor(Y, chunks=other)
    lists = mt.blockwise(sum_of_products, "ik", x, "ij", y, "jk", dtype=float)
    assert_same(lists, X @ Y)
    assert_same(mt.blockwise(np.dot, "ik", x, "ij", y, "jk", concatenate=True, dtype=float), X @ Y)
    assert_same(mt.blockwise(np.transpose, "ji", x, "ij"), X.T)


def test_outer_products_constants_and_broadcasting() -> None:
    """As in dask's documentation."""
    x, y = mt.arange(4, chunk_size=2), mt.arange(5, chunk_size=2)
    expected = np.multiply.outer(np.arange(4), np.arange(5))
    assert_same(mt.blockwise(np.multiply.outer, "ij", x, "i", y, "j"), expected)
    z = mt.tensor(X, chunk_size=2)
    assert_same(mt.blockwise(np.add, "ij", z, "ij", 10, None, dtype=float), X + 10)
    assert_same(mt.blockwise(np.add, "ij", z, "ij", z[:1], "ij", dtype=float), X + X[:1])
    assert_same(mt.atop(np.add, "ij", z, "ij", y, "j"), X + np.arange(5))
    nested = mt.blockwise(add_all, "k", z, "ij", new_axes={"k": 1}, dtype=float)
    assert_same(nested, np.array([X.sum()]))


def test_new_and_adjusted_axes() -> None:
    """Their sizes are what the arguments say."""
    x = mt.tensor(X, chunk_size=2)
    wide = mt.blockwise(lambda b: b[..., None] * [1, 2], "ijk", x, "ij", new_axes={"k": 2})
    assert_same(wide, X[..., None] * [1, 2])
    for how in (lambda n: 2 * n, (4, 4)):
        twice = mt.blockwise(
            lambda b: np.repeat(b, 2, 0), "ij", x, "ij", adjust_chunks={"i": how}, dtype=float
        )
        assert twice.chunks == ((4, 4), (2, 2, 1))
        assert_same(twice, np.repeat(X, 2, 0))
    ones = mt.blockwise(lambda b: b[:1], "ij", x, "ij", adjust_chunks={"i": 1}, dtype=float)
    assert_same(ones, X[::2])
    some = mt.blockwise(lambda b: b[:1], "ij", x, "ij", adjust_chunks={"i": np.nan}, dtype=float)
    assert np.isnan(some.shape[0])
    np.testing.assert_array_equal(some.compute(), X[::2])


def test_without_alignment_chunks_go_by_their_place() -> None:
    """Whatever their sizes."""
    x, y = mt.arange(6, chunk_size=3), mt.arange(4, chunk_size=2)
    found = mt.blockwise(
        lambda a, b: a[:2] + b, "i", x, "i", y, "i", align_arrays=False, adjust_chunks={"i": 2},
        dtype=int,
    )  # fmt: skip
    assert_same(found, np.array([0, 2, 5, 7]))


def test_lengths_that_nobody_knows() -> None:
    """Are looked at where they have to fit."""
    x = mt.tensor(X, chunk_size=2)
    kept = x[x[:, 0] > 3]
    assert_same(
        mt.blockwise(np.dot, "ik", kept, "ij", mt.tensor(Y, chunk_size=4), "jk", concatenate=True),
        X[1:] @ Y,
    )
    tall = mt.blockwise(np.dot, "ik", kept.T, "ij", kept, "jk", concatenate=True, dtype=float)
    assert_same(tall, X[1:].T @ X[1:])


@pytest.mark.parametrize(
    ("args", "match"),
    [
        (("ii", mt.ones(3), "i"), "Repeated"),
        (("k", mt.ones(3), "i"), "Unknown dimension"),
        (("i", mt.ones(3), "ij"), "axes"),
        (("i", mt.ones(3)), "in turn"),
        (("i", mt.ones(3), "i", mt.ones(4), "i"), "could not be broadcast"),
    ],
)
def test_bad_labels_are_refused_at_the_call(args: Any, match: str) -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match=match):
        mt.blockwise(np.add, *args, dtype=float)


def test_unify_chunks_is_dasks() -> None:
    """One cut for each label; arrays of length one and constants stay."""
    x, y = mt.ones((10, 4), chunk_size=(5, 4)), mt.ones(10, chunk_size=(2, 8))
    cuts, arrays = mt.unify_chunks(x, "ij", y, "i", mt.ones((1, 4)), "ij", 3, None)
    assert cuts["j"] == (4,)
    assert arrays[0].chunks[0] == arrays[1].chunks[0] == cuts["i"]
    assert arrays[2].shape == (1, 4)
    assert arrays[3] == 3
    theirs, _ = da.core.unify_chunks(da.ones(4, chunks=2), "i", da.ones(4, chunks=2), "i")
    ours, _ = mt.unify_chunks(mt.ones(4, chunk_size=2), "i", mt.ones(4, chunk_size=2), "i")
    assert ours == theirs


def row_sums(block: Any) -> Any:
    return block.sum(axis=1)


def test_links_without_contraction_are_fused() -> None:
    """One task a chunk, whatever the order of labels, and its values; joined rows are read once."""
    x = mt.tensor(X, chunk_size=2)
    links = mt.blockwise(np.negative, "ij", x, "ij", dtype=float)
    links = mt.blockwise(np.transpose, "ji", links, "ij", dtype=float) + 1
    links = mt.blockwise(np.add, "ij", links, "ij", mt.ones(4, chunk_size=2), "j", dtype=float)
    whole = len(first_graph(x.T + 1))
    assert len(first_graph(links)) == whole
    assert_same(links, 2 - X.T)
    sums = mt.blockwise(row_sums, "i", links, "ij", concatenate=True, dtype=float)
    assert_same(sums, (2 - X.T).sum(axis=1))
    more = mt.blockwise(np.negative, "i", sums, "i", dtype=float)
    assert len(first_graph(more)) == len(first_graph(sums))


def nothing(block: Any) -> None:
    del block


@pytest.mark.parametrize("concatenate", [True, None])
def test_functions_that_return_nothing(concatenate: bool | None) -> None:
    """Are named in the error."""
    x = mt.tensor(X, chunk_size=2)
    found = mt.blockwise(nothing, "i", x, "ij", dtype=float, concatenate=concatenate)
    with pytest.raises(TypeError, match="nothing returned None"):
        found.compute()
    with pytest.raises((TypeError, ValueError), match="nothing"):
        mt.blockwise(nothing, "i", x, "ij", concatenate=concatenate)
