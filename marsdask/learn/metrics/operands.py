"""Targets, predictions and weights of metrics as nodes of arrays with as many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.learn.rows import Values, check_lengths
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse


def as_operand(item: Any) -> Node:
    """Return a column (or several) of any type as the node of an array."""
    if not isinstance(item, Collection):
        return as_node(item.toarray() if issparse(item) else np.asarray(item))
    meta = item.node.meta
    if is_sparse(meta):
        return as_node(item)
    if isinstance(meta, np.ndarray):
        return item.node
    return Values(item.node, _common(meta.dtypes if meta.ndim == 2 else [meta.dtype]))


def _common(dtypes: Any) -> np.dtype[Any]:
    """Return NumPy's type of columns of pandas: theirs if they are numbers, else objects."""
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return np.result_type(*dtypes)
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in dtypes):
        return np.dtype(np.float64)
    return np.dtype(object)


def as_weight(item: Any) -> Node:
    """Return the weights of samples as the node of an array, or raise scikit-learn's error."""
    node = as_operand(item)
    if len(node.shape) > 1 and node.shape[1:] != (1,):
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {len(node.shape)}D array. Expected "
            "either a scalar value or a 1D array of the length of the samples."
        )
    return node


def consistent(operands: list[Node]) -> None:
    """Raise scikit-learn's error for lengths that are known to differ."""
    if any(not node.shape for node in operands):
        raise TypeError("Expected sequence or array-like, got a scalar")
    check_lengths(*operands)
