"""NumPy's protocols for lazy rows: ufuncs are lazy, arrays are computed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, rebind
from marsdask.core.snapshots.functions import function_name
from marsdask.tensor.protocols import lazy_object, lazy_objects, object_operators

from .create import from_pandas, series_from_tensor
from .elementwise.operands import aligned_tensor, operand
from .elementwise.rowwise import rowwise
from .nodes.frame_node import dtypes_of
from .reduction.aggregate import scalar_of
from .reduction.fold import assembled
from .rows import alignment
from .tensors import to_tensor

#: Operands that our ``__array_ufunc__`` handles; others have their own.
OPERANDS = (Collection, np.ndarray, np.generic, pd.Series, pd.DataFrame, pd.Index, ExtensionArray)

#: The names of pandas's reductions, by ufunc.
REDUCTIONS: dict[Any, str] = {
    np.maximum: "max",
    np.minimum: "min",
    np.add: "sum",
    np.multiply: "prod",
}


#: Ufuncs of truth values.
LOGICAL = {np.logical_and, np.logical_or, np.logical_xor}


#: The operators of times, by NumPy's names.
OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
}


#: What an object may be of which only values tell the zone.
OBJECTS = (pd.Timestamp(0, tz="UTC"), pd.Timedelta(1))


def _of_times(name: str, a: Any, b: Any) -> Any:
    """Apply an operator to a tensor of at most one axis and a time or an offset, as pandas does."""
    first = isinstance(a, Collection)
    tensor, other = (a, b) if first else (b, a)
    if name not in OPERATORS or tensor.ndim > 1:
        return NotImplemented
    call = OPERATORS[name] if first else _Reflected(OPERATORS[name])
    if tensor.ndim:
        return to_tensor(call(series_from_tensor(tensor), other))
    meta = tensor.node.meta
    like = _like(meta[()] if meta.dtype == object else np.ones((), meta.dtype)[()], call, other)
    if isinstance(like, pd.Timedelta) or (isinstance(like, pd.Timestamp) and like.tz is None):
        like = like.to_numpy()
    return assembled(with_time, [tensor], like, title=name, call=call, other=other)


def _like(sample: Any, call: Callable[[Any, Any], Any], other: Any) -> Any:
    """Return what an operator gives for a sample, of the kind of objects that it takes."""
    if not isinstance(sample, pd.Timestamp | pd.Timedelta | np.datetime64 | np.timedelta64):
        for value in OBJECTS:
            with suppress(TypeError):
                return call(value, other)
    return with_time(sample, call=call, other=other)


@dataclass(frozen=True)
class _Reflected:
    """Calls an operator with its operands in the other order."""

    func: Callable[[Any, Any], Any]

    def __call__(self, a: Any, b: Any) -> Any:
        return self.func(b, a)


def with_time(value: Any, call: Callable[[Any, Any], Any], other: Any) -> Any:
    """Apply an operator to a computed scalar, as pandas has it, and a time or an offset."""
    value = scalar_of(value)
    kinds = {np.datetime64: pd.Timestamp, np.timedelta64: pd.Timedelta}
    return call(kinds.get(type(value), lambda same: same)(value), other)


#: The other operators of rows, by NumPy's names; divmod() is in both libraries.
ROW_OPERATORS = {
    **OPERATORS,
    "remainder": operator.mod,
    "power": operator.pow,
    "divmod": divmod,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}


def _of_rows(name: str, a: Any, b: Any) -> Any:
    """Apply an operator to a tensor and rows of pandas, lazily, as lazy rows do."""
    if name not in ROW_OPERATORS:
        return NotImplemented
    operands = map(lazy_object, (a, b))
    return ROW_OPERATORS[name](*operands)


object_operators.update(
    dict.fromkeys((pd.offsets.BaseOffset, pd.Timedelta, pd.Timestamp), _of_times)
)


def _lazy_values(values: Any) -> Any:
    """Return extension values in memory as lazy ones."""
    return from_pandas(pd.Series(values, copy=False)).array


lazy_objects.update(dict.fromkeys((pd.DataFrame, pd.Series, pd.Index), from_pandas))
lazy_objects[ExtensionArray] = _lazy_values
object_operators.update(dict.fromkeys(lazy_objects, _of_rows))


def array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Compute, and return the array that pandas makes of the values."""
    if copy is False:
        raise ValueError(
            "Unable to avoid copy while creating an array as requested; use np.asarray()"
        )
    values = self.compute()
    return np.asarray(values, dtype) if copy is None else np.array(values, dtype)


def to_numpy(
    self: Any, dtype: Any = None, copy: bool = False, **options: Any
) -> np.ndarray[Any, Any]:
    """Compute, and return the values as an array. See pandas.Series.to_numpy.

    The lazy form is :meth:`to_tensor`.
    """
    values: np.ndarray[Any, Any] = self.compute().to_numpy(dtype, copy=copy, **options)
    return values


def tolist(self: Any) -> list[Any]:
    """Compute, and return the values as a list. See pandas.Series.tolist."""
    values: list[Any] = self.compute().tolist()
    return values


def truth(self: Any) -> NoReturn:
    """Raise pandas's error: rows are not a condition."""
    raise ValueError(
        f"The truth value of a {type(self).__name__} is ambiguous. "
        "Use a.empty, a.item(), a.any() or a.all()."
    )


@dataclass(frozen=True)
class Output:
    """Calls a ufunc and returns one of its results."""

    ufunc: np.ufunc
    position: int

    @property
    def __name__(self) -> str:
        return function_name(self.ufunc)

    def __call__(self, *blocks: Any, **kwargs: Any) -> Any:
        return self.ufunc(*blocks, **kwargs)[self.position]


@keeps_lazy("arguments")
def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Apply a NumPy ufunc lazily, as in pandas.

    Differs from pandas: rows are not aligned by label, and lazy rows of ``out=`` are returned.
    """
    if any(hasattr(arg, "__array_ufunc__") and not isinstance(arg, OPERANDS) for arg in inputs):
        return NotImplemented
    outputs = kwargs.pop("out", (None,))
    where = kwargs.pop("where", True)
    if any(arg is not None for arg in outputs):
        result = array_ufunc(self, ufunc, method, *inputs, **kwargs)
        return _fill_outputs(self, outputs, result, where)
    if where is not True:
        raise NotImplementedError("where= without out= is not supported; use where() of the result")
    if ufunc.signature is not None:
        raise NotImplementedError(
            f"{ufunc.__name__}() of rows is not supported; use to_tensor() first"
        )
    if method != "__call__" and ufunc in LOGICAL:
        _check_no_times(self, ufunc)
    if method == "__call__":
        return _call_ufunc(self, ufunc, inputs, kwargs)
    if method == "reduce":
        return _reduce_ufunc(self, ufunc, kwargs)
    if method == "accumulate":
        return aligned_tensor(self, ufunc.accumulate(to_tensor(self), **kwargs), "{} rows of {}")
    raise NotImplementedError(
        f"{ufunc.__name__}.{method}() of rows is not supported; use to_tensor() first"
    )


def _check_no_times(self: Any, ufunc: np.ufunc) -> None:
    """Raise pandas's error: times have no truth values."""
    for dtype in dtypes_of(self.node.meta) or ():
        if getattr(dtype, "kind", "O") in "mM" or isinstance(dtype, pd.PeriodDtype):
            raise TypeError(
                f"Object with dtype {dtype} cannot perform the numpy op {ufunc.__name__}"
            )


def _call_ufunc(self: Any, ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    lazy = all(isinstance(arg, Collection) for arg in inputs)
    if lazy and ufunc.__name__ in ROW_OPERATORS and not kwargs:
        # pandas calls the operator, too: it aligns values of columns, and tells what it returns.
        return ROW_OPERATORS[ufunc.__name__](*inputs)
    operands = [arg if arg is self else operand(self, arg) for arg in inputs]
    if ufunc.nout == 1:
        return rowwise(ufunc, *operands, **kwargs)
    outputs = (Output(ufunc, position) for position in range(ufunc.nout))
    return tuple(rowwise(output, *operands, **kwargs) for output in outputs)


def _reduce_ufunc(self: Any, ufunc: np.ufunc, kwargs: dict[str, Any]) -> Any:
    name = REDUCTIONS.get(ufunc)
    if name is None or isinstance(self.node.meta, pd.Index):
        return ufunc.reduce(to_tensor(self), **kwargs)
    options = {"axis": 0, "numeric_only": False} if self.node.meta.ndim == 2 else {}
    # NumPy's reductions do not skip missing values.
    return getattr(self, name)(**{**options, **kwargs}, skipna=False)


def _fill_outputs(self: Any, outputs: tuple[Any, ...], found: Any, where: Any) -> Any:
    """Write results into ``out=``: at once, or lazily if it is lazy."""
    results = found if isinstance(found, tuple) else (found,)
    for out, result in zip(outputs, results, strict=True):
        if isinstance(out, Collection):
            _replace_values(out, result, where)
        elif out is not None:
            value = result.compute()
            if where is True:
                out[:] = value
            else:
                np.putmask(out, np.asarray(where), np.asarray(value))
    if len(outputs) > 1:
        return outputs
    (out,) = outputs
    if not isinstance(out, np.ndarray) or isinstance(self.node.meta, pd.Index):
        return out
    return found.astype(out.dtype)  # as in pandas, rows of the values in the array


def _replace_values(out: Any, result: Any, where: Any) -> None:
    """Replace the node of lazy rows by another of the same types."""
    old, new = out.node, result.node
    is_same = type(out) is type(result) and dtypes_of(old.meta) == dtypes_of(new.meta)
    if where is not True or not is_same or alignment(old) != alignment(new):
        raise NotImplementedError(
            "out= of other rows or types is not supported; use = to assign the result"
        )
    rebind(out, new)
