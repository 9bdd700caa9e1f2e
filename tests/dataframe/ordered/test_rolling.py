"""Statistics of the rows around each row are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables

NAMES = ("sum", "mean", "min", "max", "count", "var", "std")


@st.composite
def windows(draw: Any) -> dict[str, Any]:
    """Return what a window is: its rows, how many must be there, and whether it lies around."""
    window = draw(st.integers(0, 15))
    least = draw(st.none() | st.integers(0, window))
    return {"window": window, "min_periods": least, "center": draw(st.booleans())}


@given(both=tables(), how=windows(), name=st.sampled_from(NAMES))
def test_statistics(both, how, name):
    """Windows of none and of all rows, over missing values, of known and unknown lengths."""
    frame, lazy = both
    columns = ["k", "f", "b", "u"]
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(
            getattr(e[columns].rolling(**how), name)(), getattr(d[columns].rolling(**how), name)()
        )
        equal(getattr(e.f.rolling(**how), name)(), getattr(d.f.rolling(**how), name)())


@given(both=tables(), window=st.integers(1, 5))
def test_options(both, window):
    """Degrees of freedom, columns chosen afterwards, and those that are numbers."""
    frame, lazy = both
    equal(lazy.f.rolling(window).var(ddof=0), frame.f.rolling(window).var(ddof=0))
    equal(lazy.rolling(window)["u"].sum(), frame.rolling(window)["u"].sum())
    found = lazy[["u", "s"]].rolling(window).mean(numeric_only=True)
    equal(found, frame[["u", "s"]].rolling(window).mean(numeric_only=True))
    equal(lazy.s.rolling(window).count(), frame.s.rolling(window).count())


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for options in ({"window": "2D"}, {"window": 2, "closed": "left"}, {"window": 2, "on": "t"}):
        with pytest.raises(NotImplementedError):
            lazy.rolling(**options)
    with pytest.raises(pd.errors.DataError):
        lazy.s.rolling(2).sum()
    with pytest.raises(ValueError, match="0 or greater"):
        lazy.u.rolling(-1)
    with pytest.raises(ValueError, match="min_periods"):
        lazy.u.rolling(2, min_periods=3)
    with pytest.raises(TypeError, match="unexpected"):
        lazy.u.rolling(2, size=3)
