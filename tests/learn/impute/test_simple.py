"""Missing values are replaced as by scikit-learn, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import impute

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.impute import SimpleImputer
from tests.learn.preprocessing.cases import assert_same, dense
from tests.learn.samples import blobs, fitted

SAMPLES = blobs(30, 3)
SAMPLES[::5, 0] = np.nan
SAMPLES[:, 2] = np.nan

CASES = [
    ({}, SAMPLES),
    ({"strategy": "median", "add_indicator": True}, SAMPLES),
    ({"strategy": "constant", "fill_value": 3.0}, SAMPLES),
    ({"strategy": "most_frequent"}, np.round(SAMPLES)),
    ({"keep_empty_features": True}, SAMPLES),
    ({"missing_values": -1.0}, np.nan_to_num(SAMPLES, nan=-1.0)),
]


@pytest.mark.filterwarnings("ignore:Skipping features")
@pytest.mark.parametrize(("options", "samples"), CASES)
def test_it_learns_what_scikit_learn_learns(options, samples):
    """Statistics and results, of tensors and frames."""
    frame = pd.DataFrame(samples, columns=list("abc"))
    for lazy, plain in (
        (mt.tensor(samples, chunk_size=(7, 2)), samples),
        (md.DataFrame(frame, chunk_size=7), frame),
    ):
        ours, theirs = SimpleImputer(**options).fit(lazy), impute.SimpleImputer(**options)
        theirs.fit(plain)
        for name, expected in fitted(theirs).items():
            assert_same(getattr(ours, name), expected, name)
        found = ours.transform(lazy)
        assert_same(dense(found.compute()), dense(theirs.transform(plain)), "transform")


def test_texts_are_replaced_by_the_most_frequent():
    """Of a column of objects; functions are refused."""
    frame = pd.DataFrame({"a": pd.Series(["x", None, "y", "y"], dtype=object)})
    lazy = md.DataFrame(frame, chunk_size=3)
    model = SimpleImputer(missing_values=None, strategy="most_frequent")
    assert model.fit_transform(lazy).compute().ravel().tolist() == ["x", "y", "y", "y"]
    with pytest.raises(NotImplementedError, match="function as strategy"):
        SimpleImputer(strategy=np.max).fit(mt.tensor(SAMPLES))


@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("marker", [0, 3])
def test_a_statistic_may_be_the_marker_of_missing_values(strategy, marker):
    """Its column is kept, with gaps and without."""
    samples = np.array([[-1.0, 0.0, 2.0], [1.0, 4.0, 2.5], [0.0, 6.0, 4.5], [0.0, 2.0, 3.0]])
    samples[:, 1:] += marker - 3
    how = {"missing_values": marker, "strategy": strategy, "add_indicator": True}
    theirs = impute.SimpleImputer(**how).fit(samples)
    lazy = mt.tensor(samples, chunk_size=(3, 2))
    ours = SimpleImputer(**how).fit(lazy)
    np.testing.assert_array_equal(ours.statistics_, theirs.statistics_)
    np.testing.assert_array_equal(ours.transform(lazy), theirs.transform(samples))


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_nan_is_refused_where_a_number_is_missing(strategy):
    """As by scikit-learn."""
    samples = np.array([[0.0], [np.nan], [1.0]])
    for model, given in (
        (SimpleImputer, mt.tensor(samples, chunk_size=2)),
        (impute.SimpleImputer, samples),
    ):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            model(missing_values=0.0, strategy=strategy).fit(given)


@pytest.mark.parametrize("strategy", ["mean", "most_frequent"])
def test_nullable_integers(strategy):
    """Columns of pandas's own numbers."""
    frame = pd.DataFrame({"a": pd.array([1, None, 3, 3], dtype="Int64")})
    found = SimpleImputer(strategy=strategy).fit_transform(md.DataFrame(frame, chunk_size=2))
    expected = impute.SimpleImputer(strategy=strategy).fit_transform(frame)
    assert found.dtype == found.compute().dtype == expected.dtype
    np.testing.assert_allclose(found, expected)
