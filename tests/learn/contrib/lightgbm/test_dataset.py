"""LightGBM reads held rows: any of them, or runs in turn."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt

pytest.importorskip("lightgbm")
dataset = pytest.importorskip("marsdask.learn.contrib.lightgbm.dataset")


def test_rows_on_demand():
    """One, a run, or a list of them, as a contiguous array."""
    samples = np.arange(12.0).reshape(6, 2)
    rows = dataset.HeldRows(dataset.held_rows(mt.tensor(samples, chunk_size=(4, 1))))
    assert len(rows) == 6
    for wanted in (3, slice(1, 5), [0, 4, 5]):
        np.testing.assert_array_equal(rows[wanted], samples[wanted])
        assert rows[wanted].flags.c_contiguous


def test_data_sets_have_the_bins_of_those_in_memory():
    """Labels and names too."""
    samples = np.random.default_rng(0).normal(size=(100, 2))
    found = dataset.dataset(
        dataset.held_rows(mt.tensor(samples, chunk_size=30)), ["a", "b"], label=samples[:, 0]
    ).construct()
    assert (found.num_data(), found.num_feature(), found.get_feature_name()) == (100, 2, ["a", "b"])
    np.testing.assert_allclose(found.get_label(), samples[:, 0], rtol=1e-6)
