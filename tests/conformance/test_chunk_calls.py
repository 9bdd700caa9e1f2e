"""Public methods of frames give the same of chunks of one row, of one chunk, and in pandas."""

from __future__ import annotations

import random
import warnings
from collections.abc import Collection as Collection_
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

import marsdask.dataframe as md
from marsdask.core.collection import Collection
from marsdask.core.config import option_context
from tests.conformance import chunk_calls
from tests.conformance.chunk_calls import (
    COLUMNS,
    LABELS,
    LEFT_OUT,
    NOT_CALLED,
    OF_SERIES,
    OTHER_THAN_PANDAS,
    SIZES,
    TIME_LABELS,
)
from tests.conformance.part_calls import NOT_PANDAS, PARTS, call_of

#: The largest number that counts as zero.
TINY = 1e-12


@pytest.fixture(autouse=True, scope="module")
def _as_given() -> Iterator[None]:
    with option_context({"coalesce": False}):
        yield


def outcome(call: Any, *args: Any) -> Any:
    """Return what a call computes, or its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return computed(call(*args))
    except Exception as error:  # noqa: BLE001 - whatever a call raises is its result
        return error


def computed(value: Any) -> Any:
    """Return a value with pandas's objects in place of lazy ones."""
    if type(value) in {tuple, list}:
        return [computed(item) for item in value]
    return value.compute() if isinstance(value, Collection) else value


def written(value: Any) -> Any:
    """Return all that tells two results apart: types, labels, which missing value it is."""
    if isinstance(value, pd.DataFrame):
        columns = [written(value.iloc[:, at]) for at in range(value.shape[1])]
        return ["frame", written(value.columns), written(value.index), columns]
    if isinstance(value, pd.Series):
        return ["series", value.name, str(value.dtype), written(value.index), items(value)]
    if isinstance(value, pd.MultiIndex):
        return ["levels", [*value.names], [*map(str, value.dtypes)], items(value)]
    if isinstance(value, pd.Index):
        return ["index", value.name, str(value.dtype), items(value)]
    if isinstance(value, list | tuple):
        return items(value)
    if isinstance(value, np.ndarray) or hasattr(value, "_from_sequence"):
        return ["array", str(value.dtype), items(np.asarray(value, object).ravel())]
    return item(value)


def items(values: Any) -> list[Any]:
    """Return values as texts."""
    return [written(value) if isinstance(value, list | tuple) else item(value) for value in values]


def item(value: Any) -> Any:
    """Return a value as text; scalars of NumPy are those of Python, and floats are rounded."""
    if isinstance(value, pd.Series | pd.DataFrame | pd.Index | np.ndarray):
        return written(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if isinstance(value, float):
        return f"{0.0 if abs(value) < TINY else value:.5g}"
    return f"{type(value).__name__} {value!r}"


def series_calls(name: str) -> list[Any]:
    """Return the calls of a method of a column."""
    return OF_SERIES.get(name) or [partial(_plain, name)]


def _plain(name: str, obj: Any, value: Any) -> Any:
    del value
    found = getattr(obj, name)
    return found() if callable(found) and not isinstance(found, Collection) else found


def chosen(name: str, kinds: Collection_[str] = COLUMNS) -> list[str]:
    """Return the kinds of columns that a method gets: some of them, in the long run all."""
    profile = settings.default
    assert profile is not None
    count = max(2, len(kinds) * profile.max_examples // 140)
    return random.Random(name).sample(sorted(kinds), min(count, len(kinds)))


def faults(
    name: str, calls: list[Any], kinds: list[str], *, as_pandas: bool = True
) -> Iterator[str]:
    """Yield the calls whose results depend on chunks, or are not pandas's."""
    labels = TIME_LABELS if name in chunk_calls.OF_TIMES else LABELS
    for kind in kinds:
        if (name, kind) in NOT_CALLED:
            continue
        rows = pd.Series(COLUMNS[kind], labels, name="n")
        value = rows.dropna().iloc[1]
        for number, call in enumerate(calls):
            whole = outcome(call, md.Series(rows, chunk_size=len(rows)), value)
            cut = outcome(call, md.Series(rows, chunk_size=(SIZES,)), value)
            place = f"{name}[{number}] of {kind}"
            if isinstance(whole, NotImplementedError) or isinstance(cut, NotImplementedError):
                continue
            if not alike(cut, whole):
                yield f"{place}: {shown(cut)} in chunks, {shown(whole)} in one"
            wanted = outcome(call, rows, value)
            if as_pandas and not alike(whole, wanted):
                yield f"{place}: {shown(whole)}, and {shown(wanted)} in pandas"


def alike(one: Any, other: Any) -> bool:
    """Tell whether two results are equal, or both errors."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    return bool(written(one) == written(other))


def shown(value: Any) -> str:
    """Return a result as text."""
    return repr(value) if isinstance(value, Exception) else str(written(value))


SERIES = [name for name in dir(md.Series) if name[0] != "_" and name not in LEFT_OUT]


@pytest.mark.parametrize("name", SERIES)
def test_columns(name: str) -> None:
    """Values, types, labels, names and kinds of missing values."""
    as_pandas = name not in OTHER_THAN_PANDAS
    found = [*faults(name, series_calls(name), chosen(name), as_pandas=as_pandas)]
    assert not found, "\n".join(found)


#: Each method of accessors, groups, windows and frames.
OF_PARTS = [(of, name) for of, part in PARTS.items() for name in part.methods]


@pytest.mark.parametrize(("of", "name"), OF_PARTS, ids=map(".".join, OF_PARTS))
def test_accessors_groups_windows_and_frames(of: str, name: str) -> None:
    """The same of what columns and frames hand out."""
    kinds = chosen(f"{of}.{name}", PARTS[of].kinds)
    found = [*faults(name, [call_of(of, name)], kinds, as_pandas=(of, name) not in NOT_PANDAS)]
    assert not found, "\n".join(found)
