"""Predictions of many samples: a method of the plain estimator, run by run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse

from .representative_rows import first_row, result_of
from .rows import ModelMap, typed
from .sparse import narrow


def predictions(
    model: Any, method: str, rows: Node, sample: Any, *, told: Any = None, **options: Any
) -> Any:
    """Return the lazy tensor of what a method of scikit-learn's estimator gives for each row.

    What it gives for ``sample``, a few rows of the same type, says its type and width, or what it
    gives for a row of the samples if it refuses those. Or ``told`` says so, a result of a few rows.
    ``options`` are arguments of the method.
    """
    like = told if told is None or is_sparse(told) else np.asarray(told)
    if like is None:
        like = result_of(partial(getattr(model, method), **options), collect(rows), sample)
    if isinstance(like, list | tuple):
        raise NotImplementedError(
            f"{method}() of several outputs is not supported with lazy samples; use one estimator "
            "for each output"
        )
    like = like[:0] if is_sparse(like) else np.asarray(like)[:0]
    width = like.shape[1] if like.ndim == 2 else None
    kwargs = {"model": model, "method": method, "like": like, "options": options}
    return collect(ModelMap(call_method, (rows,), like.dtype, width, kwargs, is_sparse(like)))


@kernel(scratch=2.0)
def call_method(
    block: Any, *, model: Any, method: str, like: Any, options: Mapping[str, Any] | None = None
) -> Any:
    """Return what a method of an estimator gives for a run of rows."""
    if not block.shape[0]:
        return like
    result = getattr(model, method)(narrow(block) if is_sparse(block) else block, **(options or {}))
    return result if is_sparse(result) else typed(result, like.dtype)


def rows_of(X: Any) -> tuple[Node, Any]:
    """Return the node of the rows, frames as frames, and a row of the same types."""
    meta = X.node.meta
    if isinstance(meta, pd.DataFrame):
        return X.node, first_row(X)
    node = as_node(X, sparse=True)
    return node, np.zeros((1, *numbers(node.shape[1:])), node.meta.dtype)
