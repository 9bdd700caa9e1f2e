"""Searches for the best parameters, over lazy samples too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import sklearn.experimental.enable_halving_search_cv  # noqa: F401 # offers the halving searches
from joblib import parallel_config
from joblib.parallel import BACKENDS, get_active_backend
from sklearn import model_selection

from marsdask.core.session import ensure_session
from marsdask.learn.contrib.joblib.backend import MarsBackend
from marsdask.learn.lazy import is_lazy, running
from marsdask.learn.metrics.scorer import measuring_lazily

from .prefixes import sharing, unshared
from .samples import held


class LazySearch:
    """Fits and judges estimators on parts of lazy samples; put it before scikit-learn's class.

    Steps that candidates share are fitted once for each part of the samples. With samples in
    memory, each fit is a task of the session, unless ``n_jobs`` or joblib's context says otherwise.
    """

    def fit(
        self, X: Any, y: Any = None, *, session: Any = None, run_kwargs: Any = None, **params: Any
    ) -> Self:
        """Fit the estimator with each candidate's parameters; keep the best.

        Lazy samples are computed once and held.
        """
        with running(session, run_kwargs):
            X, y = held(X, y)
            estimator: Any = vars(self)["estimator"]
            pipeline = sharing(estimator)
            try:
                vars(self)["estimator"] = estimator if pipeline is None else pipeline
                with nullcontext() if is_lazy(X) or is_lazy(y) else self._in_tasks():
                    super().fit(X, y, **params)  # type: ignore[misc]
            finally:
                vars(self)["estimator"] = estimator
        if pipeline is not None and "best_estimator_" in vars(self):
            unshared(vars(self)["best_estimator_"])
        return self

    @contextmanager
    def _in_tasks(self) -> Iterator[None]:
        """Let joblib run in the session where nobody says how it should."""
        backend, n_jobs = get_active_backend()
        silent = type(backend) is BACKENDS["loky"] and n_jobs in (None, 1)
        if vars(self)["n_jobs"] is not None or not silent:
            yield
            return
        with parallel_config(MarsBackend(ensure_session()), n_jobs=-1):
            yield

    def _get_scorers(self) -> Any:
        scorers, refit_metric = super()._get_scorers()  # type: ignore[misc]
        return measuring_lazily(scorers), refit_metric


class GridSearchCV(LazySearch, model_selection.GridSearchCV):
    """Try all combinations of parameters. See sklearn.model_selection.GridSearchCV.

    Differs from scikit-learn: takes tensors and frames; parts of them stay lazy, so that estimators
    of ours fit them at any size. Steps of pipelines that candidates share are fitted once. With
    samples in memory, fits are tasks of the session unless ``n_jobs`` is given.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Ridge
    >>> from marsdask.learn.model_selection import GridSearchCV
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> GridSearchCV(Ridge(), {"alpha": [0.0, 10.0]}, cv=2).fit(X, 2 * X[:, 0]).best_params_
    {'alpha': 0.0}
    """


class RandomizedSearchCV(LazySearch, model_selection.RandomizedSearchCV):
    """Try parameters that are drawn. See sklearn.model_selection.RandomizedSearchCV.

    Differs from scikit-learn as :class:`GridSearchCV` does.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Ridge
    >>> from marsdask.learn.model_selection import RandomizedSearchCV
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> search = RandomizedSearchCV(Ridge(), {"alpha": [0.0, 10.0]}, n_iter=2, cv=2)
    >>> search.fit(X, 2 * X[:, 0]).best_params_
    {'alpha': 0.0}
    """


class HalvingGridSearchCV(LazySearch, model_selection.HalvingGridSearchCV):
    """Try all combinations on few samples, and the best of them on more.

    See sklearn.model_selection.HalvingGridSearchCV. Differs from scikit-learn as
    :class:`GridSearchCV` does, and needs no import of ``sklearn.experimental``.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Ridge
    >>> from marsdask.learn.model_selection import HalvingGridSearchCV
    >>> X = mt.arange(40.0, chunk_size=20).reshape(-1, 1)
    >>> search = HalvingGridSearchCV(Ridge(), {"alpha": [0.0, 1e6]}, cv=2, random_state=0)
    >>> search.fit(X, 2 * X[:, 0]).best_params_
    {'alpha': 0.0}
    """


class HalvingRandomSearchCV(LazySearch, model_selection.HalvingRandomSearchCV):
    """Try drawn parameters on few samples, and the best of them on more.

    See sklearn.model_selection.HalvingRandomSearchCV. Differs from scikit-learn as
    :class:`GridSearchCV` does, and needs no import of ``sklearn.experimental``.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Ridge
    >>> from marsdask.learn.model_selection import HalvingRandomSearchCV
    >>> X = mt.arange(40.0, chunk_size=20).reshape(-1, 1)
    >>> drawn = {"alpha": [0.0, 1e6]}
    >>> search = HalvingRandomSearchCV(Ridge(), drawn, n_candidates=2, cv=2, random_state=0)
    >>> search.fit(X, 2 * X[:, 0]).best_params_
    {'alpha': 0.0}
    """
