"""Scorers by scikit-learn's names, which measure lazy predictions by our metrics."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sklearn import metrics

from . import classification, probabilities, ranking, regression

_MODULES = (classification, probabilities, ranking, regression)


def get_scorer(scoring: str | Callable[..., Any], **kwargs: Any) -> Any:
    """Return the scorer of a name, or one that measures by a function of targets and predictions.

    See sklearn.metrics.get_scorer. Differs from scikit-learn: a function is no scorer yet, but
    becomes one, with ``kwargs`` as in ``make_scorer``, as in Mars.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from marsdask.learn.metrics import get_scorer
    >>> model = DummyRegressor().fit([[0], [1]], [0, 2])
    >>> float(get_scorer("r2")(model, np.zeros((2, 1)), mt.tensor([0, 2])))
    0.0
    """
    if callable(scoring):
        return scoring if _is_scorer(scoring) else make_scorer(scoring, **kwargs)
    return measuring_lazily(metrics.get_scorer(scoring))


def make_scorer(score_func: Callable[..., Any], **kwargs: Any) -> Any:
    """Return a scorer of a function of targets and predictions. See sklearn.metrics.make_scorer."""
    return measuring_lazily(metrics.make_scorer(score_func, **kwargs))


def check_scoring(estimator: Any = None, scoring: Any = None, **kwargs: Any) -> Any:
    """Return the scorer of an estimator. See sklearn.metrics.check_scoring."""
    return measuring_lazily(metrics.check_scoring(estimator, scoring, **kwargs))


def get_scorer_names() -> list[str]:
    """Return the names of scorers. See sklearn.metrics.get_scorer_names."""
    return list(metrics.get_scorer_names())


def _is_scorer(function: Any) -> bool:
    return isinstance(function, type(metrics.get_scorer("accuracy")))


def measuring_lazily(scorer: Any) -> Any:
    """Return a scorer of scikit-learn's with our metric in place of its own."""
    several = vars(scorer).get("_scorers")
    if several is not None:
        scorer = copy.copy(scorer)
        scorer._scorers = {name: measuring_lazily(item) for name, item in several.items()}
        return scorer
    if not _is_scorer(scorer):
        return scorer
    name = getattr(scorer._score_func, "__name__", "")  # a partial function has none
    function = next((vars(module)[name] for module in _MODULES if name in vars(module)), None)
    if function is None or getattr(metrics, name, None) is not scorer._score_func:
        return scorer
    scorer = copy.copy(scorer)
    scorer._score_func = function
    return scorer


#: The scorers by their names; dask-ml's name.
SCORERS = {name: get_scorer(name) for name in get_scorer_names()}
