"""Frames and series of lazy data, with labels and types that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [1.5, np.nan, 0.5]}, index=[3, 4, 7])
RECORDS = np.array([(1, "x"), (2, "y"), (3, "z")], dtype=[("n", "i4"), ("t", "U1")])

#: By what is done: a function of the module with ``DataFrame``, a frame, an array and records.
DATA: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "series and values": lambda pd, d, x, _: pd.DataFrame(
        {"p": d.a, "q": d.b * 2, "x": x, "l": [7, 8, 9], "s": "t", "m": x.sum()}
    ),
    "values": lambda pd, d, x, _: pd.DataFrame({"l": [7, 8, 9], "x": x, 5: x + 1}),
    "index": lambda pd, d, x, _: pd.DataFrame({"x": x, "s": 0}, index=list("uvw")),
    "columns": lambda pd, d, x, _: pd.DataFrame({"x": x, "y": x, "z": d.a}, columns=["y", "n"]),
    "dtype": lambda pd, d, x, _: pd.DataFrame({"x": x, "l": [1, 2, 3]}, dtype="f4"),
    "other labels": lambda pd, d, x, _: pd.DataFrame({"p": d.a, "q": pd.Series([1, 2], [3, 9])}),
    "series of index": lambda pd, d, x, _: pd.DataFrame({"p": d.a}, index=[4, 9]),
    "dict in dict": lambda pd, d, x, _: pd.DataFrame({"x": d.a, "y": {3: 1, 7: 2}}),
    "array": lambda pd, d, x, _: pd.DataFrame(x, index=list("uvw"), columns=["x"], dtype="f4"),
    "records": lambda pd, d, x, r: pd.DataFrame(r),
    "records, chosen": lambda pd, d, x, r: pd.DataFrame(r, columns=["t"], index=[7, 8, 9]),
    "from_records": lambda pd, d, x, r: pd.DataFrame.from_records(r),
    "from_records, index": lambda pd, d, x, r: pd.DataFrame.from_records(r, index="n"),
    "from_records, exclude": lambda pd, d, x, r: pd.DataFrame.from_records(r, exclude=["n"]),
    "frame": lambda pd, d, x, _: pd.DataFrame(d, index=[7, 5], columns=["b", "c"]),
    "frame of type": lambda pd, d, x, _: pd.DataFrame(d[["a"]], dtype="f4"),
    "unnamed": lambda pd, d, x, _: pd.DataFrame(d.a.rename(None), columns=["x"]),
    "named": lambda pd, d, x, _: pd.DataFrame(d.a, columns=["x", "a"]),
    "named otherwise": lambda pd, d, x, _: pd.DataFrame(d.a, columns=["x"]),
    "Series": lambda pd, d, x, _: pd.Series(d.a, index=[4, 9], dtype="f4", name="n"),
    "Series of an array": lambda pd, d, x, _: pd.Series(x, list("uvw"), "f4", "n"),
}


@pytest.mark.parametrize("name", DATA)
def test_lazy_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as of data in memory."""
    from marsdask.core.config import options

    monkeypatch.setattr(options.dataframe, "whole", "allow")
    array = np.arange(3)
    lazy = mt.tensor(array, chunk_size=2), mt.tensor(RECORDS, chunk_size=2)
    found = DATA[name](md, md.DataFrame(FRAME, chunk_size=2), *lazy).compute()
    expected = DATA[name](pd, FRAME, array, RECORDS)
    check: Any = (
        pd.testing.assert_frame_equal
        if isinstance(expected, pd.DataFrame)
        else pd.testing.assert_series_equal
    )
    check(found, expected)


@pytest.mark.parametrize(
    "data",
    [lambda x: {"x": x, "y": [1, 2]}, lambda x: {"x": x.sum(), "y": 1}],
    ids=["lengths", "scalars"],
)
def test_bad_columns(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of several lengths and of none are errors, as in pandas."""
    from marsdask.core.config import options

    monkeypatch.setattr(options.dataframe, "whole", "allow")
    with pytest.raises(ValueError, match=r"length|scalar values"):
        pd.DataFrame(data(np.arange(3)))
    with pytest.raises(ValueError, match=r"ength|scalar values"):
        md.DataFrame(data(mt.arange(3)))
