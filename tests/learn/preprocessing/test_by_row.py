"""Transformers of rows equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import preprocessing as theirs

from marsdask.learn import preprocessing as ours
from tests.learn.preprocessing.cases import assert_transforms_alike
from tests.learn.samples import blobs, in_form

CASES: list[Any] = [
    ("Normalizer", {"norm": "l1"}),
    ("Binarizer", {"threshold": 0.5}),
    ("PolynomialFeatures", {"degree": 2, "include_bias": False}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("form", ["tensor", "our frame", "unknown rows"])
def test_they_transform_as_scikit_learn(name, options, form):
    """Results, names and numbers of columns."""
    samples = blobs(30)
    mine, other = [getattr(module, name)(**options) for module in (ours, theirs)]
    plain = in_form(samples, "frame") if form == "our frame" else samples
    assert_transforms_alike(mine, other, in_form(samples, form), plain)


def test_a_function_gets_lazy_samples():
    """Its result stays lazy; without a function the samples stay what they are."""
    X = in_form(blobs(30), "tensor")
    model = ours.FunctionTransformer(np.expm1, np.log1p).fit(X)
    assert model.n_features_in_ == 4
    np.testing.assert_allclose(model.transform(X).compute(), np.expm1(blobs(30)))
    np.testing.assert_allclose(model.inverse_transform(abs(X)).compute(), np.log1p(abs(blobs(30))))
    assert ours.FunctionTransformer().fit_transform(X) is X


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float32"])
@pytest.mark.parametrize("form", ["tensor", "our frame"])
def test_binary_values_have_the_type_of_the_samples(dtype, form):
    """As scikit-learn's have."""
    samples = np.arange(6).reshape(3, 2).astype(dtype)
    found = ours.Binarizer().fit_transform(in_form(samples, form))
    expected = theirs.Binarizer().fit_transform(samples)
    assert found.dtype == found.compute().dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
