"""Values that are assigned, as NumPy makes arrays of them: in the type of the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.node import Node

from ..io.dask_arrays import is_dask_array
from ..sparse.blocks import is_sparse

#: Python's values, which NumPy converts to the type of the elements they are assigned to.
_PYTHON = (bool, int, float, complex, str, bytes, list, tuple)


def held(value: Any, dtype: np.dtype[Any], ndim: int | None = None) -> Any:
    """Return a copy of the assigned value; Python's are converted to the elements' type.

    Numbers that do not fit raise NumPy's error. ``ndim`` is the number of axes that slices select,
    0 for one element: objects keep lists that are nested deeper. It is ``None`` for keys with
    arrays.
    """
    if isinstance(value, Collection | Node) or is_dask_array(value) or is_sparse(value):
        return value
    is_numpys = isinstance(value, np.ndarray | np.generic)
    if ndim == 0 and (dtype.kind == "O" or type(value) in _PYTHON or is_numpys):
        return element(value, dtype)
    if isinstance(value, np.ndarray):
        return value.copy()
    if dtype.kind == "O" and isinstance(value, list | tuple) and ndim is not None:
        cells = np.empty(_lengths(value, ndim), object)
        cells[...] = value
        return cells
    if dtype.kind == "O" and isinstance(value, np.generic):
        return element(value, dtype)  # which keeps its type
    if value is None or type(value) in _PYTHON or (dtype.names and isinstance(value, np.void)):
        return np.array(value, dtype)
    return value


def element(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return what an element of the type holds after the assignment of a value."""
    cells = np.empty(1, dtype)
    cells[0] = value
    return cells.reshape(())


def _lengths(value: Any, ndim: int) -> tuple[int, ...]:
    """Return the lengths of nested lists along the axes that they all have."""
    if ndim == 0 or not isinstance(value, list | tuple):
        return ()
    shapes = [_lengths(item, ndim - 1) for item in value]
    common: list[int] = []
    for sizes in zip(*shapes, strict=False):
        if len(set(sizes)) > 1:
            break
        common.append(sizes[0])
    return (len(value), *common)
