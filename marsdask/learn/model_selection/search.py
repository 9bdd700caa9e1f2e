"""Searches for the best parameters, over lazy samples too."""

from __future__ import annotations

from typing import Any, Self

from sklearn import model_selection

from marsdask.learn.lazy import running
from marsdask.learn.metrics.scorer import measuring_lazily

from .samples import held


class LazySearch:
    """Fits and judges estimators on parts of lazy samples; put it before scikit-learn's class."""

    def fit(
        self, X: Any, y: Any = None, *, session: Any = None, run_kwargs: Any = None, **params: Any
    ) -> Self:
        """Fit the estimator with each candidate's parameters; keep the best.

        Lazy samples are computed once and held.
        """
        with running(session, run_kwargs):
            X, y = held(X, y)
            super().fit(X, y, **params)  # type: ignore[misc]
        return self

    def _get_scorers(self) -> Any:
        scorers, refit_metric = super()._get_scorers()  # type: ignore[misc]
        return measuring_lazily(scorers), refit_metric


class GridSearchCV(LazySearch, model_selection.GridSearchCV):
    """Try all combinations of parameters. See sklearn.model_selection.GridSearchCV.

    Differs from scikit-learn: takes tensors and frames; parts of them stay lazy, so that estimators
    of ours fit them at any size.
    """


class RandomizedSearchCV(LazySearch, model_selection.RandomizedSearchCV):
    """Try parameters that are drawn. See sklearn.model_selection.RandomizedSearchCV.

    Differs from scikit-learn: takes tensors and frames; parts of them stay lazy, so that estimators
    of ours fit them at any size.
    """
