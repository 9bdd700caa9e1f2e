"""What Dask computes of frames without our looking at data: every operation has a static graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.dataframe.tables import filtered, tables
from tests.strategies import draws

RIGHT = pd.DataFrame({"k": [1, 0, 7, 1, -2, 2, 8, 9, 0], "v": np.arange(9) * 1.5})


def right_of(frame: Any) -> Any:
    """Return the other side of a merge, lazy as the one side is."""
    return RIGHT if isinstance(frame, pd.DataFrame) else md.DataFrame(RIGHT, chunk_size=4)


#: Operations, and whether pandas's order of the rows is kept.
OPERATIONS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "inner": (lambda d: d.merge(right_of(d), on="k"), False),
    "left": (lambda d: d.merge(right_of(d), on="k", how="left"), False),
    "outer": (lambda d: d.merge(right_of(d), on="k", how="outer"), False),
    "cross": (lambda d: d.merge(right_of(d), how="cross"), True),
    "by labels": (
        lambda d: d.merge(
            right_of(d).drop_duplicates("k").set_index("k"), left_on="k", right_index=True
        ),
        True,
    ),
    "merged and grouped": (lambda d: d.merge(right_of(d), on="k").groupby("s").v.sum(), True),
    "grouped": (lambda d: filtered(d).groupby("k").agg({"u": ["sum", "max"], "f": "mean"}), True),
    "medians": (lambda d: filtered(d).groupby("k").u.median(), True),
    "as met": (lambda d: d.groupby("k", sort=False).u.median(), True),
    "sorted": (lambda d: filtered(d).sort_values("u"), True),
    "numbered": (lambda d: filtered(d).reset_index(drop=True), True),
    "head": (lambda d: filtered(d).head(3), True),
    "tail": (lambda d: filtered(d).tail(3), True),
    "backwards": (lambda d: filtered(d).iloc[5:0:-2], True),
    "row": (lambda d: filtered(d.assign(u=0)).u.iloc[-1], True),
    "distinct": (lambda d: filtered(d).drop_duplicates("s"), True),
    "counts": (lambda d: filtered(d).b.value_counts(), True),
}


@pytest.fixture(autouse=True)
def _coalesce() -> None:
    """Merge no chunks: Dask is shown the grids as the user sees them."""


@pytest.mark.parametrize("name", OPERATIONS)
@draws(8)
@given(both=tables(min_rows=2))
def test_dask_computes_it(name: str, both: Any) -> None:
    """Over rows known and unknown, in many chunks and in one."""
    operation, ordered = OPERATIONS[name]
    frame, lazy = both
    if name == "row" and not len(filtered(frame.assign(u=0))):
        return
    wanted: Any = operation(frame)
    found: Any = dask.compute(operation(lazy), scheduler="sync")[0]
    if ordered and isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted, check_dtype=len(wanted) > 0)
    elif isinstance(wanted, pd.DataFrame):
        if not ordered:
            columns = list(wanted.columns)
            found, wanted = (x.sort_values(columns, ignore_index=True) for x in (found, wanted))
        pd.testing.assert_frame_equal(found, wanted, check_dtype=len(wanted) > 0)
    else:
        assert found == wanted


@pytest.mark.parametrize("step", [40, 10**6])
def test_dask_computes_parts_of_files(tmp_path: Any, step: int) -> None:
    """Quoted line ends where files are cut are counted on the way."""
    frame = pd.DataFrame({"a": range(40), "c": ['x\ny, "q"', "z"] * 20})
    frame.to_csv(tmp_path / "1.csv", index=False)
    frame.to_csv(tmp_path / "2.csv", index=False)
    lazy = md.read_csv(tmp_path, chunk_bytes=step)
    (found,) = dask.compute(lazy[lazy.a > 5], scheduler="sync")
    both = pd.concat([frame, frame], ignore_index=True)
    pd.testing.assert_frame_equal(found, both[both.a > 5])


def test_dask_computes_frames_of_tensors_of_unknown_length() -> None:
    """Rows are numbered on the way."""
    x = mt.arange(20, chunk_size=6).reshape(10, 2)
    rows = x[x[:, 0] > 7]
    (found,) = dask.compute(md.DataFrame(rows, columns=["a", "b"]), scheduler="sync")
    values = np.arange(20).reshape(10, 2)
    pd.testing.assert_frame_equal(found, pd.DataFrame(values[4:], columns=["a", "b"]))


def test_a_merge_is_a_dask_dataframe_of_as_many_partitions() -> None:
    """What Dask is told of the partitions is what the graph makes."""
    lazy = md.DataFrame(RIGHT, chunk_size=2).merge(md.DataFrame(RIGHT, chunk_size=3), on="k")
    frame = lazy.to_dask()
    assert frame.npartitions == lazy.npartitions == 5
    assert len(frame.compute(scheduler="sync")) == len(RIGHT.merge(RIGHT, on="k"))
