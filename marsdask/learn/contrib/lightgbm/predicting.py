"""Predicting by LightGBM's models, by functions."""

from __future__ import annotations

from typing import Any

from marsdask.learn.contrib.boosting import BoostedTrees
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.predictions import predictions, rows_of


def _predicted(
    method: str, model: Any, data: Any, session: Any, run_kwargs: Any, run: bool, **kwargs: Any
) -> Any:
    X = adopted(data)
    plain = model.to_sklearn() if isinstance(model, BoostedTrees) else model
    if not is_lazy(X):
        return getattr(plain, method)(X, **kwargs)
    with running(session, run_kwargs):
        rows, sample = rows_of(X)
        found = predictions(plain, method, rows, sample, **kwargs)
        return found.execute() if run else found


def predict(
    model: Any,
    data: Any,
    session: Any = None,
    run_kwargs: Any = None,
    run: bool = True,
    **kwargs: Any,
) -> Any:
    """Return the prediction of each sample by a model, lazy for lazy samples.

    Parameters
    ----------
    model : lightgbm.LGBMModel or lightgbm.Booster
        The trees.
    data : array_like or frame
        The samples.
    session : Session, optional
        Where to compute.
    run_kwargs : dict, optional
        Arguments of ``execute``.
    run : bool
        Whether a lazy result is executed.
    **kwargs
        Other arguments of LightGBM's method.

    Returns
    -------
    Tensor or array
        The predictions.

    Examples
    --------
    >>> from marsdask.learn.contrib.lightgbm import LGBMRegressor, predict
    >>> X = mt.ones((30, 1), chunk_size=10)
    >>> model = LGBMRegressor(verbose=-1).fit(X, [2.0] * 30)
    >>> predict(model, X[:2]).fetch().tolist()
    [2.0, 2.0]
    """
    return _predicted("predict", model, data, session, run_kwargs, run, **kwargs)


def predict_proba(
    model: Any,
    data: Any,
    session: Any = None,
    run_kwargs: Any = None,
    run: bool = True,
    **kwargs: Any,
) -> Any:
    """Return the probability of each sample's classes by a model, lazy for lazy samples.

    Parameters
    ----------
    model : lightgbm.LGBMClassifier
        The trees.
    data : array_like or frame
        The samples.
    session : Session, optional
        Where to compute.
    run_kwargs : dict, optional
        Arguments of ``execute``.
    run : bool
        Whether a lazy result is executed.
    **kwargs
        Other arguments of LightGBM's method.

    Returns
    -------
    Tensor or array
        A row for each sample, a column for each class.

    Examples
    --------
    >>> from marsdask.learn.contrib.lightgbm import LGBMClassifier, predict_proba
    >>> X = mt.tensor([[0.0], [1.0]] * 20, chunk_size=10)
    >>> model = LGBMClassifier(verbose=-1).fit(X, [0, 1] * 20)
    >>> predict_proba(model, X[:2]).fetch().round().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _predicted("predict_proba", model, data, session, run_kwargs, run, **kwargs)
