"""The base of the estimators: samples in memory or lazy, validated as in scikit-learn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn import base
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from marsdask.core.node import Node
from marsdask.core.public import executing_methods
from marsdask.core.sizes import numbers
from marsdask.tensor import tensor
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse, to_csr

from .fitted_values import Twinned, known
from .lazy import adopted, is_lazy, running
from .methods import mars_methods, score_of_lazy, wrap_methods
from .predictions import predictions
from .rows import FiniteBlocks, as_rows, in_memory

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "RowsEstimator", "is_lazy"]

#: What a model for arrays does without: names of columns, and the frames it would make.
_OF_FRAMES = ("feature_names_in_", "_sklearn_output_config")


class ScoresLazily:
    """Scores predictions of lazy samples, which stay lazy until then."""

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        session: Any = None,
        run_kwargs: Any = None,
    ) -> float:
        """Return the accuracy of classes, or the coefficient of determination of numbers.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like
            Their targets.
        sample_weight : array_like, optional
            The weight of each.
        session : Session, optional
            Where to compute.
        run_kwargs : dict, optional
            Arguments of ``execute``.

        Returns
        -------
        float
            The score.
        """
        with running(session, run_kwargs):
            return float(score_of_lazy(self, adopted(X), adopted(y), sample_weight))


class ClassifierMixin(ScoresLazily, base.ClassifierMixin):
    """For classifiers of your own. See sklearn.base.ClassifierMixin.

    Differs from scikit-learn: ``score`` takes lazy samples.
    """


class RegressorMixin(ScoresLazily, base.RegressorMixin):
    """For regressors of your own. See sklearn.base.RegressorMixin.

    Differs from scikit-learn: ``score`` takes lazy samples.
    """


class RowsEstimator(Twinned):
    """Accepts arrays, frames, tensors, Dask's collections; put it before the estimator class.

    Lazy samples give lazy results: ``transform`` and ``predict`` compute no values. What is in
    memory goes to scikit-learn. Each method also takes ``session`` and ``run_kwargs``.
    """

    #: Whether samples may be sparse, as far as scikit-learn's class takes them.
    _takes_sparse: ClassVar[bool] = False
    _keeps_half: ClassVar[bool] = False
    """Whether samples of float16 stay so, as in scikit-learn; others become float64."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        wrap_methods(cls)
        executing_methods(cls)
        mars_methods(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, known(value) if name.endswith("_") else value)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)  # type: ignore[misc]
        for name, value in vars(self).items():
            setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = tags.input_tags.sparse and self._takes_sparse
        tags.array_api_support = False
        return tags

    def _samples(self, X: Any, *, reset: bool, allow_nan: bool = False) -> Node:
        """Return the samples as the node of a tensor of floats; ``reset`` stores their columns."""
        if not is_lazy(X):
            finite = "allow-nan" if allow_nan else True
            kinds = [np.float64, np.float32, *([np.float16] if self._keeps_half else [])]
            samples = validate_data(
                self,
                X,
                reset=reset,
                dtype=kinds,
                ensure_all_finite=finite,
                accept_sparse="csr" if self._takes_sparse else False,
            )
            return (
                as_node(tensor(samples), sparse=True) if issparse(samples) else in_memory(samples)
            )
        rows = self._as_rows(X)
        meta = X.node.meta
        columns = meta if isinstance(meta, pd.DataFrame) else np.empty((0, *numbers(X.shape[1:])))
        validate_data(self, columns, reset=reset, skip_check_array=True)
        for length, name in zip(rows.shape, ("sample", "feature"), strict=True):
            if length == 0:
                raise ValueError(
                    f"Found array with 0 {name}(s) while a minimum of 1 is required by "
                    f"{type(self).__name__}."
                )
        return rows

    def _as_rows(self, X: Any) -> Node:
        return as_rows(X, sparse=self._takes_sparse, half=self._keeps_half)

    def _finite(self, X: Any, *, allow_nan: bool = False) -> Node:
        """Return lazy samples to transform, whose values are checked when they are computed."""
        return FiniteBlocks(self._samples(X, reset=False), allow_nan)

    def _predictions(self, method: str, X: Any) -> Any:
        """Return the lazy tensor of what a method of scikit-learn's estimator gives."""
        backward = method == "inverse_transform"
        rows = self._as_rows(X) if backward else self._samples(X, reset=False)
        sample = np.zeros((1, *numbers(rows.shape[1:])), rows.meta.dtype)
        sample = to_csr(sample) if is_sparse(rows.meta) else sample
        return predictions(self._twin_of_arrays(), method, rows, sample)

    def _twin_of_arrays(self) -> Any:
        """Return scikit-learn's estimator that has learnt the same, for samples without names."""
        model = self.to_sklearn()
        for name in _OF_FRAMES:
            vars(model).pop(name, None)
        return model
