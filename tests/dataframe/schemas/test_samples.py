"""Types that are declared before anything ran are those of the general case."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.errors import Pandas4Warning

import marsdask
import marsdask.dataframe as md
from marsdask.dataframe.nodes.frame_node import dtypes_of
from tests.dataframe.tables import equal, planned
from tests.strategies import chunkings, draws

DAYS = ["2024-01-31", None, "2025-02-28", None, "2024-02-29", None]
#: Operations of which only values tell the type. Each makes use of its general case below.
BY_VALUES: dict[str, Callable[[Any], Any]] = {
    "where": lambda d: d.i.where(d.i > 2),
    "where of truth": lambda d: d.b.where(d.i > 2),
    "where of a frame": lambda d: d[["i", "u", "b"]].where(d.i > 2),
    "mask": lambda d: d.u.mask(d.i > 4),
    "mask by another": lambda d: d.i.mask(d.i > 4, 0.5),
    "clip": lambda d: d.i.clip(1.5),
    "fillna": lambda d: d[["i", "f", "o"]].fillna(0.5),
    "where by another": lambda d: d.f.where(d.i > 2, 1),
    "floordiv": lambda d: d.i // d.u,
    "mod": lambda d: d.i % d.u,
    "floordiv by zero": lambda d: d.i // 0,
    "ufunc": lambda d: np.remainder(d.i, d.u),
    "year": lambda d: d.t.dt.year,
    "days": lambda d: (d.t - d.t.min()).dt.days,
    "len": lambda d: d.s.str.len(),
    "len of objects": lambda d: d.o.str.len(),
    "find": lambda d: d.o.str.find("b"),
    "contains": lambda d: d.o.str.contains("b"),
    "replaced by a fraction": lambda d: d.i.replace(1, 1.5),
    "replaced by a text": lambda d: d.u.replace([3, 5], "a"),
    "replaced by nothing": lambda d: d.i.replace({1: None}),
    "replaced by nan": lambda d: d.u.replace(3, np.nan),
}


def frame_with_gaps() -> pd.DataFrame:
    """Return rows in which something is missing, and a zero."""
    return pd.DataFrame(
        {
            "i": np.arange(6),
            "u": np.array([3, 0, 2, 1, 0, 5], "u1"),
            "b": [True, False] * 3,
            "f": [1.5, np.nan, 2, 3, np.nan, 4],
            "t": pd.Series(DAYS, dtype="M8[s]"),
            "s": pd.Series(["a", None, "bb", None, "ccc", "d"], dtype="str"),
            "o": pd.Series([None, None, "bb", "a", "ccc", None], dtype=object),
        }
    )


@pytest.mark.parametrize("name", BY_VALUES)
@draws(8)
@given(data=st.data())
def test_declared_is_what_pandas_gives_in_the_general_case(name, data):
    """However the rows are cut: before and after running, and as a tensor."""
    frame = frame_with_gaps()
    (sizes,) = data.draw(chunkings((6,)))
    operation = BY_VALUES[name]
    lazy, wanted = operation(md.DataFrame(frame, chunk_size=(sizes,))), operation(frame)
    assert dtypes_of(lazy.node.meta) == dtypes_of(wanted)
    equal(lazy, wanted)
    values = lazy.to_tensor()
    assert values.dtype == wanted.to_numpy().dtype
    pd.testing.assert_frame_equal(pd.DataFrame(values.compute()), pd.DataFrame(wanted.to_numpy()))


@pytest.mark.parametrize("how", ["left", "right", "outer", "inner"])
@draws(10)
@given(data=st.data())
def test_rows_without_partners_are_declared(how, data):
    """Sides that may go without partners have the types of columns with gaps; keys keep theirs."""
    left = pd.DataFrame({"k": [1, 2, 3, 4], "a": [1, 2, 3, 4], "b": [True, False, True, True]})
    right = pd.DataFrame(
        {"k": [1, 2, 9], "v": [1, 2, 3], "w": [True, False, True], "s": list("xyz")}
    )
    cut = [data.draw(chunkings((len(one),)))[0] for one in (left, right)]
    lazy = md.DataFrame(left, chunk_size=(cut[0],)).merge(
        md.DataFrame(right, chunk_size=(cut[1],)), on="k", how=how
    )
    wanted = left.merge(right, on="k", how=how)
    assert dtypes_of(lazy.node.meta) == dtypes_of(wanted)
    equal(lazy, wanted)


def test_rows_without_partners_by_labels():
    """Labels take part as pandas lets them."""
    left = pd.DataFrame({"k": [1, 2], "a": [1, 2]}, index=pd.Index(["x", "y"], name="row"))
    right = pd.DataFrame({"v": [1, 2]}, index=pd.Index(["x", "z"], name="row"))
    several = right.set_axis(pd.MultiIndex.from_tuples([("x", 1), ("z", 2)], names=["row", "n"]))
    for how in ("left", "right", "outer"):
        for one, other in ((left, right), (right, left)):
            options: Any = {"left_index": True, "right_index": True, "how": how}
            lazy = md.DataFrame(one, chunk_size=1).merge(
                md.DataFrame(other, chunk_size=1), **options
            )
            wanted = one.merge(other, **options)
            assert dtypes_of(lazy.node.meta) == dtypes_of(wanted)
            equal(lazy.reset_index().sort_values("row", ignore_index=True), wanted.reset_index())
    with pytest.raises(NotImplementedError, match="use reset_index"):
        md.DataFrame(left).merge(md.DataFrame(several), on="row", how="left")


def of_numbers(frame: Any) -> Any:
    """Return a column of numbers with gaps in some chunks."""
    return (frame.k % 97).where((frame.k >= 200) | (frame.k % 4 > 0))


def of_truth(frame: Any) -> Any:
    """Return a column of truth values with gaps in some chunks."""
    return (frame.k % 3 > 0).where((frame.k >= 200) | (frame.k % 4 > 0))


@pytest.mark.parametrize("keys", [of_numbers, of_truth])
def test_keys_with_gaps_in_some_chunks_meet(keys):
    """A chunk of integers and one of floats, of truth values and of objects, hash alike."""
    frame = pd.DataFrame({"k": range(400), "x": 1})
    lazy = md.DataFrame(frame, chunk_size=50)
    d, e = frame.assign(q=keys(frame)), lazy.assign(q=keys(lazy))
    with marsdask.option_context({"coalesce": False}), planned("shuffled"):
        assert len(e.merge(e, on="q").execute()) == len(d.merge(d, on="q"))
        equal(e.q.nunique(), d.q.nunique())
        equal(e.groupby("q", sort=False).x.median(), d.groupby("q", sort=False).x.median())


def test_a_tensor_is_not_cast_to_what_its_values_are_not():
    """Where somebody else's types are wrong, numbers are not made up."""
    parts = [dask.delayed(pd.Series)([1, 2]), dask.delayed(pd.Series)([np.nan, 3])]
    lazy = md.from_delayed(parts, pd.Series([1]))
    with pytest.raises(TypeError, match=r"\('float64'\) to dtype\('int64'\).*; use execute\(\)"):
        lazy.to_tensor().compute()


def test_text_for_what_is_missing():
    """Is declared as objects, and stays a column of floats where nothing was missing."""
    for values in ([1.5, None], [1.5, 2.5]):
        frame = pd.DataFrame({"a": values})
        lazy = md.DataFrame(frame, chunk_size=1).a.fillna("x")
        assert lazy.dtype == object
        with pytest.warns(Pandas4Warning) if None in values else nullcontext():
            wanted = frame.a.fillna("x")
            equal(lazy, wanted)
            assert lazy.execute().dtype == wanted.dtype
