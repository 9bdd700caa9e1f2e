"""XGBoost's estimators learn from chunks, and from Futures, what they learn in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.learn.contrib.dask_fits import session_that_sees

theirs = pytest.importorskip("xgboost")
ours = pytest.importorskip("marsdask.learn.contrib.xgboost")

rng = np.random.default_rng(0)
SAMPLES = rng.normal(size=(200, 4))
CLASSES = (SAMPLES[:, 0] > 0).astype(int) + (SAMPLES[:, 1] > 0.5)
HOW = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
NAMES = list("abcd")


def lazy(chunks):
    return mt.tensor(SAMPLES, chunks=chunks)


@pytest.mark.parametrize("chunks", [(60, 3), ((1, 0, 99, 100), (4,))])
def test_classes_are_learnt_chunk_by_chunk(chunks):
    """Trees, evaluations and predictions equal XGBoost's; weights count; predictions are lazy."""
    samples, weight = lazy(chunks), np.linspace(0.5, 2.0, 200)
    expected = theirs.XGBClassifier(**HOW).fit(
        SAMPLES, CLASSES, sample_weight=weight, eval_set=[(SAMPLES, CLASSES)], verbose=False
    )
    model = ours.XGBClassifier(**HOW).fit(
        samples,
        mt.tensor(CLASSES, chunk_size=70),
        sample_weight=mt.tensor(weight, chunk_size=33),
        eval_set=[(samples, CLASSES)],
        verbose=False,
    )
    found = model.predict_proba(samples)
    assert isinstance(found, mt.Tensor)
    np.testing.assert_array_equal(found, expected.predict_proba(SAMPLES))
    np.testing.assert_array_equal(model.predict(samples), expected.predict(SAMPLES))
    assert model.evals_result() == expected.evals_result()
    assert model.score(samples, CLASSES) == expected.score(SAMPLES, CLASSES)
    plain = pickle.loads(pickle.dumps(model.to_local()))
    assert type(plain) is theirs.XGBClassifier
    np.testing.assert_array_equal(plain.predict(SAMPLES), expected.predict(SAMPLES))


def test_frames_keep_their_names():
    """Those of the features, which XGBoost checks when it predicts."""
    frame = pd.DataFrame(SAMPLES, columns=NAMES)
    samples = md.DataFrame(frame, chunk_size=70)
    model = ours.XGBRegressor(**HOW).fit(samples, samples["a"])
    expected = theirs.XGBRegressor(**HOW).fit(frame, frame["a"])
    np.testing.assert_array_equal(model.predict(samples), expected.predict(frame))
    assert model.get_booster().feature_names == NAMES
    with pytest.raises(ValueError, match="feature_names mismatch"):
        model.predict(samples[["a", "b", "d", "c"]])


def test_samples_in_memory_are_xgboosts():
    """Other arguments may be lazy."""
    model = ours.XGBRegressor(**HOW).fit(
        SAMPLES, mt.tensor(CLASSES), eval_set=[(lazy(50), mt.tensor(CLASSES))], verbose=False
    )
    expected = theirs.XGBRegressor(**HOW).fit(SAMPLES, CLASSES)
    np.testing.assert_array_equal(model.predict(SAMPLES), expected.predict(SAMPLES))
    assert isinstance(model.predict(SAMPLES), np.ndarray)


def test_what_is_refused():
    """By XGBoost's words where it refuses it too."""
    with pytest.raises(NotImplementedError, match="feature_weights of xgboost are not supported"):
        ours.XGBRegressor().fit(lazy(50), CLASSES, feature_weights=np.ones(4))
    with pytest.raises(ValueError, match="Invalid classes"):
        ours.XGBClassifier().fit(lazy(50), CLASSES + 1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ours.XGBRegressor().fit(lazy(50), CLASSES[1:])


def test_a_session_of_a_client_learns_by_xgboosts_dask_interface(monkeypatch):
    """From the Futures of our chunks; the model has nothing of the cluster."""
    from xgboost import dask as xgboost_dask

    expected = theirs.XGBClassifier(**HOW).fit(SAMPLES, CLASSES)
    with session_that_sees(monkeypatch, xgboost_dask.DaskXGBClassifier) as (session, seen):
        samples = lazy((60, 3))
        model = ours.XGBClassifier(**HOW)
        model.fit(samples, CLASSES, eval_set=[(samples, CLASSES)], verbose=False, session=session)
        assert seen[0]["X"].chunks == ((60, 60, 60, 20), (4,))
        found = model.predict(samples, session=session).compute()
    np.testing.assert_array_equal(found, expected.predict(SAMPLES))
    assert vars(model).keys() - vars(expected).keys() == {"evals_result_"}
