"""Units and zones of times that are merged."""

from __future__ import annotations

import itertools
from typing import Literal

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.schemas.times import in_type
from tests.dataframe.tables import equal

UNITS: list[Literal["s", "us", "ns"]] = ["s", "us", "ns"]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_keys_of_different_units(how):
    """Of two zones those of the left side, else the finer ones: declared, and in every chunk."""
    times = pd.DatetimeIndex(["2024-03-10 10:00", "2024-03-11", "2024-03-12"], tz="UTC")
    zones = [("UTC", "Europe/Berlin"), ("UTC", "UTC"), (None, None)]
    for zone, units in itertools.product(zones, itertools.permutations(UNITS, 2)):
        left, right = (
            pd.DataFrame({"t": part.tz_convert(tz).as_unit(unit), side: [1, 2]})
            for part, tz, unit, side in zip((times[:2], times[1:]), zone, units, "ab", strict=True)
        )
        lazy = md.DataFrame(left, chunk_size=1).merge(
            md.DataFrame(right, chunk_size=1), on="t", how=how
        )
        wanted = left.merge(right, on="t", how=how)
        assert lazy.dtypes["t"] == wanted.dtypes["t"]
        equal(lazy, wanted)


def test_a_unit_that_does_not_hold_all_times():
    """The times stay what they are, none is cut; missing ones fit into any unit."""
    frame = pd.DataFrame({"t": pd.DatetimeIndex(["2020-01-01 00:00:00.5", "NaT"]).as_unit("ms")})
    assert in_type(frame, "t", "M8[s]").dtypes["t"] == "M8[ms]"
    assert in_type(frame, "t", "M8[ns]").dtypes["t"] == "M8[ns]"
    assert in_type(frame[1:], "t", "M8[s]").dtypes["t"] == "M8[s]"
