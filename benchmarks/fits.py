"""Jobs of `benchmarks.memory` for each way to fit: statistics, passes, samples and chunks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

COLUMNS = 16
WEIGHTS = np.linspace(-1.0, 1.0, COLUMNS)


def samples(size: int) -> tuple[Any, Any]:
    """Return lazy samples of `size` bytes, and numbers that they tell but for some noise."""
    rand = import_module("marsdask.tensor").random.RandomState(0).rand
    rows, chunk = max(64, size // (8 * COLUMNS)), 1 << 16
    x = rand(rows, COLUMNS, chunk_size=(chunk, COLUMNS))
    return x, x @ WEIGHTS + 0.1 * rand(rows, chunk_size=chunk)


def model(module: str, name: str, **params: Any) -> Any:
    """Return an estimator."""
    return getattr(import_module(f"marsdask.learn.{module}"), name)(**params)


def statistics(size: int) -> dict[str, float]:
    """Scale the samples, and fit a ridge regression: a pass each."""
    x, y = samples(size)
    scaled = model("preprocessing", "StandardScaler").fit_transform(x)
    found = model("linear_model", "Ridge").fit(scaled, y).coef_
    worst = float(np.abs(found / np.sqrt(1 / 12) - WEIGHTS).max())
    return {"worst": worst, "right": worst < 0.05}


def passes(size: int) -> dict[str, float]:
    """Fit a logistic regression to samples that are held."""
    x, y = samples(size)
    fitted = model("linear_model", "LogisticRegression").fit(x, y > 0)
    score = float(fitted.score(x, y > 0))
    return {"iterations": float(fitted.n_iter_[0]), "score": score, "right": score > 0.9}


def draws(size: int) -> dict[str, float]:
    """Fit trees to rows that are drawn."""
    x, _ = samples(size)
    fitted = model("ensemble", "IsolationForest", n_estimators=8, random_state=0).fit(x)
    found = fitted.predict(x)
    share = float((found == 1).mean().compute())
    same = (found[:1000].compute() == fitted.to_sklearn().predict(x[:1000].compute())).all()
    return {"inliers": share, "right": bool(same) and len(fitted.estimators_) == 8}


def chunks(size: int) -> dict[str, float]:
    """Fit a linear model by steps, chunk by chunk."""
    x, y = samples(size)
    fitted = model("linear_model", "SGDRegressor", max_iter=1, tol=None, random_state=0).fit(x, y)
    score = float(fitted.score(x, y))
    return {"score": score, "right": score > 0.5}


JOBS = {"statistics": statistics, "passes": passes, "draws": draws, "chunks": chunks}
