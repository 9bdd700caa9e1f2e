"""Columns of lazy samples, each transformed in a way of its own."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getattr_static
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn import compose
from sklearn.base import TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, collect
from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import numbers
from marsdask.dataframe.reshape.concat import concat
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.methods import makes_frames
from marsdask.learn.representative_rows import first_row
from marsdask.learn.rows import RowMap
from marsdask.learn.tables import as_frame, as_table, transformed
from marsdask.learn.utils.checks import operand
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse

#: What "passthrough" stands for, as in scikit-learn.
_IDENTITY = FunctionTransformer(
    accept_sparse=True, check_inverse=False, feature_names_out="one-to-one"
)


class ColumnTransformer(RowsEstimator, compose.ColumnTransformer):
    """Transform columns in different ways. See sklearn.compose.ColumnTransformer.

    Differs from scikit-learn: takes tensors and frames. Transformers of marsdask learn from lazy
    columns; others learn in memory, and columns that are larger than it are refused by
    MemoryError. All of them transform lazily; a ``fit_transform`` of their own works in memory. A
    lazy result is sparse if one of its parts is, unless ``sparse_threshold`` is zero.

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
        if is_lazy(X):
            self._learn(X, y, params)
        else:
            super().fit(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all transformers, and transform the samples."""
        if not is_lazy(X):
            return super().fit_transform(X, y, **params)
        return self._joined(X, self._learn(X, y, params))

    def _learn(self, X: Any, y: Any, params: Any) -> list[Any]:
        """Fit all transformers, as scikit-learn does with ``fit_transform``; return the parts."""
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
        pairs = [
            _fit_transformed(model, self._columns_of(X, name, alone=alone), y)
            for name, model, alone, _ in self._steps(fitted=False)
        ]
        self._update_fitted_transformers([model for model, _ in pairs])
        parts = self._weighted([part for _, part in pairs])
        has_sparse = any(is_sparse(part.node.meta) for part in parts)
        self.sparse_output_ = has_sparse and self.sparse_threshold > 0
        widths = [numbers(part.shape[1:])[0] for part in parts]
        self._record_output_indices([np.empty((0, width)) for width in widths])
        return parts

    def transform(self, X: Any, **params: Any) -> Any:
        """Transform the columns, and put the results side by side."""
        if not is_lazy(X):
            return super().transform(X, **params)
        check_is_fitted(self)
        self._check_columns(X)
        parts = [
            _transformed(model, self._columns_of(X, name, alone=alone))
            for name, model, alone, _ in self._steps(fitted=True)
        ]
        return self._joined(X, self._weighted(parts))

    def _joined(self, X: Any, parts: list[Any]) -> Any:
        """Return the parts side by side: frames as a frame, if this is wanted."""
        if not parts:
            return collect(RowMap(nothing, (X.node,), np.dtype(np.float64), 0, {}))
        if makes_frames(self):
            names = self.get_feature_names_out()
            slices = [self.output_indices_[name] for name, *_ in self._steps(fitted=True)]
            frames = [as_frame(part, X, names[at]) for part, at in zip(parts, slices, strict=True)]
            return concat(frames, axis=1)
        nodes = tuple(map(operand, parts))
        dtype = np.result_type(*(node.meta.dtype for node in nodes))
        width = sum(numbers(node.shape[1:])[0] for node in nodes)
        sparse = self.sparse_output_
        how = {"dtype": dtype, "sparse": sparse}
        return collect(RowMap(side_by_side, nodes, dtype, width, how, sparse))

    def _steps(self, *, fitted: bool) -> Iterator[tuple[str, Any, bool, Any]]:
        """Yield the transformers that are used: whether they take one column, and their weight."""
        for name, model, columns, weight in self._iter(
            fitted=fitted, column_as_labels=False, skip_drop=True, skip_empty_columns=True
        ):
            yield name, model, bool(np.isscalar(columns)), weight

    def _weighted(self, parts: list[Any]) -> list[Any]:
        """Return the transformed columns, each part times its weight."""
        weights = [weight for *_, weight in self._steps(fitted=True)]
        return [
            part if weight is None else _product(part, weight)
            for part, weight in zip(parts, weights, strict=True)
        ]

    def _check_columns(self, X: Any) -> None:
        meta = X.node.meta
        if not isinstance(meta, pd.DataFrame) or "feature_names_in_" not in vars(self):
            as_table(self, X, reset=False)
            return
        labels = {label for name, *_ in self._steps(fitted=True) for label in self._labels(name)}
        gaps = labels - set(meta.columns)
        if gaps:
            raise ValueError(f"columns are missing: {gaps}")

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


def _fit_transformed(model: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return a copy that has learnt from lazy columns, and these as it transforms them then.

    Models of scikit-learn learn from what the columns are in memory. They transform lazily, unless
    what they learn from is transformed in another way, as by TargetEncoder.
    """
    model = clone(_IDENTITY if isinstance(model, str) else model)
    if _is_identity(model):
        return model.fit(X.node.meta), X
    if _takes_lazy(model):
        return model, model.fit_transform(X, y)
    samples, y = X.compute(), y.compute() if isinstance(y, Collection) else y
    plain = TransformerMixin.fit_transform
    if getattr_static(type(model), "fit_transform", plain) is plain:
        return model.fit(samples, y), _transformed(model, X)
    result = model.fit_transform(samples, y)
    result = collect(as_node(result if is_sparse(result) else np.asarray(result), sparse=True))
    lengths = X.node.chunks[0]
    is_known = all(isinstance(length, int) for length in lengths)
    return model, result.rechunk((lengths, -1)) if is_known else result


def _transformed(model: Any, X: Any) -> Any:
    if _is_identity(model):
        return X
    if _takes_lazy(model):
        return model.transform(X)
    meta = X.node.meta
    if isinstance(meta, pd.DataFrame | pd.Series):
        sample = first_row(X)
    else:
        sample = np.zeros((1, *numbers(X.shape[1:])), meta.dtype)
    return transformed(model, X, sample)


def _product(part: Any, weight: float) -> Any:
    if isinstance(part.node.meta, pd.DataFrame):
        return part * weight
    node, width = part.node, numbers(part.shape[1:])[0]
    dtype = np.result_type(node.meta.dtype, weight)
    how = {"weight": weight}
    return collect(RowMap(weighted, (node,), dtype, width, how, is_sparse(node.meta)))


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
