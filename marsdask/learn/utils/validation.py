"""Arguments of estimators, checked as scikit-learn checks them; lazy ones stay lazy."""

from __future__ import annotations

import warnings
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import sklearn.utils
from sklearn.exceptions import DataConversionWarning

from marsdask.core.collection import collect
from marsdask.core.config import options
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call, returns_itself
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.model_selection.samples import of_known_length
from marsdask.learn.targets import as_labels
from marsdask.tensor import tensor
from marsdask.tensor.elementwise.ufuncs import astype
from marsdask.tensor.sparse.blocks import is_sparse

from .checks import assert_all_finite, check_non_negative, mapped, operand

__all__ = [
    "assert_all_finite",
    "check_X_y",
    "check_array",
    "check_consistent_length",
    "check_non_negative",
    "column_or_1d",
    "indexable",
]

#: What tells nothing of the shape.
_ANY_SHAPE = {"ensure_2d": False, "allow_nd": True, "ensure_min_samples": 0}
_ANY_SHAPE["ensure_min_features"] = 0


@as_mars
@public_call
@returns_itself
def check_array(
    array: Any,
    accept_sparse: Any = False,
    *,
    accept_large_sparse: bool = True,
    dtype: Any = "numeric",
    order: Any = None,
    copy: bool = False,
    force_writeable: bool = False,
    ensure_all_finite: Any = True,
    ensure_non_negative: bool = False,
    ensure_2d: bool = True,
    allow_nd: bool = False,
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    estimator: Any = None,
    input_name: str = "",
) -> Any:
    """Return samples as an array of numbers, or raise ValueError. See sklearn.utils.check_array.

    Differs from scikit-learn: lazy samples become a tensor. Their shape and type are checked at the
    call, their values when they are computed.

    Examples
    --------
    >>> from marsdask.learn.utils import check_array
    >>> check_array(mt.ones((2, 1))).shape
    (2, 1)
    """
    array = _lazy_within(adopted(array))
    shape: dict[str, Any] = {"ensure_2d": ensure_2d, "allow_nd": allow_nd}
    shape |= {"ensure_min_samples": ensure_min_samples, "ensure_min_features": ensure_min_features}
    values = {"ensure_all_finite": ensure_all_finite, "ensure_non_negative": ensure_non_negative}
    names = {"estimator": estimator, "input_name": input_name}
    memory = {"order": order, "copy": copy, "force_writeable": force_writeable}
    sparse = {"accept_sparse": accept_sparse, "accept_large_sparse": accept_large_sparse}
    if accept_sparse is False and options.mars_results and _holds_sparse(array):
        raise TypeError(_SPARSE)
    if not is_lazy(array):
        how = shape | values | names | memory | sparse
        return sklearn.utils.check_array(array, dtype=dtype, **how)
    rows = operand(array)
    if is_sparse(rows.meta):
        how = sparse | names | memory
        sample = sklearn.utils.check_array(rows.meta, dtype=dtype, **_ANY_SHAPE, **how)
        return collect(astype.node(rows, sample.dtype))
    _check_shape(rows, shape | names)
    like = np.zeros((1,) * len(rows.shape), rows.meta.dtype)
    kind = sklearn.utils.check_array(like, dtype=dtype, **_ANY_SHAPE, **names, **memory).dtype
    samples = _with_checked_values(array, rows, kind, {**values, "input_name": input_name})
    return samples.astype(kind, order=order or "K", copy=copy)


def _with_checked_values(array: Any, rows: Node, kind: np.dtype[Any], how: dict[str, Any]) -> Any:
    """Return lazy samples whose values raise when they are computed; themselves if none can."""
    unchecked = how["ensure_all_finite"] is False and not how["ensure_non_negative"]
    if rows.meta.ndim > 2 or (unchecked and kind.kind == rows.meta.dtype.kind):
        return array if rows is array.node else collect(rows)
    return collect(mapped(checked, rows, dtype=kind, how={"dtype": kind, **how}))


#: The words of Mars's error.
_SPARSE = (
    "A sparse tensor was passed, but dense data is required. "
    "Use X.todense() to convert to a dense tensor."
)


def _holds_sparse(array: Any) -> bool:
    """Tell sparse samples; those of complex numbers are refused by scikit-learn's words."""
    block = array.node.meta if is_lazy(array) else array
    return is_sparse(block) and block.dtype.kind != "c"


def _lazy_within(array: Any) -> Any:
    """Return a tensor of a list of tensors, and the tensor that an object gives for an array."""
    if isinstance(array, list | tuple):
        return tensor(array) if any(map(is_lazy, array)) else array
    is_known = isinstance(array, np.ndarray | pd.DataFrame | pd.Series) or is_lazy(array)
    if is_known or not isinstance(array, Arraylike):
        return array
    inner = array.__array__()
    return inner if is_lazy(inner) else array


@runtime_checkable
class Arraylike(Protocol):
    """An object of which NumPy makes an array."""

    def __array__(self) -> Any:
        """Return the array."""


def _check_shape(rows: Any, how: dict[str, Any]) -> None:
    """Raise scikit-learn's error for a shape; unknown lengths are taken to be long."""
    lengths = [length if isinstance(length, int) else 2**20 for length in rows.shape]
    dtype = rows.meta.dtype if rows.meta.dtype.kind != "O" else np.dtype(np.float64)
    like = np.broadcast_to(np.zeros((), dtype), lengths)
    sklearn.utils.check_array(like, dtype=None, ensure_all_finite=False, **how)


@kernel(scratch=2.0)
def checked(block: Any, *, how: dict[str, Any]) -> Any:
    """Return a run of rows as scikit-learn returns it."""
    if not block.size:
        return block.astype(how["dtype"])
    return sklearn.utils.check_array(block, **how, **_ANY_SHAPE)


@as_mars
@public_call
def check_X_y(  # noqa: N802 - scikit-learn's name
    X: Any,
    y: Any,
    accept_sparse: Any = False,
    *,
    multi_output: bool = False,
    y_numeric: bool = False,
    estimator: Any = None,
    **how: Any,
) -> tuple[Any, Any]:
    """Return samples and targets of equal length, or raise ValueError.

    See sklearn.utils.check_X_y. Differs from scikit-learn: lazy ones become tensors. Lengths that
    only running tells are compared when they are used together.

    Examples
    --------
    >>> from marsdask.learn.utils import check_X_y
    >>> X, y = check_X_y(mt.ones((2, 1)), [0, 1])
    """
    X, y = adopted(X), adopted(y)
    if y is None or not any(map(is_lazy, (X, y))):
        options = {"multi_output": multi_output, "y_numeric": y_numeric, "estimator": estimator}
        return sklearn.utils.check_X_y(X, y, accept_sparse, **options, **how)  # type: ignore[no-any-return]
    X = check_array(X, accept_sparse, estimator=estimator, input_name="X", **how)
    if multi_output or not is_lazy(y):
        target = {"ensure_2d": False, "input_name": "y", "estimator": estimator}
        y = check_array(y, True, dtype="numeric" if y_numeric else None, **target)
        y = y if multi_output else sklearn.utils.column_or_1d(y, warn=True)
    else:
        y = column_or_1d(y, warn=True)
        if y_numeric or y.dtype.kind == "f":
            y = check_array(y, dtype="numeric", ensure_2d=False, input_name="y")
    _check_known(X, y)
    return X, y


def _check_known(*arrays: Any) -> None:
    lengths = [len(item) if not is_lazy(item) else item.node.shape[0] for item in arrays]
    sizes = [length for length in lengths if isinstance(length, int)]
    if len(set(sizes)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")


@public_call
def check_consistent_length(*arrays: Any, session: Any = None, run_kwargs: Any = None) -> None:
    """Raise ValueError unless all have equally many rows.

    See sklearn.utils.check_consistent_length. Lengths that only running tells are computed.

    Examples
    --------
    >>> from marsdask.learn.utils import check_consistent_length
    >>> check_consistent_length(mt.ones(2), [1, 2])
    """
    with running(session, run_kwargs):
        sklearn.utils.check_consistent_length(*of_known_length(*arrays))


@as_mars
@public_call
def indexable(*iterables: Any, session: Any = None, run_kwargs: Any = None) -> list[Any]:
    """Return what has rows, of equal lengths. See sklearn.utils.indexable.

    Examples
    --------
    >>> from marsdask.learn.utils.validation import indexable
    >>> found = indexable(mt.ones(2), [1, 2])
    """
    with running(session, run_kwargs):
        result: list[Any] = sklearn.utils.indexable(*of_known_length(*iterables))
        return result


@as_mars
@public_call
def column_or_1d(
    y: Any, *, dtype: Any = None, input_name: str = "", warn: bool = False, device: Any = None
) -> Any:
    """Return a vector, or the only column, or raise ValueError. See sklearn.utils.column_or_1d.

    Examples
    --------
    >>> from marsdask.learn.utils import column_or_1d
    >>> column_or_1d(mt.ones((2, 1))).shape
    (2,)
    """
    y = adopted(y)
    if not is_lazy(y):
        del device  # only arrays of other libraries are elsewhere
        return sklearn.utils.column_or_1d(y, dtype=dtype, input_name=input_name, warn=warn)
    with warnings.catch_warnings():
        if not warn:
            warnings.simplefilter("ignore", DataConversionWarning)
        labels = as_labels(y)
    return labels if dtype is None else labels.astype(dtype)
