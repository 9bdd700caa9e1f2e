"""What type checkers see of frames, series and groups."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import marsdask.dataframe as md
from marsdask.dataframe import DataFrame, Index, Series
from marsdask.tensor import Tensor


def test_results_of_frames() -> None:
    """Methods that factories make have the types of what they are called on."""
    df = md.from_pandas(pd.DataFrame({"k": [1, 1, 2], "v": [1.0, 2.0, 3.0]}), chunk_size=2)
    assert_type(df, DataFrame)
    assert_type(df.v, Series)
    assert_type(df["v"] + 1, Series)
    assert_type(1 - df[["k", "v"]], DataFrame)
    assert_type(df[df.v > 1], DataFrame)
    assert_type(df.isna(), DataFrame)
    assert_type(df.v.fillna(0), Series)
    assert_type(df.v.cumsum(), Series)
    assert_type(df.v.shift(), Series)
    assert_type(df.diff(), DataFrame)
    assert_type(df.v.rolling(2).mean(), Series)
    assert_type(df.rolling(2).sum(), DataFrame)
    assert_type(df.sum(), Series)
    assert_type(df.sum(axis=None), Tensor)
    assert_type(df.v.mean(), Tensor)
    assert_type(df.head(2), DataFrame)
    assert_type(df.iloc[:2], DataFrame)
    assert_type(df.v.reset_index(), DataFrame)
    assert_type(df.v.reset_index(drop=True), Series)
    assert_type(df.merge(df, on="k"), DataFrame)
    assert_type(df.index, Index)
    assert_type(df.values, Tensor)


def test_results_of_groups() -> None:
    """One column of groups makes a Series, several a DataFrame, and so do keys among columns."""
    df = md.from_pandas(pd.DataFrame({"k": [1, 1, 2], "v": [1.0, 2.0, 3.0]}), chunk_size=2)
    assert_type(df.groupby("k").sum(), DataFrame)
    assert_type(df.groupby("k").v.sum(), Series)
    assert_type(df.groupby("k")[["v"]].mean(), DataFrame)
    assert_type(df.groupby("k").size(), Series)
    assert_type(df.groupby("k").agg({"v": "sum"}), DataFrame)
    assert_type(df.groupby("k", as_index=False).v.sum(), DataFrame)
    assert_type(df.v.groupby(df.k).sum(), Series)
