"""The names of ``numpy.ma`` for masked tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter
from typing import Any, Final, ParamSpec, TypeVar
from typing import cast as typed

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.public import Public, public_like

from ..chunkwise import rechunk as rechunks
from ..creation.from_array import copy as copied
from ..indexing import boolean, getitem
from ..manipulation import diagonals, join, repetition, reshape, shape, views
from ..operands import as_node
from ..typing import public
from .assignment import MaskedFlat, fill_values, put, set_flat, set_item, without_masks
from .masked_tensor import (
    MaskedTensor,
    filled,
    from_masked,
    getdata,
    getmaskarray,
    has_mask,
    joined,
    map_masked_blocks,
    mask_of,
    parts_of,
    shrinks,
    values_of,
    with_mask,
)
from .operators import add_operators
from .reductions import (
    argmax,
    argmin,
    average,
    compressed,
    count,
    cumprod,
    cumsum,
    dot,
    median,
    nonzero,
    sort,
    tensordot,
)

__all__ = [
    "MaskedTensor",
    "argmax",
    "argmin",
    "array",
    "average",
    "compressed",
    "concatenate",
    "count",
    "cumprod",
    "cumsum",
    "dot",
    "empty_like",
    "filled",
    "fix_invalid",
    "from_masked",
    "getdata",
    "getmaskarray",
    "masked",
    "masked_array",
    "masked_equal",
    "masked_greater",
    "masked_greater_equal",
    "masked_inside",
    "masked_invalid",
    "masked_less",
    "masked_less_equal",
    "masked_not_equal",
    "masked_outside",
    "masked_values",
    "masked_where",
    "median",
    "nomask",
    "nonzero",
    "ones_like",
    "set_fill_value",
    "sort",
    "stack",
    "tensordot",
    "where",
    "zeros_like",
]

masked: Final = np.ma.masked
nomask: Final = np.ma.nomask


@public
def masked_array(
    data: Any,
    mask: Any = nomask,
    fill_value: Any = None,
    dtype: Any = None,
    *,
    copy: bool = False,
    chunk_size: Any = None,
    chunks: Any = None,
) -> Any:
    """Return a masked tensor of values and a mask. See numpy.ma.masked_array.

    It shares elements with tensors that are given, unless ``copy`` is true.

    Returns
    -------
    MaskedTensor
        The values and the mask.
    """
    if isinstance(fill_value, type | np.dtype):  # NumPy's position of the type
        dtype, fill_value = fill_value, None
    if np.ndim(fill_value):
        raise ValueError("non-scalar fill_value not supported")
    splits = chunks if chunk_size is None else chunk_size
    if isinstance(data, np.ma.MaskedArray):
        data = from_masked(data, splits)
    reads = (values_of, mask_of) if copy else (getdata, getmaskarray)
    values, own = (reader(data) for reader in reads) if has_mask(data) else (data, None)
    values = _tensor_of(values, splits, copy=copy)
    values = values if dtype is None else values.astype(dtype, copy=False)
    if mask is nomask or mask is False:
        full_mask = shape.broadcast_to(False, values.shape) if own is None else own
    else:
        full_mask = _tensor_of(mask, copy=copy).astype(bool, copy=False)
        if full_mask.size == 1 and full_mask.shape != values.shape:
            full_mask = _for_all(full_mask, values.shape)
        elif full_mask.ndim != values.ndim:
            raise np.ma.MaskError(
                "Mask and data not compatible: data shape "
                f"is {values.shape}, and mask shape is {full_mask.shape}."
            )
        if own is not None:
            full_mask = full_mask | own
    if fill_value is None and has_mask(data):
        fill_value = data.fill_value
    return joined(values, full_mask, fill_value, mask is nomask and _shrinks(data))


def _tensor_of(obj: Any, chunk_size: Any = None, *, copy: bool) -> Any:
    """Return a tensor of its own; unless ``copy``, it shares the elements of a tensor."""
    shares = isinstance(obj, Collection) and chunk_size is None and not copy
    return views.view(obj) if shares else wrap(as_node(obj, chunk_size))


def _for_all(hidden: Any, form: Any) -> Any:
    """Return a mask of its own of all elements, from one of one element."""
    return wrap(shape.broadcast_to(hidden.reshape(()), form).node)


@public
def array(
    data: Any,
    dtype: Any = None,
    copy: bool = False,
    order: str | None = None,
    mask: Any = nomask,
    fill_value: Any = None,
    keep_mask: bool = True,
    hard_mask: bool = False,
    shrink: bool = True,
    subok: bool = True,
    ndmin: int = 0,
    *,
    chunk_size: Any = None,
    chunks: Any = None,
) -> Any:
    """Return a masked tensor of values and a mask. See numpy.ma.array.

    Hard masks are not supported, nor is ``order="F"``.

    Returns
    -------
    MaskedTensor
        The values and the mask.
    """
    del subok  # all results are masked tensors
    if hard_mask or order in ("F", "f"):
        raise NotImplementedError(
            "array(hard_mask=True) and order='F' are not supported; leave them out"
        )
    if isinstance(data, np.ma.MaskedArray):
        data = from_masked(data, chunks if chunk_size is None else chunk_size)
    data = data if keep_mask or not has_mask(data) else getdata(data)
    mask = mask if shrink or mask is not nomask else shape.broadcast_to(False, np.shape(data))
    how: Any = {"copy": copy, "chunk_size": chunk_size, "chunks": chunks}
    result = masked_array(data, mask, fill_value, dtype, **how)
    lacking = max(0, ndmin - result.ndim)
    return result[(None,) * lacking] if lacking else result


_MASKING = """Mask by value. See numpy.ma.{name}.

Parameters
----------
x : array_like
    The values.
*values : scalar
    What to compare them with.
**options
    Options of NumPy's function.

Returns
-------
MaskedTensor
    The values and the mask.
"""


def _masking(name: str) -> Public[..., Node, MaskedTensor]:
    """Return the lazy form of one of NumPy's functions that mask by value."""
    func = getattr(np.ma, name)

    def lazy(x: Any, *values: Any, **options: Any) -> Any:
        copy = options.pop("copy", True)
        data = x if has_mask(x) else wrap(as_node(x))
        result = map_masked_blocks(func, data, *values, **options)
        if copy or not isinstance(x, Collection):
            return result
        if name == "fix_invalid":
            raise NotImplementedError("fix_invalid(copy=False) is not supported; use copy=True")
        return _masked_in_place(x, mask_of(result), result.fill_value, shrinks(result))

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = _MASKING.format(name=name)
    return public(lazy)


masked_equal: Final = _masking("masked_equal")
masked_greater: Final = _masking("masked_greater")
masked_greater_equal: Final = _masking("masked_greater_equal")
masked_inside: Final = _masking("masked_inside")
masked_invalid: Final = _masking("masked_invalid")
masked_less: Final = _masking("masked_less")
masked_less_equal: Final = _masking("masked_less_equal")
masked_not_equal: Final = _masking("masked_not_equal")
masked_outside: Final = _masking("masked_outside")
masked_values: Final = _masking("masked_values")
fix_invalid: Final = _masking("fix_invalid")


@public
def masked_where(condition: Any, a: Any, copy: bool = True) -> Any:
    """Mask where a condition holds. See numpy.ma.masked_where."""
    shapes = [x.node.shape if isinstance(x, Collection) else np.shape(x) for x in (condition, a)]
    if shapes[0] and shapes[0] != shapes[1]:
        raise IndexError(
            "Inconsistent shape between the condition and the input "
            f"(got {shapes[0]} and {shapes[1]})"
        )
    condition = filled(condition, True) if has_mask(condition) else condition
    mask = _tensor_of(condition, copy=True).astype(bool, copy=False)
    if copy or not isinstance(a, Collection):
        result = masked_array(a, mask, copy=True)
        return with_mask(values_of(result), mask_of(result), result.fill_value, _shrinks(a))
    fill_value = a.fill_value if isinstance(a, MaskedTensor) else None
    mask = mask if shapes[0] else _for_all(mask, shapes[1])
    return _masked_in_place(a, mask, fill_value, _shrinks(a))


def _shrinks(a: Any) -> bool:
    return not has_mask(a) or shrinks(a)


def _masked_in_place(a: Any, condition: Any, fill_value: Any, shrinks: bool) -> MaskedTensor:
    """Return a view of a tensor that is masked where a condition holds too."""
    if not isinstance(a, MaskedTensor):
        return joined(views.view(a), condition, fill_value, shrinks)
    view = joined(a.data, a.mask, fill_value, shrinks)
    view.mask = condition | mask_of(a)
    return view


@public
def where(condition: Any, x: Any = Parameter.empty, y: Any = Parameter.empty) -> Any:
    """Choose by a condition, or find where it holds. See numpy.ma.where."""
    missing = [value is Parameter.empty for value in (x, y)]
    if any(missing) != all(missing):
        raise ValueError("Must provide both 'x' and 'y' or neither.")
    return nonzero(condition) if all(missing) else map_masked_blocks(np.ma.where, condition, x, y)


@public
def set_fill_value(a: Any, fill_value: Any) -> None:
    """Set the fill value of masked elements. See numpy.ma.set_fill_value."""
    if np.ndim(fill_value):
        raise ValueError("set_fill_value() takes one value")
    if isinstance(a, MaskedTensor):
        a.fill_value = fill_value


@public
def ones_like(a: Any, dtype: Any = None) -> Any:
    """Return ones, masked where ``a`` is. See numpy.ma.ones_like."""
    return map_masked_blocks(
        np.ma.ones_like, a, **({} if dtype is None else {"dtype": np.dtype(dtype)})
    )


@public
def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros, masked where ``a`` is. See numpy.ma.zeros_like."""
    return map_masked_blocks(
        np.ma.zeros_like, a, **({} if dtype is None else {"dtype": np.dtype(dtype)})
    )


@public
def empty_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros, masked where ``a`` is. See numpy.ma.empty_like."""
    return zeros_like(a, dtype)


P = ParamSpec("P")
N = TypeVar("N")
R = TypeVar("R")

# Moving operations apply to the data and to the mask.


def accepts_masked(func: Public[P, N, R]) -> Public[P, N, R]:
    """Make a function that only moves elements accept masked tensors as well."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args or not _masks_in(args[0]):
            return func.node(*args, **kwargs)
        if kwargs.get("out") is not None:
            raise NotImplementedError(
                f"{func.__name__}(out=) of masked tensors is not supported; assign the result"
            )
        args = (args[0], *map(without_masks, args[1:]))
        data = func(_each(_data_in, args[0]), *args[1:], **kwargs)
        mask = func(_each(_mask_in, args[0]), *args[1:], **kwargs)
        if isinstance(args[0], MaskedTensor) and data is _data_in(args[0]):
            return args[0]  # nothing to do
        return _rejoined(data, mask, _options_of(args[0]))

    return typed("Public[P, N, R]", public_like(func, call))


def or_masked(func: Public[P, N, R], masked_func: Any) -> Public[P, N, R]:
    """Make a function that calls another one where an argument is a masked tensor or array."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        stands = masked_func if any(map(has_mask, args[:2])) else func.node
        return stands(*args, **kwargs)

    return typed("Public[P, N, R]", public_like(func, call))


def _data_in(a: Any) -> Any:
    return parts_of(a)[0] if isinstance(a, MaskedTensor) else values_of(a)


def _mask_in(a: Any) -> Any:
    return parts_of(a)[1] if isinstance(a, MaskedTensor) else mask_of(a)


def _masks_in(item: Any) -> bool:
    return any(map(_masks_in, item)) if isinstance(item, list | tuple) else has_mask(item)


def _each(func: Callable[[Any], Any], item: Any) -> Any:
    return [_each(func, part) for part in item] if isinstance(item, list | tuple) else func(item)


def _options_of(item: Any) -> tuple[Any, bool]:
    if isinstance(item, list | tuple):
        return None, True
    return item.fill_value, _shrinks(item)


def _rejoined(data: Any, mask: Any, options: tuple[Any, bool]) -> Any:
    if isinstance(data, list | tuple):
        pairs = zip(data, mask, strict=True)
        return type(data)([_rejoined(own, flags, options) for own, flags in pairs])
    return joined(data, mask, *options)


concatenate: Public[..., Node, MaskedTensor] = typed(
    "Public[..., Node, MaskedTensor]", accepts_masked(join.concatenate)
)


def appended(arr: Any, values: Any, axis: int | None = None) -> MaskedTensor:
    """Join two tensors of which one is masked. See numpy.ma.append."""
    return concatenate((arr, values), axis)


stack: Public[..., Node, MaskedTensor] = typed(
    "Public[..., Node, MaskedTensor]", accepts_masked(join.stack)
)

#: Methods of tensors that only move elements.
_METHODS: dict[str, Public[..., Any, Any]] = {
    "__getitem__": getitem.getitem,
    "take": getitem.take,
    "reshape": reshape.reshape,
    "ravel": reshape.ravel,
    "flatten": reshape.flatten,
    "transpose": shape.transpose,
    "swapaxes": shape.swapaxes,
    "squeeze": shape.squeeze,
    "rechunk": rechunks.rechunk,
    "repeat": repetition.repeat,
    "diagonal": diagonals.diagonal,
    "compress": boolean.compressed,
    "view": views.view,
    "copy": copied,
}
for _name, _func in _METHODS.items():
    setattr(MaskedTensor, _name, accepts_masked(_func))
#: Those that change a tensor.
_WRITES: dict[str, Any] = {
    "__setitem__": set_item,
    "fill": fill_values,
    "put": put,
    "flat": property(MaskedFlat, set_flat),
}
for _name, _func in _WRITES.items():
    setattr(MaskedTensor, _name, _func)
add_operators(MaskedTensor)
MaskedTensor.T = property(accepts_masked(shape.transpose))  # type: ignore[method-assign, assignment]
MaskedTensor.mT = property(accepts_masked(shape.matrix_transpose))  # type: ignore[method-assign, assignment]
