"""Columns of lazy samples, each transformed in a way of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn import compose
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, collect
from marsdask.core.compilation.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.rows import RowMap
from marsdask.learn.tables import as_table, transformed
from marsdask.learn.utils.checks import operand
from marsdask.tensor.sparse.blocks import is_sparse

#: What "passthrough" stands for, as in scikit-learn.
_IDENTITY = FunctionTransformer(
    accept_sparse=True, check_inverse=False, feature_names_out="one-to-one"
)


class ColumnTransformer(RowsEstimator, compose.ColumnTransformer):
    """Transform columns in different ways. See sklearn.compose.ColumnTransformer.

    Differs from scikit-learn: takes tensors and frames. Transformers of marsdask learn from lazy
    columns; others learn in memory, and columns that are larger than it are refused by
    MemoryError. All of them transform lazily. A lazy result is sparse if one of its parts is,
    unless ``sparse_threshold`` is zero.

    Examples
    --------
    >>> from marsdask.learn.compose import ColumnTransformer
    >>> from marsdask.learn.preprocessing import OneHotEncoder, StandardScaler
    >>> frame = md.DataFrame({"a": [1.0, 3.0], "b": ["x", "y"]}, chunk_size=1)
    >>> model = ColumnTransformer(
    ...     [("number", StandardScaler(), ["a"]), ("word", OneHotEncoder(), ["b"])],
    ...     sparse_threshold=0,
    ... )
    >>> model.fit_transform(frame).compute()
    array([[-1.,  1.,  0.],
           [ 1.,  0.,  1.]])
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all transformers."""
        if not is_lazy(X):
            super().fit(X, y, **params)
            return self
        if params:
            raise NotImplementedError(
                f"arguments of transformers ({', '.join(params)}) are not supported with lazy "
                "samples"
            )
        self._validate_params()
        meta = as_table(self, X, reset=True).meta
        like = meta if isinstance(meta, pd.DataFrame) else np.empty((0, *numbers(X.shape[1:])))
        self._validate_transformers()
        self._validate_column_callables(like)
        self._validate_remainder(like)
        models = [
            _fitted(model, self._columns_of(X, name, alone=alone), y)
            for name, model, alone, _ in self._steps(fitted=False)
        ]
        self._update_fitted_transformers(models)
        parts = self._parts(X)
        some = any(is_sparse(part.meta) for part in parts)
        self.sparse_output_ = some and self.sparse_threshold > 0
        widths = [numbers(part.shape[1:])[0] for part in parts]
        self._record_output_indices([np.empty((0, width)) for width in widths])
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all transformers, and transform the samples."""
        if not is_lazy(X):
            return super().fit_transform(X, y, **params)
        return self.fit(X, y, **params).transform(X)

    def transform(self, X: Any, **params: Any) -> Any:
        """Transform the columns, and put the results side by side."""
        if not is_lazy(X):
            return super().transform(X, **params)
        check_is_fitted(self)
        self._check_columns(X)
        parts = self._parts(X)
        if not parts:
            return collect(RowMap(nothing, (X.node,), np.dtype(np.float64), 0, {}))
        dtype = np.result_type(*(part.meta.dtype for part in parts))
        width = sum(numbers(part.shape[1:])[0] for part in parts)
        sparse = self.sparse_output_
        how = {"dtype": dtype, "sparse": sparse}
        return collect(RowMap(side_by_side, tuple(parts), dtype, width, how, sparse))

    def _steps(self, *, fitted: bool) -> Iterator[tuple[str, Any, bool, Any]]:
        """Yield the transformers that are used: whether they take one column, and their weight."""
        for name, model, columns, weight in self._iter(
            fitted=fitted, column_as_labels=False, skip_drop=True, skip_empty_columns=True
        ):
            yield name, model, bool(np.isscalar(columns)), weight

    def _parts(self, X: Any) -> list[Node]:
        """Return the nodes of the transformed columns."""
        parts = []
        for name, model, alone, weight in self._steps(fitted=True):
            found = operand(_transformed(model, self._columns_of(X, name, alone=alone)))
            if weight is not None:
                found = RowMap(
                    weighted,
                    (found,),
                    np.dtype(np.float64),
                    numbers(found.shape[1:])[0],
                    {"weight": weight},
                    is_sparse(found.meta),
                )
            parts.append(found)
        return parts

    def _check_columns(self, X: Any) -> None:
        meta = X.node.meta
        if not isinstance(meta, pd.DataFrame) or "feature_names_in_" not in vars(self):
            as_table(self, X, reset=False)
            return
        used = {label for name, *_ in self._steps(fitted=True) for label in self._labels(name)}
        missing = used - set(meta.columns)
        if missing:
            raise ValueError(f"columns are missing: {missing}")

    def _labels(self, name: str) -> list[Any]:
        """Return the labels of a transformer's columns."""
        labels: list[Any] = np.asarray(self.feature_names_in_)[self._places(name)].tolist()
        return labels

    def _places(self, name: str) -> list[int]:
        """Return the positions of a transformer's columns."""
        return list(self._transformer_to_input_indices[name])

    def _columns_of(self, X: Any, name: str, *, alone: bool) -> Any:
        """Return columns of lazy samples; one ``alone`` is a series or a tensor of one axis."""
        if isinstance(X.node.meta, pd.DataFrame):
            labels = self._labels(name)
            return X[labels[0]] if alone else X[labels]
        places = self._places(name)
        return X[:, places[0]] if alone else X[:, places]


def _takes_lazy(model: Any) -> bool:
    if isinstance(model, Pipeline):
        return all(_takes_lazy(step) for _, step in model.steps)
    return isinstance(model, RowsEstimator)


def _is_identity(model: Any) -> bool:
    return type(model) is FunctionTransformer and model.func is None


def _fitted(model: Any, X: Any, y: Any) -> Any:
    """Return a copy that has learnt: from lazy columns, or from what they are in memory."""
    model = clone(_IDENTITY if isinstance(model, str) else model)
    if _is_identity(model):
        return model.fit(X.node.meta)
    if _takes_lazy(model):
        return model.fit(X, y)
    return model.fit(X.compute(), y.compute() if isinstance(y, Collection) else y)


def _transformed(model: Any, X: Any) -> Any:
    if _is_identity(model):
        return X
    if _takes_lazy(model):
        return model.transform(X)
    meta = X.node.meta
    if isinstance(meta, pd.DataFrame | pd.Series):
        sample = X.head(1)
        sample = sample.compute() if isinstance(sample, Collection) else sample
    else:
        sample = np.zeros((1, *numbers(X.shape[1:])), meta.dtype)
    return transformed(model, X, sample)


def weighted(block: Any, *, weight: float) -> Any:
    """Return the product of a run of rows and a weight."""
    return block * weight


def nothing(block: Any) -> Any:
    """Return as many rows without columns."""
    return np.empty((block.shape[0], 0))


@kernel(scratch=1.0)
def side_by_side(*blocks: Any, dtype: Any, sparse: bool) -> Any:
    """Return the columns of all blocks."""
    if sparse:
        return scipy.sparse.csr_array(scipy.sparse.hstack(list(map(_stored, blocks))), dtype=dtype)
    dense = [block.toarray() if is_sparse(block) else block for block in blocks]
    return np.hstack(dense).astype(dtype, copy=False)


def _stored(block: Any) -> Any:
    return block if is_sparse(block) else scipy.sparse.csr_array(block)


def make_column_transformer(*transformers: Any, **options: Any) -> ColumnTransformer:
    """Return a ColumnTransformer with names of its own making.

    See sklearn.compose.make_column_transformer.

    Examples
    --------
    >>> from marsdask.learn.compose import make_column_transformer
    >>> from marsdask.learn.preprocessing import StandardScaler
    >>> make_column_transformer((StandardScaler(), ["a"])).transformers[0][0]
    'standardscaler'
    """
    like = compose.make_column_transformer(*transformers, **options)
    return ColumnTransformer(**like.get_params(deep=False))
