"""Arguments are taken in pandas's positions and under pandas's names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md

FRAME = pd.DataFrame({"a": [3.0, 1, 2, 5], "b": [1, 1, 2, 2]}, index=[4, 2, 7, 1])
TIMES = pd.DataFrame({"a": [1.0, 2, 3], "k": 1}, index=pd.date_range("2020", periods=3))
SUFFIXES = ("_l", "_r")

#: What is called of a frame and of the module that has the functions.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "apply": lambda d, _: d.apply(np.sum, 0, False, None, ()),
    "astype": lambda d, _: d.astype("f4", True, "raise"),
    "count": lambda d, _: d.count(0, True),
    "merge": lambda d, _: d.merge(d, "inner", "b", None, None, False, False, False, SUFFIXES),
    "merge: copy": lambda d, pd: pd.merge(
        d, d, "inner", "b", None, None, False, False, False, SUFFIXES, None, True
    ),
    "reindex_like": lambda d, _: d.reindex_like(d, None, None, None, None),
    "Series.reindex_like": lambda d, _: d.a.reindex_like(d.b, None, False),
    "rename: copy": lambda d, _: d.rename({1: 2}, copy=True),
    "transpose: copy": lambda d, _: d.transpose(copy=True),
    "shift": lambda d, _: d.shift(1, None, 0, 0.0),
    "Series.shift": lambda d, _: d.a.shift(1, None, 0, 0.0),
    "Series.nunique": lambda d, _: d.a.nunique(False),
    "Series.reindex": lambda d, _: d.a.reindex(index=[1, 2]),
    "Series.swaplevel": lambda d, _: d.set_index("b", append=True).a.swaplevel(0, 1, False),
    "Index.symmetric_difference": lambda d, pd: pd.Index([1, 2]).symmetric_difference([2, 3], "n"),
    "Index.value_counts": lambda d, pd: pd.Index([1, 2, 2]).value_counts(True),
    "GroupBy.quantile": lambda d, _: d.groupby("b").quantile(0.5, "linear", True),
    "GroupBy.rolling": lambda d, _: d.groupby("b").rolling(2, 1).sum(),
    "GroupBy.expanding": lambda d, _: d.groupby("b").expanding(1).sum(),
    "GroupBy.ewm": lambda d, _: d.groupby("b").ewm(0.5).mean(),
    "GroupBy.first": lambda d, _: d.groupby("b").first(True, 1),
    "cut": lambda d, pd: pd.cut(d.a, [0, 2, 6], False, ["x", "y"]),
    "qcut": lambda d, pd: pd.qcut(d.a, 2, ["x", "y"]),
    "date_range": lambda d, pd: pd.date_range("2020", None, 3, "D", "UTC", True, "n"),
    "bdate_range": lambda d, pd: pd.bdate_range("2020", "2020-02", None, "B", "UTC", True, "n"),
    "timedelta_range": lambda d, pd: pd.timedelta_range("1D", None, 3, "D", "n"),
    "DataFrame": lambda d, pd: pd.DataFrame([[1, 2]], [5], ["a", "b"], "f4", True),
    "Series": lambda d, pd: pd.Series([1, 2], [5, 6], "f4", "n", True),
    "Index": lambda d, pd: pd.Index([(1, 2), (3, 4)], "object", True, "n", False),
}

#: The same of a frame whose labels are times.
OF_TIMES: dict[str, Callable[[Any], Any]] = {
    "Series.to_period": lambda d: d.a.to_period("D", False),
    "to_period": lambda d: d.to_period("D", 0, False),
    "Series.to_timestamp": lambda d: d.a.to_period("D").to_timestamp("D", "start", False),
    "GroupBy.resample": lambda d: d.groupby("k").resample("2D", "left").sum(),
}


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pandas answer what has no way by chunks, as by default."""
    from marsdask.core.config import options

    monkeypatch.setattr(options.dataframe, "whole", "allow")


def equal(found: Any, expected: Any) -> None:
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, check_freq=False)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected, check_freq=False)
    elif isinstance(expected, pd.Index):
        pd.testing.assert_index_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
@pytest.mark.parametrize("name", CALLS)
def test_positions(name: str) -> None:
    """They are those of pandas."""
    found = CALLS[name](md.DataFrame(FRAME, chunk_size=2), md)
    equal(found.compute(), CALLS[name](FRAME, pd))


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
@pytest.mark.parametrize("name", OF_TIMES)
def test_positions_of_times(name: str) -> None:
    """They are those of pandas where frames and series have others."""
    found = OF_TIMES[name](md.DataFrame(TIMES, chunk_size=2))
    equal(found.compute(), OF_TIMES[name](TIMES))


def test_files(tmp_path: Path) -> None:
    """Readers and writers know pandas's names of files, columns and tables."""
    FRAME.to_parquet(tmp_path / "x.parquet")
    FRAME.to_feather(tmp_path / "x.feather")
    FRAME.to_csv(tmp_path / "x.csv")
    readers: list[Callable[[Any], Any]] = [
        lambda pd: pd.read_parquet(tmp_path / "x.parquet", "pyarrow", ["a"]),
        lambda pd: pd.read_feather(tmp_path / "x.feather", ["a"], False),
        lambda pd: pd.read_csv(filepath_or_buffer=tmp_path / "x.csv"),
    ]
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        FRAME.to_sql("table", connection)
        readers += [
            lambda pd: pd.read_sql('SELECT * FROM "table"', connection, "a", True, None, None),
            lambda pd: pd.read_sql_query('SELECT * FROM "table"', connection, "a", True),
        ]
        for read in readers:
            equal(read(md).compute(), read(pd))
        table: Any = md.read_sql_table("table", connection, None, "index")  # type: ignore[call-arg]
        equal(table.compute(), FRAME.rename_axis("index"))
    text: Any = md.DataFrame(FRAME).to_csv(path_or_buf=None)
    assert text == FRAME.to_csv(path_or_buf=None)


def test_values_given_twice() -> None:
    """An argument by position and by name is an error."""
    frame: Any = md.DataFrame(FRAME)
    with pytest.raises(TypeError, match="multiple values for argument 'fill_value'"):
        frame.shift(1, None, 0, 0.0, fill_value=1.0)
    with pytest.raises(TypeError, match="multiple values for argument 'right'"):
        md.cut(frame.a, 3, False, right=True)  # type: ignore[call-overload]
