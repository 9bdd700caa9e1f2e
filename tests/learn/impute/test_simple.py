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
