"""LightGBM's estimators learn from chunks, and from Futures, what they learn in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from distributed import Client

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt

theirs = pytest.importorskip("lightgbm")
ours = pytest.importorskip("marsdask.learn.contrib.lightgbm")

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
    with pytest.raises(TypeError, match="Sparse data was passed"):
        ours.LGBMRegressor().fit(samples.tosparse(), SAMPLES[:, 0])
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


def test_a_session_of_a_client_learns_by_lightgbms_dask_interface(monkeypatch, capsys):
    """From the Futures of our chunks; the model has nothing of the cluster."""
    used = []
    fit = theirs.DaskLGBMClassifier.fit

    def seen(self, X, y, **how):
        used.append(X)
        return fit(self, X, y, **how)

    monkeypatch.setattr(theirs.DaskLGBMClassifier, "fit", seen)
    expected = theirs.LGBMClassifier(**HOW).fit(SAMPLES, HALVES)
    with (
        Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
        ) as client,
        marsdask.new_session(client) as session,
    ):
        samples = mt.tensor(SAMPLES, chunk_size=(60, 3))
        model = ours.LGBMClassifier(**HOW).fit(samples, HALVES, session=session)
        assert used[0].chunks == ((60, 60, 60, 20), (4,))
        found = model.predict(samples, session=session).compute()
        with pytest.raises(NotImplementedError, match="groups may not be cut"):
            ours.LGBMRanker().fit(samples, SAMPLES[:, 0], group=[50, 150], session=session)
    np.testing.assert_array_equal(found, expected.predict(SAMPLES))
    assert vars(model).keys() == vars(expected).keys()
