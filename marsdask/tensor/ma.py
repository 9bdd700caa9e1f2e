"""Masked tensors: chunks are masked arrays of ``numpy.ma``.

Functions of elements call NumPy's masked ones chunk by chunk. What moves elements is done to the
data and to the mask, each a plain tensor, and so are reductions, which leave out what is masked:
no kernel of plain chunks ever sees a masked one. A masked tensor's meta is an empty masked array.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, ClassVar

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, register_collection, wrap
from marsdask.core.node import Node
from marsdask.core.shapes import Cost
from marsdask.core.types import Index

from . import arrange, elementwise, index, join, masks, reduce, reshape, scan, setitem, shape
from . import rechunk as rechunks
from .argreduce import argmax as plain_argmax
from .argreduce import argmin as plain_argmin
from .base import as_node, empty
from .blocks import assemble
from .elementwise import logical_not, subtract
from .pointwise import Elementwise, assign, operands
from .rechunk import aligned
from .tensor import Tensor

masked = np.ma.masked
nomask = np.ma.nomask


@dataclass(frozen=True)
class OfMasked:
    """A function of masked blocks, under no warnings about what the mask hides."""

    func: Callable[..., Any]
    cost: ClassVar[Cost] = Cost(shares=True)

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *blocks: Any, **options: Any) -> Any:
        shapes = [np.shape(block) for block in blocks]
        flat = not any(shapes)
        if flat:
            # Of single elements NumPy would return numbers, and one object for all that is masked.
            blocks = tuple(
                block.reshape(1) if isinstance(block, np.ndarray) else block for block in blocks
            )
        with np.errstate(all="ignore"):
            found = np.ma.asanyarray(self.func(*blocks, **options))
        return found.reshape(()) if flat else found


@dataclass(frozen=True, eq=False)
class MaskedMap(Elementwise):
    """A function of masked chunks (and plain ones) whose results are masked."""

    fuses: ClassVar[bool] = False

    @cached_property
    def _sample(self) -> Any:
        args = [_example(arg.meta) if isinstance(arg, Node) else arg for arg in self.args]
        return self.func(*args, **dict(self.kwargs))

    @cached_property
    def meta(self) -> Any:
        found = np.ma.empty((0,) * len(self.chunks), self._sample.dtype)
        found.fill_value = self._sample.fill_value
        return found

    def _aligned(self, grids: tuple[Grid, ...]) -> Generator[Any, Any, Any]:
        grids, chunks = yield from aligned(grids)
        return self._map(grids, chunks)


@dataclass(frozen=True, eq=False)
class Unmasked(Elementwise):
    """The data or the mask of masked chunks."""

    fuses: ClassVar[bool] = False

    @cached_property
    def _sample(self) -> Any:
        (arg,) = self.args
        return self.func(_example(arg.meta))


def _example(meta: Any) -> Any:
    if not isinstance(meta, np.ma.MaskedArray):
        return empty(meta.dtype, 1)
    found = np.ma.empty((0,), meta.dtype)
    found.fill_value = meta.fill_value
    return found


def joined(data: Any, mask: Any, fill_value: Any = None) -> Any:
    """Make a masked block of data and mask."""
    return np.ma.masked_array(data, mask=mask, fill_value=fill_value)


class MaskedTensor(Tensor):
    """A lazy masked array; its value is one of ``numpy.ma``."""

    __slots__ = ()
    is_masked = True

    @classmethod
    def _assemble(cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        found = assemble(parts, meta, owned=owned)
        if isinstance(found, np.ma.MaskedArray) and found.ndim:
            found.fill_value = meta.fill_value
        return found

    @property
    def data(self) -> Any:
        """The tensor of the values, those that are masked too."""
        return getdata(self)

    @property
    def mask(self) -> Any:
        """The tensor of the mask."""
        return getmaskarray(self)

    @property
    def fill_value(self) -> Any:
        """What takes the place of masked values in :meth:`filled`."""
        return self.node.meta.fill_value

    def filled(self, fill_value: Any = None) -> Any:
        """Return a plain tensor with a value in place of the masked ones."""
        return filled(self, fill_value)

    def compressed(self) -> Any:
        """Return the values that are not masked, in one axis."""
        return compressed(self)

    def count(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Count the values that are not masked."""
        return count(self, axis, keepdims)

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Return the tensor in another type."""
        return _map(_astype, self, dtype=np.dtype(dtype))

    def __setitem__(self, key: Any, value: Any) -> None:
        data, mask = getdata(self), getmaskarray(self)
        if value is masked:
            setitem.setitem(mask, key, True)
        else:
            setitem.setitem(data, key, getdata(value) if _is_masked(value) else value)
            setitem.setitem(mask, key, getmaskarray(value) if _is_masked(value) else False)
        self._node = _join(data, mask, self.fill_value).node

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            raise NotImplementedError(
                f"{ufunc.__name__}.{method} with masked tensors or out=: use the functions of ma"
            )
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


register_collection(np.ma.MaskedArray, MaskedTensor)


def _is_masked(obj: Any) -> bool:
    return isinstance(obj, MaskedTensor | np.ma.MaskedArray)


def _node(obj: Any) -> Node:
    """Return the node of a masked tensor, or of anything as it is."""
    if isinstance(obj, Collection):
        return obj.node
    if isinstance(obj, np.ma.MaskedArray):
        node: Node = from_masked(obj).node
        return node
    return as_node(obj)


def from_masked(array: Any, chunk_size: Any = None) -> Any:
    """Return the tensor of a masked array."""
    data = wrap(as_node(np.ma.getdata(array), chunk_size))
    mask = wrap(as_node(np.ma.getmaskarray(array), data.node.chunks))
    return _join(data, mask, array.fill_value)


def _join(data: Any, mask: Any, fill_value: Any) -> Any:
    return wrap(MaskedMap(OfMasked(joined), (data.node, mask.node), (("fill_value", fill_value),)))


def _map(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function of masked blocks."""
    nodes = tuple(
        _node(arg) if isinstance(arg, np.ma.MaskedArray | MaskedTensor) else arg for arg in args
    )
    nodes = operands(nodes)
    return wrap(MaskedMap(OfMasked(func), nodes, tuple(sorted(options.items()))))


#: Functions of blocks whose masked form has another name.
_FORMS: dict[Any, Callable[..., Any]] = {elementwise.chosen: np.ma.where}


def apply(func: Callable[..., Any], args: Any, out: Any, where: Any, kwargs: Any) -> Any:
    """Return the lazy form of an elementwise function of which some arguments are masked."""
    if where is not True or getattr(func, "nout", 1) > 1:
        raise NotImplementedError(
            f"{func.__name__} of masked tensors takes no where=: use ma.where"
        )
    form = getattr(np.ma, func.__name__, None) if isinstance(func, np.ufunc) else None
    found = _map(form or _FORMS.get(func, func), *args, **kwargs)
    return found if out is None else assign(out[0] if isinstance(out, tuple) else out, found.node)


def getdata(a: Any) -> Any:
    """Return the values, those that are masked too. See numpy.ma.getdata."""
    node = _node(a)
    if not isinstance(node.meta, np.ma.MaskedArray):
        return wrap(node)
    if isinstance(node, MaskedMap) and node.func == OfMasked(joined):
        return wrap(node.args[0])
    return wrap(Unmasked(np.ma.getdata, (node,)))


def getmaskarray(a: Any) -> Any:
    """Tell which values are masked. See numpy.ma.getmaskarray."""
    node = _node(a)
    if not isinstance(node.meta, np.ma.MaskedArray):
        return elementwise.not_equal(wrap(node), wrap(node)) & False
    if isinstance(node, MaskedMap) and node.func == OfMasked(joined):
        return wrap(node.args[1])
    return wrap(Unmasked(np.ma.getmaskarray, (node,)))


def filled(a: Any, fill_value: Any = None) -> Any:
    """Return a plain tensor with a value in place of the masked ones. See numpy.ma.filled."""
    if not _is_masked(a):
        return wrap(as_node(a))
    node = _node(a)
    value = node.meta.fill_value if fill_value is None else fill_value
    value = np.ma.masked_array(np.ones(1, node.meta.dtype), fill_value=value).fill_value
    return elementwise.where(getmaskarray(a), value, getdata(a)).astype(node.meta.dtype)


def masked_array(
    data: Any,
    mask: Any = nomask,
    fill_value: Any = None,
    dtype: Any = None,
    *,
    chunk_size: Any = None,
    chunks: Any = None,
) -> Any:
    """Return a masked tensor of values and a mask. See numpy.ma.masked_array."""
    if np.ndim(fill_value):
        raise ValueError("non-scalar fill_value not supported")
    cut = chunks if chunk_size is None else chunk_size
    if isinstance(data, np.ma.MaskedArray):
        data = from_masked(data, cut)
    values, own = (getdata(data), getmaskarray(data)) if _is_masked(data) else (data, None)
    values = wrap(as_node(values, cut))
    values = values if dtype is None else values.astype(dtype)
    if mask is nomask or mask is False:
        hidden = shape.broadcast_to(False, values.shape) if own is None else own
    else:
        hidden = wrap(as_node(mask)).astype(bool)
        if hidden.size == 1:
            hidden = shape.broadcast_to(hidden.reshape(()), values.shape)
        elif hidden.ndim != values.ndim:
            raise np.ma.MaskError(
                "Mask and data not compatible: data shape "
                f"is {values.shape}, and mask shape is {hidden.shape}."
            )
        if own is not None:
            hidden = hidden | own
    if fill_value is None and _is_masked(data):
        fill_value = data.fill_value
    return _join(values, hidden, fill_value)


array = masked_array


def _masking(name: str) -> Callable[..., Any]:
    """Return the lazy form of one of NumPy's functions that mask by value."""
    func = getattr(np.ma, name)

    def lazy(x: Any, *values: Any, **options: Any) -> Any:
        options.pop("copy", None)
        data = x if _is_masked(x) else wrap(as_node(x))
        return _map(func, data, *values, **options)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Mask by value. See numpy.ma.{name}."
    return lazy


masked_equal = _masking("masked_equal")
masked_greater = _masking("masked_greater")
masked_greater_equal = _masking("masked_greater_equal")
masked_inside = _masking("masked_inside")
masked_invalid = _masking("masked_invalid")
masked_less = _masking("masked_less")
masked_less_equal = _masking("masked_less_equal")
masked_not_equal = _masking("masked_not_equal")
masked_outside = _masking("masked_outside")
masked_values = _masking("masked_values")
fix_invalid = _masking("fix_invalid")


def masked_where(condition: Any, a: Any, copy: bool = True) -> Any:
    """Mask where a condition holds. See numpy.ma.masked_where."""
    del copy
    shapes = [x.node.shape if isinstance(x, Collection) else np.shape(x) for x in (condition, a)]
    if shapes[0] and shapes[0] != shapes[1]:
        raise IndexError(
            "Inconsistent shape between the condition and the input "
            f"(got {shapes[0]} and {shapes[1]})"
        )
    return masked_array(a, condition)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose from masked tensors, or tell where the condition holds. See numpy.ma.where."""
    if (x is None) != (y is None):
        raise ValueError("either both or neither of x and y should be given")
    return nonzero(condition) if x is None else _map(np.ma.where, condition, x, y)


def set_fill_value(a: Any, fill_value: Any) -> None:
    """Set what takes the place of masked values. See numpy.ma.set_fill_value."""
    if np.ndim(fill_value):
        raise ValueError("set_fill_value() takes one value")
    if isinstance(a, MaskedTensor):
        a._node = _join(getdata(a), getmaskarray(a), fill_value).node


def _astype(block: Any, dtype: Any) -> Any:
    return block.astype(dtype)


def ones_like(a: Any, dtype: Any = None) -> Any:
    """Return ones, masked where ``a`` is. See numpy.ma.ones_like."""
    return _map(np.ma.ones_like, a, **({} if dtype is None else {"dtype": np.dtype(dtype)}))


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros, masked where ``a`` is. See numpy.ma.zeros_like."""
    return _map(np.ma.zeros_like, a, **({} if dtype is None else {"dtype": np.dtype(dtype)}))


def empty_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros, masked where ``a`` is. See numpy.ma.empty_like."""
    return zeros_like(a, dtype)


# What moves elements is done to the data and to the mask.


def moving(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that only moves elements take masked tensors as well."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args or not _masks_in(args[0]):
            return func(*args, **kwargs)
        data = func(_each(getdata, args[0]), *args[1:], **kwargs)
        mask = func(_each(getmaskarray, args[0]), *args[1:], **kwargs)
        return _rejoined(data, mask, _fill_of(args[0]))

    return call


def _masks_in(item: Any) -> bool:
    return any(map(_masks_in, item)) if isinstance(item, list | tuple) else _is_masked(item)


def _each(func: Callable[[Any], Any], item: Any) -> Any:
    return [_each(func, one) for one in item] if isinstance(item, list | tuple) else func(item)


def _fill_of(item: Any) -> Any:
    if isinstance(item, list | tuple):
        return None
    return item.fill_value


def _rejoined(data: Any, mask: Any, fill_value: Any) -> Any:
    if isinstance(data, list | tuple):
        pairs = zip(data, mask, strict=True)
        return type(data)([_rejoined(own, hidden, fill_value) for own, hidden in pairs])
    return _join(data, mask, fill_value)


concatenate = moving(join.concatenate)
stack = moving(join.stack)

#: Methods of tensors that only move elements.
_METHODS: dict[str, Callable[..., Any]] = {
    "__getitem__": index.getitem,
    "take": index.take,
    "reshape": reshape.reshape,
    "ravel": reshape.ravel,
    "flatten": reshape.flatten,
    "transpose": shape.transpose,
    "swapaxes": shape.swapaxes,
    "squeeze": shape.squeeze,
    "rechunk": rechunks.rechunk,
    "repeat": arrange.repeat,
    "diagonal": arrange.diagonal,
    "compress": masks.compressed,
}
for _name, _func in _METHODS.items():
    setattr(MaskedTensor, _name, moving(_func))
MaskedTensor.T = property(moving(shape.transpose))

#: Public functions that only move elements, by name.
MOVING = (
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block",
    "broadcast_to",
    "column_stack",
    "compress",
    "concat",
    "concatenate",
    "delete",
    "diagonal",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "rechunk",
    "repeat",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "tile",
    "transpose",
    "vsplit",
    "vstack",
)


# Reductions leave out what is masked; a result of nothing is masked.


def count(a: Any, axis: Any = None, keepdims: bool = False, split_every: Any = None) -> Any:
    """Count the values that are not masked. See numpy.ma.count."""
    del split_every
    return reduce.sum(logical_not(getmaskarray(a)), axis=axis, keepdims=keepdims)


def compressed(a: Any) -> Any:
    """Return the values that are not masked, in one axis. See numpy.ma.compressed."""
    return masks.extract(logical_not(getmaskarray(a)), getdata(a))


def nonzero(a: Any) -> Any:
    """Return where values are neither zero nor masked. See numpy.ma.nonzero."""
    return masks.nonzero(filled(a, 0))


def _kept(a: Any, result: Any, how: Mapping[str, Any]) -> Any:
    """Mask results of nothing."""
    hidden = reduce.all(getmaskarray(a), axis=how.get("axis"), keepdims=how.get("keepdims", False))
    return _join(result, hidden, None)


def _most(a: Any, name: str, how: Any) -> Any:
    fill = np.ma.minimum_fill_value if name == "min" else np.ma.maximum_fill_value
    return getattr(reduce, name)(filled(a, fill(a.node.meta)), **how)


def _mean(a: Any, how: Any) -> Any:
    sizes = {name: how[name] for name in ("axis", "keepdims") if name in how}
    number = elementwise.maximum(count(a, **sizes), 1)
    total = reduce.sum(filled(a, 0), **{"dtype": _mean_dtype(a, how), **how})
    return elementwise.divide(total, number).astype(total.dtype)


def _mean_dtype(a: Any, how: Any) -> Any:
    dtype = how.get("dtype")
    return dtype if dtype is not None else np.mean(np.ones(1, a.dtype)).dtype


def _averaged(a: Any, name: str, how: Mapping[str, Any]) -> Any:
    """Return the type that NumPy's reduction has, which is not always the plain one's."""
    sample = np.ma.masked_array(np.ones((2, 1), a.dtype), mask=np.zeros((2, 1), bool))
    return getattr(sample, name)(axis=0, dtype=how.get("dtype")).dtype


def _var(a: Any, how: Any) -> Any:
    ddof = how.pop("ddof", 0)
    around = _mean(a, {**how, "keepdims": True})
    away = elementwise.where(getmaskarray(a), 0, subtract(getdata(a), around))
    square = elementwise.square(elementwise.absolute(away))
    sizes = {name: how[name] for name in ("axis", "keepdims") if name in how}
    free = subtract(count(a, **sizes), ddof)
    found = elementwise.divide(reduce.sum(square, **sizes), elementwise.maximum(free, 1))
    return _join(found.astype(square.dtype), elementwise.less_equal(free, 0), None)


_FILLS = {"sum": 0, "prod": 1, "any": False, "all": True}


def reduced(name: str, a: Any, axis: Any, how: dict[str, Any]) -> Any:
    """Return a reduction of a masked tensor."""
    out = how.pop("out", None)
    for key in ("where", "initial", "correction"):
        given = how.pop(key, None)
        if not any(given is nothing for nothing in (None, True, np._NoValue)):
            raise NotImplementedError(f"{name}() of a masked tensor takes no {key}=: mask it first")
    how["axis"] = axis
    if name in _FILLS:
        found = _kept(a, getattr(reduce, name)(filled(a, _FILLS[name]), **how), how)
    elif name in ("min", "max", "amin", "amax"):
        found = _kept(a, _most(a, name.replace("a", "", name != "max"), how), how)
    elif name == "ptp":
        found = _kept(a, subtract(_most(a, "max", how), _most(a, "min", how)), how)
    elif name == "mean":
        found = _kept(a, _mean(a, how).astype(_averaged(a, name, how)), how)
    elif name == "var":
        found = _var(a, how).astype(_averaged(a, name, how))
    elif name == "std":
        found = elementwise.sqrt(_var(a, how)).astype(_averaged(a, name, how))
    else:
        raise NotImplementedError(
            f"{name}() of a masked tensor: use filled() or compressed() first"
        )
    return found if out is None else assign(out, found.node)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the weighted average of what is not masked. See numpy.ma.average."""
    a = a if _is_masked(a) else masked_array(a)
    a = from_masked(a) if isinstance(a, np.ma.MaskedArray) else a
    how = {"axis": axis, "keepdims": keepdims}
    if weights is None:
        found, scale = a.mean(**how), count(a, **how).astype(float)
    else:
        given = wrap(as_node(weights)) if not _is_masked(weights) else filled(weights, 0)
        if given.shape != a.shape:
            given = wrap(reduce.along(given.node, a.node, axis))
        kind = np.result_type(
            a.dtype, given.dtype, *([np.float64] if a.dtype.kind in "biu" else [])
        )
        given = elementwise.where(getmaskarray(a), 0, given).astype(kind)
        scale = reduce.sum(given, **how)
        total = reduce.sum(elementwise.multiply(filled(a, 0), given), **how)
        safe = elementwise.where(elementwise.equal(scale, 0), 1, scale)
        found = _join(elementwise.divide(total, safe), elementwise.equal(scale, 0), None)
    return (found, scale) if returned else found


def _scanned(name: str) -> Callable[..., Any]:
    def lazy(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        flat = a.ravel() if axis is None else a
        fill = 0 if name == "cumsum" else 1
        found = getattr(scan, name)(filled(flat, fill), 0 if axis is None else axis, dtype)
        return _join(found, getmaskarray(flat), None)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Accumulate what is not masked. See numpy.ma.{name}."
    return lazy


cumsum = _scanned("cumsum")
cumprod = _scanned("cumprod")


def argmin(a: Any, axis: Any = None) -> Any:
    """Return where the smallest value that is not masked is. See numpy.ma.argmin."""
    return plain_argmin(filled(a, np.ma.minimum_fill_value(a.node.meta)), axis)


def argmax(a: Any, axis: Any = None) -> Any:
    """Return where the largest value that is not masked is. See numpy.ma.argmax."""
    return plain_argmax(filled(a, np.ma.maximum_fill_value(a.node.meta)), axis)


for _func in (cumsum, cumprod, argmin, argmax):
    setattr(MaskedTensor, _func.__name__, _func)
