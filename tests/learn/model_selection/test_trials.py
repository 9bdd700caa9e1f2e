"""Estimators learn rung by rung, and stop when they improve no more."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier

import marsdask.tensor as mt
from marsdask.learn.model_selection.trials import Course, Judge, Rung, Trial, table

SAMPLES = np.arange(40.0).reshape(-1, 1) - 20
CLASSES = (SAMPLES[:, 0] > 0).astype(int)


class Given:
    """Learns the number of its blocks, and scores what it is told."""

    def __init__(self, scores):
        self.scores = scores
        self.blocks = []

    def partial_fit(self, X, y):
        self.blocks.append(X.copy())
        return self

    def score(self, X, y):
        return self.scores[len(self.blocks) - 1]


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: chunks are blocks, which are not merged."""


def _course(**how):
    judge = Judge(SGDClassifier(), lambda model, X, y: model.score(X, y), SAMPLES, CLASSES)
    given = {"options": {}, "patience": 0, "tol": 0.01, "verbose": False, "prefix": "", **how}
    lazy = mt.tensor(SAMPLES, chunk_size=15), mt.tensor(CLASSES, chunk_size=15)
    return Course(*lazy, judge, **given)


def test_the_best_go_on(capsys):
    """Each learns from the blocks in turn, from the first again after the last."""
    trials = [
        Trial(name, {}, Given(list(scores)))
        for name, scores in (("a", [1, 2, 3, 4, 5]), ("b", [0, 9, 9, 9, 9]))
    ]
    history = _course(verbose=True, prefix="seen ").run(trials, [Rung(2, 1), Rung(1, 4)])
    assert [len(trial.model.blocks) for trial in trials] == [4, 1]
    np.testing.assert_array_equal(trials[0].model.blocks[3], SAMPLES[:15])
    assert [(r["model_id"], r["partial_fit_calls"], r["score"]) for r in history] == [
        ("a", 1, 1.0),
        ("b", 1, 0.0),
        ("a", 4, 4.0),
    ]
    assert capsys.readouterr().out.splitlines()[1] == "seen 1 models, 4 calls, best score 4.0000"
    found = table(trials)
    assert found["rank_test_score"].tolist() == [1, 2]
    assert found["partial_fit_calls"].tolist() == [4, 1]


def test_what_does_not_improve_stops():
    """Once its score has not grown for so many blocks; the others go on."""
    trials = [Trial("a", {}, Given([0, 1, 2, 3, 4, 5])), Trial("b", {}, Given([3, 3, 3, 3, 3, 3]))]
    _course(patience=2).run(trials, [Rung(2, calls) for calls in range(1, 7)])
    assert [len(trial.model.blocks) for trial in trials] == [6, 3]


@pytest.mark.parametrize("lazy", [True, False])
def test_scores(lazy):
    """Lazy predictions are judged as those in memory, by the estimator's own score or another."""
    X, y = (mt.tensor(SAMPLES, chunk_size=15), mt.tensor(CLASSES)) if lazy else (SAMPLES, CLASSES)
    model = SGDClassifier(random_state=0).fit(SAMPLES, CLASSES)
    clusters = MiniBatchKMeans(2, n_init=1, random_state=0).fit(SAMPLES)
    run = lambda jobs: [job[0](*job[1]) for job in jobs]  # joblib's Parallel
    for scoring in (None, "accuracy"):
        ((found, _),) = Judge(model, scoring, X, y)([model], run)
        assert found == model.score(SAMPLES, CLASSES)
    ((found, _),) = Judge(clusters, None, X, None)([clusters], run)
    assert found == pytest.approx(clusters.score(SAMPLES))


def test_parameters_that_only_some_have_are_masked():
    """As in scikit-learn's table."""
    records = [{"score": 1.0, "score_time": 0.0, "partial_fit_calls": 1}]
    trials = [Trial(name, {name: 5}, None, records, [0.1]) for name in "ab"]
    found = table(trials)
    assert found["param_a"].tolist() == [5, None]
    assert found["params"] == [{"a": 5}, {"b": 5}]
