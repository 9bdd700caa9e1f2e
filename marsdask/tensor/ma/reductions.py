"""Reductions of unmasked values; without any, the result is masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from marsdask.core.collection import rebind, wrap
from marsdask.core.node import Node

from ..elementwise import ufuncs
from ..elementwise.ufuncs import logical_not, subtract
from ..indexing import boolean
from ..indexing.assignment import assign
from ..linalg import dot as plain_dot
from ..linalg import tensordot as plain_tensordot
from ..manipulation.diagonals import take_along_axis
from ..operands import as_node, is_masked
from ..quantile.exact import nanmedian
from ..reduction import reductions
from ..reduction.argreduce import argmax as plain_argmax
from ..reduction.argreduce import argmin as plain_argmin
from ..scan import cumulative
from ..sorting.sort import argsort
from ..tensor import Tensor
from ..typing import TensorFunction, public
from .masked_tensor import (
    MaskedTensor,
    filled,
    from_masked,
    has_mask,
    map_masked_blocks,
    mask_of,
    shrinks,
    values_of,
    with_mask,
)


@public
def count(a: Any, axis: Any = None, keepdims: bool = False, split_every: Any = None) -> Tensor:
    """Count the values that are not masked. See numpy.ma.count."""
    del split_every
    return reductions.sum(logical_not(mask_of(a)), axis=axis, keepdims=keepdims)


@public
def compressed(a: Any) -> Tensor:
    """Return the values that are not masked, in one axis. See numpy.ma.compressed.

    Parameters
    ----------
    a : array_like
        The values.

    Returns
    -------
    Tensor
        The values that are left.
    """
    return boolean.extract(logical_not(mask_of(a)), values_of(a))


@public
def nonzero(a: Any) -> tuple[Tensor, ...]:
    """Return the positions of values that are neither zero nor masked. See numpy.ma.nonzero."""
    return boolean.nonzero(filled(a, 0))


def _hidden(a: Any, how: Mapping[str, Any]) -> Any:
    """Tell where all values are masked; without a mask, of no values none is."""
    mask, lanes = mask_of(a), _lanes(how)
    hidden = reductions.all(mask, **lanes)
    if _has_values(a) or not shrinks(a):
        return hidden
    return ufuncs.logical_and(hidden, reductions.any(mask, **lanes))


def _lanes(how: Mapping[str, Any]) -> dict[str, Any]:
    return {"axis": how.get("axis"), "keepdims": bool(how.get("keepdims", False))}


def _has_values(a: Any) -> bool:
    return all(isinstance(size, int) and size for size in a.node.shape)


def _kept(a: Any, result: Any, how: Mapping[str, Any]) -> Any:
    """Mask results without values."""
    return with_mask(result, _hidden(a, how), None, shrinks(a))


def _most(a: Any, name: str, how: Any) -> Any:
    """Return the largest or smallest values; where there are none, what NumPy puts there."""
    fill = np.ma.minimum_fill_value if name == "min" else np.ma.maximum_fill_value
    most = getattr(reductions, name)(filled(a, fill(a.node.meta)), **how)
    none = np.asarray(np.ma.default_fill_value(a.dtype)).astype(a.dtype)
    return ufuncs.where(_hidden(a, how), none, most)


def _mean(a: Any, how: Any) -> Any:
    number = count(a, **_lanes(how))
    total = reductions.sum(filled(a, 0), **{**how, "dtype": _mean_dtype(a, how)})
    means = ufuncs.divide(total, ufuncs.maximum(number, 1)).astype(_averaged(a, "mean", how))
    return _nan_of_none(means, ufuncs.equal(number, 0), _hidden(a, how))


def _nan_of_none(found: Any, none: Any, hidden: Any) -> Any:
    """Return NaN where there is nothing to average, unless the result is masked."""
    return ufuncs.where(ufuncs.greater(none, hidden), found.dtype.type(np.nan), found)


def _kept_mean(a: Any, result: Any, how: Any) -> Any:
    """Mask means of nothing; also those that are not finite, as NumPy's division does."""
    hidden = ufuncs.logical_or(_hidden(a, how), _infinite(a, result))
    if result.ndim:
        hidden = ufuncs.logical_or(hidden, _not_finite(a, result, count(a, **_lanes(how))))
    return with_mask(result, hidden, None)


def _not_finite(a: Any, means: Any, number: Any) -> Any:
    """Tell which means of some values are not finite, if there is a mask."""
    apart = ufuncs.logical_and(ufuncs.greater(number, 0), logical_not(ufuncs.isfinite(means)))
    return ufuncs.logical_and(apart, _has_mask(a))


def _infinite(a: Any, means: Any) -> Any:
    """Tell which means NumPy's division masks without a mask: those with an infinite sum."""
    return ufuncs.greater(ufuncs.isinf(means), _has_mask(a))


def _has_mask(a: Any) -> Any:
    """Tell whether there is a mask; NumPy omits that of a condition that masks nothing."""
    return reductions.any(mask_of(a)) if shrinks(a) else True


def _mean_dtype(a: Any, how: Any) -> Any:
    dtype = how.get("dtype")
    if dtype is not None:
        return dtype
    return np.result_type(a.dtype, np.float32 if a.dtype.kind in "fc" else np.float64)


def _averaged(a: Any, name: str, how: Mapping[str, Any]) -> Any:
    """Return the type of NumPy's reduction, which may differ from the plain one's."""
    sample = np.ma.masked_array(np.ones((2, 1), a.dtype), mask=np.zeros((2, 1), bool))
    return getattr(sample, name)(axis=0, dtype=how.get("dtype")).dtype


def _var(a: Any, how: Any) -> Any:
    ddof, lanes = how.pop("ddof", 0), _lanes(how)
    around = _mean(a, {**how, "keepdims": True})
    # NumPy masks what is far from a mean that is not finite, so that the variance is 0.
    apart = ufuncs.logical_or(mask_of(a), _not_finite(a, around, count(a)))
    away = ufuncs.where(apart, 0, subtract(values_of(a), around))
    square = ufuncs.square(ufuncs.absolute(away))
    number = count(a, **lanes)
    free = subtract(number, ddof)
    few = ufuncs.less_equal(free, 0)
    hidden = ufuncs.logical_and(few, _has_mask(a))
    hidden = ufuncs.logical_or(hidden, reductions.any(_infinite(a, around), **lanes))
    if not number.ndim:
        hidden = ufuncs.logical_or(hidden, _not_finite(a, around.ravel()[0], number))
    variance = ufuncs.divide(reductions.sum(square, **lanes), ufuncs.maximum(free, 1))
    result = _nan_of_none(variance.astype(_averaged(a, "var", how)), few, hidden)
    if not number.ndim:
        result = ufuncs.where(hidden, 0, result)  # as that of numpy.ma.masked
    default = np.asarray(np.ma.default_fill_value(a.dtype)).astype(a.dtype)
    fill_value = None if a.fill_value == default else np.real(a.fill_value)
    return with_mask(result, hidden, fill_value, shrinks(a))


#: What is NaN, and not masked, of values that are all NaN.
_NAN_OF_NONE = ("nanmean", "nanvar", "nanstd", "nanmin", "nanmax")
_FILLS = {"sum": 0, "prod": 1, "any": False, "all": True}


def reduced(name: str, a: Any, axis: Any, how: dict[str, Any]) -> Tensor:
    """Return a reduction of a masked tensor."""
    out = how.pop("out", None)
    for key in ("where", "initial", "correction"):
        option = how.pop(key, None)
        if not any(option is nothing for nothing in (None, True, np._NoValue)):
            raise NotImplementedError(
                f"{name}({key}=) of a masked tensor is not supported; use a mask"
            )
    how["axis"], a = axis, _masked(a)
    if name in _NAN_OF_NONE and a.dtype.kind in "fc":
        result = _without_numbers(a, name.removeprefix("nan"), how)
    elif name.startswith("nan"):
        result = reduced(name.removeprefix("nan"), _without_nan(a, name), axis, how)
    elif name in _FILLS:
        result = _kept(a, getattr(reductions, name)(filled(a, _FILLS[name]), **how), how)
    elif name in ("min", "max", "amin", "amax"):
        result = _kept(a, _most(a, name.replace("a", "", name != "max"), how), how)
    elif name == "ptp":
        largest, smallest = (_kept(a, _most(a, most, how), how) for most in ("max", "min"))
        result = largest - smallest
    elif name == "mean":
        result = _kept_mean(a, _mean(a, how), how)
    elif name == "var":
        result = _var(a, how)
    elif name == "std":
        result = map_masked_blocks(np.ma.sqrt, _var(a, how)).astype(_averaged(a, name, how))
    else:
        raise NotImplementedError(
            f"{name}() of a masked tensor is not supported; use filled() or compressed() first"
        )
    output: Tensor = result if out is None else assign(out, result.node)
    return output


MaskedTensor._reduced = staticmethod(reduced)


def _without_numbers(a: Any, name: str, how: dict[str, Any]) -> Any:
    """Return a reduction: NaN where too few values are numbers, masked where there are none."""
    hidden, free, rest = _hidden(a, how), how.get("ddof", 0), _without_nan(a, f"nan{name}")
    too_few = ufuncs.less_equal(count(rest, **_lanes(how)), free)
    result = reduced(name, rest, how["axis"], how)
    if not _has_values(a):
        length = reductions.sum(ufuncs.equal(mask_of(a), mask_of(a)), **_lanes(how))
        hidden = ufuncs.where(ufuncs.equal(length, 0), result.ndim > 0, hidden)
    few = ufuncs.greater(too_few, hidden)
    values = ufuncs.where(few, result.dtype.type(np.nan), values_of(result))
    mask = ufuncs.logical_or(mask_of(result), hidden)
    return with_mask(values, ufuncs.greater(mask, few), None)


def _without_nan(a: Any, name: str) -> Any:
    """Mask nan, or omit it from sums and products as NumPy does."""
    data, mask = values_of(a), mask_of(a)
    is_nan = ufuncs.isnan(data)
    if name in ("nansum", "nanprod"):
        return with_mask(ufuncs.where(is_nan, _FILLS[name.removeprefix("nan")], data), mask, None)
    return with_mask(data, mask | is_nan, None)


def _masked(a: Any) -> Any:
    """Return any object as a masked tensor."""
    if isinstance(a, np.ma.MaskedArray):
        return from_masked(a)
    if has_mask(a):
        return a
    if isinstance(a, Node) and is_masked(a):
        return wrap(a)
    data = wrap(as_node(a))
    return with_mask(data, ufuncs.not_equal(data, data) & False, None)


@public
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    endwith: bool = True,
    fill_value: Any = None,
    *,
    stable: bool = False,
) -> Any:
    """Sort along an axis, with masked values at the end. See numpy.ma.sort.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int
        The axis.
    kind, order : object
        As in :func:`marsdask.tensor.sort`.
    endwith : bool
        Whether masked values come last.
    fill_value : scalar, optional
        Counts in place of masked values.
    stable : bool
        As in NumPy, an error unless it is false.

    Returns
    -------
    MaskedTensor
        The sorted values.
    """
    if stable:
        raise ValueError("`stable` parameter is not supported for masked arrays.")
    a = _masked(a)
    if fill_value is None:
        most = np.nan if a.dtype.kind == "f" else np.ma.minimum_fill_value(a.node.meta)
        fill_value = most if endwith else np.ma.maximum_fill_value(a.node.meta)
    places = argsort(filled(a, fill_value), axis, kind=kind, order=order)
    data, mask = (take_along_axis(part, places, axis) for part in (values_of(a), mask_of(a)))
    return with_mask(data, mask, a.fill_value)


@public
def median(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return the median of unmasked values. See numpy.ma.median."""
    a = _masked(a)
    data, mask = values_of(a), mask_of(a)
    nothing = _hidden(a, {"axis": axis, "keepdims": True})
    # Masked values become nan, which is ignored; nan itself gives nan.
    values = ufuncs.where(mask & logical_not(nothing), np.nan, data)
    result = nanmedian(values, axis=axis, keepdims=keepdims)
    own = reductions.any(ufuncs.isnan(data) & logical_not(mask), axis=axis, keepdims=keepdims)
    result = ufuncs.where(own, np.nan, result)
    hidden = _hidden(a, {"axis": axis, "keepdims": keepdims})
    result = with_mask(ufuncs.where(hidden, 0, result), hidden, None)
    return result if out is None else assign(out, result.node)


@public
def dot(a: Any, b: Any) -> Any:
    """Return the product; masked values are ignored. See numpy.ma.dot.

    Returns
    -------
    MaskedTensor
        The product.
    """
    return _product(plain_dot, a, b)


@public
def tensordot(a: Any, b: Any, axes: Any = 2, sparse: bool | None = None) -> Any:
    """Sum over pairs of axes; masked values are ignored. See numpy.tensordot.

    The result is masked where no pair of values is unmasked, as that of numpy.ma.dot.

    Returns
    -------
    MaskedTensor
        The sums.
    """
    if sparse:
        raise NotImplementedError("sparse masked tensors are not supported; use sparse=False")
    return _product(plain_tensordot, a, b, axes)


def _product(sums: Callable[..., Any], a: Any, b: Any, *how: Any) -> Any:
    """Return sums of products of unmasked values, masked where there are none."""
    a, b = _masked(a), _masked(b)
    product = sums(filled(a, 0), filled(b, 0), *how)
    counts = sums(logical_not(mask_of(a)), logical_not(mask_of(b)), *how)
    return with_mask(product, logical_not(counts), None)


@public
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the weighted average of unmasked values. See numpy.ma.average."""
    a = _masked(a)
    how = {"axis": axis, "keepdims": keepdims}
    if weights is None:
        result, scale = a.mean(**how), count(a, **how).astype(float)
    else:
        factors, flags = filled(weights, 0), mask_of(weights)
        if factors.shape != a.shape:
            factors, flags = (
                wrap(reductions.along(part.node, a.node, axis)) for part in (factors, flags)
            )
        kind = np.result_type(
            a.dtype, factors.dtype, *([np.float64] if a.dtype.kind in "biu" else [])
        )
        hidden = _hidden(with_mask(values_of(a), mask_of(a) | flags, None, shrinks(a)), how)
        factors = ufuncs.where(mask_of(a), 0, factors).astype(kind)
        scale = reductions.sum(factors, **how)
        total = reductions.sum(ufuncs.multiply(filled(a, 0), factors), **how)
        if total.ndim:  # NumPy's division masks in arrays only
            hidden = ufuncs.logical_or(hidden, ufuncs.equal(scale, 0))
        result = ufuncs.divide(total, ufuncs.where(hidden, 1, scale))
        if total.ndim:
            hidden = ufuncs.logical_or(hidden, logical_not(ufuncs.isfinite(result)))
        result = with_mask(result, hidden, None)
    if returned and result.ndim:  # as NumPy, whose division masks the weights too
        scale = with_mask(scale, mask_of(result) & False, None)
    return (result, scale) if returned else result


def _scanned(name: str) -> TensorFunction:
    def lazy(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        flat = a.ravel() if axis is None else a
        fill = 0 if name == "cumsum" else 1
        result = getattr(cumulative, name)(filled(flat, fill), 0 if axis is None else axis, dtype)
        return with_mask(result, mask_of(flat), None)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Accumulate what is not masked. See numpy.ma.{name} and numpy.{name}."
    return public(lazy)


cumsum: Final = _scanned("cumsum")
cumprod: Final = _scanned("cumprod")


@public
def argmin(
    a: Any, axis: Any = None, fill_value: Any = None, out: Any = None, *, keepdims: Any = False
) -> Any:
    """Return the position of the smallest unmasked value. See numpy.ma.argmin."""
    values = _filled_with(_masked(a), fill_value, np.ma.minimum_fill_value)
    return plain_argmin(values, axis, out=out, keepdims=_keeps(keepdims))


@public
def argmax(
    a: Any, axis: Any = None, fill_value: Any = None, out: Any = None, *, keepdims: Any = False
) -> Any:
    """Return the position of the largest unmasked value. See numpy.ma.argmax."""
    values = _filled_with(_masked(a), fill_value, np.ma.maximum_fill_value)
    return plain_argmax(values, axis, out=out, keepdims=_keeps(keepdims))


def _filled_with(a: Any, fill_value: Any, default: Any) -> Any:
    """Return values with one in place of those that are masked, by default the least of all."""
    return filled(a, default(a.node.meta) if fill_value is None else fill_value)


def _keeps(keepdims: Any) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


@public
def _sort_in_place(a: Any, axis: Any = -1, **how: Any) -> None:
    """Sort along an axis. See numpy.ma.MaskedArray.sort."""
    rebind(a, sort(a, axis, **how).node)


MaskedTensor.sort = _sort_in_place  # type: ignore[misc]
for _func in (cumsum, cumprod, argmin, argmax, count, compressed, dot):
    setattr(MaskedTensor, _func.__name__, _func)
