"""Functions that train and predict, as Mars has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt

theirs = pytest.importorskip("xgboost")
ours = pytest.importorskip("marsdask.learn.contrib.xgboost")

SAMPLES = np.random.default_rng(0).normal(size=(90, 3))
TARGET = SAMPLES @ [1.0, -2.0, 0.5]
PARAMS = {"max_depth": 2, "max_bin": 32, "nthread": 1}


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: chunks are merged in the tests of estimators."""


@pytest.fixture(scope="module")
def expected():
    matrix, results = theirs.QuantileDMatrix(SAMPLES, TARGET, max_bin=32), dict[str, Any]()
    evals = [(matrix, "all")]
    trees = theirs.train(PARAMS, matrix, 3, evals=evals, evals_result=results, verbose_eval=False)
    return trees.predict(theirs.DMatrix(SAMPLES)), results


def trained(**how):
    samples, results = mt.tensor(SAMPLES, chunk_size=(40, 2)), dict[str, Any]()
    matrix = ours.MarsDMatrix(samples, mt.tensor(TARGET, chunk_size=30))
    trees = ours.train(
        PARAMS, matrix, [(matrix, "all")], results, num_boost_round=3, verbose_eval=False, **how
    )
    return samples, trees, results


def test_in_this_process(expected):
    """Trees and evaluations are those of XGBoost; predictions are executed, if asked for."""
    samples, trees, results = trained()
    assert results == expected[1]
    np.testing.assert_array_equal(ours.predict(trees, samples).fetch(), expected[0])
    np.testing.assert_array_equal(ours.predict(trees, SAMPLES), expected[0])
    np.testing.assert_array_equal(
        ours.predict(trees, ours.MarsDMatrix(samples), run=False).compute(), expected[0]
    )
    model = ours.XGBRegressor(n_estimators=2, n_jobs=1).fit(SAMPLES, TARGET)
    np.testing.assert_array_equal(ours.predict(model, samples).fetch(), model.predict(SAMPLES))


def test_on_a_client(expected):
    """By XGBoost's Dask interface."""
    with (
        Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ) as client,
        marsdask.new_session(client) as session,
    ):
        samples, trees, results = trained(session=session)
        found = ours.predict(trees, samples, session=session).fetch()
    np.testing.assert_allclose(found, expected[0], rtol=1e-5)
    np.testing.assert_allclose(results["all"]["rmse"], expected[1]["all"]["rmse"], rtol=1e-5)
