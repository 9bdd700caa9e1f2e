"""A model for each part of the samples, joined by statsmodels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import parallel_config
from statsmodels.base.distributed_estimation import DistributedModel

from marsdask.core.collection import collect
from marsdask.core.session import ensure_session
from marsdask.learn.batches import runs
from marsdask.learn.contrib.boosting import in_memory
from marsdask.learn.contrib.joblib import register_mars_backend
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.predictions import predictions, rows_of
from marsdask.learn.rows import as_rows, held
from marsdask.tensor import tensor


class MarsDistributedModel:
    """Estimate a model of each part of the samples at the same time, and join the results.

    See statsmodels.base.distributed_estimation.DistributedModel, whose arguments the others are.
    Each part is brought to this process, and from here to the worker that estimates. The default
    estimation takes no more parts than there are variables.

    Parameters
    ----------
    factor : float, optional
        The number of parts for each of the session's cores.
    num_partitions : int, optional
        The number of parts; by default those that ``factor`` says, else as many as cores.
    model_class, init_kwds, estimation_method, estimation_kwds : optional
        The model, and how it is estimated; by default a debiased regularized regression.
    join_method, join_kwds, results_class, results_kwds : optional
        How estimates become one result.

    Raises
    ------
    ValueError
        If both ``factor`` and ``num_partitions`` are given, or no parts are asked for.

    Examples
    --------
    >>> from marsdask.learn.contrib.statsmodels import MarsDistributedModel
    >>> X = mt.stack([mt.ones(6), mt.arange(6.0)], axis=1)
    >>> y = [1.0, 3.5, 5.0, 7.0, 8.5, 11.0]
    >>> found = MarsDistributedModel(num_partitions=1).fit(y, X, alpha=0.0)
    >>> found.predict(X).compute().round(1)
    array([ 1.2,  3.1,  5. ,  7. ,  8.9, 10.8])
    """

    def __init__(
        self,
        factor: float | None = None,
        num_partitions: int | None = None,
        model_class: Any = None,
        init_kwds: Any = None,
        estimation_method: Any = None,
        estimation_kwds: Any = None,
        join_method: Any = None,
        join_kwds: Any = None,
        results_class: Any = None,
        results_kwds: Any = None,
    ) -> None:
        if factor is not None and num_partitions is not None:
            raise ValueError("give factor or num_partitions, not both")
        for name, number in (("factor", factor), ("num_partitions", num_partitions)):
            if number is not None and number <= 0:
                raise ValueError(f"{name} should be positive, got {number}")
        self._factor = factor
        self._partitions = num_partitions
        self._options = {
            "model_class": model_class,
            "init_kwds": init_kwds,
            "estimation_method": estimation_method,
            "estimation_kwds": estimation_kwds,
            "join_method": join_method,
            "join_kwds": join_kwds,
            "results_class": results_class,
            "results_kwds": results_kwds,
        }

    def fit(self, endog: Any, exog: Any, session: Any = None, **kwargs: Any) -> MarsResults:
        """Estimate the parameters.

        Parameters
        ----------
        endog : array_like
            The dependent variable.
        exog : array_like or frame
            The independent variables.
        session : Session, optional
            Where to estimate.
        **kwargs
            Arguments of the model's ``fit``.

        Returns
        -------
        MarsResults
            The joined results.

        Raises
        ------
        ValueError
            If there are no rows, or not as many of both variables.

        Examples
        --------
        >>> from marsdask.learn.contrib.statsmodels import MarsDistributedModel
        >>> X = mt.stack([mt.ones(6), mt.arange(6.0)], axis=1)
        >>> y = [1.0, 3.5, 5.0, 7.0, 8.5, 11.0]
        >>> MarsDistributedModel(num_partitions=1).fit(y, X, alpha=0.0).params.round(2)
        array([1.21, 1.91])
        """
        with running(session):
            runner = ensure_session()
            X = adopted(exog)
            (node,) = held(as_rows(X if is_lazy(X) else tensor(np.asarray(X))))
            samples = collect(node)
            rows = int(samples.shape[0])
            if rows == 0:
                raise ValueError("there are no rows in exog")
            least = -(-rows // min(self._count(runner), rows))
            target = np.asarray(in_memory(endog)).ravel()
            if len(target) != rows:
                raise ValueError(f"endog has {len(target)} rows, exog {rows}")
            model = DistributedModel(-(-rows // least), **self._options)
            register_mars_backend()
            with parallel_config(backend="marsdask", session=runner):
                results = model.fit(
                    _parts(samples, target, least), fit_kwds=kwargs, parallel_method="joblib"
                )
        return MarsResults(results)

    def _count(self, used: Any) -> int:
        """Return how many parts are asked for."""
        if self._partitions is not None:
            return self._partitions
        factor = 1 if self._factor is None else self._factor
        return max(1, int(factor * used.get_total_n_cpu()))


def _parts(samples: Any, target: Any, size: int) -> Iterator[tuple[Any, Any]]:
    """Iterate over the targets and samples of parts of equal length but for the last."""
    for block, values in runs(samples.rechunk({0: size, 1: -1}), target):
        yield values, block


class MarsResults:
    """The results of a distributed model, which predict lazily.

    Parameters
    ----------
    model : object
        The results of statsmodels.

    Examples
    --------
    >>> from marsdask.learn.contrib.statsmodels import MarsDistributedModel
    >>> X = mt.stack([mt.ones(6), mt.arange(6.0)], axis=1)
    >>> y = [1.0, 3.5, 5.0, 7.0, 8.5, 11.0]
    >>> found = MarsDistributedModel(num_partitions=1).fit(y, X, alpha=0.0)
    >>> type(found.model).__name__
    'RegularizedResults'
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def model(self) -> Any:
        """Statsmodels' own results."""
        return self._model

    @property
    def params(self) -> Any:
        """The estimated parameters."""
        return self._model.params

    def predict(self, exog: Any, *args: Any, session: Any = None, **kwargs: Any) -> Any:
        """Return the predictions for other samples, lazy for lazy ones.

        Parameters
        ----------
        exog : array_like or frame
            The independent variables.
        *args
            Arguments of statsmodels' method.
        session : Session, optional
            Where to compute.
        **kwargs
            Arguments of statsmodels' method.

        Returns
        -------
        Tensor or array
            The predictions.

        Raises
        ------
        NotImplementedError
            If lazy samples come with arguments by position.

        Examples
        --------
        >>> from marsdask.learn.contrib.statsmodels import MarsDistributedModel
        >>> X = mt.stack([mt.ones(6), mt.arange(6.0)], axis=1)
        >>> y = [1.0, 3.5, 5.0, 7.0, 8.5, 11.0]
        >>> found = MarsDistributedModel(num_partitions=1).fit(y, X, alpha=0.0)
        >>> found.predict([[1.0, 10.0]]).round(1)
        array([20.4])
        """
        X = adopted(exog)
        if not is_lazy(X):
            return self._model.predict(X, *args, **kwargs)
        if args:
            raise NotImplementedError("give arguments of lazy predictions by name")
        with running(session):
            rows, sample = rows_of(X)
            return predictions(self._model, "predict", rows, sample, **kwargs)
