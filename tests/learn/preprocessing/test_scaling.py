"""Scaling by a call equals scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import preprocessing as theirs

from marsdask.learn import preprocessing as ours
from tests.learn.samples import blobs, in_form, value

NAMES = ["binarize", "maxabs_scale", "minmax_scale", "robust_scale", "scale"]
NAMES += ["quantile_transform", "normalize"]
OPTIONS: dict[str, Any] = {"quantile_transform": {"n_quantiles": 10}}


@pytest.mark.parametrize("name", NAMES)
def test_they_equal_scikit_learns(name):
    """Of lazy samples and of samples in memory."""
    options = OPTIONS.get(name, {})
    expected = getattr(theirs, name)(blobs(), **options)
    found = getattr(ours, name)(in_form(blobs(), "tensor"), **options)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(getattr(ours, name)(blobs(), **options), expected)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_norms_of_rows_and_columns(norm):
    """Norms are returned if they are wanted; those of columns need all rows."""
    for axis in (0, 1):
        how: dict[str, Any] = {"axis": axis, "return_norm": True}
        found = ours.normalize(in_form(blobs(), "tensor"), norm, **how)
        expected = theirs.normalize(blobs(), norm, **how)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.compute(), other)


def test_columns_are_what_is_scaled():
    """Rows of lazy samples are refused, other norms too."""
    with pytest.raises(NotImplementedError, match="transpose"):
        ours.minmax_scale(in_form(blobs(), "tensor"), axis=1)
    with pytest.raises(ValueError, match="norm"):
        ours.normalize(in_form(blobs(), "tensor"), "l3", axis=0)


def test_norms_of_columns_refuse_nan():
    """As by scikit-learn."""
    samples = blobs()
    samples[3, 1] = np.nan
    for given in (samples, in_form(samples, "tensor")):
        with pytest.raises(ValueError, match=r"Input.* contains NaN"):
            value(ours.normalize(given, axis=0))
