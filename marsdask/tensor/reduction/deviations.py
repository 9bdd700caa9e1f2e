"""Variances and standard deviations, also with a given mean and for objects."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.sizes import known, numbers

from ..elementwise.nodes import masked_class
from ..elementwise.ufuncs import (
    absolute,
    apply,
    astype,
    conj,
    divide,
    isnan,
    logical_and,
    logical_not,
    maximum,
    multiply,
    square,
    subtract,
)
from ..elementwise.ufuncs import where as choose
from ..indexing.assignment import assign
from ..manipulation.shape import normalize_axes
from ..operands import as_node
from ..signatures import with_signature
from ..typing import TensorFunction, public
from . import reductions


def _about(plain: Callable[..., Any], *, root: bool = False, skips: bool = False) -> TensorFunction:
    """Return a reduction that accepts ``mean=`` and objects, which ``plain`` does not."""

    @wraps(plain)
    def lazy(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any, **how: Any
    ) -> Any:
        about = how.pop("mean", None)
        own = a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype
        if masked_class((a,)) or (
            about is None and own.kind != "O" and not _casts_mean(own, dtype, skips=skips)
        ):
            return plain(a, axis, dtype, out, *args, **how)
        options = {**dict(zip(("ddof", "keepdims"), args, strict=False)), **how}
        skipping = skips and own.kind in "fc"
        result = _variance(wrap(as_node(a)), axis, dtype, about, skips=skipping, **options)
        result = _root(result) if root else result
        return result if out is None else assign(out, result.node)

    parameters = list(signature(plain).parameters.values())
    mean = Parameter("mean", Parameter.KEYWORD_ONLY, default=None)
    first = [item for item in parameters if item.kind is not Parameter.KEYWORD_ONLY]
    return public(with_signature(lazy, [*first, mean, *parameters[len(first) :]]))


def _casts_mean(own: np.dtype[Any], dtype: Any, *, skips: bool) -> bool:
    """Tell whether the mean loses a fraction or an imaginary part, which the values keep."""
    kind = "" if dtype is None else np.dtype(dtype).kind
    if kind in ("i", "u", "b"):
        return not (skips and own.kind in "fc")  # NumPy refuses these
    return own.kind == "c" and kind == "f"


def _root(found: Any) -> Any:
    """Take the square root; as in NumPy, only single numbers are converted to integers."""
    kind = found.dtype
    if kind.kind not in "iub":
        return wrap(apply(square_root, found))
    if found.ndim:
        np.sqrt(np.ones(1, kind), out=np.ones(1, kind))  # raises NumPy's error
    return astype(apply(square_root, found), kind)


def square_root(block: Any) -> Any:
    """Take the square root, of one object as of a number."""
    return np.sqrt(block if np.ndim(block) else np.asarray(block)[()])


def _variance(
    a: Any,
    axis: Any,
    dtype: Any,
    about: Any,
    *,
    skips: bool,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    correction: Any = None,
) -> Any:
    """Follow NumPy's own steps: centre, square, sum, divide by the degrees of freedom."""
    if correction is not None:
        if ddof:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    mask = where
    if skips:
        mask = logical_and(logical_not.node(isnan.node(a)), mask)
    if about is None:
        own = dtype if _casts_mean(a.dtype, dtype, skips=skips) else None
        about = reductions.mean(a, axis, own, keepdims=True, where=mask)
    away = subtract.node(a, about)
    if a.dtype.kind == "c":
        squares = square.node(absolute.node(away))
    else:
        squares = multiply.node(away, conj.node(away) if a.dtype.kind == "O" else away)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    total = reductions.sum.node(squares, axis, dtype, None, keepdims, where=mask)
    degrees = _count(a, axis, mask, keepdims=keepdims) - ddof
    if not skips:
        value = divide(total, maximum.node(degrees, 0))
        return value if total.meta.dtype.kind not in "fciub" else astype(value, total.meta.dtype)
    return astype(choose(degrees <= 0, np.nan, divide(total, degrees)), total.meta.dtype)


def _count(a: Any, axis: Any, mask: Any, *, keepdims: bool) -> Any:
    """Return the number of summed elements: a number if the lengths are known."""
    axes = range(a.ndim) if axis is None else normalize_axes(axis, a.ndim)
    lengths = [a.node.shape[i] for i in axes]
    if mask is True and known(lengths):
        return np.intp(math.prod(numbers(lengths)))
    return reductions.sum(logical_and.node(mask, apply(trues, a)), axis, np.intp, None, keepdims)


def trues(block: Any) -> Any:
    """Return a truth for each element."""
    return np.ones(np.shape(block), bool)


var: Final = _about(reductions.var)
std: Final = _about(reductions.std, root=True)
nanvar: Final = _about(reductions.nanvar, skips=True)
nanstd: Final = _about(reductions.nanstd, root=True, skips=True)
