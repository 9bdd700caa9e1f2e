"""LightGBM's estimators learn from chunks, and from Futures, what they learn in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.learn.contrib.dask_fits import session_that_sees

theirs = pytest.importorskip("lightgbm")
ours = pytest.importorskip("marsdask.learn.contrib.lightgbm")
whole_groups = pytest.importorskip("marsdask.learn.contrib.lightgbm.estimators").whole_groups

pytestmark = [
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),
    pytest.mark.filterwarnings("ignore:Parameter n_jobs will be ignored:UserWarning"),
]

rng = np.random.default_rng(0)
SAMPLES = rng.normal(size=(200, 4))
HALVES = np.array(["no", "yes"])[(SAMPLES[:, 0] > 0.2).astype(int)]
THIRDS = rng.choice(["a", "b", "c"], 200)
HOW = {"n_estimators": 3, "verbose": -1, "n_jobs": 1}


@pytest.mark.parametrize("target", [HALVES, THIRDS])
def test_classes_are_learnt_from_runs_of_rows(target):
    """Trees, evaluations, attributes and predictions equal LightGBM's; predictions are lazy."""
    samples, weight = mt.tensor(SAMPLES, chunk_size=(60, 3)), np.linspace(0.5, 2.0, 200)
    labels = mt.tensor(target, chunk_size=70)
    how = {**HOW, "class_weight": "balanced"}
    metric = "auc" if len(set(target)) == 2 else None
    expected = theirs.LGBMClassifier(**how).fit(
        SAMPLES,
        target,
        weight,
        eval_set=[(SAMPLES, target), (SAMPLES[:50], target[:50])],
        eval_metric=metric,
    )
    model = ours.LGBMClassifier(**how).fit(
        samples,
        labels,
        mt.tensor(weight, chunk_size=33),
        eval_set=[(samples, labels), (SAMPLES[:50], target[:50])],
        eval_metric=metric,
    )
    found = model.predict_proba(samples)
    assert isinstance(found, mt.Tensor)
    np.testing.assert_array_equal(found, expected.predict_proba(SAMPLES))
    np.testing.assert_array_equal(model.predict(samples), expected.predict(SAMPLES))
    assert model.evals_result_ == expected.evals_result_
    assert model.score(samples, target) == expected.score(SAMPLES, target)
    for name, item in vars(expected).items():
        if name != "_Booster":
            assert str(vars(model)[name]) == str(item), name
    plain = pickle.loads(pickle.dumps(model.to_local()))
    assert type(plain) is theirs.LGBMClassifier
    np.testing.assert_array_equal(plain.predict(SAMPLES), expected.predict(SAMPLES))


@pytest.mark.parametrize("kind", ["LGBMRegressor", "LGBMRanker"])
def test_frames_and_groups(kind):
    """Features have the names of the columns; groups of ranked samples follow each other."""
    frame = pd.DataFrame(SAMPLES, columns=list("abcd"))
    samples, target = md.DataFrame(frame, chunk_size=70), (SAMPLES[:, 0] > 0).astype(int)
    how = {"group": [50, 150]} if kind == "LGBMRanker" else {}
    model = getattr(ours, kind)(**HOW).fit(samples, md.Series(target, chunk_size=50), **how)
    expected = getattr(theirs, kind)(**HOW).fit(frame, target, **how)
    np.testing.assert_array_equal(model.predict(samples), expected.predict(frame))
    assert model.feature_name_ == list("abcd")
    assert model.n_features_in_ == 4


def test_samples_with_other_targets_are_evaluated_against_those():
    """Only the same samples with the same targets are what was learnt from."""
    samples, targets = mt.tensor(SAMPLES, chunk_size=60), SAMPLES[:, 0]
    evaluated = [(SAMPLES, targets), (SAMPLES, -targets)]
    expected = theirs.LGBMRegressor(**HOW).fit(SAMPLES, targets, eval_set=evaluated)
    lazily = [(samples, one) for _, one in evaluated]
    model = ours.LGBMRegressor(**HOW).fit(samples, targets, eval_set=lazily)
    assert model.evals_result_ == expected.evals_result_


def test_targets_that_begin_with_zeros():
    """Objectives that refuse targets of zeros alone see others."""
    counts = np.r_[np.zeros(150), rng.poisson(3.0, 50)]
    how = {**HOW, "objective": "poisson"}
    model = ours.LGBMRegressor(**how).fit(mt.tensor(SAMPLES, chunk_size=60), counts)
    expected = theirs.LGBMRegressor(**how).fit(SAMPLES, counts)
    np.testing.assert_array_equal(model.predict(SAMPLES), expected.predict(SAMPLES))


def test_few_samples():
    """No feature is left out that LightGBM splits in memory."""
    few, how = np.arange(8.0).reshape(-1, 1), {**HOW, "min_child_samples": 1, "min_data_in_bin": 1}
    model = ours.LGBMClassifier(**how).fit(mt.tensor(few, chunk_size=3), few[:, 0] > 3)
    expected = theirs.LGBMClassifier(**how).fit(few, few[:, 0] > 3)
    np.testing.assert_array_equal(model.predict_proba(few), expected.predict_proba(few))
    assert np.ptp(model.predict_proba(few)[:, 1]) > 0


def test_early_stopping():
    """By a callback, at the best evaluation."""
    samples = mt.tensor(SAMPLES, chunk_size=60)
    stop = theirs.early_stopping(2, verbose=False)
    how = {"eval_set": [(SAMPLES[:40], rng.normal(size=40))], "callbacks": [stop]}
    few = {**HOW, "n_estimators": 30}
    model = ours.LGBMRegressor(**few).fit(samples, SAMPLES[:, 0], **how)
    expected = theirs.LGBMRegressor(**few).fit(SAMPLES, SAMPLES[:, 0], **how)
    assert model.best_iteration_ == expected.best_iteration_ < 30
    assert model.best_score_ == expected.best_score_


def test_what_is_refused():
    """With what to do instead; samples in memory take everything."""
    samples = mt.tensor(SAMPLES, chunk_size=60)
    with pytest.raises(NotImplementedError, match="init_model of lightgbm are not supported"):
        ours.LGBMRegressor().fit(samples, SAMPLES[:, 0], init_model="file")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ours.LGBMRegressor().fit(samples, SAMPLES[1:, 0])
    for option in ({"eval_metric": ["l1", max]}, {"objective": max}):
        estimator = ours.LGBMRegressor(objective=option.pop("objective", None))
        with pytest.raises(NotImplementedError, match="give the name of one of LightGBM's"):
            estimator.fit(samples, SAMPLES[:, 0], **option)
    for strange in (["maybe"], ["zz"]):
        with pytest.raises(ValueError, match="y contains previously unseen labels"):
            ours.LGBMClassifier(**HOW).fit(samples, HALVES, eval_set=[(SAMPLES[:1], strange)])
    model = ours.LGBMRegressor(**HOW).fit(SAMPLES, mt.tensor(SAMPLES[:, 0]))
    assert isinstance(model.predict(SAMPLES), np.ndarray)


def test_sparse_samples():
    """Rows are made dense a batch at a time; trees and predictions equal those of dense rows."""
    few = np.where(SAMPLES > 0.3, SAMPLES, 0.0)
    sparse = mt.tensor(few, chunk_size=60).tosparse()
    model = ours.LGBMRegressor(**HOW).fit(sparse, SAMPLES[:, 0], eval_set=(sparse, SAMPLES[:, 0]))
    expected = theirs.LGBMRegressor(**HOW)
    expected.fit(few, SAMPLES[:, 0], eval_set=(few, SAMPLES[:, 0]))
    np.testing.assert_array_equal(model.predict(sparse), expected.predict(few))
    assert model.evals_result_ == expected.evals_result_
    with pytest.raises(NotImplementedError, match="use a session without one"):
        model._fit_on(None, sparse, SAMPLES[:, 0], None, None)


def test_chunks_of_whole_groups():
    """A chunk ends where its last group does; sizes must add up."""
    samples = mt.tensor(SAMPLES, chunk_size=60).execute()
    cut, sizes = whole_groups(samples, [50, 30, 100, 20])
    assert cut.chunks == ((80, 100, 20), (4,))
    assert sizes.chunks == ((2, 1, 1),)
    np.testing.assert_array_equal(cut, SAMPLES)
    with pytest.raises(ValueError, match="add up to 80, but there are 200 samples"):
        whole_groups(samples, [50, 30])


def test_a_session_of_a_client_learns_by_lightgbms_dask_interface(monkeypatch):
    """From the Futures of our chunks, of whole groups; the model has nothing of the cluster."""
    expected = theirs.LGBMClassifier(**HOW).fit(SAMPLES, HALVES)
    samples, ranks = mt.tensor(SAMPLES, chunk_size=(60, 3)), (SAMPLES[:, 0] > 0).astype(int)
    with session_that_sees(monkeypatch, theirs.DaskLGBMClassifier) as (session, seen):
        model = ours.LGBMClassifier(**HOW).fit(samples, HALVES, session=session)
        assert seen[0]["X"].chunks == ((60, 60, 60, 20), (4,))
        found = model.predict(samples, session=session).compute()
        ranker = ours.LGBMRanker(**HOW).fit(samples, ranks, group=[50, 150], session=session)
        ranked = ranker.predict(samples, session=session).compute()
    np.testing.assert_array_equal(found, expected.predict(SAMPLES))
    assert vars(model).keys() == vars(expected).keys()
    expected = theirs.LGBMRanker(**HOW).fit(SAMPLES, ranks, group=[50, 150])
    np.testing.assert_array_equal(ranked, expected.predict(SAMPLES))


def test_targets_and_weights_are_checked():
    """In scikit-learn's words, as LightGBM does in memory."""
    samples, model = mt.tensor(SAMPLES, chunk_size=60), ours.LGBMRegressor(**HOW)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.fit(samples, None)
    with pytest.raises(ValueError, match="Sample weights must be 1D array or scalar"):
        model.fit(samples, SAMPLES[:, 0], sample_weight=np.ones((200, 2)))
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model.fit(samples, SAMPLES[:, :1])
