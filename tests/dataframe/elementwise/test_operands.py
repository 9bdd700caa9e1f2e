"""Tests of operands: tensors beside frames, columns, labels and extension values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.collection import Collection
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

FRAME = pd.DataFrame({"a": [1, 2, 3, 4.5], "b": [4.0, 5, 6, 7]}, index=[3, 1, 2, 0])
OBJECTS = {
    "frame": FRAME,
    "column": FRAME["a"],
    "labels": FRAME.index,
    "integers": pd.array([1, 2, 3, 4]),
}
ARRAYS = {
    "scalar": np.array(3.0),
    "columns": np.array([1.0, 2.0]),
    "rows": np.arange(1.0, 5.0),
    "cells": np.arange(8.0).reshape(4, 2),
    "row": np.array([[1.0, 2.0]]),
    "column": np.ones((4, 1)),
}
OPERATORS = [operator.add, operator.sub, operator.truediv, operator.floordiv, operator.mod]
OPERATORS += [operator.pow, operator.eq, operator.ne, operator.lt, operator.ge, divmod]
UFUNCS = [np.add, np.subtract, np.less]


def outcome(func: Any, *args: Any) -> Any:
    """Return what a function gives, or the class of its error."""
    try:
        return func(*args)
    except (TypeError, ValueError, NotImplementedError) as error:
        return type(error)


def check(result: Any, expected: Any) -> None:
    """Compare lazy results with pandas's, one by one."""
    if isinstance(expected, tuple):
        for part, wanted in zip(result, expected, strict=True):
            check(part, wanted)
    elif isinstance(expected, type):
        assert isinstance(result, type)
    elif isinstance(expected, pd.DataFrame | pd.Series | pd.Index):
        assert isinstance(result, Collection)
        equal(result, expected)
    else:
        assert type(result.compute()) is type(expected)
        np.testing.assert_array_equal(np.asarray(result.compute()), np.asarray(expected))


@pytest.mark.parametrize("func", OPERATORS, ids=lambda func: func.__name__)
@pytest.mark.parametrize("kind", OBJECTS)
def test_pandas_objects_and_tensors_are_lazy_rows(kind: str, func: Any) -> None:
    """Pandas objects and tensors are lazy rows."""
    obj: Any = OBJECTS[kind]
    for name in ("scalar", "rows") if kind != "frame" else ARRAYS:
        array = ARRAYS[name]
        value = array[()] if array.ndim == 0 else array
        tensor = mt.tensor(array, chunk_size=2)
        check(outcome(func, obj, tensor), outcome(func, obj, value))
        check(outcome(func, tensor, obj), outcome(func, value, obj))


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("kind", ["frame", "column", "integers"])
def test_ufuncs_of_pandas_objects_and_tensors_are_lazy(kind: str, ufunc: Any) -> None:
    """Ufuncs of pandas objects and tensors are lazy."""
    obj: Any = OBJECTS[kind]
    for name in ("scalar", "rows") if kind != "frame" else ARRAYS:
        array = ARRAYS[name]
        tensor = mt.tensor(array, chunk_size=2)
        check(outcome(ufunc, obj, tensor), outcome(ufunc, obj, array))
        check(outcome(ufunc, tensor, obj), outcome(ufunc, array, obj))


@pytest.mark.parametrize("rows", [4, 1, 0])
@pytest.mark.parametrize("name", ARRAYS)
def test_tensors_beside_lazy_frames_broadcast(name: str, rows: int) -> None:
    """Tensors beside lazy frames broadcast."""
    array, frame = ARRAYS[name], FRAME[:rows]
    with option_context({"coalesce": False}):
        lazy, tensor = md.from_pandas(frame, chunk_size=1), mt.tensor(array, chunk_size=1)
        for func in (operator.sub, operator.lt, np.subtract):
            check(outcome(func, lazy, tensor), outcome(func, frame, array))
            check(outcome(func, tensor, lazy), outcome(func, array, frame))


def test_scalars_of_lazy_columns_meet_pandas_frames() -> None:
    """Scalars of lazy columns meet pandas frames."""
    lazy = md.from_pandas(FRAME, chunk_size=2)
    total = FRAME["a"].sum()
    equal(FRAME / lazy["a"].sum(), FRAME / total)
    equal(lazy["a"].sum() / FRAME, total / FRAME)
    equal(FRAME["b"] > lazy["a"].mean(), FRAME["b"] > FRAME["a"].mean())


@pytest.mark.parametrize("name", ["columns", "cells"])
def test_tensors_of_values_of_columns_keep_their_history(name: str) -> None:
    """Tensors of values of columns keep their history."""
    lazy = md.from_pandas(FRAME, chunk_size=2)
    tensor = (mt.tensor(ARRAYS[name], chunk_size=1) + 1).execute()
    equal((lazy * tensor).execute() + 1, FRAME * (ARRAYS[name] + 1) + 1)


def test_columns_of_a_tensor_must_be_as_many() -> None:
    """Columns of a tensor must be as many."""
    lazy = md.from_pandas(FRAME, chunk_size=2)
    with pytest.raises(ValueError, match="Unable to coerce to Series, length must be 2: given 3"):
        lazy + mt.ones(3)


def test_lazy_labels_have_every_operator() -> None:
    """Lazy labels have every operator."""
    labels = pd.Index([3, 1, 2, 5])
    lazy = md.Index([3, 1, 2, 5], chunk_size=2)
    for func in (operator.floordiv, operator.mod, operator.pow, divmod):
        check(func(lazy, 2), func(labels, 2))
        check(func(2, lazy), func(2, labels))
    for func in (operator.and_, operator.or_, operator.xor):
        check(func(lazy, 2), func(labels, 2))
        check(func(2, lazy), func(2, labels))
