"""LightGBM reads held rows: any of them, or runs in turn."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt

pytest.importorskip("lightgbm")
dataset = pytest.importorskip("marsdask.learn.contrib.lightgbm.dataset")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_rows_on_demand(dtype):
    """One, a run, or a list of them, as a contiguous array of float64."""
    samples = np.arange(12).reshape(6, 2).astype(dtype)
    rows = dataset.HeldRows(dataset.held_rows(mt.tensor(samples, chunk_size=(4, 1))))
    assert len(rows) == 6
    for wanted in (3, slice(1, 5), [0, 4, 5]):
        np.testing.assert_array_equal(rows[wanted], samples[wanted])
        assert rows[wanted].flags.c_contiguous
        assert rows[wanted].dtype == np.float64


def test_rows_that_are_drawn_share_batches(monkeypatch):
    """One computation for each batch, not for each row."""
    monkeypatch.setattr(dataset, "BATCH", 10)
    samples = np.arange(50.0).reshape(25, 2)
    rows = dataset.HeldRows(dataset.held_rows(mt.tensor(samples, chunk_size=8)))
    seen, compute = [], mt.Tensor.compute

    def noted(self):
        seen.append(self.shape)
        return compute(self)

    monkeypatch.setattr(mt.Tensor, "compute", noted)
    drawn = [0, 3, 9, 10, 24, -1]
    np.testing.assert_array_equal([rows[place] for place in drawn], samples[drawn])
    assert seen == [(10, 2), (10, 2), (5, 2)]
    with pytest.raises(IndexError):
        rows[25]


def test_data_sets_have_the_bins_of_those_in_memory():
    """Labels and names too."""
    samples = np.random.default_rng(0).normal(size=(100, 2))
    found = dataset.dataset(
        dataset.held_rows(mt.tensor(samples, chunk_size=30)), ["a", "b"], label=samples[:, 0]
    ).construct()
    assert (found.num_data(), found.num_feature(), found.get_feature_name()) == (100, 2, ["a", "b"])
    np.testing.assert_allclose(found.get_label(), samples[:, 0], rtol=1e-6)
