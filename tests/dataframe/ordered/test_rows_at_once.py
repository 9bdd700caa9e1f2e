"""Functions of all rows equal pandas's, and their results lie beside the rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from pandas.api.indexers import BaseIndexer, VariableOffsetWindowIndexer

import marsdask.dataframe as md
from tests.dataframe.tables import equal

TIMED = pd.DataFrame(
    {"v": [1.0, 3.0, None, 5.0, 4.0, 6.0], "w": [2, 1, 2, 3, 9, 4]},
    index=pd.date_range("2024-01-01", periods=6, freq="6h"),
)
KINDS = pd.DataFrame(
    {
        "time": pd.to_datetime(["2024-01-03", "2024-01-01", "NaT", "2024-01-02", "2024-02-01"]),
        "zone": pd.date_range("2024-03-30", periods=5, tz="Europe/Berlin")[::-1],
        "span": pd.to_timedelta([3, 1, 2, None, 4], unit="h"),
        "arrow": pd.array([1, 3, None, 2, 0], dtype="int64[pyarrow]"),
        "text": pd.Series(["b", "a", None, "c", "d"], dtype="str"),
        "period": pd.period_range("2024-01", periods=5, freq="M"),
    }
)
MONTHS = VariableOffsetWindowIndexer(index=pd.DatetimeIndex(TIMED.index), offset=pd.offsets.Day())


class Centered(BaseIndexer):
    """Windows of the row and its neighbours."""

    def get_window_bounds(
        self, num_values=0, min_periods=None, center=None, closed=None, step=None
    ):
        """Return where windows begin and end."""
        del min_periods, center, closed, step
        rows = pd.Series(range(num_values), dtype="int64").to_numpy()
        return (rows - 1).clip(0), (rows + 2).clip(None, num_values)


CALLS: dict[str, Any] = {
    "span around rows": lambda d: d.rolling("13h", center=True).sum(),
    "span around rows of a column": lambda d: d.v.rolling("12h", center=True).max(),
    "borders around rows": lambda d: d.w.rolling("12h", center=True, closed="both").mean(),
    "indexer": lambda d: d.rolling(Centered(), min_periods=1).sum(),
    "every second window": lambda d: d.rolling(3, min_periods=1, step=2).sum(),
    "several of every second": lambda d: d.rolling(2, step=2).agg(["sum", "max"]),
    "decay of time": lambda d: d.ewm(halflife="12h", times=TIMED.index).mean(),
    "decay of a column": lambda d: d.w.ewm(halflife=pd.Timedelta("1D"), times=TIMED.index).mean(),
    "decay of lazy times": lambda d: d[["w"]].ewm(halflife="5h", times=d.t).mean(),
    "changes by time": lambda d: d.pct_change(freq="6h"),
    "changes by times": lambda d: d.w.pct_change(2, freq="6h"),
    "beside the rows": lambda d: d.w - d.w.rolling("12h", center=True).sum(),
}


@pytest.mark.parametrize("name", CALLS)
def test_windows(name):
    """Of chunks of two rows: windows reach across chunks, to both sides."""
    frame = TIMED if "lazy" not in name else TIMED.assign(t=TIMED.index)
    for size in (6, 2):
        equal(CALLS[name](md.DataFrame(frame, chunk_size=size)), CALLS[name](frame))


@pytest.mark.parametrize("scan", ["cummax", "cummin", "cumsum", "cumprod"])
@pytest.mark.parametrize("name", KINDS)
def test_scans(scan, name):
    """Of each type that pandas scans."""
    column = KINDS[name]
    lazy = md.Series(column, chunk_size=2)
    try:
        scanned = getattr(column, scan)()
    except (TypeError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            getattr(lazy, scan)().compute()
    else:
        equal(getattr(lazy, scan)(), scanned)
        frame = getattr(md.DataFrame(KINDS[[name]], chunk_size=2), scan)()
        equal(frame, getattr(KINDS[[name]], scan)())


@pytest.mark.parametrize("scan", ["cummax", "cummin", "cumsum", "cumprod"])
def test_scans_of_numbers_only(scan):
    """Other columns are left out."""
    frame = pd.DataFrame({"a": [3, 1, 2], "s": ["x", "y", "z"], "f": [1.5, None, 2]})
    for axis in (0, 1):
        wanted = getattr(frame, scan)(axis=axis, numeric_only=True)
        lazy = md.DataFrame(frame, chunk_size=1)
        equal(getattr(lazy, scan)(axis=axis, numeric_only=True), wanted)
