"""Categories become the means of their targets, as in scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import preprocessing as theirs
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.base import is_lazy
from marsdask.learn.preprocessing import TargetEncoder

_RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": _RNG.choice(list("xyz"), 40), "b": _RNG.integers(0, 5, 40)})
NEW = FRAME.assign(a=["unseen", *FRAME["a"][1:]])
TARGETS = {
    "continuous": _RNG.normal(1e6, 1.0, 40),
    "binary": _RNG.choice(["no", "yes"], 40),
    "multiclass": _RNG.choice([1, 5, 9], 40),
}


@pytest.mark.parametrize("smooth", ["auto", 0.0, 3.0])
@pytest.mark.parametrize("kind", TARGETS)
def test_frames_are_encoded(kind, smooth):
    """With targets of every kind, in chunks of their own; unseen values get the mean of all."""
    y = TARGETS[kind]
    splits = KFold if kind == "continuous" else StratifiedKFold
    how = {"smooth": smooth, "cv": splits(3, shuffle=True, random_state=0)}
    other = theirs.TargetEncoder(**how)
    expected = other.fit_transform(FRAME, y)
    lazy, target = md.DataFrame(FRAME, chunk_size=17), md.Series(y, chunk_size=9)
    ours = TargetEncoder(**how)
    found = ours.fit_transform(lazy, target)
    assert is_lazy(found)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-9)
    assert ours.target_type_ == kind
    for model in (ours, TargetEncoder(smooth=smooth).fit(lazy, y)):
        np.testing.assert_allclose(model.target_mean_, other.target_mean_)
        for one, two in zip(model.encodings_, other.encodings_, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9)
        changed = other.transform(NEW)
        np.testing.assert_allclose(model.transform(md.DataFrame(NEW, chunk_size=7)), changed)
        np.testing.assert_allclose(model.transform(NEW), changed)
        np.testing.assert_allclose(model.to_sklearn().transform(NEW), changed)
        assert list(model.get_feature_names_out()) == list(other.get_feature_names_out())


def test_tensors_are_encoded():
    """In chunks of which some are empty; missing values are a category."""
    samples = np.array([[1.0], [np.nan], [2.0], [1.0], [np.nan], [2.0]])
    y = np.arange(6.0)
    lazy = mt.tensor(samples, chunks=((1, 0, 5), (1,)))
    expected = theirs.TargetEncoder(smooth=1.0).fit(samples, y).transform(samples)
    found = TargetEncoder(smooth=1.0).fit(lazy, mt.tensor(y, chunk_size=4)).transform(lazy)
    np.testing.assert_allclose(found, expected)


def test_what_is_refused():
    """Targets of other kinds, or not finite; parts that overlap."""
    lazy = md.DataFrame(FRAME, chunk_size=17)
    with pytest.raises(ValueError, match="Target type was inferred to be"):
        TargetEncoder().fit(lazy, np.ones((40, 2)))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        TargetEncoder(target_type="continuous").fit(lazy, mt.full(40, np.nan))
    with pytest.raises(ValueError, match="exactly once"):
        TargetEncoder(cv=ShuffleSplit(2)).fit_transform(lazy, TARGETS["continuous"])
    with pytest.raises(NotImplementedError, match="groups"):
        TargetEncoder().fit_transform(lazy, TARGETS["binary"], groups=[1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TargetEncoder().fit(lazy, TARGETS["binary"][1:])
