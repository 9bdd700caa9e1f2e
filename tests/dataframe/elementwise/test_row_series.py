"""Functions of rows are called with rows whose labels are found fast; nothing else differs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from marsdask.dataframe.elementwise.row_series import RowSeries, apply_to_rows
from tests.dataframe import one_mode

_coalesce = one_mode.coalesce

TIMES = pd.DatetimeIndex(["2020-01-01", "NaT", "2021-05-06"])

FRAMES: dict[str, pd.DataFrame] = {
    "numbers": pd.DataFrame({"key": [3, 4, 5], "w": [0.5, np.nan, 2.0]}, index=[7, 7, 9]),
    "objects": pd.DataFrame({"key": [3, 4, 5], "w": ["a", None, "c"]}),
    "texts": pd.DataFrame({"key": ["x", "y", "z"], "w": ["a", None, "c"]}),
    "times": pd.DataFrame({"key": TIMES, "w": TIMES[::-1]}),
    "nullable": pd.DataFrame({"key": [3, 4, None], "w": [1, None, 3]}, dtype="Int64"),
    "repeated": pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=["key", "key"]).assign(w=1),
    "own names": pd.DataFrame({"key": [1, 2, 3], "w": [4, 5, 6], "str": 7, "_mgr": 8, 1: 9}),
}


def enlarged(row: Any) -> Any:
    """Add a value to a row and change another one."""
    row["new"] = row.w
    row["w"] = row.key
    return row


def moved(row: Any) -> Any:
    """Return a value after a row got other labels."""
    row.index = [*row.index[1:], "last"]
    return row["w"] if "w" in row.index else row.w


def missing(row: Any) -> Any:
    """Tell how a row refuses what it does not have."""
    found = []
    for look in (lambda: row.nope, lambda: row["nope"], lambda: type(row.str), lambda: row[0]):
        try:
            found.append(str(look()))
        except (AttributeError, KeyError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return "; ".join(found)


FUNCTIONS: dict[str, Any] = {
    "attributes": lambda row: str((row.key, row.w, row.name, row.dtype)),
    "items": lambda row: str((row["key"], row[["w"]].tolist(), row.get("w"))),
    "enlarged": enlarged,
    "moved": moved,
    "missing": missing,
    "dropped": lambda row: str(row.drop("w").key),
    "row": lambda row: row,
    "list": lambda row: [str(row.key), row.w],
    "classes": lambda row: str((type(row.copy()), type(row[["w"]]))),
    "pickled": lambda row: str(pickle.loads(pickle.dumps(row)).to_dict()),
}


def outcome(call: Any) -> Any:
    """Return what a call returns, or what it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - the other one must raise it, too
        return type(error), str(error)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_functions_see_what_pandas_shows(frame):
    """Values, errors and results are those of DataFrame.apply, by pandas's own classes."""
    for function in FUNCTIONS.values():
        found, wanted = (
            outcome(lambda rows=rows, call=call, function=function: call(rows, function, axis=1))
            for call, rows in ((apply_to_rows, frame.copy()), (pd.DataFrame.apply, frame.copy()))
        )
        assert type(found) is type(wanted)
        if isinstance(wanted, pd.DataFrame):
            pd.testing.assert_frame_equal(found, wanted)
        elif isinstance(wanted, pd.Series):
            pd.testing.assert_series_equal(found, wanted)
        else:
            assert found == wanted


def test_labels_are_found_by_a_dict():
    """Of distinct labels, those that are texts; attributes only where pandas has none."""
    row = RowSeries.of(pd.Series([1, 2, 3], ["a", "sum", "_b"]))
    assert (row._items, row._attributes) == ({"a": 0, "sum": 1, "_b": 2}, {"a": 0})
    assert RowSeries.of(pd.Series([1, 2], ["a", "a"]))._items == {}
