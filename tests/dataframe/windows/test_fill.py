"""Missing values are filled from rows before or behind, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import HISTORIES, draws

FILLS = st.sampled_from(["ffill", "bfill"])
LIMITS = st.none() | st.integers(1, 6)
AREAS = st.sampled_from([None, "inside", "outside"])


@draws(12)
@given(both=states(), name=FILLS, limit=LIMITS, area=AREAS)
def test_filled(both, name, limit, area):
    """Columns of all types, cut somehow, before and after they ran."""
    frame, lazy = both
    equal(getattr(lazy, name)(limit=limit), getattr(frame, name)(limit=limit))
    for column in frame:
        how = {"limit": limit, "limit_area": area}
        equal(getattr(lazy[column], name)(**how), getattr(frame[column], name)(**how))


@draws(10)
@given(
    both=tables(),
    limit=LIMITS,
    area=AREAS,
    direction=st.sampled_from([None, "forward", "backward", "both"]),
)
def test_interpolated(both, limit, area, direction):
    """Lines between values, and beyond them; rows of known and unknown lengths."""
    frame, lazy = both
    how = {"limit": limit, "limit_area": area, "limit_direction": direction}
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(e.f.interpolate(**how), d.f.interpolate(**how))
        equal(e[["u", "f", "b"]].interpolate(**how), d[["u", "f", "b"]].interpolate(**how))


@pytest.mark.parametrize("name", ["executed", "persisted", "adopted"])
def test_history(name):
    """What happened to the rows before changes nothing."""
    frame = table(11, index="labels")
    lazy = HISTORIES[name](md.DataFrame(frame, chunk_size=3))
    equal(lazy.ffill(), frame.ffill())
    equal(filtered(lazy).bfill(limit=2), filtered(frame).bfill(limit=2))
    equal(lazy.f.interpolate(), frame.f.interpolate())


def test_other_axes_and_labels():
    """Across columns, and between times of unlike distances."""
    values = pd.DataFrame({"a": [1.0, np.nan, 4.0], "b": [np.nan] * 3, "c": [5.0, 6.0, np.nan]})
    lazy = md.DataFrame(values, chunk_size=2)
    for name in ("ffill", "bfill", "interpolate"):
        equal(getattr(lazy, name)(axis=1), getattr(values, name)(axis=1))
    methods: Any = (([0, 3, 4], "index"), (pd.to_datetime([0, 30, 40]), "time"))
    for labels, method in methods:
        frame = values.set_axis(labels)
        equal(md.DataFrame(frame, chunk_size=1).interpolate(method), frame.interpolate(method))


@draws(6)
@given(both=tables(), periods=st.integers(-3, 14))
def test_pct_change(both, periods):
    """Shares of earlier rows."""
    frame, lazy = both
    equal(lazy[["u", "f"]].pct_change(periods), frame[["u", "f"]].pct_change(periods))
    equal(filtered(lazy).u.pct_change(), filtered(frame).u.pct_change())


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for call in (
        lambda: lazy.f.interpolate("cubic"),
        lazy.t.interpolate,
        lambda: lazy.f.set_axis([3, 1, 2, 5, 4]).interpolate("index"),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for call in (
        lambda: lazy.f.ffill(limit=0),
        lambda: lazy.f.ffill(limit="a"),
        lambda: lazy.f.bfill(limit_area="around"),
        lambda: lazy.f.interpolate(limit_direction="up"),
        lambda: lazy.f.interpolate("time"),
    ):
        with pytest.raises(ValueError, match=r"Limit|limit_|time"):
            call()
    with pytest.raises(TypeError, match="dtype"):
        lazy.s.interpolate()
