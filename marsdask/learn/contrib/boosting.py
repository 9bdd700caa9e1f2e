"""Common parts of learners of boosted trees: chunks in turn, Dask's collections, predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, collect
from marsdask.core.public import public_methods
from marsdask.core.session import ensure_session
from marsdask.dataframe import DataFrame
from marsdask.learn.fitted_values import Twinned
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.methods import mars_methods, wrap_methods
from marsdask.learn.predictions import predictions, rows_of
from marsdask.learn.rows import held
from marsdask.learn.targets import as_labels
from marsdask.scheduler.base import HoldsFutures
from marsdask.tensor import tensor


def session_client() -> Any:
    """Return the ``distributed.Client`` of the session, ``None`` if it has none."""
    scheduler = ensure_session().scheduler
    return scheduler.client if isinstance(scheduler, HoldsFutures) else None


def in_memory(item: Any) -> Any:
    """Return the value of an argument: lazy ones are computed, also those in lists."""
    if isinstance(item, list | tuple):
        return type(item)(in_memory(part) for part in item)
    item = adopted(item)
    return item.compute() if isinstance(item, Collection) else item


def held_samples(X: Any) -> Any:
    """Return lazy samples computed, so that each pass only reads them."""
    (node,) = held(X.node)
    return collect(node)


def whole_samples(X: Any) -> Any:
    """Return samples of any form as held ones in chunks of whole rows."""
    if not is_lazy(X):
        X = DataFrame(X) if isinstance(X, pd.DataFrame) else tensor(X)
    return held_samples(X if isinstance(X.node.meta, pd.DataFrame) else X.rechunk({1: -1}))


def beside(item: Any, samples: Any) -> Any:
    """Return targets or weights as Dask's array of Futures, cut as held samples are."""
    if item is None:
        return None
    values = as_labels(adopted(item))
    return held_samples(values.rechunk((samples.node.chunks[0],))).to_dask()


def pairs(eval_set: Any) -> list[tuple[Any, Any]]:
    """Return the samples and targets to evaluate; one pair may stand alone."""
    items = [eval_set] if isinstance(eval_set, tuple) else eval_set or ()
    return [(adopted(samples), targets) for samples, targets in items]


def pairs_of_dask(evaluated: Sequence[tuple[Any, Any]], X: Any, samples: Any) -> Any:
    """Return pairs as Dask's arrays of Futures; ``samples`` are those of ``X``."""
    result = []
    for data, targets in evaluated:
        rows = samples if data is X else whole_samples(data)
        result.append((rows.to_dask(), beside(targets, rows)))
    return result or None


def check_supported(library: str, options: dict[str, Any], supported: Sequence[str] = ()) -> None:
    """Refuse arguments of ``fit`` that lazy samples cannot have."""
    names = [name for name, item in options.items() if item is not None and name not in supported]
    if names:
        raise NotImplementedError(
            f"{', '.join(names)} of {library} are not supported with lazy samples; compute() them"
        )


def _tells_probabilities(model: Any) -> bool:
    return isinstance(model, ClassifierMixin)


class BoostedTrees(Twinned):
    """Predicts lazily for lazy samples; put it before the estimator's class.

    Each method also takes ``session`` and ``run_kwargs``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        wrap_methods(cls)
        public_methods(cls)
        mars_methods(cls)

    def to_local(self) -> Any:
        """Return the library's own estimator that has learnt the same; it needs no marsdask."""
        return self.to_sklearn()

    def _of_dask(self, **params: Any) -> Any:
        """Return the estimator of the library's Dask interface."""
        raise NotImplementedError

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Return the prediction of each sample, lazy for lazy samples.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        **kwargs
            Other arguments of the library's method.

        Returns
        -------
        Tensor or array
            The predictions.
        """
        return self._called("predict", X, **kwargs)

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, **kwargs: Any) -> Any:
        """Return the probability of each class, lazy for lazy samples.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        **kwargs
            Other arguments of the library's method.

        Returns
        -------
        Tensor or array
            A row for each sample, a column for each class.
        """
        return self._called("predict_proba", X, **kwargs)

    def _called(self, method: str, X: Any, **options: Any) -> Any:
        if not is_lazy(X):
            return getattr(super(), method)(X, **options)
        check_is_fitted(self)
        rows, sample = rows_of(X)
        return predictions(self._plain(), method, rows, sample, **options)

    def _plain(self) -> Any:
        """Return what predicts runs of rows."""
        return self.to_sklearn()
