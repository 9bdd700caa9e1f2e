"""The methods of ufuncs; ``reduce`` and ``accumulate`` require associativity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Any

import numpy as np

from ..indexing.assignment import into
from ..manipulation.shape import view
from ..operands import as_node
from ..reduction import reduceat, reductions
from ..scan import cumulative
from ..typing import TensorFunction, public
from . import ufuncs as functions
from .ufunc_at import at
from .ufuncs import elementwise

#: Reductions with their own name, which are faster than their ufunc alone.
_NAMED: dict[np.ufunc, TensorFunction] = {
    np.add: reductions.sum,
    np.multiply: reductions.prod,
    np.maximum: reductions.max,
    np.minimum: reductions.min,
    np.logical_and: reductions.all,
    np.logical_or: reductions.any,
}

#: Scans with their own name.
_SCANS: dict[np.ufunc, TensorFunction] = {
    np.add: cumulative.cumsum,
    np.multiply: cumulative.cumprod,
}

#: Associative ufuncs, which may reduce blocks first.
ASSOCIATIVE = {
    *_NAMED,
    *(np.fmax, np.fmin, np.hypot, np.logaddexp, np.logaddexp2, np.gcd, np.lcm),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor),
}

#: NumPy's attributes of ufuncs.
_FACTS = ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature")


def _refusal(ufunc: np.ufunc, method: str) -> NotImplementedError:
    return NotImplementedError(
        f"{ufunc.__name__}.{method}() of tensors is not supported; "
        "use compute() first, or map_blocks()"
    )


#: The arguments of a ufunc's ``reduce``, after the array, in order.
_TAKES = ("axis", "dtype", "out", "keepdims", "initial", "where")


@cache
def _reduction(ufunc: np.ufunc) -> TensorFunction:
    if ufunc not in ASSOCIATIVE:
        raise _refusal(ufunc, "reduce")
    return reductions.reduction(
        ufunc.reduce, ufunc, whole=ufunc.reduce, name=ufunc.__name__, takes=_TAKES[1:]
    )


@cache
def _accumulation(ufunc: np.ufunc) -> TensorFunction:
    if ufunc not in ASSOCIATIVE:
        raise _refusal(ufunc, "accumulate")
    return _SCANS.get(ufunc) or cumulative.scan(ufunc.__name__, ufunc, ufunc.accumulate)


def outer(ufunc: np.ufunc, a: Any, b: Any, /, **kwargs: Any) -> Any:
    """Apply a ufunc to all pairs. See numpy.ufunc.outer."""
    left, right = as_node(a), as_node(b)
    own = range(len(left.chunks))
    return elementwise(ufunc).node(
        view(left, [*own, *(None,) * len(right.chunks)]), right, **kwargs
    )


def reduced(ufunc: np.ufunc, array: Any, *args: Any, **kwargs: Any) -> Any:
    """Reduce along an axis, by default the first. See numpy.ufunc.reduce."""
    if len(args) > len(_TAKES) or kwargs.keys() & set(_TAKES[: len(args)]):
        raise TypeError(f"{ufunc.__name__}.reduce() got too many arguments, or one of them twice")
    options = {**dict(zip(_TAKES, args, strict=False)), **kwargs}
    axis = options.pop("axis", 0)
    if options.get("dtype", ...) is None:
        del options["dtype"]
    function: Any = _NAMED.get(ufunc)
    if _returns_operands(ufunc, array):
        function = _reduction(ufunc)
    if function is None or not options.keys() <= signature(function).parameters.keys():
        function = _reduction(ufunc)
    return function.node(array, axis, **options)


def _returns_operands(ufunc: np.ufunc, array: Any) -> bool:
    """Tell whether a logical ufunc of objects returns one of them, as ``and`` and ``or`` do."""
    logical = ufunc in (np.logical_and, np.logical_or)
    return logical and bool(as_node(array).meta.dtype.hasobject)


def accumulated(
    ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Accumulate along an axis, by default the first. See numpy.ufunc.accumulate."""
    ndim = as_node(array).meta.ndim
    if not ndim:
        raise TypeError("cannot accumulate on a scalar")
    if axis is None and ndim > 1:
        raise ValueError("accumulate does not allow multiple axes")
    target = out[0] if isinstance(out, tuple) else out
    return _accumulation(ufunc).node(array, axis, dtype, target)


def reduced_at(
    ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Reduce the runs that begin at the given indices. See numpy.ufunc.reduceat."""
    target = out[0] if isinstance(out, tuple) else out
    associative = ufunc in ASSOCIATIVE
    result = reduceat.reduceat(ufunc, array, indices, axis, dtype, associative=associative)
    return into(target, result)


METHODS: dict[str, Callable[..., Any]] = {
    "outer": outer,
    "reduce": reduced,
    "accumulate": accumulated,
    "reduceat": reduced_at,
    "at": at,
}


@public
def call_method(ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Call a method of a ufunc."""
    return METHODS[method](ufunc, *inputs, **kwargs)


def with_methods(function: Any, ufunc: np.ufunc) -> None:
    """Add the methods and the attributes of NumPy's ufunc to its lazy form."""
    for method in METHODS:
        setattr(function, method, partial(call_method, ufunc, method))
    for fact in _FACTS:
        setattr(function, fact, getattr(ufunc, fact))


for _name in functions.__all__:
    _function = getattr(functions, _name)
    if isinstance(getattr(_function, "func", None), np.ufunc):
        with_methods(_function, _function.func)
