"""Kernels of reductions for a block, for two partial results, and for the last one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..kernels.blas_sums import add_reduce
from ..kernels.duck_arrays import as_array, is_foreign
from ..kernels.scratch import scratch
from ..sparse.blocks import stored_sum

Axis = tuple[int, ...]
#: The sum of the elements, how many, and the sum of the squared distances from their mean.
Moments = tuple[Any, Any, Any]


def element_count(block: Any, axis: Axis, where: Any = True) -> Any:
    """Return the number of elements of each result."""
    if where is True:
        count = 1
        for a in axis:
            count *= block.shape[a]
        return count
    return np.sum(np.broadcast_to(where, block.shape), axis=axis, keepdims=True)


def accurate(dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """Return the type in which NumPy accumulates averages."""
    if wanted is not None:
        kind: np.dtype[Any] = np.dtype(wanted)
        return kind
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    return np.dtype(np.float32) if dtype.char == "e" else dtype.newbyteorder("=")


def total(block: Any, axis: Axis, dtype: Any = None, where: Any = True, **kwargs: Any) -> Any:
    """Return (sum, count)."""
    dtype = accurate(block.dtype, dtype) if block.dtype.kind not in "mO" else dtype
    if where is not True:
        kwargs["where"] = where
    value = add_reduce(block, axis, dtype, **kwargs)
    if value.dtype.char in _SHORT:
        value = value.astype(np.result_type(value, np.float64))
    return value, element_count(block, axis, where)


def stored_total(block: Any, axis: Axis, dtype: Any = None, **kwargs: Any) -> Any:
    """Return (sum, count) of a sparse block."""
    del kwargs
    return stored_sum(block, axis, accurate(block.dtype, dtype)), element_count(block, axis)


def add_pairs(a: Any, b: Any) -> Any:
    """Add tuples item by item."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def mean_of(partial: Any) -> Any:
    """Return sum / count; moments begin with these."""
    value, count = partial[:2]
    if np.any(np.equal(count, 0)):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    if as_array(value).dtype.kind in "mO":
        return value / count
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.true_divide(value, count, casting="unsafe")


def moments(block: Any, axis: Axis, dtype: Any = None, where: Any = True, **keep: Any) -> Moments:
    """Return sum, count and sum of squared distances."""
    kind = accurate(block.dtype, dtype)
    if block.dtype.kind == "c":
        kind = np.promote_types(kind, block.dtype)
    count = element_count(block, axis, where)
    if where is not True:
        keep = {**keep, "where": where}
    value = add_reduce(block, axis, kind, **keep)
    mean = _quotient(value, count)
    foreign = is_foreign(block)
    room = {} if foreign else {"out": scratch("away", block.shape, kind)}
    away = np.subtract(block, mean, dtype=kind, **room)
    offset = add_reduce(away, axis, kind, **keep) if kind.char in _SHORT else None
    if kind.kind == "c":
        squares = add_reduce(away.real**2 + away.imag**2, axis, away.real.dtype, **keep)
    elif where is True and axis == (away.ndim - 1,) and kind.char in "fdg" and not foreign:
        # One pass by BLAS in place of two.
        squares = np.vecdot(away, away)[..., np.newaxis]
    else:
        np.multiply(away, away, out=away)
        squares = add_reduce(away, axis, away.dtype, **keep)
    return (value, count, squares) if offset is None else _exact(mean, offset, count, squares)


#: Types of 32 bits: the means of two parts, which are subtracted, need more digits than the values.
_SHORT = "fF"


def _exact(mean: Any, rest: Any, count: Any, squares: Any) -> Moments:
    """Return moments of 64 bits, from distances to a rounded mean and their sum, the rest."""
    long = np.result_type(mean, np.float64)
    rest = rest.astype(long)
    value = mean.astype(long) * count + rest
    divisor = np.maximum(count, 1)
    square = (rest * rest.conj()).real if long.kind == "c" else rest * rest
    return value, count, squares.astype(np.float64) - square / divisor


def _quotient(value: Any, count: Any) -> Any:
    """Return a mean in the type of the sum, 0 for no elements."""
    if isinstance(count, int):
        return value / value.dtype.type(count)
    return value / np.maximum(count, 1).astype(value.real.dtype)


def _there(block: Any, where: Any) -> Any:
    """Return the positions of the requested elements."""
    if block.dtype.kind not in "fc":
        return where
    there = ~np.isnan(block)
    return there if where is True else there & where


def nan_moments(
    block: Any, axis: Axis, dtype: Any = None, where: Any = True, **keep: Any
) -> Moments:
    """Return the moments of values other than nan."""
    return moments(block, axis, dtype, _there(block, where), **keep)


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Return the moments of both (Chan, Golub and LeVeque)."""
    (value_a, count_a, squares_a), (value_b, count_b, squares_b) = a, b
    count = count_a + count_b
    if isinstance(count, int):
        weight = count_a * (count_b / count)
    else:
        weight = count_a * (count_b / np.maximum(count, 1)).astype(value_a.real.dtype)
    away = _quotient(value_b, count_b) - _quotient(value_a, count_a)
    square = away * away if away.dtype.kind != "c" else away.real**2 + away.imag**2
    square *= weight
    square += squares_a
    square += squares_b
    return value_a + value_b, count, square


def variance(partial: Moments, ddof: float = 0) -> Any:
    """Return the variance of the moments."""
    _, count, squares = partial
    degrees = np.maximum(np.subtract(count, ddof), 0)
    if np.any(degrees == 0):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.true_divide(squares, degrees, casting="unsafe")


def deviation(partial: Moments, ddof: float = 0) -> Any:
    """Return the square root of the variance."""
    return np.sqrt(variance(partial, ddof))


def nan_variance(partial: Moments, ddof: float = 0) -> Any:
    """Return the variance, nan if too few elements are left."""
    count = as_array(partial[1])
    value = variance(partial, ddof)
    return np.where(count - ddof <= 0, np.array(np.nan, value.dtype)[()], value)


def nan_deviation(partial: Moments, ddof: float = 0) -> Any:
    """Return the square root of the variance, nan if too few elements are left."""
    return np.sqrt(nan_variance(partial, ddof))


def count_nonzero(block: Any, axis: Axis, *, keepdims: bool) -> Any:
    """Return the number of elements other than zero."""
    if is_foreign(block):  # CuPy's has no keepdims
        return (block != 0).sum(axis=axis, keepdims=keepdims)
    return np.count_nonzero(block, axis=axis, keepdims=keepdims)


def nan_total(block: Any, axis: Axis, dtype: Any = None, where: Any = True, **keep: Any) -> Any:
    """Return the sum and the count of values other than nan."""
    return total(block, axis, dtype, _there(block, where), **keep)


def nan_minimum(block: Any, axis: Axis, **kwargs: Any) -> Any:
    """Return the minimum of values other than nan; nan without any."""
    if block.dtype == object:
        return _object_extreme(np.minimum, np.inf, block, axis, **kwargs)
    if is_foreign(block):  # CuPy has no fmin.reduce
        return np.nanmin(block, axis=axis, **kwargs)
    return np.fmin.reduce(block, axis=axis, **kwargs)


def nan_maximum(block: Any, axis: Axis, **kwargs: Any) -> Any:
    """Return the maximum of values other than nan; nan without any."""
    if block.dtype == object:
        return _object_extreme(np.maximum, -np.inf, block, axis, **kwargs)
    if is_foreign(block):
        return np.nanmax(block, axis=axis, **kwargs)
    return np.fmax.reduce(block, axis=axis, **kwargs)


def _object_extreme(
    ufunc: np.ufunc, worst: float, block: Any, axis: Axis, where: Any = True, **kwargs: Any
) -> Any:
    """Return the extreme of objects other than nan: NumPy's fmin and fmax of objects see no nan."""
    nans = np.not_equal(block, block).astype(bool)
    value = ufunc.reduce(np.where(nans, worst, block), axis=axis, where=where, **kwargs)
    keepdims = kwargs.get("keepdims", False)
    empty = np.logical_and.reduce(nans | ~np.asarray(where), axis=axis, keepdims=keepdims)
    return np.where(empty, np.nan, value) if np.any(empty) and "initial" not in kwargs else value


def fmin(a: Any, b: Any) -> Any:
    """Return the lesser values, those other than nan where there are any."""
    return np.fmin(a, b) if as_array(a).dtype != object else _object_pair(np.minimum, a, b)


def fmax(a: Any, b: Any) -> Any:
    """Return the greater values, those other than nan where there are any."""
    return np.fmax(a, b) if as_array(a).dtype != object else _object_pair(np.maximum, a, b)


def _object_pair(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    first, second = (np.not_equal(x, x).astype(bool) for x in (a, b))
    with np.errstate(invalid="ignore"):
        return np.where(first, b, np.where(second, a, ufunc(a, b)))


def warn_all_nan(partial: Any) -> Any:
    """Return the partial result; warn, as NumPy does, where it is nan."""
    if partial.dtype.kind in "fc" and np.any(np.isnan(partial)):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
    return partial


def extremes(block: Any, axis: Axis, keepdims: Any = True) -> Any:
    """Return (maximum, minimum)."""
    return (
        np.max(block, axis=axis, keepdims=keepdims),
        np.min(block, axis=axis, keepdims=keepdims),
    )


def merge_extremes(a: Any, b: Any) -> Any:
    """Return the larger maximum and the smaller minimum."""
    return np.maximum(a[0], b[0]), np.minimum(a[1], b[1])


def peak_to_peak(partial: Any) -> Any:
    """Return maximum - minimum."""
    return np.subtract(*partial)
