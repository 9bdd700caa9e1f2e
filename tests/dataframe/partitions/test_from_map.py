"""Frames of what functions return, of arrays and of dicts are Dask's."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.coalesce


def made(start: int, stop: int, step: int = 1, *, name: str = "a") -> pd.DataFrame:
    """Return a frame of a range."""
    return pd.DataFrame({name: range(start, stop, step)})


CALLS: dict[str, Any] = {
    "a function": lambda m: m.from_map(made, [0, 5], [3, 9]),
    "arguments": lambda m: m.from_map(made, [0, 5], [3, 9], args=(2,), name="b", label="made"),
    "declared": lambda m: m.from_map(made, [0, 5], [3, 9], meta={"a": int}),
    "series": lambda m: m.from_map(pd.Series, [[1, 2], [3]]),
    "an array": lambda m: m.from_array(np.arange(7.0), chunksize=3, columns="x"),
    "columns": lambda m: m.from_array(np.ones((5, 2)), columns=["x", "y"]),
    "a dask.array": lambda m: m.from_dask_array(da.arange(7, chunks=3), columns="x"),
    "a dict": lambda m: m.from_dict({"x": [1, 2, 3]}, npartitions=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_frames_are_those_of_dask(name: str) -> None:
    """Values, labels, types and partitions."""
    lazy, theirs = CALLS[name](md), CALLS[name](dd)
    assert lazy.npartitions == theirs.npartitions
    equal(lazy, theirs.compute(scheduler="sync"))


def test_a_function_is_called_in_tasks() -> None:
    """Once at the call if it has to show its types, and its errors are its own."""
    calls = []

    def read(item: int) -> pd.DataFrame:
        calls.append(item)
        if item == 3:
            raise OSError("truncated")
        return made(0, item)

    lazy: Any = md.from_map(read, [1, 2, 3], meta=made(0, 0))
    assert not calls
    equal(lazy.partitions[:2], pd.concat([made(0, 1), made(0, 2)]))
    with pytest.raises(OSError, match="truncated"):
        lazy.compute()
    md.from_map(read, [2])
    assert calls[-1] == 2
    with pytest.raises(ValueError, match="non-zero"):
        md.from_map(read, [])
    with pytest.raises(NotImplementedError, match="set_index"):
        md.from_dask_array(da.ones(3), index=[1])


def test_frames_go_to_dask() -> None:
    """As arrays and frames, and back; the first delayed value shows the types."""
    frame = made(0, 10)
    lazy = md.DataFrame(frame, chunk_size=4)
    array = lazy.to_dask_array(lengths=True)
    assert array.chunks[0] == (4, 4, 2)
    np.testing.assert_array_equal(array.compute(scheduler="sync"), frame)
    equal(md.from_dask_dataframe(lazy.to_dask_dataframe()), frame)
    equal(md.from_delayed(lazy.to_delayed()), frame)
    equal(md.from_delayed(lazy.to_delayed()[0], divisions=(0, 4)), frame[:4])
    with pytest.raises(TypeError, match="at least one"):
        md.from_delayed([])
