"""The methods of arithmetic and comparison: operators with an axis and a value for gaps."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection

from ..nodes.frame_node import SameKind, axis_number, is_array, is_row
from .operands import (
    BROADCAST,
    COMPARISONS,
    ROW_VALUES,
    aligned_tensor,
    aligned_values,
    check_order,
    labelled_values,
    operand,
)
from .rowwise import Method, rowwise

#: The operators of methods, by their names without the ``r`` of reflected ones.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv")},
    **{name: getattr(operator, name) for name in ("mod", "pow", "lt", "le", "gt", "ge", "eq")},
    "ne": operator.ne,
}

#: The order of the arguments after the operand, by the number of axes.
PARAMETERS = {1: ("level", "fill_value", "axis"), 2: ("axis", "level", "fill_value")}


def arithmetic(name: str) -> SameKind:
    """Return the method of an operator, such as ``add`` or ``radd``."""
    reflected = name not in FUNCTIONS
    func = FUNCTIONS[name.removeprefix("r") if reflected else name]

    @keeps_lazy("arguments")
    def call(self: Any, other: Any, *args: Any, **options: Any) -> Any:
        arguments = dict(zip(PARAMETERS[self.ndim], args, strict=False)) | options
        if arguments.get("level") is not None:
            raise NotImplementedError(
                f"{name}(level=) is not supported; use reset_index(), and merge() on the level"
            )
        extra = set(arguments) - {*PARAMETERS[1]}
        if extra or len(args) > len(PARAMETERS[1]):
            raise TypeError(f"{name}() got an unexpected keyword argument {min(extra)!r}")
        other = _operand(self, other, arguments.get("axis"))
        apart = _is_by_column(self, other, func) or _is_of_objects(self, other, func)
        plain = arguments.get("fill_value") is None and not apart
        if not plain or _is_by_row(self, other):
            kwargs = {key: value for key, value in arguments.items() if value is not None}
            return rowwise(Method(name), self, other, **kwargs)
        return rowwise(func, other, self) if reflected else rowwise(func, self, other)

    call.__name__ = name
    call.__doc__ = f"Apply ``{name}`` to each row's values. See pandas.DataFrame.{name}."
    return typed("SameKind", call)


def _operand(obj: Any, other: Any, axis: Any) -> Any:
    meta = obj.node.meta
    by_row = axis is not None and axis_number(meta, axis) == 0 and meta.ndim == 2
    if not by_row:
        by_label = meta.ndim == 2 and isinstance(other, pd.Series)
        return other if by_label else operand(obj, other)
    check_order(other)
    in_memory = isinstance(other, ROW_VALUES | pd.Index)
    if in_memory and np.ndim(other) == 1:
        return aligned_values(obj, other, BROADCAST)
    if is_array(other):
        return aligned_tensor(obj, other, BROADCAST)
    if isinstance(other, pd.Series):
        return labelled_values(obj, other, "arithmetic")
    return other


def _is_by_row(obj: Any, other: Any) -> bool:
    lazy = isinstance(other, Collection) and not is_row(other.node)
    return obj.ndim == 2 and lazy and other.node.meta.ndim == 1


def _is_by_column(obj: Any, other: Any, func: Any) -> bool:
    """Tell whether a comparison of a frame must align its columns, as the method does."""
    several = isinstance(other, Collection) and other.node.meta.ndim > 0
    return obj.ndim == 2 and func in COMPARISONS and (several or isinstance(other, pd.Series))


def _is_of_objects(obj: Any, other: Any, func: Any) -> bool:
    """Tell whether objects are compared, of which the method calls equal what is one object."""
    if obj.ndim != 1 or func not in COMPARISONS or not isinstance(other, Collection):
        return False
    return any(is_object_dtype(side.node.meta) for side in (obj, other))
