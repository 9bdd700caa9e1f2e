"""Targets of samples: numbers, and classes with the position of each sample's class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from marsdask.core.collection import Collection, collect
from marsdask.core.node import Node
from marsdask.dataframe.nodes.frame_node import is_masked
from marsdask.tensor.elementwise.ufuncs import astype
from marsdask.tensor.operands import as_node

from .rows import RowMap, Values, check_lengths, fold

#: Bytes that a class is taken to need.
CLASS_BYTES = 64


class Classes(NamedTuple):
    """The classes in order, and the node of each sample's position among them."""

    labels: Any
    codes: Node


def check_given(estimator: Any, y: Any) -> None:
    """Raise scikit-learn's error if there is no target."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )


def as_targets(y: Any, rows: Node, *, several: bool = False) -> Node:
    """Return the target as the node of a tensor of float64, of one axis unless ``several``."""
    if not isinstance(y, Collection):
        values = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        node = as_node(values if several else column_or_1d(values, warn=True))
    elif isinstance(y.node.meta, pd.DataFrame | pd.Series):
        node = Values(y.node, np.dtype(np.float64))
    else:
        node = as_node(astype(y, np.float64))
    node = node if several else _one_axis(node)
    check_lengths(rows, node)
    return node


def as_classes(y: Any, rows: Node) -> Classes:
    """Return the classes of a target and each sample's position among them.

    Classes of a lazy target are found in parallel: only what is different is brought together.
    """
    if not isinstance(y, Collection):
        values = _without_missing(column_or_1d(y, warn=True))
        check_classification_targets(values)
        labels, codes = np.unique(values, return_inverse=True)
        result = Classes(labels, as_node(codes))
    else:
        node = _one_axis(_labels_of(y))
        check_lengths(rows, node)
        labels = fold(distinct, union, node, nbytes=CLASS_BYTES * 16)
        if not len(labels):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        check_classification_targets(np.repeat(labels, 3))
        result = Classes(
            labels, RowMap(positions, (node,), np.dtype(np.int64), None, {"labels": labels})
        )
    check_lengths(rows, result.codes)
    return result


def _one_axis(node: Node) -> Node:
    """Return the node of a column as that of a vector, with scikit-learn's warning."""
    if len(node.shape) == 1:
        return node
    if len(node.shape) == 2 and node.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        return RowMap(first_column, (node,), node.meta.dtype, None, {})
    shape = tuple(size if isinstance(size, int) else np.nan for size in node.shape)
    raise ValueError(f"y should be a 1d array, got an array of shape {shape} instead.")


def first_column(block: Any) -> Any:
    """Return the only column of a block."""
    return block[:, 0]


def _labels_of(y: Collection, values: Callable[..., Any] | None = None) -> Node:
    """Return the labels as the node of a tensor: those of categories are their values.

    ``values`` returns those of a run, by default :func:`label_values`.
    """
    meta = y.node.meta
    if not isinstance(meta, pd.DataFrame | pd.Series):
        return as_node(y)
    types = meta.dtypes if isinstance(meta, pd.DataFrame) else [meta.dtype]
    plain = {_plain_type(dtype) for dtype in types}
    dtype = plain.pop() if len(plain) == 1 else np.dtype(object)
    return Values(y.node, dtype, values or label_values)


def _plain_type(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, pd.CategoricalDtype):
        return np.dtype(object)
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)


def label_values(frame: Any, *, dtype: Any) -> Any:
    """Return the labels of a run of rows."""
    if dtype.kind != "O" and frame.isna().to_numpy().any():
        raise ValueError("Input y contains NaN.")
    return frame.to_numpy(dtype=dtype)


def any_values(frame: Any, *, dtype: Any) -> Any:
    """Return the labels of a run of rows, missing ones too: of masked numbers as nan."""
    if isinstance(frame, pd.Series) and is_masked(frame.dtype):
        frame = frame.astype(float) if frame.isna().any() else frame
    return frame.to_numpy(dtype=dtype)


def distinct(block: Any) -> Any:
    """Return the different labels of a run, sorted."""
    return _sorted_unique(_without_missing(block))


def union(a: Any, b: Any) -> Any:
    """Return the different labels of both."""
    return _sorted_unique(np.concatenate([a, b]))


def _sorted_unique(labels: Any) -> Any:
    values = np.unique(labels)
    if values.dtype.kind == "f" and len(values) and type_of_target(values[:1000]) == "continuous":
        check_classification_targets(np.repeat(values[:1000], 3))
    return typed_labels(values)


def typed_labels(labels: Any) -> Any:
    """Return labels in an array of their type: numbers and truth values of categories have one."""
    if labels.dtype == object and len(labels):
        kinds = {type(label) for label in labels}
        if kinds <= {int} or kinds <= {bool} or kinds <= {float}:
            return labels.astype(kinds.pop())
    return labels


def _without_missing(labels: Any) -> Any:
    """Return labels; raise scikit-learn's error if one is missing."""
    if labels.dtype.kind in "fO" and pd.isna(labels).any():
        raise ValueError("Input y contains NaN.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(
            f"Input y contains infinity or a value too large for dtype({labels.dtype.name!r})."
        )
    return labels


def positions(block: Any, *, labels: Any) -> Any:
    """Return the position of each label among the sorted ones."""
    if block.dtype == object and labels.dtype != object:
        block = block.astype(labels.dtype)
    return np.searchsorted(labels, block)


def target_classes(y: Any) -> Any:
    """Return the sorted classes of a target, lazy or not."""
    if not isinstance(y, Collection):
        return np.unique(column_or_1d(y))
    return fold(distinct, union, _one_axis(_labels_of(y)), nbytes=CLASS_BYTES * 16)


def as_labels(y: Any, values: Callable[..., Any] | None = None) -> Any:
    """Return labels, lazy or not, as a tensor of one axis; ``values`` returns those of a frame."""
    if not isinstance(y, Collection):
        return collect(as_node(column_or_1d(y)))
    return collect(_one_axis(_labels_of(y, values)))
