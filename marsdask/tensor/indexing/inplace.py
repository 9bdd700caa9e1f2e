"""In-place changes, which all that share elements with a tensor see.

Earlier expressions keep their values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, collect, rebind, wrap
from marsdask.core.node import Node
from marsdask.core.sizes import UnknownShapeError, known, numbers

from ..chunks import whole_number
from ..creation.from_shape import zeros
from ..elementwise.nodes import native
from ..elementwise.ufuncs import apply, astype, remainder, subtract
from ..manipulation.join import concatenate, length
from ..manipulation.repetition import tile
from ..manipulation.reshape import ravel, reshape
from ..manipulation.shape import normalize_axis
from ..operands import DESTINATION, as_node, to_change
from ..scan.cumulative import cumsum
from ..sparse.blocks import is_sparse
from ..sparse.conversion import tosparse
from ..typing import public
from ..unknown_lengths import ResultSpec, waits_for_lengths
from .advanced import in_bounds, settle
from .assigned_values import held
from .assignment import assign
from .getitem import getitem
from .scatter import SetAlong
from .setitem import fit, put_where, setitem


def _tensor(a: Any, name: str, place: str = DESTINATION) -> Any:
    """Return the tensor to change; other objects raise."""
    if not isinstance(a, Collection):
        raise TypeError(f"{name}() changes a tensor in place; a NumPy array is NumPy's to change")
    return to_change(a, place)


def _values(a: Any, name: str, place: str = DESTINATION) -> Any:
    """Return the tensor to change; of a masked one the values, since NumPy leaves masks alone."""
    tensor = _tensor(a, name, place)
    return tensor.data if isinstance(tensor.node.meta, np.ma.MaskedArray) else tensor


def _lengths(a: Any) -> tuple[int, ...]:
    """Return the lengths of the axes, which must be known."""
    shape = as_node(a).shape
    if not known(shape):
        raise UnknownShapeError("a length is not known before execute(); execute() first")
    return numbers(shape)


def _resized(a: Any, new_shape: Any) -> ResultSpec:
    lengths = np.atleast_1d(new_shape).tolist()
    return ResultSpec(as_node(a).meta.dtype, tuple((whole_number(size),) for size in lengths))


@public
@waits_for_lengths(_resized)
def resize(a: Any, new_shape: Any) -> Node:
    """Repeat the elements to fill a shape. See numpy.resize."""
    shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    shape = tuple(map(whole_number, shape))
    if any(size < 0 for size in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = ravel.node(a)
    count = int(np.prod(shape, dtype=np.intp))
    own = length(flat, 0)
    if count == 0 or own == 0:
        return as_node(zeros.node(shape, flat.meta.dtype))
    repeats = -(-count // own)
    return reshape.node(native(getitem.node(tile.node(flat, repeats), slice(count))), shape)


@public
def resize_in_place(a: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape, truncating or appending zeros. See numpy.ndarray.resize."""
    to_change(a)
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    if shape in ((None,), ()):
        return
    count = int(np.prod(shape, dtype=np.intp))
    flat = ravel.node(a)
    own = length(flat, 0)
    if count == own:
        a.shape = shape
        return
    if a._view is not None:
        a._view.leaving(a, force=not refcheck)
    if count > own:
        flat = concatenate.node([flat, zeros.node(count - own, flat.meta.dtype)])
    rebind(a, as_node(reshape.node(getitem.node(flat, slice(count)), shape)))


@public
def fill(a: Any, value: Any) -> None:
    """Assign one value to all elements. See numpy.ndarray.fill."""
    setitem(_tensor(a, "fill"), ..., held(value, a.dtype, 0))


def with_part(block: Any, value: Any, part: str) -> Any:
    """Return a copy of a block with another real or imaginary part."""
    out = np.array(block)  # a copy; a block without axes may be a scalar
    setattr(out, part, value)
    return out


def _set_part(a: Any, value: Any, part: str) -> None:
    node = a.node
    if is_sparse(node.meta):
        setattr(np.empty(0, node.meta.dtype), part, 0)  # raises for missing parts
        new = apply(with_part, as_node(node), fit(as_node(value), node.shape), part=part)
        rebind(a, tosparse.node(new))
        return
    setattr(node.meta.copy(), part, 0)  # raises for missing parts
    if node.meta.dtype.kind != "c":
        setitem(a, ..., value)
    else:
        assign(a, apply(with_part, node, fit(as_node(value), node.shape), part=part))


@public
def set_real(a: Any, value: Any) -> None:
    """Assign the real parts. See numpy.ndarray.real."""
    _set_part(a, value, "real")


@public
def set_imag(a: Any, value: Any) -> None:
    """Assign the imaginary parts; TypeError if the type has none. See numpy.ndarray.imag."""
    _set_part(a, value, "imag")


@public
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Assign elements, those where a mask holds. See numpy.copyto."""
    dst = _values(dst, "copyto")
    old = dst.node
    dtype = old.meta.dtype
    if type(src) in (bool, int, float, complex):
        _check_cast(np.result_type(dtype, src), dtype, casting)
        src = np.full((), src, dtype)  # raises for values that do not fit
    new = as_node(src)
    _check_cast(new.meta.dtype, dtype, casting)
    if where is True:
        setitem(dst, ..., new)
    else:
        assign(dst, apply(put_where, old, where, new), "unsafe")


def _check_cast(old: np.dtype[Any], new: np.dtype[Any], casting: Any) -> None:
    if not np.can_cast(old, new, casting):
        raise TypeError(
            f"Cannot cast array data from {old!r} to {new!r} according to the rule {casting!r}"
        )


def _given(values: Any, dtype: Any) -> Any:
    """Return values that are cast safely if they are an array, and unsafely otherwise."""
    if not hasattr(values, "dtype"):
        return wrap(as_node(np.array(values, dtype)))
    new = wrap(as_node(held(values, dtype)))
    _check_cast(new.dtype, dtype, "safe" if new.ndim else "unsafe")
    return new


@public
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign where a mask holds the value at the same place. See numpy.putmask.

    Too few values are repeated.
    """
    a = _values(a, "putmask", "putmask: output array")
    shape = _lengths(a)
    condition, new = wrap(as_node(mask)), _given(values, a.dtype)
    if condition.shape != shape:
        raise ValueError("putmask: mask and data must be the same size")
    spread = new if new.shape == shape else resize(new, shape) if new.size else a
    copyto(a, spread, "unsafe", condition.astype(bool))


@public
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign one value after the other where a mask holds. See numpy.place."""
    arr = _values(arr, "place", "WRITEBACKIFCOPY base")
    shape = _lengths(arr)
    condition, new = wrap(as_node(mask)).astype(bool), _given(vals, arr.dtype)
    if condition.shape != shape:
        raise ValueError("place: mask and data must be the same size")
    new = ravel(new)
    count = length(new.node, 0)
    if not count:
        if condition.any().compute():
            raise ValueError("Cannot insert from an empty array!")
        return
    rank = remainder.node(
        subtract.node(cumsum.node(astype.node(ravel.node(condition), np.intp)), 1), count
    )
    copyto(arr, reshape(getitem.node(new, rank), shape), "unsafe", condition)


@public
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign to positions of the flat array. See numpy.put."""
    shape = _lengths(_tensor(a, "put", "put: output array"))
    count = int(np.prod(shape, dtype=np.intp))
    v = held(v, a.dtype)
    where, new = ravel(ind), ravel(v)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if length(where.node, 0) == 0 or length(new.node, 0) == 0:
        return
    if where.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {where.dtype!r} to {np.dtype(int)!r}")
    new = _repeated(v, length(where.node, 0))
    if isinstance(ind, Collection):
        where = wrap(apply(in_bounds, where, length=count, mode=mode))
    else:
        where = in_bounds(np.ravel(ind).astype(np.intp), count, mode)
    _set_in_one_row(a, where, new)


def _set_in_one_row(a: Any, where: Any, values: Any) -> None:
    """Assign to flat positions; positions in memory are sent only to their chunks."""
    shape = _lengths(a)
    if shape and not isinstance(where, Collection):
        (places,) = settle((where,), (0,), (math.prod(shape),))
        setitem(a, np.unravel_index(places, shape), values)
        return
    flat = collect(ravel.node(a))
    setitem(flat, where.astype(np.intp), values)
    rebind(a, as_node(reshape.node(flat, shape)))


def _repeated(values: Any, count: int) -> Any:
    """Return the needed number of values in one row; a repeated value stays single."""
    if isinstance(values, Collection):
        flat = ravel(values)
        return flat if flat.size in (1, count) else resize(flat, count)
    return np.ravel(values) if np.size(values) == 1 else np.resize(values, count)


@public
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Assign to each line's own positions along an axis. See numpy.put_along_axis."""
    _tensor(arr, "put_along_axis")
    where = wrap(as_node(indices))
    if where.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if where.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        _set_in_one_row(arr, where if isinstance(indices, Collection) else indices, values)
        return
    axis = normalize_axis(axis, arr.ndim)
    if where.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    lengths = _lengths(arr)
    if not isinstance(indices, Collection):
        settle((np.asarray(indices),), (axis,), (lengths[axis],))
    fits = all(
        i == axis or own in (1, size)
        for i, (own, size) in enumerate(zip(where.node.shape, lengths, strict=True))
    )
    if fits and (isinstance(indices, Collection) or arr.numblocks[axis] == 1):
        wide = (*lengths[:axis], where.node.shape[axis], *lengths[axis + 1 :])
        value = fit(as_node(held(values, arr.dtype)), wide)
        assign(arr, SetAlong(arr.node, value, where.node, axis))
        return
    own = (
        np.arange(size).reshape((-1,) + (1,) * (arr.ndim - 1 - i)) for i, size in enumerate(lengths)
    )
    setitem(arr, tuple(indices if i == axis else key for i, key in enumerate(own)), values)


@public
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Assign to the main diagonal. See numpy.fill_diagonal."""
    shape = _lengths(_tensor(a, "fill_diagonal"))
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    steps = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    end = shape[1] * shape[1] if len(shape) == 2 and not wrap else int(np.prod(shape))
    flat = np.arange(0, min(end, int(np.prod(shape))), sum(steps))
    if len(flat):
        setitem(a, np.unravel_index(flat, shape), _repeated(held(val, a.dtype), len(flat)))
