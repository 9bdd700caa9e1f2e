"""The bytes that a value takes, measured without the global random generators.

Dask's ``sizeof`` draws the entries that it measures with the generators of ``random`` and
``numpy.random``, so a measurement would change the numbers of a program that has seeded them. Here
the measured entries lie at fixed positions, which also makes the result reproducible.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from dask.utils import Dispatch

#: How many entries of a container are measured.
_ENTRIES = 10
#: How many objects of a column are measured.
_OBJECTS = 100
#: The bytes that Dask adds for a block of columns, and for an index.
_BLOCK, _INDEX = 1200, 400
#: Where in its part of a container each measured entry lies, so that these follow no period.
_OFFSETS = np.random.default_rng(0).random(_OBJECTS)

#: For each class Dask's measurement, which draws, and the one that replaces it.
_MEASUREMENTS = Dispatch("size_of")
_MEASUREMENTS.register(object, (None, None))


def size_of(value: Any) -> int:
    """Return the bytes of ``value``, as Dask's ``sizeof`` estimates them."""
    measure = sizeof.dispatch(type(value))
    replaced, own = _MEASUREMENTS.dispatch(type(value))
    return int((own if measure is replaced else measure)(value))


def _register(kind: type, measure: Callable[[Any], float]) -> None:
    """Measure values of a class, except of subclasses that Dask measures in another way."""
    _MEASUREMENTS.register(kind, (sizeof.dispatch(kind), measure))


def _positions(length: int, count: int) -> list[int]:
    """Return the positions of the entries to measure, at most ``count``."""
    if length <= count:
        return list(range(length))
    parts = np.arange(count) + _OFFSETS[:count]
    positions: list[int] = (parts * length / count).astype(int).tolist()
    return positions


def _of_entries(entries: Iterable[Any], length: int) -> float:
    measured = list(map(size_of, entries))
    return sum(measured) * length / max(1, len(measured))


def _of_sequence(value: Sequence[Any]) -> float:
    entries = [value[position] for position in _positions(len(value), _ENTRIES)]
    return sys.getsizeof(value) + _of_entries(entries, len(value))


def _of_set(value: set[Any]) -> float:
    return sys.getsizeof(value) + _of_entries(itertools.islice(value, _ENTRIES), len(value))


def _of_dict(value: dict[Any, Any]) -> float:
    keys, values = list(value), list(value.values())
    return sys.getsizeof(value) + sum(
        _of_sequence(entries) - sys.getsizeof(entries) for entries in (keys, values)
    )


_CONTAINERS: dict[type, Callable[[Any], float]] = {
    list: _of_sequence,
    tuple: _of_sequence,
    set: _of_set,
    frozenset: _of_set,
    dict: _of_dict,
}
for _kind, _measure in _CONTAINERS.items():
    _register(_kind, _measure)


def _register_pandas() -> None:
    import pandas as pd

    object_types = (object, pd.StringDtype("python"))

    def of_objects(columns: Sequence[Any]) -> float:
        """Return the bytes of the objects of columns; one object of several cells counts once."""
        cells = [
            cell
            for column in columns
            for cell in column.array.take(_positions(len(column), _OBJECTS))
        ]
        distinct = {id(cell): cell for cell in cells}
        measured = sum(map(size_of, distinct.values()))
        if 2 * len(distinct) <= len(cells):  # few objects, which the other cells refer to, too
            return measured
        return measured * sum(map(len, columns)) / len(cells)

    def of_frame(frame: pd.DataFrame) -> Any:
        dtypes = list(frame.dtypes)
        blocks = 1 + sum(dtype != other for dtype, other in itertools.pairwise(dtypes))
        objects = [i for i, dtype in enumerate(dtypes) if dtype in object_types]
        return (
            _BLOCK * blocks
            + size_of(frame.index)
            + size_of(frame.columns)
            + frame.memory_usage(index=False).sum()
            + of_objects([frame.iloc[:, i] for i in objects])
        )

    def of_series(series: pd.Series) -> float:
        objects = [series] if series.dtype in object_types else []
        cells = series.memory_usage(index=False)
        return _BLOCK + size_of(series.index) + cells + of_objects(objects)

    def of_index(index: pd.Index) -> float:
        objects = [index] if index.dtype in object_types else []
        return _INDEX + index.memory_usage() + of_objects(objects)

    def of_levels(index: pd.MultiIndex) -> float:
        return sum(map(size_of, index.levels)) + sum(codes.nbytes for codes in index.codes)

    _register(pd.DataFrame, of_frame)
    _register(pd.Series, of_series)
    _register(pd.Index, of_index)
    _register(pd.MultiIndex, of_levels)


def _register_scipy() -> None:
    from scipy import sparse

    def of_attributes(matrix: Any) -> float:
        return sum(map(size_of, vars(matrix).values()))

    _register(sparse.spmatrix, of_attributes)


def _register_pyarrow() -> None:
    import pyarrow as pa

    def of_table(table: pa.Table) -> Any:
        return 1000 + size_of(table.schema.metadata) + table.get_total_buffer_size()

    _register(pa.Table, of_table)


for _package, _register_package in {
    "pandas": _register_pandas,
    "scipy": _register_scipy,
    "pyarrow": _register_pyarrow,
}.items():
    _MEASUREMENTS.register_lazy(_package)(_register_package)
