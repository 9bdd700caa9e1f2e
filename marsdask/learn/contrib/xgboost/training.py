"""Training and predicting by XGBoost, by functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xgboost
from xgboost import dask as xgboost_dask

from marsdask.learn.contrib.boosting import session_client
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.predictions import predictions, rows_of

from .matrix import MarsDMatrix


def train(
    params: Mapping[str, Any],
    dtrain: MarsDMatrix,
    evals: Sequence[tuple[MarsDMatrix, str]] = (),
    evals_result: dict[str, Any] | None = None,
    *,
    session: Any = None,
    run_kwargs: Any = None,
    **kwargs: Any,
) -> xgboost.Booster:
    """Learn boosted trees. See xgboost.train.

    Parameters
    ----------
    params : dict
        XGBoost's parameters.
    dtrain : MarsDMatrix
        What to learn from.
    evals : list of (MarsDMatrix, str), optional
        What to evaluate in each round, with a name.
    evals_result : dict, optional
        Takes the results of the evaluations.
    session, run_kwargs : optional
        Where to compute, and arguments of ``execute``.
    **kwargs
        Other arguments of XGBoost's function, such as ``num_boost_round``.

    Returns
    -------
    xgboost.Booster
        The trees.

    Examples
    --------
    >>> from marsdask.learn.contrib.xgboost import MarsDMatrix, predict, train
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> trees = train({"min_child_weight": 0}, MarsDMatrix(X, [0, 0, 1, 1]), num_boost_round=50)
    >>> predict(trees, X).fetch().round(1).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    params = dict(params)
    with running(session, run_kwargs):
        client = session_client()
        make: Any = MarsDMatrix.local
        if client is not None:
            make = lambda one, **how: one.on_cluster(client, **how)  # noqa: E731 - never in a task
        matrix = make(dtrain, max_bin=params.get("max_bin"))
        pairs = [
            (
                matrix if one is dtrain else make(one, ref=matrix, max_bin=params.get("max_bin")),
                name,
            )
            for one, name in evals
        ]
        if client is None:
            return xgboost.train(params, matrix, evals=pairs, evals_result=evals_result, **kwargs)
        result = xgboost_dask.train(client, params, matrix, evals=pairs, **kwargs)
    if evals_result is not None:
        evals_result.update(result["history"])
    booster: xgboost.Booster = result["booster"]
    return booster


@dataclass(frozen=True)
class BoosterOfBlocks:
    """Predicts from blocks instead of matrices."""

    booster: Any

    def predict(self, X: Any, **options: Any) -> Any:
        """Return the predictions of a block of samples."""
        return self.booster.predict(xgboost.DMatrix(X, enable_categorical=True), **options)


@as_mars
def predict(
    model: Any,
    data: Any,
    output_margin: bool = False,
    *,
    validate_features: bool = True,
    session: Any = None,
    run_kwargs: Any = None,
    run: bool = True,
) -> Any:
    """Return the predictions of trees for samples. See xgboost.Booster.predict.

    Parameters
    ----------
    model : xgboost.Booster or XGBModel
        The trees.
    data : array_like, frame or MarsDMatrix
        The samples.
    output_margin : bool
        Whether sums of leaves are wanted, not what they stand for.
    validate_features : bool
        Whether the names of features have to be those that the trees know.
    session : Session, optional
        Where to compute.
    run_kwargs : dict, optional
        Arguments of ``execute``.
    run : bool
        Whether a lazy result is executed.

    Returns
    -------
    Tensor or array
        The prediction of each sample: a tensor for lazy samples.

    Examples
    --------
    >>> from marsdask.learn.contrib.xgboost import MarsDMatrix, predict, train
    >>> X = mt.ones((3, 1))
    >>> predict(train({}, MarsDMatrix(X, [2, 2, 2])), X, run=False).shape
    (3,)
    """
    booster = model.get_booster() if isinstance(model, xgboost.XGBModel) else model
    X = data.data if isinstance(data, MarsDMatrix) else adopted(data)
    how = {"output_margin": output_margin, "validate_features": validate_features}
    of_blocks = BoosterOfBlocks(booster)
    if not is_lazy(X):
        return of_blocks.predict(X, **how)
    with running(session, run_kwargs):
        rows, sample = rows_of(X)
        result = predictions(of_blocks, "predict", rows, sample, **how)
        return result.execute() if run else result
