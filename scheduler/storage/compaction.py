"""Small results that are views of large buffers are copied: a view keeps the whole buffer alive.

``block.iloc[:0]`` is a result of a few bytes, and as long as it lives it holds all rows of the
block. So do the first rows of a block, samples and types. A copy of so little costs microseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bytes up to which a value is small.
SMALL = 2**14
#: Bytes that an element of a table's column takes at most, unless it is text.
_ELEMENT = 16
#: How many times larger than a view its buffer is if the view is to be copied.
_LARGER = 8
#: Bytes of buffers of Arrow that may as well be kept: taking their elements costs more.
_TINY = 2**10
_CONTAINERS = (list, tuple)
#: A container with more entries than this is left as it is.
_MANY = 16


def compact(value: Any) -> Any:
    """Return a value, or a copy without a view's buffer if it is small.

    Entries of short lists and tuples are values of their own.
    """
    kind = type(value)
    if kind is np.ndarray:
        return _array(value) if value.base is not None else value
    if kind in _CONTAINERS and 0 < len(value) <= _MANY:
        entries = [compact(entry) for entry in value]
        if all(new is old for new, old in zip(entries, value, strict=True)):
            return value
        return entries if kind is list else tuple(entries)
    if kind.__module__.startswith("pandas.") or kind.__module__ == "pandas":
        return _table(value)
    return value


def _array(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    root: Any = view
    while isinstance(root.base, np.ndarray):
        root = root.base
    # Memory of files and of other libraries is theirs.
    if root.base is not None or view.nbytes > SMALL or root.nbytes <= SMALL:
        return view
    if view.nbytes * _LARGER > root.nbytes:
        return view
    copied = view.copy(order="K")
    copied.flags.writeable = view.flags.writeable
    return copied


def _table(value: Any) -> Any:
    """Copy a small DataFrame, Series or Index; other objects are left as they are."""
    kind = type(value)
    if hasattr(kind, "nlevels"):
        cells = len(value) * value.nlevels
    elif hasattr(kind, "iloc"):
        # Each column takes time, even without rows.
        cells = (len(value) + _MANY // 4) * (value.shape[1] if value.ndim > 1 else 1)
    else:
        return value
    return copy_of_table(value) if cells * _ELEMENT <= SMALL else value


def copy_of_table(value: Any) -> Any:
    """Return a copy of a DataFrame, Series or Index that shares only tiny buffers with it."""
    kind = type(value)
    if hasattr(kind, "nlevels"):
        return _labels(value)
    if value.ndim == 1 and _is_arrow(value.dtype):
        copied = kind(_elements(value.array), index=value.index, name=value.name)
        copied.attrs = value.attrs
    else:
        copied = value.copy(deep=True)
    if value.ndim > 1:
        for place, dtype in enumerate(value.dtypes):
            if _is_arrow(dtype):
                array = value.iloc[:, place].array
                elements = _elements(array)
                if elements is not array:
                    copied.isetitem(place, elements)
    copied.index = _labels(value.index)
    return copied


def _labels(labels: Any) -> Any:
    """Copy row labels; levels of many more values than there are rows keep those in use."""
    if labels.nlevels > 1:
        dense = sum(map(len, labels.levels)) <= max(_LARGER * len(labels), _MANY)
        return (labels if dense else labels.remove_unused_levels()).copy(deep=True)
    if _is_arrow(labels.dtype):
        return type(labels)(_elements(labels.array), name=labels.name)
    return labels.copy(deep=True)


def _is_arrow(dtype: Any) -> bool:
    """Tell whether elements are in buffers of Arrow, which copies of pandas share."""
    return hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow"


def _elements(array: Any) -> Any:
    """Copy the elements of an array of Arrow, whose buffers nobody writes to, unless it is tiny."""
    if array.__arrow_array__().get_total_buffer_size() <= _TINY:
        return array
    return array.take(np.arange(len(array)))
