"""Folds and maps over runs of whole rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.utils import check_array

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.collection import collect
from marsdask.learn.rows import (
    FiniteBlocks,
    Fold,
    RowMap,
    add,
    as_rows,
    as_weights,
    fold,
    in_memory,
    rowwise,
    tiles,
)
from tests.learn.samples import cut_samples


def totals(block, weight=None):
    """Return the number of rows and the sums of the columns."""
    return len(block), (block if weight is None else block * weight[:, None]).sum(axis=0)


def norms(block, weight):
    """Return the norm of each row times its weight."""
    return np.linalg.norm(block, axis=1) * weight


@given(cut_samples())
def test_a_fold_sees_every_row_once(case):
    """Operands cut differently are brought together, columns whole."""
    samples, tensor = case
    weights = np.arange(60.0)
    count, sums = fold(totals, add, tensor.node, mt.tensor(weights, chunk_size=11).node, nbytes=100)
    assert count == 60
    np.testing.assert_allclose(sums, (samples * weights[:, None]).sum(axis=0))


@given(cut_samples())
def test_a_map_of_rows_keeps_their_order(case):
    """The result has the rows' chunks and order; operands may be cut differently."""
    samples, tensor = case
    weights = np.arange(60.0)
    found = rowwise(norms, tensor.node, mt.tensor(weights, chunk_size=11).node, dtype="f8")
    assert found.chunks == tensor.chunks[:1]
    np.testing.assert_allclose(found.compute(), np.linalg.norm(samples, axis=1) * weights)


def test_rows_of_unknown_number_are_folded_without_a_look():
    """A filtered tensor is folded in the same compilation that filters it."""
    tensor = mt.tensor(np.arange(40.0).reshape(20, 2), chunk_size=(3, 2))
    kept = tensor[tensor[:, 0] > 9]
    count, sums = fold(totals, add, kept.node, None, nbytes=100)
    assert count == 15
    np.testing.assert_allclose(sums, np.arange(40.0).reshape(20, 2)[5:].sum(axis=0))


def test_nodes_travel():
    """A fold and a map over rows are pickled by name, kernels included."""
    rows = mt.ones((6, 2), chunk_size=2).node
    for node in (
        Fold(totals, add, (rows,), {}, 100),
        RowMap(np.square, (rows,), np.dtype("f8"), 2, {}),
    ):
        assert pickle.loads(pickle.dumps(node)).name == node.name


def test_frames_become_numbers():
    """Columns of several types become float64, missing ones nan; float32 alone stays."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, None, 1.5]})
    rows = as_rows(md.DataFrame(frame, chunk_size=2))
    assert rows.meta.dtype == np.float64
    count, sums = fold(totals, add, rows, nbytes=100)
    assert count == 3
    np.testing.assert_array_equal(sums, [6.0, 2.0, np.nan])
    alike = md.DataFrame(frame[["c"]].astype("f4"), chunk_size=2)
    assert as_rows(alike).meta.dtype == np.float32


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (mt.ones(5), "Expected 2D array, got 1D array"),
        (mt.ones((5, 2), dtype="c16"), "Complex data not supported"),
        (md.DataFrame({"a": pd.date_range("2000", periods=2)}), "could not convert"),
    ],
)
def test_what_no_estimator_takes_is_refused(samples, message):
    """Vectors, complex numbers and dates raise scikit-learn's ValueError at the call."""
    with pytest.raises(ValueError, match=message):
        as_rows(samples)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((5, 1)), "1D array"),
        (np.ones(4), r"sample_weight.shape == \(4,\)"),
        (np.zeros(5), "non-zero"),
        ([1, 2, np.nan, 1, 1], "NaN"),
        (mt.ones(6), "expected"),
    ],
)
def test_weights_are_checked(weights, message):
    """One number a sample, some of them not zero."""
    with pytest.raises(ValueError, match=message):
        as_weights(weights, mt.ones((5, 2)).node)


def test_weights_come_in_many_forms():
    """A number, a list, a tensor and a series of ours all are weights."""
    rows = mt.ones((3, 2)).node
    series = md.Series(pd.Series([1, 2, 3]))
    for weights in (2, [1, 2, 3], mt.arange(3), series):
        node = as_weights(weights, rows)
        assert node is not None
        assert node.meta.dtype == np.float64
    assert as_weights(None, rows) is None


def test_arrays_are_cut_into_runs_of_rows():
    """Samples in memory are shared out in several tasks, each of whole rows."""
    node = in_memory(np.zeros((300_000, 8)))
    assert len(node.chunks[0]) > 1
    assert node.chunks[1] == (8,)
    assert in_memory(np.zeros((0, 8))).chunks == ((0,), (8,))


def test_tiles_cover_all_rows_once():
    """Tiles of a block and of what goes with it follow each other."""
    block = np.arange(200_000.0).reshape(100_000, 2)
    pairs = list(tiles(block, None, block[:, 0]))
    assert len(pairs) > 1
    assert all(none is None for _, none, _ in pairs)
    np.testing.assert_array_equal(np.concatenate([tile for tile, _, _ in pairs]), block)
    np.testing.assert_array_equal(np.concatenate([other for *_, other in pairs]), block[:, 0])


def test_a_weight_of_all_rows():
    """Their number may be unknown; a table is no weight."""
    X = mt.ones((5, 2), chunk_size=(3, 1))
    for samples in (X, X[X[:, 0] > 0]):
        weights = as_weights(2.0, samples.node)
        assert weights is not None
        np.testing.assert_array_equal(collect(weights).compute(), np.full(5, 2.0))
    for table in (np.ones((5, 1)), mt.ones((5, 1)), md.DataFrame({"a": np.ones(5)})):
        with pytest.raises(ValueError, match="1D array or scalar"):
            as_weights(table, X.node)


@pytest.mark.parametrize(
    "column", [pd.Categorical([1, 2, 4]), pd.Categorical(["1", "2"] * 2)[:3], ["1", "2", "4.5"]]
)
def test_numbers_as_categories_and_texts(column):
    """They are the numbers that scikit-learn takes them for."""
    frame = pd.DataFrame({"a": column, "b": [1, 2, 3]})
    found = collect(as_rows(md.DataFrame(frame, chunk_size=2))).compute()
    np.testing.assert_array_equal(found, check_array(frame, dtype=np.float64))


def test_texts_that_are_no_numbers():
    """They are refused when their values are seen."""
    rows = as_rows(md.DataFrame({"a": ["1", "x"]}, chunk_size=1))
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        collect(rows).compute()


@given(cut_samples(rows=12, columns=3))
def test_blocks_are_checked_where_they_are(case):
    """In their chunks: a value that is not finite raises when it is computed."""
    samples, tensor = case
    node = FiniteBlocks(tensor.node, allow_nan=False)
    assert node.chunks == tensor.node.chunks
    np.testing.assert_array_equal(collect(node).compute(), samples)
    broken = mt.where(tensor == samples[-1, -1], np.nan, tensor)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        collect(FiniteBlocks(broken.node, allow_nan=False)).compute()
    assert np.isnan(collect(FiniteBlocks(broken.node, allow_nan=True)).compute()).any()
