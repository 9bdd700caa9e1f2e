"""Methods of accessors that look at all rows equal pandas's over chunkings."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe import one_mode
from tests.dataframe.tables import equal
from tests.strategies import chunkings, draws

_coalesce = one_mode.as_given

TEXTS = ["a b c", "x", None, "b a", "", "c-d a1b2", None]
FRAME = pd.DataFrame(
    {
        "s": pd.Series(TEXTS, dtype="str"),
        "o": pd.Series(TEXTS, dtype=object),
        "t": pd.date_range("2020", periods=7, freq="2h"),
        "c": pd.Categorical([*"abcaba", None], [*"zcbayx"]),
        "n": range(7),
    }
).set_axis(list("pqrstuv"))
CALLS: dict[str, Any] = {
    "split": lambda d, s: s.str.split(expand=True),
    "split once": lambda d, s: s.str.split(" ", n=1, expand=True),
    "rsplit": lambda d, s: s.str.rsplit("a", expand=True),
    "words": lambda d, s: s.str.get_dummies(" "),
    "truth": lambda d, s: s.str.get_dummies(" ", dtype=bool),
    "matches": lambda d, s: s.str.extractall(r"(?P<letter>[a-z])(\d)?"),
    "beside values": lambda d, s: s.str.cat([*"1234567"], sep="-", na_rep="?"),
    "beside several": lambda d, s: s.str.cat([np.array([*"1234567"], object), d.o], sep="-"),
    "used": lambda d, s: d.c[d.n < 4].cat.remove_unused_categories(),
}


@draws(2)
@given(cut=chunkings((7,)), kind=st.sampled_from(["s", "o"]), rows=st.sampled_from([7, 3, 0]))
def test_calls(cut, kind, rows):
    """Of all rows, of some, of missing text only, and of none."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=cut)
    for name, call in CALLS.items():
        for d, e in ((FRAME, lazy), (FRAME[FRAME.n < rows], lazy[lazy.n < rows])):
            if "beside" not in name or d is FRAME:
                equal(call(e, e[kind]), call(d, d[kind]))
        if "split" in name:
            none = FRAME[kind].isna()
            equal(call(lazy, lazy[kind][lazy[kind].isna()]), call(FRAME, FRAME[kind][none]))


@pytest.mark.parametrize("dtype", ["category", "string"])
@draws(3)
@given(cut=chunkings((7,)))
def test_types_of_text(dtype, cut):
    """Parts of categories are texts, and a text of pandas's type may be missing."""
    texts = pd.Series([*TEXTS[:6], "p q r s"]).astype(dtype)
    lazy: Any = md.Series(texts, chunk_size=cut)
    for call in (
        lambda s: s.str.split(expand=True),
        lambda s: s.str.rsplit("a", expand=True),
        lambda s: s.str.partition("a"),
        lambda s: s.str.split().str.len(),
    ):
        equal(call(lazy), call(texts))


def test_values():
    """Columns of chunks with fewer, one text of all rows, distances of times, durations."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=3)
    with option_context({"coalesce": False}):  # the first chunk has texts of the most parts
        for name in ("s", "o"):
            equal(lazy[name].str.split(expand=True), FRAME[name].str.split(expand=True))
            equal(lazy[name].str.get_dummies(" "), FRAME[name].str.get_dummies(" "))
    assert lazy.s.str.cat(sep="-") == FRAME.s.str.cat(sep="-")
    assert lazy.s.str.cat(na_rep="?") == FRAME.s.str.cat(na_rep="?")
    with pd.option_context("future.infer_freq_returns_offset", False):
        assert lazy.t.dt.freq == FRAME.t.dt.freq == "2h"
    found = (lazy.t - pd.Timestamp("2020-01-01")).dt.to_pytimedelta().compute()
    assert found.tolist() == [dt.timedelta(hours=2 * at) for at in range(7)]


def test_refusals():
    """Lengths that differ are pandas's error; labels in memory would have to be aligned."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=3)
    with pytest.raises(ValueError, match="same length as the calling"):
        lazy.s.str.cat(["a"])
    with pytest.raises(NotImplementedError, match=r"md\.Series"):
        lazy.s.str.cat(FRAME.o)
    with pytest.raises(ValueError, match="no capture groups"):
        lazy.s.str.extractall("a")


def test_repeated_texts():
    """Each as often as told."""
    lazy: Any = md.Series(FRAME.s, chunk_size=3)
    equal(lazy.str.repeat(2), FRAME.s.str.repeat(2))
    equal(lazy.str.repeat(range(7)), FRAME.s.str.repeat(range(7)))
    times: Any = [3, None] * 3 + [1]
    equal(lazy.str.repeat(times), FRAME.s.str.repeat(times))
    with pytest.raises(ValueError, match="broadcast"):
        lazy.str.repeat([1, 2])


@pytest.mark.parametrize("chunk_size", [1, 3])
@pytest.mark.parametrize(
    "values",
    [[0, False, None], [0, "a|0", False], [True, "1", 1], [1.0, 1, "b"]],
    ids=["equal numbers", "numbers and texts", "truth and texts", "floats and texts"],
)
def test_indicators_of_objects(values: list[Any], chunk_size: int) -> None:
    """What is equal may have another text."""
    series = pd.Series(values, dtype=object)
    lazy: Any = md.Series(series, chunk_size=chunk_size)
    equal(lazy.str.get_dummies(), series.str.get_dummies())
