"""Functions of columns equal pandas's over chunkings."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CASES: dict[str, Any] = {
    "to_numeric": lambda xd, d: xd.to_numeric(d.u.astype(str)),
    "to_numeric of what is none": lambda xd, d: xd.to_numeric(d.s, errors="coerce"),
    "to_datetime": lambda xd, d: xd.to_datetime(d.t.dt.strftime("%d/%m/%Y"), format="%d/%m/%Y"),
    "to_datetime of numbers": lambda xd, d: xd.to_datetime(d.u, unit="D"),
    "to_datetime of texts and a unit": lambda xd, d: xd.to_datetime(
        d.s.where(d.s == "none"), unit="D"
    ),
    "to_numeric in fewer bytes": lambda xd, d: xd.to_numeric(d.u * 1.0, downcast="unsigned"),
    "to_numeric as it is": lambda xd, d: xd.to_numeric(d.f, downcast="integer"),
    "to_datetime of guessed texts": lambda xd, d: xd.to_datetime(d.t.dt.strftime("%Y-%m-%d")),
    "to_datetime of columns": lambda xd, d: xd.to_datetime(
        d.assign(year=d.k + 2020, month=1, day=d.u + 1)[["year", "month", "day"]]
    ),
    "to_timedelta": lambda xd, d: xd.to_timedelta(d.u, unit="h"),
    "concat": lambda xd, d: xd.concat([d[["k"]], d.u.rename("v"), d[["f"]]], axis=1),
    "concat of series": lambda xd, d: xd.concat([d.k, d.u], axis="columns"),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_functions_of_columns(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            if len(frame):
                equal(operation(md, lazy), operation(pd, frame))


def test_what_needs_all_rows_names_the_way_out():
    """At the call."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for words, call in [
        ("astype", lambda: md.to_numeric(lazy.u, downcast="float")),
        ("format", lambda: md.to_datetime(lazy.s)),
        ("Series", lambda: md.to_timedelta(lazy)),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            call()
