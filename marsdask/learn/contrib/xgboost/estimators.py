"""XGBoost's estimators over lazy samples."""

from __future__ import annotations

from typing import Any, Self

import xgboost
from xgboost import dask as xgboost_dask

from marsdask.learn.contrib.boosting import (
    BoostedTrees,
    beside,
    check_supported,
    held_samples,
    in_memory,
    pairs,
    pairs_of_dask,
    session_client,
    whole_samples,
)
from marsdask.learn.lazy import is_lazy

from .matrix import PARTS, quantile_matrix

#: Arguments of XGBoost's own fit that lazy samples may have.
_SUPPORTED = ("verbose", "xgb_model")

#: What its Dask interface has besides, and what is a property here.
_OF_CLUSTER = ("_client", "_asynchronous", "client", "classes_", "coll_cfg")


class XGBoostTrees(BoostedTrees):
    """The parts that the classes have in common."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Learn the trees. See xgboost.XGBModel.fit.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like
            Their targets: numbers.
        sample_weight, base_margin : array_like, optional
            The weight of each, and the prediction from which to start.
        eval_set : list of tuple, optional
            Samples and targets to evaluate in each round.
        **kwargs
            Other arguments of XGBoost's method.

        Returns
        -------
        Self
            This estimator.

        Raises
        ------
        NotImplementedError
            If lazy samples come with other arguments than those above.
        """
        own = {"sample_weight": sample_weight, "base_margin": base_margin}
        evaluated = pairs(eval_set)
        if not is_lazy(X):
            evaluated = in_memory(evaluated)
            super().fit(X, y, eval_set=evaluated or None, **own, **kwargs)  # type: ignore[misc]
            return self
        check_supported("xgboost", kwargs, _SUPPORTED)
        client = session_client()
        if client is not None:
            self._fit_on(client, X, y, eval_set=evaluated, **own, **kwargs)
            return self
        samples = held_samples(X)
        evaluated = [(samples if a is X else a, in_memory(b)) for a, b in evaluated]
        how = {name: in_memory(item) for name, item in own.items()} | kwargs
        super().fit(samples, in_memory(y), eval_set=evaluated or None, **how)  # type: ignore[misc]
        return self

    def _create_dmatrix(self, ref: Any, **kwargs: Any) -> Any:
        """Return the matrix that XGBoost's own ``fit`` learns from."""
        model: Any = self
        if not is_lazy(kwargs["data"]):
            return super()._create_dmatrix(ref, **kwargs)  # type: ignore[misc]
        parts = {name: kwargs.get(name) for name in PARTS}
        names = {"feature_types": kwargs.get("feature_types")}
        return quantile_matrix(
            kwargs["data"],
            parts,
            names,
            ref=ref,
            missing=kwargs["missing"],
            max_bin=model.max_bin,
            nthread=model.n_jobs,
            enable_categorical=kwargs["enable_categorical"],
        )

    def _fit_on(self, client: Any, X: Any, y: Any, *, eval_set: Any, **kwargs: Any) -> None:
        """Learn by XGBoost's Dask interface, from the session's Futures."""
        model: Any = self
        twin = self._of_dask(**model.get_params())
        twin.client = client
        samples = whole_samples(X)
        for name in ("sample_weight", "base_margin"):
            kwargs[name] = beside(kwargs[name], samples)
        evaluated = pairs_of_dask(eval_set, X, samples)
        twin.fit(samples.to_dask(), beside(y, samples), eval_set=evaluated, **kwargs)
        names = vars(twin).keys() - {*model.get_params(), *_OF_CLUSTER}
        vars(self).update({name: vars(twin)[name] for name in names})
        model.objective = twin.objective


class XGBRegressor(XGBoostTrees, xgboost.XGBRegressor):
    """Regression by XGBoost. See xgboost.XGBRegressor.

    Differs from XGBoost: takes tensors and frames. On a session with a ``distributed.Client`` it
    learns by ``xgboost.dask``; else in this process, to which one chunk after the other is brought.

    Examples
    --------
    >>> from marsdask.learn.contrib.xgboost import XGBRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = XGBRegressor(min_child_weight=0).fit(X, [0.0, 0.0, 4.0, 4.0])
    >>> model.predict(X).compute().round(1).tolist()
    [0.0, 0.0, 4.0, 4.0]
    """

    def _of_dask(self, **params: Any) -> Any:
        return xgboost_dask.DaskXGBRegressor(**params)


class XGBClassifier(XGBoostTrees, xgboost.XGBClassifier):
    """Classification by XGBoost. See xgboost.XGBClassifier.

    Differs from XGBoost: takes tensors and frames. On a session with a ``distributed.Client`` it
    learns by ``xgboost.dask``; else in this process, to which one chunk after the other is brought.
    Classes are numbers from 0 on, as there.

    Examples
    --------
    >>> from marsdask.learn.contrib.xgboost import XGBClassifier
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> XGBClassifier(min_child_weight=0).fit(X, [0, 0, 1, 1]).predict(X).compute().tolist()
    [0, 0, 1, 1]
    """

    def _of_dask(self, **params: Any) -> Any:
        return xgboost_dask.DaskXGBClassifier(**params)
