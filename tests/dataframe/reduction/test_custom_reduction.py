"""Reductions of the user are pandas's over any chunks, alone, among others, and of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md

RAW = pd.DataFrame({"a": [4.0, 1.0, None, 8.0, 2.0], "b": [1, 2, 3, 4, 5]})


class RowTotal(md.CustomReduction):
    def agg(self, value: Any) -> Any:
        return value.sum()


class Spread(md.CustomReduction):
    """Several values, of which the last is made."""

    name = "spread"

    def pre(self, value: Any) -> Any:
        return value + 1, value * 2

    def agg(self, one: Any, other: Any) -> Any:
        return one.sum(), other.min()

    def post(self, one: Any, other: Any) -> Any:
        return one - other


class Longest(md.CustomReduction):
    """Prepares and reduces in one step."""

    pre_with_agg = True

    def pre(self, value: Any) -> Any:
        return value.map(len).max()

    def agg(self, value: Any) -> Any:
        return value.max()


@given(st.lists(st.integers(-99, 99), max_size=9), st.integers(1, 4))
def test_series(values: list[int], chunk_size: int) -> None:
    """A value of the type that one row shows, also of no rows."""
    raw = pd.Series(values, dtype="int64")
    lazy = md.Series(raw, chunk_size=chunk_size)
    assert lazy.agg(RowTotal()).compute() == raw.agg("sum")
    found = lazy.agg(Spread())
    expected = Spread()(raw)
    np.testing.assert_equal(found.compute(), expected)


@pytest.mark.parametrize("chunk_size", [1, 2, 5])
def test_frames_and_groups(chunk_size: int) -> None:
    """One for each column, several in a frame, and by groups: as pandas calls them."""
    lazy: Any = md.DataFrame(RAW, chunk_size=chunk_size)
    pd.testing.assert_series_equal(lazy.agg(Spread()).compute(), RAW.agg(Spread()))
    several: Any = ["min", RowTotal("total")]
    pd.testing.assert_frame_equal(lazy.agg(several).compute(), RAW.agg(several))
    keyed, plain = lazy.assign(k=lazy.b % 2), RAW.assign(k=RAW.b % 2)
    pd.testing.assert_frame_equal(
        keyed.groupby("k").agg(RowTotal()).compute(), plain.groupby("k").agg(RowTotal())
    )
    texts = pd.Series(["a", "bcd", "ef"])
    assert md.Series(texts, chunk_size=chunk_size).agg(Longest()).compute() == 3


def test_errors() -> None:
    """What a subclass has to define is named."""
    with pytest.raises(NotImplementedError, match=r"CustomReduction does not define agg\(\)"):
        md.Series([1]).agg(md.CustomReduction())
    with pytest.raises(NotImplementedError, match="is_gpu=True"):
        md.CustomReduction(is_gpu=True)

    class Two(md.CustomReduction):
        def agg(self, value: Any) -> Any:
            return value.min(), value.max()

    with pytest.raises(TypeError, match=r"Two must define post\(\) for 2 results"):
        md.Series([1]).agg(Two())
    assert Two().is_gpu() is False
