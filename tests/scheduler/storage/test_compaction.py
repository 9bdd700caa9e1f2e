"""Small results do not keep the buffers of large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.scheduler.storage.compaction import compact

ROWS = 50_000


def _frame() -> pd.DataFrame:
    numbers = np.arange(ROWS)
    text = [f"text {i}" for i in range(ROWS)]
    times = pd.date_range("2020", periods=ROWS, freq="s")
    return pd.DataFrame(
        {
            "number": numbers,
            "text": text,
            "object": pd.Series(text, dtype=object),
            "arrow": pd.Series(numbers, dtype=pd.ArrowDtype(pa.int64())),
            "masked": pd.Series(numbers, dtype="Int64"),
            "time": times,
            "zone": times.tz_localize("Europe/Berlin"),
            "period": pd.period_range("2020", periods=ROWS, freq="h"),
            "interval": pd.interval_range(0, ROWS),
            "kind": pd.Categorical(numbers % 3),
        }
    )


LABELS: dict[str, Any] = {
    "range": pd.RangeIndex(ROWS),
    "numbers": pd.Index(np.arange(ROWS) * 2),
    "text": pd.Index([f"label {i}" for i in range(ROWS)]),
    "times": pd.date_range("2020", periods=ROWS, freq="s"),
    "pairs": pd.MultiIndex.from_arrays([np.arange(ROWS), np.arange(ROWS) % 2]),
}


def kept(value: Any) -> int:
    """Return the bytes of the buffers that a value keeps."""
    if isinstance(value, tuple | list):
        return sum(map(kept, value))
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return int(value.nbytes)
    if isinstance(value, pd.DataFrame):
        return kept(value.index) + sum(kept(column.array) for _, column in value.items())
    if isinstance(value, pd.Series):
        return kept(value.index) + kept(value.array)
    if isinstance(value, pd.MultiIndex):
        return sum(map(kept, [*value.levels, *map(np.asarray, value.codes)]))
    if isinstance(value, pd.RangeIndex):
        return 0
    if isinstance(value, pd.Index):
        return kept(value.array)
    if hasattr(value, "_pa_array"):
        return int(value._pa_array.get_total_buffer_size())
    parts = ("_ndarray", "_data", "_mask", "_left", "_right")
    return sum(kept(getattr(value, part)) for part in parts if hasattr(value, part))


VIEWS = {
    "no rows": lambda rows: rows.iloc[:0],
    "first rows": lambda rows: rows.iloc[:5],
    "some rows": lambda rows: rows.iloc[7:4000:1000],
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_few_rows_of_a_table(labels: str, view: Any) -> None:
    """Few rows of each type, and of each kind of labels, are equal and own their memory."""
    frame = _frame().set_axis(LABELS[labels])
    few = view(frame)
    alone = compact(few)
    pd.testing.assert_frame_equal(alone, few, check_freq=True)
    assert kept(few) > 100_000
    assert kept(alone) < 10_000
    for name in frame:
        few_values = view(frame[name])
        column = compact(few_values)
        pd.testing.assert_series_equal(column, few_values)
        assert kept(column) < 3_000
    pd.testing.assert_index_equal(compact(few.index), few.index)
    assert kept(compact(few.index)) < 3_000
    assert kept(compact((few, [few.index, 3]))) < 15_000


def test_few_elements_of_an_array() -> None:
    """A small part of a large array is a copy in the same order, as writeable as before."""
    array = np.arange(200_000).reshape(400, 500)
    part = array.T[:3, :4]
    alone = compact(part)
    assert alone.base is None
    assert alone.strides[0] < alone.strides[1]
    assert alone.tolist() == part.tolist()
    assert alone.flags.writeable
    part.flags.writeable = False
    assert not compact(part).flags.writeable
    assert compact([part, "x", None])[0].base is None


@pytest.mark.parametrize("few", [ROWS, ROWS // 4])
def test_large_parts_are_views(few: int) -> None:
    """What is not small is left as it is: copies would take as much memory again."""
    array = np.arange(ROWS)[:few]
    frame = pd.DataFrame({"a": np.arange(ROWS)}).iloc[:few]
    assert compact(array) is array
    assert compact(frame) is frame
    together = [array, frame, {"x": 1}]
    assert compact(together) is together


def test_results_of_tasks_are_compact() -> None:
    """The first rows of blocks, which a program returns, keep no blocks."""
    frame = _frame()[["number", "text", "object"]]
    lazy = md.DataFrame(frame, chunk_size=ROWS // 4)
    firsts: Any = lazy.map_partitions(_first_rows).execute()
    session: Any = marsdask.get_default_session()
    keys = list(firsts.node.result.layout.keys.values())
    blocks = session.scheduler.gather(keys)
    assert sum(map(len, blocks)) == 12
    assert sum(map(kept, blocks)) < 10_000


def _first_rows(block: Any) -> Any:
    return block.iloc[:3]
