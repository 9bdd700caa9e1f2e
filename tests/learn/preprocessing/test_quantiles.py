"""Scalers by quantiles equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import preprocessing as theirs

import marsdask.tensor as mt
from marsdask.learn import preprocessing as ours
from tests.learn.preprocessing.cases import assert_transforms_alike
from tests.learn.samples import blobs, cut_samples, in_form

CASES: list[Any] = [
    ("RobustScaler", {"unit_variance": True, "quantile_range": (10, 80)}),
    ("RobustScaler", {"with_centering": False}),
    ("QuantileTransformer", {"n_quantiles": 10, "output_distribution": "normal"}),
    ("QuantileTransformer", {"n_quantiles": 10, "subsample": 20, "random_state": 1}),
    ("QuantileTransformer", {"n_quantiles": 10, "subsample": None}),
]


@settings(max_examples=2)
@given(cut_samples(columns=3))
def test_they_learn_what_scikit_learn_learns(case):
    """Medians, quantiles and results; a column is constant, and one lacks a value."""
    samples, _ = case
    samples[:, 2] = 1.5
    samples[3, 1] = np.nan
    for name, options in CASES:
        lazy = mt.tensor(samples, chunk_size=(17, 2))
        mine, other = (getattr(module, name)(**options) for module in (ours, theirs))
        assert_transforms_alike(mine, other, lazy, samples)


def test_samples_of_unknown_length_are_drawn_from():
    """The same rows as scikit-learn draws."""
    samples = blobs()
    options = {"n_quantiles": 5, "subsample": 20, "random_state": 1}
    found = ours.QuantileTransformer(**options).fit(in_form(samples, "unknown rows"))
    expected = theirs.QuantileTransformer(**options).fit(samples)
    np.testing.assert_allclose(found.quantiles_, expected.quantiles_)


def test_a_wrong_range_is_refused():
    """In scikit-learn's words."""
    with pytest.raises(ValueError, match="Invalid quantile range"):
        ours.RobustScaler(quantile_range=(80, 20)).fit(in_form(blobs(), "tensor"))


def test_medians_keep_the_precision():
    """Those of float32 are that, too."""
    samples = blobs().astype(np.float32)
    model, other = ours.RobustScaler(), theirs.RobustScaler().fit(samples)
    model.fit(in_form(samples, "tensor"))
    assert model.center_.dtype == other.center_.dtype
    assert model.scale_.dtype == other.scale_.dtype
    np.testing.assert_allclose(model.center_, other.center_)
