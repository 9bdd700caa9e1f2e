"""Estimators that learn block by block and are judged meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.base import is_classifier, is_regressor

from marsdask.core.session import ensure_session
from marsdask.learn.batches import runs
from marsdask.learn.contrib.joblib.backend import MarsBackend
from marsdask.learn.lazy import is_lazy
from marsdask.learn.metrics.scorer import check_scoring, get_scorer
from marsdask.learn.wrappers import ParallelPostFit

from .samples import in_memory


class Rung(NamedTuple):
    """So many of the best go on, until each has learnt from so many blocks."""

    survivors: int
    calls: int


@dataclass
class Trial:
    """An estimator with drawn parameters, and what has been seen of it."""

    model_id: str
    params: dict[str, Any]
    model: Any
    records: list[dict[str, Any]] = field(default_factory=list)
    fit_times: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The last score."""
        return float(self.records[-1]["score"]) if self.records else -np.inf

    def stalls(self, patience: int, tol: float) -> bool:
        """Tell whether the score has not grown for so many blocks."""
        if not patience:
            return False
        now = self.records[-1]["partial_fit_calls"]
        before = [r["score"] for r in self.records if r["partial_fit_calls"] <= now - patience]
        later = [r["score"] for r in self.records if r["partial_fit_calls"] > now - patience]
        return bool(before) and max(later) < max(before) + tol


class Judge:
    """Scores estimators by samples that they do not learn from."""

    def __init__(self, estimator: Any, scoring: Any, X: Any, y: Any) -> None:
        self._samples = X, y
        has_score = is_classifier(estimator) or is_regressor(estimator)
        if scoring is None and is_lazy(X) and has_score:
            scoring = "accuracy" if is_classifier(estimator) else "r2"
        if scoring is None and is_lazy(X):
            self._samples = in_memory(X), in_memory(y)
        self.scorer = (
            get_scorer(scoring) if isinstance(scoring, str) else check_scoring(estimator, scoring)
        )

    def __call__(self, models: Sequence[Any], parallel: Parallel) -> list[tuple[float, float]]:
        """Return the score of each, and the seconds that it took."""
        X, y = self._samples
        if is_lazy(X):
            return [_score(self.scorer, ParallelPostFit(model), X, y) for model in models]
        jobs = (delayed(_score)(self.scorer, model, X, in_memory(y)) for model in models)
        return list(parallel(jobs))


def _score(scorer: Any, model: Any, X: Any, y: Any) -> tuple[float, float]:
    start = time.perf_counter()
    score = float(scorer(model, X) if y is None else scorer(model, X, y))
    return score, time.perf_counter() - start


def _teach(model: Any, samples: Any, targets: Any, options: dict[str, Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    model.partial_fit(samples, targets, **options)
    return model, time.perf_counter() - start


def _blocks(X: Any, y: Any) -> Iterator[Any]:
    """Yield the blocks of samples and targets over and over."""
    for _ in count():
        yield from runs(X, y)


@dataclass(frozen=True)
class Course:
    """How trials are run: the samples to learn from, who judges, and when one gives up."""

    X: Any
    y: Any
    judge: Judge
    options: dict[str, Any]
    patience: int
    tol: float
    verbose: bool
    prefix: str

    def run(self, trials: Sequence[Trial], rungs: Sequence[Rung]) -> list[dict[str, Any]]:
        """Let the trials learn rung by rung; return all that was seen, in order."""
        blocks, calls, history, start = _blocks(self.X, self.y), 0, [], time.perf_counter()
        with parallel_config(MarsBackend(ensure_session()), n_jobs=-1), Parallel() as parallel:
            for rung in rungs:
                best = sorted(trials, key=lambda trial: -trial.score)[: rung.survivors]
                active = [t for t in best if not t.records or not t.stalls(self.patience, self.tol)]
                if not active:
                    break
                for _ in range(rung.calls - calls):
                    self._teach(active, next(blocks), parallel)
                calls = rung.calls
                scores = self.judge([trial.model for trial in active], parallel)
                for trial, (score, seconds) in zip(active, scores, strict=True):
                    trial.records.append(
                        {
                            "model_id": trial.model_id,
                            "params": trial.params,
                            "partial_fit_calls": calls,
                            "partial_fit_time": trial.fit_times[-1],
                            "score": score,
                            "score_time": seconds,
                            "elapsed_wall_time": time.perf_counter() - start,
                        }
                    )
                    history.append(trial.records[-1])
                if self.verbose:
                    top = max(trial.score for trial in active)
                    text = f"{len(active)} models, {calls} calls, best score {top:.4f}"
                    print(f"{self.prefix}{text}")  # noqa: T201 # as asked for
        return history

    def _teach(self, trials: Sequence[Trial], block: Any, parallel: Parallel) -> None:
        jobs = (delayed(_teach)(trial.model, *block, self.options) for trial in trials)
        for trial, (model, seconds) in zip(trials, parallel(jobs), strict=True):
            trial.model = model
            trial.fit_times.append(seconds)


def table(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return scikit-learn's table of results: a row for each trial."""
    scores = np.array([trial.score for trial in trials])
    names = sorted({name for trial in trials for name in trial.params})
    columns: dict[str, Any] = {
        "params": [trial.params for trial in trials],
        "model_id": np.array([trial.model_id for trial in trials], object),
        "test_score": scores,
        "rank_test_score": np.array([1 + int((scores > score).sum()) for score in scores]),
        "partial_fit_calls": np.array([t.records[-1]["partial_fit_calls"] for t in trials]),
    }
    times = {
        "partial_fit_time": [trial.fit_times for trial in trials],
        "score_time": [[record["score_time"] for record in trial.records] for trial in trials],
    }
    for name, seconds in times.items():
        columns[f"mean_{name}"] = np.array([np.mean(row) for row in seconds])
        columns[f"std_{name}"] = np.array([np.std(row) for row in seconds])
    for name in names:
        values = np.ma.array(np.empty(len(trials), object), mask=True)
        for place, trial in enumerate(trials):
            if name in trial.params:
                values[place] = trial.params[name]
        columns[f"param_{name}"] = values
    return columns
