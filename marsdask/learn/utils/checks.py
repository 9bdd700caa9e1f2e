"""Checks of samples for missing values, infinities and negative numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.utils
from sklearn.utils import validation

from marsdask.core.collection import Collection, collect
from marsdask.core.config import options
from marsdask.core.node import Node
from marsdask.core.public import public_call, returns_itself
from marsdask.core.sizes import numbers
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.metrics.operands import as_operand
from marsdask.learn.rows import RowMap, fold
from marsdask.tensor.sparse.blocks import is_sparse


def operand(item: Any) -> Node:
    """Return lazy samples of any type as the node of an array, sparse ones as they are."""
    if isinstance(item, Collection) and is_sparse(item.node.meta):
        return item.node
    return as_operand(item)


def mapped(func: Any, rows: Node, *more: Node, dtype: Any = None, **kwargs: Any) -> RowMap:
    """Return the node of a function of rows that keeps their width."""
    if len(rows.shape) not in (1, 2):
        raise NotImplementedError(
            f"arrays of {len(rows.shape)} axes are not supported where they are lazy; reshape them"
        )
    width = int(numbers(rows.shape[1:])[0]) if len(rows.shape) == 2 else None
    return RowMap(func, (rows, *more), np.dtype(dtype or rows.meta.dtype), width, kwargs)


@as_mars
@public_call
@returns_itself
def assert_all_finite(
    X: Any,
    *,
    allow_nan: bool = False,
    estimator_name: str | None = None,
    input_name: str = "",
    check_only: bool = True,
) -> Any:
    """Raise ValueError if samples hold a missing value or infinity.

    See sklearn.utils.assert_all_finite. Lazy samples are computed, unless ``check_only`` is false:
    then they are returned, and raise when they are computed. With ``options.learn.assume_finite``
    nothing is looked at.

    Returns
    -------
    Tensor or None
        The samples, if they are not computed.

    Examples
    --------
    >>> from marsdask.learn.utils import assert_all_finite
    >>> assert_all_finite(mt.ones(3))
    """
    X = adopted(X)
    how = {"allow_nan": allow_nan, "estimator_name": estimator_name, "input_name": input_name}
    if options.learn.assume_finite:
        return None if check_only else X
    checked = True if options.mars_results else None
    if not is_lazy(X):
        sklearn.utils.assert_all_finite(X, **how)
        return checked if check_only else X
    rows = operand(X)
    if not check_only:
        return collect(mapped(finite, rows, how=how))
    fold(check_finite, neither, rows, nbytes=8, how=how)
    return checked


def finite(block: Any, *, how: Any) -> Any:
    """Return a run of rows if its values are finite."""
    sklearn.utils.assert_all_finite(block, **how)
    return block


def check_finite(block: Any, *, how: Any) -> None:
    """Raise scikit-learn's error if a value is not finite."""
    sklearn.utils.assert_all_finite(block, **how)


def neither(a: None, b: None) -> None:
    """Return nothing: no run raised an error."""


@public_call
def check_non_negative(X: Any, whom: str) -> None:
    """Raise ValueError if samples hold a negative number.

    See sklearn.utils.validation.check_non_negative. Lazy samples are computed.

    Examples
    --------
    >>> from marsdask.learn.utils.validation import check_non_negative
    >>> check_non_negative(mt.ones(3), "a model")
    """
    X = adopted(X)
    if is_lazy(X):
        fold(check_signs, neither, operand(X), nbytes=8, whom=whom)
    else:
        validation.check_non_negative(X, whom)


def check_signs(block: Any, *, whom: str) -> None:
    """Raise scikit-learn's error if a value is negative."""
    if block.size:
        validation.check_non_negative(block, whom)


@public_call
def check_non_negative_then_return_value(to_check: Any, value: Any, whom: str) -> Any:
    """Return values lazily that raise ValueError if samples of as many rows hold negative numbers.

    Mars's function of this name.

    Parameters
    ----------
    to_check : array_like
        The samples.
    value : array_like
        The values.
    whom : str
        Who needs it, for the error.

    Returns
    -------
    Tensor
        The values.

    Examples
    --------
    >>> from marsdask.learn.utils.checks import check_non_negative_then_return_value
    >>> check_non_negative_then_return_value(mt.ones(2), mt.arange(2), "a model").compute()
    array([0, 1])
    """
    value, samples = (as_operand(adopted(item)) for item in (value, to_check))
    return collect(mapped(non_negative, value, samples, whom=whom))


def non_negative(block: Any, checked: Any, *, whom: str) -> Any:
    """Return a run of values if those of the other are not negative."""
    check_signs(checked, whom=whom)
    return block
