"""Common code of the estimators: samples in memory or lazy, validated as in scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.utils.validation import validate_data

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.core.sizes import numbers
from marsdask.dataframe import DataFrame

from .rows import as_rows, in_memory


def is_lazy(X: Any) -> bool:
    """Tell whether the samples are a tensor or a frame of ours."""
    return isinstance(X, Collection)


class RowsEstimator:
    """Accepts arrays, pandas frames, tensors or our frames; put it before the estimator class.

    Lazy samples give lazy results: ``transform`` and ``predict`` compute no values.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("transform", "fit_transform"):
            if name in vars(cls):
                setattr(cls, name, _lazily(vars(cls)[name]))
        public_methods(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = False
        tags.array_api_support = False
        return tags

    def _samples(self, X: Any, *, reset: bool, allow_nan: bool = False) -> Node:
        """Return the samples as the node of a tensor of floats; ``reset`` stores their columns."""
        if not is_lazy(X):
            finite = "allow-nan" if allow_nan else True
            kinds = [np.float64, np.float32]
            return in_memory(
                validate_data(self, X, reset=reset, dtype=kinds, ensure_all_finite=finite)
            )
        rows = as_rows(X)
        meta = X.node.meta
        columns = meta if isinstance(meta, pd.DataFrame) else np.empty((0, *numbers(X.shape[1:])))
        validate_data(self, columns, reset=reset, skip_check_array=True)
        for length, what in zip(rows.shape, ("sample", "feature"), strict=True):
            if length == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) while a minimum of 1 is required by "
                    f"{type(self).__name__}."
                )
        return rows


def _lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``set_output`` make a frame of ours from a lazy result; others are scikit-learn's."""
    # scikit-learn has wrapped the method to make pandas frames of arrays.
    plain = getattr(method, "__wrapped__", method)

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_lazy(X):
            return method(self, X, *args, **kwargs)
        result = plain(self, X, *args, **kwargs)
        wish = getattr(self, "_sklearn_output_config", {}).get("transform")
        wish = wish or get_config()["transform_output"]
        if wish == "default":
            return result
        if wish != "pandas":
            raise NotImplementedError(
                f"set_output({wish!r}) of lazy samples is not supported; use 'pandas'"
            )
        return DataFrame(result, columns=self.get_feature_names_out())

    return call
