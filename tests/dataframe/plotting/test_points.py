"""Few rows stand for all: extremes of runs, the same random ones each time, evenly spaced ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.plotting import points

FRAME = pd.DataFrame(
    {
        "f": np.where(np.arange(500) % 7 == 3, np.nan, np.sin(np.arange(500) / 9)),
        "t": pd.date_range("2024", periods=500),
        "s": "text",
    }
)


def lazy() -> Any:
    return md.DataFrame(FRAME, chunk_size=((200, 0, 300),))


def test_lines_keep_extremes():
    """They are rows of the frame, no more than asked for, with its extremes and its ends."""
    found = points.rows_of_lines(lazy(), 60)
    assert 20 < len(found) <= 60 + 4
    pd.testing.assert_frame_equal(found, FRAME.loc[found.index])
    assert found.f.max() == FRAME.f.max()
    assert found.f.min() == FRAME.f.min()
    assert list(found.index[[0, -1]]) == [0, 499]
    pd.testing.assert_frame_equal(points.rows_of_lines(lazy(), None), FRAME)


def test_lines_follow_times():
    """Rows labelled by times are in their order before they are thinned, as pandas draws them."""
    rows = FRAME.set_index("t")[["f"]].iloc[::-1]
    found = points.rows_of_lines(md.DataFrame(rows, chunk_size=100), 40)
    assert found.index.is_monotonic_increasing
    assert found.f.max() == rows.f.max()


def test_points_and_bars():
    """Random rows are the same each time; few bars warn; wedges refuse."""
    found = points.rows_at_random(lazy(), 50)
    pd.testing.assert_frame_equal(found, FRAME.loc[found.index])
    assert len(found) == 50
    pd.testing.assert_frame_equal(points.rows_at_random(lazy(), 50), found)
    with pytest.warns(UserWarning, match="10 bars stand for 500 rows"):
        bars = points.rows_at_distances(lazy(), 10)
    assert list(bars.index) == list(np.linspace(0, 499, 10).round().astype(int))
    pd.testing.assert_frame_equal(points.all_rows(lazy(), None, "pie"), FRAME)
    with pytest.raises(NotImplementedError, match="nlargest"):
        points.all_rows(lazy(), 100, "pie")
