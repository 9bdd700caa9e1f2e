"""scikit-learn's own estimators and metrics take tensors by the array API; ours do as before."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: SciPy reads the variable when it is imported, hence a process of its own.
PROGRAM = """
import numpy as np
import sklearn
from sklearn import decomposition, discriminant_analysis, linear_model, metrics, naive_bayes
from sklearn import preprocessing
import marsdask
import marsdask.tensor as mt
from marsdask.learn import linear_model as own

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=60) * 0.1
lazy, target = mt.tensor(X, chunk_size=25), mt.tensor(y, chunk_size=17)

def fitted(model, X, y):
    model.fit(X, y)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)

models = [
    preprocessing.StandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer(),
    decomposition.PCA(2, svd_solver="full"),
    linear_model.Ridge(solver="svd"),
    own.Ridge(),
]
for model in models:
    expected = fitted(model, X, y)
    with sklearn.config_context(array_api_dispatch=True):
        found = fitted(sklearn.clone(model), lazy, target)
    assert isinstance(found, mt.Tensor), model
    np.testing.assert_allclose(found.compute(), np.asarray(expected), atol=1e-9)
with sklearn.config_context(array_api_dispatch=True):
    for name in ("r2_score", "mean_squared_error", "max_error"):
        metric = getattr(metrics, name)
        np.testing.assert_allclose(float(metric(target, target + 1)), metric(y, y + 1))

marsdask.options.eager_mode = True
labels = (y > 0).astype(int)
target = mt.tensor(labels, chunk_size=17)
for model in [
    linear_model.RidgeClassifier(solver="svd"),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    naive_bayes.GaussianNB(),
    linear_model.LogisticRegression(),
]:
    expected = fitted(model, X, labels)
    with sklearn.config_context(array_api_dispatch=True):
        found = fitted(sklearn.clone(model), lazy, target)
        score = metrics.f1_score(target, found)
    np.testing.assert_array_equal(np.asarray(found), expected, err_msg=str(model))
    np.testing.assert_allclose(float(score), metrics.f1_score(labels, expected))
"""


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once, in another process."""


def test_scikit_learn_dispatches_to_tensors():
    """Results are lazy, and equal those of arrays; in eager mode targets may be classes."""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
