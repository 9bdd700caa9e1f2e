"""The functions of ``numpy.strings``, elementwise over chunks: of texts, bytes and StringDType.

Arguments are tensors, arrays and scalars that broadcast against each other. Widths that only values
tell, such as those of ``multiply``, are known once chunks have run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from typing import cast as typed

import numpy as np

from marsdask.core.collection import ExecutableTuple
from marsdask.core.node import Node

from ..creation.from_shape import zeros
from ..elementwise.nodes import Elementwise, ElementwiseOutputs, operands, typed_by_types
from ..elementwise.ufuncs import (
    add,
    apply,
    astype,
    elementwise,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
)
from ..indexing.boolean import where
from ..operands import as_node, meta_of
from ..reduction.reductions import any as some
from ..reduction.reductions import max as largest
from ..typing import SeveralTensors, TensorFunction, public
from . import padding

__all__ = [
    "add",
    "capitalize",
    "center",
    "count",
    "decode",
    "encode",
    "endswith",
    "equal",
    "expandtabs",
    "find",
    "greater",
    "greater_equal",
    "index",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "less",
    "less_equal",
    "ljust",
    "lower",
    "lstrip",
    "mod",
    "multiply",
    "not_equal",
    "partition",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rstrip",
    "slice",
    "startswith",
    "str_len",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
]

#: What the documents say of functions for which NumPy computes the largest of no widths.
_EMPTY = (
    "\n\nDiffers from NumPy: of no elements it returns none, where NumPy raises ``ValueError``."
)
_PARTS = "\n\nDiffers from NumPy: parts that are all empty have width one, where NumPy's have none."

#: A text, or a byte, for what has no elements: one that every function takes.
_LETTER = " "


@dataclass(frozen=True)
class WidestText:
    """A function whose texts are as wide as its widest one; those of no elements have width one.

    NumPy has no width there, or that of an argument, which may be wider than other chunks.
    """

    func: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return self.func.__name__

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.func

    def __call__(self, *args: Any) -> Any:
        if all(map(np.size, args)):
            return self.func(*args)
        shape = np.broadcast_shapes(*map(np.shape, args))
        try:
            result = self.func(*args)
        except ValueError:  # the largest of no widths
            result = self.func(*map(_sample, args))
        if isinstance(result, tuple):
            return tuple(_without_elements(part, shape) for part in result)
        return _without_elements(result, shape)


def _sample(arg: Any) -> Any:
    """Return an argument, or one element of the type of an array."""
    if not isinstance(arg, np.ndarray):
        return arg
    return np.full(1, _LETTER if arg.dtype.kind in "UST" else 1, arg.dtype.char)


def _without_elements(sample: Any, shape: tuple[int, ...]) -> Any:
    """Return an array without elements, of the narrowest type of a sample's kind."""
    dtype = sample.dtype
    return np.empty(shape, f"{dtype.char}1" if dtype.kind in "US" else dtype)


def textwise(
    func: Callable[..., Any], space: str = "strings", *, widest: bool = False, note: str = ""
) -> TensorFunction:
    """Return the lazy form of a function of texts; of ``widest``, values tell the width.

    A ``note`` is added to its documentation.
    """
    signature = inspect.signature(func)
    kernel = WidestText(func) if widest else func

    def lazy(*args: Any, **kwargs: Any) -> Node:
        values = bound_values(signature, args, kwargs)
        node = Elementwise(kernel, operands(values))
        dtype = node.meta.dtype  # what types tell is raised here
        if widest and dtype.kind in "US" and 0 in node.shape:
            return _no_texts(func, node)
        return node

    name = lazy.__name__ = lazy.__qualname__ = func.__name__
    lazy.__doc__ = f"Apply ``{name}`` to each element. See numpy.{space}.{name}.{note}"
    return public(lazy)


def bound_values(signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Return the arguments of a call in their order."""
    bound = signature.bind(*args, **kwargs)
    if kwargs:
        bound.apply_defaults()
    return bound.args


def _no_texts(func: Callable[..., Any], node: Elementwise) -> Node:
    """Return texts without elements, in the width that NumPy gives them, if it gives one."""
    args = [arg.meta if isinstance(arg, Node) else arg for arg in node.args]
    try:
        dtype = func(*args).dtype
    except ValueError:  # it has no width
        dtype = node.meta.dtype
    return zeros.node(node.shape, dtype, chunks=node.chunks)


def _of_ufunc(func: Any) -> TensorFunction:
    """Return the lazy form of a ufunc of texts, which NumPy types as a function."""
    lazy: TensorFunction = elementwise(func)
    lazy.__doc__ = f"Apply ``{func.__name__}`` to each element. See numpy.strings.{func.__name__}."
    return lazy


isalnum: Final = _of_ufunc(np.strings.isalnum)
isalpha: Final = _of_ufunc(np.strings.isalpha)
isdecimal: Final = _of_ufunc(np.strings.isdecimal)
isdigit: Final = _of_ufunc(np.strings.isdigit)
islower: Final = _of_ufunc(np.strings.islower)
isnumeric: Final = _of_ufunc(np.strings.isnumeric)
isspace: Final = _of_ufunc(np.strings.isspace)
istitle: Final = _of_ufunc(np.strings.istitle)
isupper: Final = _of_ufunc(np.strings.isupper)
str_len: Final = _of_ufunc(np.strings.str_len)

count: Final = textwise(np.strings.count)
endswith: Final = textwise(np.strings.endswith)
find: Final = textwise(np.strings.find)
index: Final = textwise(np.strings.index)
rfind: Final = textwise(np.strings.rfind)
rindex: Final = textwise(np.strings.rindex)
startswith: Final = textwise(np.strings.startswith)

# The result has the type of the texts.
capitalize: Final = textwise(typed_by_types(np.strings.capitalize))
lower: Final = textwise(typed_by_types(np.strings.lower))
lstrip: Final = textwise(typed_by_types(np.strings.lstrip))
rstrip: Final = textwise(typed_by_types(np.strings.rstrip))
slice: Final = textwise(typed_by_types(np.strings.slice))
strip: Final = textwise(typed_by_types(np.strings.strip))
swapcase: Final = textwise(typed_by_types(np.strings.swapcase))
title: Final = textwise(typed_by_types(np.strings.title))
translate: Final = textwise(typed_by_types(np.strings.translate))
upper: Final = textwise(typed_by_types(np.strings.upper))

center: Final = textwise(np.strings.center, widest=True, note=_EMPTY)
decode: Final = textwise(np.strings.decode, widest=True)
encode: Final = textwise(np.strings.encode, widest=True)
expandtabs: Final = textwise(np.strings.expandtabs, widest=True, note=_EMPTY)
ljust: Final = textwise(np.strings.ljust, widest=True, note=_EMPTY)
mod: Final = textwise(np.strings.mod, widest=True)
multiply: Final = textwise(np.strings.multiply, widest=True, note=_EMPTY)
rjust: Final = textwise(np.strings.rjust, widest=True, note=_EMPTY)
zfill: Final = textwise(padding.zfill, widest=True, note=_EMPTY)

_replace: Final = textwise(np.strings.replace, widest=True)


@public
def replace(a: Any, old: Any, new: Any, count: Any = -1) -> Node:
    """Replace occurrences of a text by another. See numpy.strings.replace.

    Differs from NumPy: of no elements it returns none, where NumPy raises ``ValueError``.
    """
    dtype = _dtype_of(a)
    return _replace.node(a, _in_type(old, dtype), _in_type(new, dtype), count)


def _dtype_of(texts: Any) -> np.dtype[Any]:
    """Return the type of texts, which may be scalars or lists."""
    dtype = getattr(meta_of(texts), "dtype", None)
    return np.asarray(texts).dtype if dtype is None else dtype


def _in_type(texts: Any, dtype: np.dtype[Any]) -> Any:
    """Return a list of texts as an array of a type, as NumPy does; what has a type keeps it."""
    if not isinstance(texts, list | tuple) or dtype.kind not in "US":
        return texts
    return np.asarray(texts).astype(dtype)


def parted(a: Any, sep: Any, width: Any) -> Any:
    """Split texts at the first separator, whose texts have a width of their own."""
    return _with_width(np.strings.partition(a, sep), width)


def rparted(a: Any, sep: Any, width: Any) -> Any:
    """Split texts at the last separator, whose texts have a width of their own."""
    return _with_width(np.strings.rpartition(a, sep), width)


def _with_width(parts: Any, width: Any) -> Any:
    before, middle, after = parts
    return before, middle.astype(f"{middle.dtype.char}{int(np.max(width))}"), after


def _partition(func: Callable[..., Any], of_several: Callable[..., Any]) -> SeveralTensors:
    """Return the lazy form of ``partition`` or ``rpartition``."""

    def lazy(a: Any, sep: Any) -> tuple[Node, ...]:
        dtype = _dtype_of(a)
        nodes = operands((a, _in_type(sep, dtype)))
        args, kernel = nodes, func
        if isinstance(nodes[1], Node) and nodes[1].chunks and dtype.kind in "US":
            args, kernel = (*nodes, _separator_width(dtype, *nodes)), of_several
        parts = ElementwiseOutputs(WidestText(kernel), args).parts()
        return ExecutableTuple(parts)

    lazy.__name__ = lazy.__qualname__ = func.__name__
    name = func.__name__
    lazy.__doc__ = f"Apply ``{name}`` to each element. See numpy.strings.{name}.{_PARTS}"
    return typed("SeveralTensors", public(lazy))


def _separator_width(dtype: np.dtype[Any], a: Any, sep: Node) -> Node:
    """Return the width of the middle part: that of all separators if some text has one."""
    sep = astype.node(sep, dtype)
    has_some = some.node(greater_equal.node(find.node(a, sep), 0))
    width = largest.node(apply(np.strings.str_len, sep), initial=0)
    return as_node(where.node(has_some, width, 1))


partition: Final = _partition(np.strings.partition, parted)
rpartition: Final = _partition(np.strings.rpartition, rparted)
