"""What executed frames show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.display import html, representation
from tests.core.recording import recording_session


def data(rows):
    names = np.array([f"n{i}" for i in range(rows)], dtype=object)
    return pd.DataFrame({"a": np.arange(rows) * 1.5, "b": names})


def notebook(frame: Any) -> str:
    """Return the table that notebooks show of a frame of pandas."""
    return str(frame._repr_html_())


@pytest.fixture(autouse=True)
def session():
    with recording_session() as (_, scheduler):
        yield scheduler


@pytest.mark.parametrize("rows", [0, 1, 59, 60, 61, 500])
@pytest.mark.parametrize("column", [None, "a", "b"])
def test_it_is_what_pandas_prints(rows, column):
    """Frames and series, short and long."""
    expected = data(rows) if column is None else data(rows)[column]
    x = md.from_pandas(expected, chunk_size=40).execute()
    assert representation(x) == repr(expected)
    if isinstance(expected, pd.DataFrame):
        assert html(x) == notebook(expected)


@pytest.mark.parametrize("rows", [3, 70])
def test_wide_frames_are_what_pandas_prints(rows):
    """Columns that do not fit on a line come below, or are left out."""
    expected = pd.DataFrame(np.arange(rows * 30).reshape(rows, 30))
    x = md.from_pandas(expected, chunk_size=40).execute()
    assert representation(x) == repr(expected)
    assert html(x) == notebook(expected)


def test_a_long_index_shows_its_ends():
    """The first and the last labels, the dtype and the length."""
    x = md.from_pandas(pd.Index(np.arange(500) * 2), chunk_size=40).execute()
    assert representation(x) == (
        "Index([0, 2, 4, 6, 8, ..., 990, 992, 994, 996, 998], dtype='int64', length=500)"
    )


def test_a_few_rows_move(session):
    """Of a long frame the ends, and nothing stays behind."""
    x = md.from_pandas(data(10_000), chunk_size=1000).execute()
    shown: list[int] = []
    gather = session.inner.gather

    def count(keys):
        values = gather(keys)
        shown.extend(map(len, values))
        return values

    session.inner.gather = count
    representation(x)
    assert sum(shown) == 11


def test_what_was_not_executed_is_outlined():
    """Columns, types and partitions, and what to call; then the values."""
    x = md.from_pandas(data(100).rename(columns={"a": "<a>"}), chunk_size=40)
    for part in ("DataFrame", "100 rows", "2 columns", "3 partitions", "&lt;a&gt;", "float64"):
        assert part in html(x)
    assert html(x).count("<td>40</td>") == 2
    assert "? rows" in html(x[x.b == "n1"])
    assert "execute()" in html(x)
    assert "execute()" not in html(x.execute())
    assert "columns" in html(x.execute())


@pytest.mark.parametrize("select", ["series", "index", "levels"])
def test_a_series_and_an_index_are_outlined(select):
    """As their only column, or their levels."""
    x = md.from_pandas(data(100), chunk_size=40)
    shown = {"series": x.b, "index": x.index, "levels": x.set_index(["a", "b"]).index}[select]
    assert "3 partitions" in html(shown)
    assert ("<th>b</th>" in html(shown)) is (select != "index")


def test_long_outlines_leave_out_the_middle():
    """Of many partitions and of many columns."""
    x = md.from_pandas(pd.DataFrame(np.zeros((90, 90))), chunk_size=1)
    assert html(x).count("<tr>") == 2 + 7
    assert html(x).count("float64") == 20
