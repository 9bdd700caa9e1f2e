"""Rows between two labels are found in any chunks, by labels as pandas reads them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal


@pytest.mark.parametrize("size", [1, 4, 9])
def test_rows_between(size):
    """Both ends are included, days given as text are whole, and either end may be left out."""
    times = pd.date_range("2024-01-01", periods=9, freq="8h")
    rows = pd.Series(range(9), index=times)
    lazy = md.Series(rows, chunk_size=size)
    key: Any
    for key in (slice("2024-01-02", "2024-01-02"), slice(None, times[3]), slice(times[7], None)):
        equal(lazy.loc[key], rows.loc[key], check_freq=False)
        equal(lazy[key], rows[key], check_freq=False)
        equal(lazy.to_frame("x")[key], rows.to_frame("x")[key], check_freq=False)
    for key in (slice(2, 5), slice(-3, None), slice(None, None, 2)):
        equal(lazy[key], rows[key], check_freq=False)
        equal(lazy.to_frame("x")[key], rows.to_frame("x")[key], check_freq=False)
    floats = pd.Series(range(4), index=[0.5, 1.0, 2.0, 3.5])
    equal(md.Series(floats, chunk_size=size)[1:2], floats[1:2])


def test_labels_of_a_column():
    """Whether they rise is computed; unless they do, a slice is refused at the call."""
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=9, freq="8h"), "x": range(9)})
    lazy = md.DataFrame(frame, chunk_size=2).set_index("when")
    rows = frame.set_index("when")
    equal(lazy["2024-01-02":"2024-01-03"], rows["2024-01-02":"2024-01-03"])
    falling = md.DataFrame(frame[::-1], chunk_size=2).set_index("when")
    with pytest.raises(NotImplementedError, match="do not rise"):
        falling["2024-01-02":"2024-01-03"]
