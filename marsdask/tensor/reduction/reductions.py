"""Reductions: one row of a table each.

``name = reduction(map, combine, finalize)`` declares a reduction. ``map(block, axis=, keepdims=)``
computes a partial result (an array, or a tuple of them) that keeps the reduced axes at length one.
``combine(a, b)`` is associative and combines two. ``finalize(partial)`` computes the result of the
last. This module implements axes, ``keepdims``, ``dtype``, ``out``, empty chunks, the tree, and
fusion with the operand. ``whole`` is NumPy's function if there is one: it determines the result
type, and the result (or error) for no elements.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter
from typing import Any, Final

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.node import Node
from marsdask.core.sizes import UnknownShapeError, known, known_chunks, numbers

from ..creation.from_shape import full, ones_like
from ..elementwise.nodes import boolean, masked_class, operand
from ..elementwise.ufuncs import (
    alike,
    apply,
    astype,
    divide,
    isclose,
    logical_and,
    logical_or,
    multiply,
    not_equal,
)
from ..indexing.assignment import into
from ..kernels.block_reduction import Axis, Recipe
from ..kernels.masked_sums import weighed_sum, weighed_total
from ..manipulation.shape import view
from ..operands import as_node
from ..signatures import optional, with_signature
from ..sparse.blocks import stored_sum
from ..typing import TensorFunction, public
from ..unknown_lengths import ResultSpec, like, waits_for_lengths
from . import partials
from .nodes import Reduction, ReductionSpec
from .outputs import check_output

__all__ = [
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "array_equal",
    "average",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nansum",
    "prod",
    "ptp",
    "sum",
]

_SUM = ("dtype", "out", "keepdims", "initial", "where")
_MAX = ("out", "keepdims", "initial", "where")
_ANY = ("out", "keepdims", "where")
_MEAN = ("dtype", "out", "keepdims", "where")
_VAR = ("dtype", "out", "ddof", "keepdims", "where", "correction")
_PTP = ("out", "keepdims")
_COUNT = ("keepdims",)

#: The width of the tree: arguments of Mars and Dask, which only tune and are taken from the
#: options.
_TUNING = ("combine_size", "split_every", "method")


def reduction(
    map: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    finalize: Callable[..., Any] | None = None,
    *,
    name: str = "",
    whole: Callable[..., Any] | None = None,
    takes: tuple[str, ...] = ("dtype", "out", "keepdims"),
    tiled: bool = False,
    idempotent: bool = False,
    within: Callable[..., Any] | None = None,
    weighed: Callable[..., Any] | None = None,
    stored: Callable[..., Any] | None = None,
    casting: str = "unsafe",
) -> TensorFunction:
    """Return a lazy reduction; ``takes`` are its arguments after ``a`` and ``axis``, in order.

    ``casting`` restricts the types of ``out``: most of NumPy's accept any.
    """
    recipe = Recipe(map, combine, finalize, whole, tiled, idempotent, within, weighed, stored)
    title = name or (whole or map).__name__

    def lazy(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(takes):
            raise TypeError(f"{title}() takes at most {2 + len(takes)} positional arguments")
        options = dict(zip(takes, args, strict=False))
        for key in kwargs:
            if key in options or (key not in takes and key not in _TUNING):
                raise TypeError(f"{title}() got an unexpected keyword argument {key!r}")
        options.update(kwargs)
        if (masked := masked_class((a,))) is not None:
            result = masked._reduced(title, a, axis, options)
            return result.node if options.get("out") is None else result
        node = as_node(a, sparse=True)
        axes = as_axes(axis, node.meta.ndim)
        reduced = _node(recipe, title, node, axes, options)
        check_output(options.get("out"), node.shape, reduced.shape, axes, combine)
        return into(options.get("out"), reduced, casting)

    lazy.__name__ = lazy.__qualname__ = title
    theirs = {"amax": "max", "amin": "min"}.get(title, title)
    lazy.__doc__ = f"Reduce along axes by ``{title}``. See numpy.{theirs}."
    first = Parameter("a", Parameter.POSITIONAL_OR_KEYWORD)
    return public(
        with_signature(lazy, [first, *optional(("axis", *takes)), *optional(_TUNING, named=True)])
    )


def as_axes(axis: Any, ndim: int) -> Axis:
    """Return the axes as a sorted tuple of non-negative ints; ``None`` is all of them."""
    if axis is None or (ndim == 0 and np.ndim(axis) == 0 and operator.index(axis) in (0, -1)):
        return tuple(range(ndim))  # NumPy accepts an axis for scalars, too
    items = tuple(map(operator.index, axis if np.iterable(axis) else (axis,)))
    axes: Axis = np.lib.array_utils.normalize_axis_tuple(items, ndim, allow_duplicate=True)
    if len(set(axes)) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(axes))


def _node(recipe: Recipe, title: str, node: Node, axes: Axis, given: dict[str, Any]) -> Node:
    dtype, where, initial = given.get("dtype"), given.get("where", True), given.get("initial")
    weights = given.get("weights")
    masked = weights is not None or (where is not True and where is not None)
    settings = {} if dtype is None else {"dtype": np.dtype(dtype)}
    initial = _initial_element(initial, node.meta.dtype)
    if masked and initial is not None and recipe.idempotent:
        settings["initial"] = initial
    ddof = given.get("ddof", 0) or 0
    if given.get("correction") is not None:
        if ddof:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = given["correction"]
    operands: tuple[Node, ...] = (node,)
    if masked:
        mask = boolean(where) if weights is None else weights
        operands = (node, as_node(operand(mask, node.chunks)))
    if recipe.whole is not None and initial is None and 0 in [node.shape[a] for a in axes]:
        _check_empty(recipe.whole, node, axes)
    result = _result_dtype(recipe, node, axes, settings, masked=masked)
    spec = ReductionSpec(
        recipe,
        axes,
        bool(given.get("keepdims", False)),
        result,
        title,
        tuple(settings.items()),
        (("ddof", ddof),) if ddof else (),
        initial,
    )
    return Reduction(operands, None, masked, spec)


def _initial_element(initial: Any, dtype: np.dtype[Any]) -> Any:
    """Return the element that a reduction starts with, ``None`` for none; arrays raise."""
    if initial is np._NoValue:
        return None
    if isinstance(initial, Collection):
        initial = initial.compute()
    if np.ndim(initial):
        np.empty(1, dtype)[0] = initial  # raises NumPy's error
    return initial


def _result_dtype(
    recipe: Recipe, node: Node, axes: Axis, settings: dict[str, Any], *, masked: bool
) -> Any:
    """Return the result's type; raise NumPy's errors for types and arguments."""
    if settings.get("dtype") == np.dtype(object):
        return np.dtype(object)  # a single object tells another type
    sample = np.ones((1,) * node.meta.ndim, node.meta.dtype)
    where = {"where": np.ones(sample.shape, np.bool_)} if masked else {}
    if recipe.whole is not None:
        value = recipe.whole(sample, axis=axes, **settings, **where)
        # One object, or one string, does not determine the type of the others.
        if node.meta.dtype.kind not in "OT":
            return np.asarray(value).dtype
    value = recipe.map(sample, axis=axes, keepdims=True, **settings, **where)
    return np.asarray(value if recipe.finalize is None else recipe.finalize(value)).dtype


def _check_empty(whole: Callable[..., Any], node: Node, axes: Axis) -> None:
    """Raise NumPy's error for no elements here."""
    shape = tuple(1 if axis not in axes and n != 0 else n for axis, n in enumerate(node.shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole(np.empty(tuple(n if n in (0, 1) else 1 for n in shape), node.meta.dtype), axis=axes)


# NumPy's `sum` of a block is pairwise, and reads it once: no tiles needed.
sum: Final = reduction(
    np.sum, np.add, whole=np.sum, takes=_SUM, weighed=weighed_sum, stored=stored_sum
)
prod: Final = reduction(np.prod, np.multiply, whole=np.prod, takes=_SUM)
max: Final = reduction(np.max, np.maximum, whole=np.max, takes=_MAX, name="max", idempotent=True)
min: Final = reduction(np.min, np.minimum, whole=np.min, takes=_MAX, name="min", idempotent=True)
amax: Final = reduction(np.max, np.maximum, whole=np.max, takes=_MAX, name="amax", idempotent=True)
amin: Final = reduction(np.min, np.minimum, whole=np.min, takes=_MAX, name="amin", idempotent=True)
any: Final = reduction(np.any, np.logical_or, whole=np.any, takes=_ANY)
all: Final = reduction(np.all, np.logical_and, whole=np.all, takes=_ANY)
count_nonzero: Final = reduction(
    partials.count_nonzero, np.add, whole=np.count_nonzero, takes=_COUNT
)
ptp: Final = reduction(
    partials.extremes,
    partials.merge_extremes,
    partials.peak_to_peak,
    whole=np.ptp,
    takes=_PTP,
    casting="same_kind",
)
mean: Final = reduction(
    partials.total,
    partials.add_pairs,
    partials.mean_of,
    whole=np.mean,
    takes=_MEAN,
    within=partials.moments,
    weighed=weighed_total,
    stored=partials.stored_total,
)
var: Final = reduction(
    partials.moments,
    partials.merge_moments,
    partials.variance,
    whole=np.var,
    takes=_VAR,
    tiled=True,
)
std: Final = reduction(
    partials.moments,
    partials.merge_moments,
    partials.deviation,
    whole=np.std,
    takes=_VAR,
    tiled=True,
    casting="same_kind",
)
nansum: Final = reduction(np.nansum, np.add, whole=np.nansum, takes=_SUM, tiled=True)
nanprod: Final = reduction(np.nanprod, np.multiply, whole=np.nanprod, takes=_SUM, tiled=True)
nanmax: Final = reduction(
    partials.nan_maximum,
    partials.fmax,
    partials.warn_all_nan,
    whole=np.nanmax,
    takes=_MAX,
    idempotent=True,
)
nanmin: Final = reduction(
    partials.nan_minimum,
    partials.fmin,
    partials.warn_all_nan,
    whole=np.nanmin,
    takes=_MAX,
    idempotent=True,
)
nanmean: Final = reduction(
    partials.nan_total,
    partials.add_pairs,
    partials.mean_of,
    whole=np.nanmean,
    takes=_MEAN,
    tiled=True,
    within=partials.nan_moments,
    casting="same_kind",
)
_nanvar = reduction(
    partials.nan_moments,
    partials.merge_moments,
    partials.nan_variance,
    whole=np.nanvar,
    takes=_VAR,
    tiled=True,
    casting="same_kind",
)
_nanstd = reduction(
    partials.nan_moments,
    partials.merge_moments,
    partials.nan_deviation,
    whole=np.nanstd,
    takes=_VAR,
    tiled=True,
    casting="same_kind",
)


def _or_plain(func: TensorFunction, plain: TensorFunction) -> TensorFunction:
    """Return a reduction that ignores nan, the plain one for types without nan, as NumPy."""

    @wraps(func)
    def lazy(a: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype
        return (plain if dtype.kind in "biu" else func)(a, *args, **kwargs)

    return public(lazy)


nanvar: Final = _or_plain(_nanvar, var)
nanstd: Final = _or_plain(_nanstd, std)


@public
def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Node:
    """Return, as a 0-d tensor, whether all elements are close. See numpy.allclose."""
    return all.node(isclose.node(a, b, rtol, atol, equal_nan))


@public
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Node:
    """Return, as a 0-d tensor, whether shapes and elements are equal. See numpy.array_equal."""
    left, right = as_node(a1), as_node(a2)
    if left.meta.ndim != right.meta.ndim or (
        known_chunks((*left.chunks, *right.chunks)) and left.shape != right.shape
    ):
        return as_node(np.bool_(False))
    is_equal = alike.node(left, right)
    if equal_nan:
        is_equal = logical_or.node(
            is_equal, logical_and.node(not_equal.node(left, left), not_equal.node(right, right))
        )
    return all.node(is_equal)


def _averaged(a: Any, axis: Any, weights: Any, returned: bool, keepdims: bool, **_: Any) -> Any:
    spec = like(mean.node(a, axis=axis, keepdims=keepdims))
    if weights is not None:
        spec = ResultSpec(_weighted_kind(as_node(a), as_node(weights)), spec.lengths)
    return ExecutableTuple((spec, spec)) if returned else spec


def _weighted_kind(node: Node, weights: Node) -> np.dtype[Any]:
    """Return the type of an average with weights."""
    dtype: np.dtype[Any] = np.result_type(node.meta.dtype, weights.meta.dtype)
    return np.result_type(dtype, np.float64) if node.meta.dtype.kind in "biu" else dtype


@public
@waits_for_lengths(_averaged)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the weighted average. See numpy.average."""
    node = as_node(a)
    axis = tuple(axis) if isinstance(axis, Iterator) else axis  # which can be read once
    axes = as_axes(axis, node.meta.ndim)
    if weights is None:
        if 0 in [n for i, n in enumerate(node.shape) if i not in axes]:
            raise ZeroDivisionError("the average along an axis of an array that has no elements")
        value = mean.node(a, axis=axis, keepdims=keepdims)
        if not returned:
            return value
        count = math.prod(numbers(node.shape[axis] for axis in axes))
        return ExecutableTuple((value, full.node(numbers(value.shape), count, value.meta.dtype)))
    factors = along(as_node(weights), node, axis)
    lanes = [size for axis, size in enumerate(node.shape) if axis not in axes]
    if 0 in [node.shape[i] for i in axes] and 0 not in lanes:
        raise ZeroDivisionError(_NO_WEIGHT)
    factors = astype.node(factors, _weighted_kind(node, factors))
    scale = sum.node(multiply.node(factors, ones_like.node(node)), axis=axis, keepdims=keepdims)
    scale = apply(weighty, scale)
    value = divide.node(sum.node(multiply.node(a, factors), axis=axis, keepdims=keepdims), scale)
    return ExecutableTuple((value, scale)) if returned else value


_NO_WEIGHT = "Weights sum to zero, can't be normalized"


def weighty(scale: Any) -> Any:
    """Return the sum of the weights, unless it is zero."""
    if np.any(np.equal(scale, 0)):
        raise ZeroDivisionError(_NO_WEIGHT)
    return scale


def along(weights: Node, node: Node, axis: Any) -> Node:
    """Return weights that broadcast against the values."""
    if weights.shape == node.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = as_axes(axis, node.meta.ndim)
    lengths = tuple(node.shape[axis] for axis in axes)
    if weights.shape != lengths and not known((*weights.shape, *lengths)):
        raise UnknownShapeError("whether weights fit, only running tells; execute() first")
    if weights.shape != lengths:
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    return view(weights, [axes.index(a) if a in axes else None for a in range(node.meta.ndim)])
