"""Scores in one pass equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

import marsdask.tensor as mt
from marsdask.learn.scores import accuracy, r2

rng = np.random.default_rng(0)
WEIGHTS = rng.random(40)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("labels", [rng.integers(0, 3, 40), np.array(list("abcd") * 10)])
def test_accuracy_is_that_of_scikit_learn(labels, weights):
    """The weight of equal labels, of numbers and texts, in other chunks."""
    found = labels[rng.permutation(40)]
    ours = accuracy(mt.tensor(labels, chunk_size=7), mt.tensor(found, chunk_size=9), weights)
    assert ours == pytest.approx(metrics.accuracy_score(labels, found, sample_weight=weights))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    "target", [rng.normal(size=40) + 1e6, rng.normal(size=(40, 2)), np.zeros(40)]
)
def test_r2_is_that_of_scikit_learn(target, weights):
    """Of one target, far from zero too, of several, and of a constant one."""
    found = target + rng.normal(size=target.shape)
    ours = r2(target, mt.tensor(found, chunk_size=9), weights)
    assert ours == pytest.approx(metrics.r2_score(target, found, sample_weight=weights), rel=1e-6)
    assert r2(target, mt.tensor(target, chunk_size=9), weights) == 1.0


def test_few_samples():
    """One has no variance to explain, and none are refused."""
    one, some = mt.tensor([1.0]), mt.tensor([1.0, 2.0], chunk_size=1)
    with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
        assert np.isnan(r2(one, one))
    for score in (r2, accuracy):
        with pytest.raises(ValueError, match="0 sample"):
            score(some[some > 5], some[some > 5])
