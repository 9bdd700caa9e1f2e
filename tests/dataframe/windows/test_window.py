"""Several statistics of windows at once, of columns and of pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.windows.window import SETTINGS
from tests.dataframe.tables import equal, table


def test_what_windows_are():
    """What was asked for, or pandas's defaults."""
    frame = table(9)[["u", "f"]]
    lazy = md.DataFrame(frame, chunk_size=2)
    for call in (
        lambda d: d.rolling(3, center=True, min_periods=1),
        lambda d: d.u.expanding(2),
        lambda d: d.ewm(com=2, ignore_na=True),
    ):
        found, wanted = call(lazy), call(frame)
        for name in SETTINGS:
            assert getattr(found, name, "none") == getattr(wanted, name, "none"), name


def test_columns_named_like_settings():
    """A column is chosen unless windows of that kind have the setting."""
    frame = table(5)[["u", "f"]].set_axis(["alpha", "span"], axis=1)
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.rolling(2).alpha.sum(), frame.rolling(2).alpha.sum())
    equal(lazy.expanding().span.max(), frame.expanding().span.max())
    settings: list[object] = [lazy.ewm(alpha=0.5).alpha, frame.ewm(alpha=0.5).alpha]
    assert settings == [0.5, 0.5]


def test_several_statistics():
    """Lists and dicts of names and functions, pairs of columns, shapes of weights."""
    frame = table(9)[["u", "f"]]
    lazy = md.DataFrame(frame, chunk_size=2)
    d, e = frame.rolling(3, min_periods=1), lazy.rolling(3, min_periods=1)
    mixed = {"u": ["sum", "max"], "f": "min"}
    by_column = {"u": ["sum"], "f": ["max", "min"]}
    for func in ("sum", ["sum", "max"], {"u": "sum"}, by_column, mixed, np.ptp):
        equal(e.agg(func), d.agg(func))
    for func in (["sum", "mean"], {"x": "sum", "y": "max"}):
        equal(e["f"].agg(func), d["f"].agg(func))
    equal(e[["f"]].agg(["sum"]), d[["f"]].agg(["sum"]))
    for twice in (["sum", "sum"], {"u": ["max", "max"]}):
        with pytest.raises(pd.errors.SpecificationError, match="unique"):
            e.agg(twice)
    mapped = lazy.u.map({99: "text"}).rolling(2, min_periods=1).max()  # no value is a text
    equal(mapped, frame.u.map({99: "text"}).rolling(2, min_periods=1).max())
    equal(e.u.corr(lazy.f), d.u.corr(frame.f))
    equal(e["u"].cov(lazy.u, ddof=0), d["u"].cov(frame.u, ddof=0))
    equal(e.u.cov(lazy), d.u.cov(frame))
    assert e.pipe(lambda windows: windows) is e
    forward = pd.api.indexers.FixedForwardWindowIndexer(window_size=3)
    equal(lazy.rolling(forward, min_periods=1).sum(), frame.rolling(forward, min_periods=1).sum())
    equal(lazy.rolling(3, win_type="hamming").sum(), frame.rolling(3, win_type="hamming").sum())
    equal(lazy[[]].rolling(2).sum(), frame[[]].rolling(2).sum())
    unnamed = [lambda values: values.sum(), lambda values: values.max()]
    equal(e.u.agg(unnamed), d.u.agg(unnamed))


@pytest.mark.parametrize("kind", ["rolling", "expanding"])
def test_labels_of_several_levels(kind):
    """A tuple is one label, also of the windows' columns; levels keep their names."""
    labels = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")], names=["P", None])
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) % 5, columns=labels)
    lazy = md.DataFrame(frame, chunk_size=2)
    choices: list[Any] = [["sum", "max"], {("a", "x"): ["sum"]}, {("b", "x"): "sum"}]
    for how in choices:
        equal(getattr(lazy, kind)(2).agg(how), getattr(frame, kind)(2).agg(how))
    named = pd.DataFrame(frame["a"]).rename_axis(columns="N")
    parts = md.DataFrame(named, chunk_size=2)
    equal(getattr(parts, kind)(2).agg(choices[0]), getattr(named, kind)(2).agg(choices[0]))
    pairs = frame.set_axis(labels.to_flat_index(), axis=1)
    with pytest.raises(ValueError, match="Length of names"):
        getattr(md.DataFrame(pairs), kind)(2).agg(["sum", "max"])
    with pytest.raises(NotImplementedError, match="of categories is not supported"):
        getattr(md.Series(pd.Series([1, 2], dtype="category")), kind)(2).sum()
