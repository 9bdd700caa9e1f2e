"""Runs of rows in memory, in the order of the samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.batches import held_runs, runs, take_over
from marsdask.learn.linear_model import SGDRegressor
from tests.learn.samples import in_form

SAMPLES = np.arange(120.0).reshape(60, 2)


@pytest.mark.parametrize("form", ["tensor", "our frame", "executed", "unknown rows"])
def test_chunks_follow_each_other(form):
    """What goes with samples may be cut otherwise; chunks without rows are left out."""
    parts = list(runs(in_form(SAMPLES, form), mt.arange(60, chunk_size=7), np.arange(60), None))
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([X for X, *_ in parts]), SAMPLES)
    for position in (1, 2):
        joined = np.concatenate([part[position] for part in parts])
        np.testing.assert_array_equal(joined, np.arange(60))
    assert all(part[3] is None and len(part[0]) == len(part[2]) for part in parts)


def test_arrays_are_one_run():
    """Samples in memory are given as they are."""
    ((X, y),) = runs(SAMPLES, None)
    assert X is SAMPLES
    assert y is None


def test_small_chunks_are_joined():
    """Each run but the last has as many rows as wished for."""
    X = mt.tensor(SAMPLES, chunks=((0, 5, 5, 30, 0, 11, 9), (2,)))
    assert [len(part) for (part,) in runs(X, least=10)] == [10, 30, 11, 9]
    assert [len(part) for (part,) in runs(X, least=61)] == [60]


def test_frames_stay_frames():
    """Their rows have names and types."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    parts = [part for (part,) in runs(md.DataFrame(frame, chunk_size=2))]
    pd.testing.assert_frame_equal(pd.concat(parts), frame)


def test_sparse_rows_have_the_indices_of_scikit_learn():
    """Its functions take no others than those of 32 bits."""
    X = mt.tensor(sp.csr_array(SAMPLES), chunk_size=(25, 1))
    parts = [part for (part,) in runs(X)]
    assert {part.indices.dtype for part in parts} == {np.dtype(np.int32)}
    np.testing.assert_array_equal(sp.vstack(parts).toarray(), SAMPLES)


def test_held_runs_are_computed_once():
    """Each pass gives the same values, and computes none of them again."""
    X = mt.tensor(SAMPLES, chunk_size=25)
    calls: list[int] = []

    def seen(block: np.ndarray) -> np.ndarray:
        calls.append(len(block))
        return block

    found = held_runs(SGDRegressor(), X.map_blocks(seen, dtype="f8").node, mt.arange(60).node)
    computed = len(calls)
    for _ in range(2):
        passed = [part[0] for part in found]
        np.testing.assert_array_equal(np.concatenate(passed), SAMPLES)
    assert len(calls) == computed
    assert found.count == 60


def test_lengths_are_compared_once_they_are_known():
    """ValueError in scikit-learn's words, of samples whose number only running tells."""
    X = in_form(SAMPLES, "unknown rows")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 59\]"):
        held_runs(SGDRegressor(), X.node, mt.arange(59).node)


def test_a_twin_gives_what_it_has_learnt():
    """The parameters stay those of the estimator."""
    twin = SGDRegressor(alpha=0.5).fit(SAMPLES / 60, SAMPLES[:, 0]).to_sklearn()
    model = SGDRegressor(alpha=2.0)
    take_over(model, twin)
    assert model.alpha == 2.0
    np.testing.assert_array_equal(model.coef_, twin.coef_)


@pytest.mark.parametrize("count", [2, 6])
def test_lengths_that_differ_are_refused_at_once(count):
    """Before the first run, whatever is lazy or of unknown length."""
    X, y = mt.ones((4, 2), chunk_size=3), np.ones(count)
    for samples in (X, X[X[:, 0] > 0]):
        for targets in (y, mt.tensor(y, chunk_size=3), mt.tensor(y)[mt.tensor(y) > 0]):
            with pytest.raises(ValueError, match=rf"inconsistent numbers of samples: \[4, {count}"):
                next(runs(samples, targets))
