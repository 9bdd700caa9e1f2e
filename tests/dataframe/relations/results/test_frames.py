"""Results of engines are pandas's objects: values, types and labels, whole and in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.dataframe.relations.results import frames as results
from tests.dataframe.relations.test_planning import WAYS
from tests.dataframe.tables import equal

FRAME = pd.DataFrame({"k": [2, 1, 2, 1, 3, 2], "v": [1, 2, 3, 4, 5, 6], "s": list("abcabc")})


@pytest.fixture(autouse=True, params=["polars", "duckdb", "duckdb in parts"])
def _coalesce(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let an engine run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "polars", "verify": True}), WAYS[request.param]():
        yield


def test_labels() -> None:
    """A range stays one where pandas keeps it; some numbers are integers."""
    lazy = md.DataFrame(FRAME, chunk_size=3)
    for function in (
        lambda d: d[d.v > 2],
        lambda d: d[d.v < 0],
        lambda d: d[d.v != 3],
        lambda d: d.sort_values("v", ascending=False),
        lambda d: d.sort_values("s").reset_index(drop=True),
    ):
        found, wanted = function(lazy).compute(), function(FRAME)
        pd.testing.assert_frame_equal(found, wanted)
        assert type(found.index) is type(wanted.index)


def test_floats_beside_nothing() -> None:
    """After a left merge they are NaN, which is equal to nothing, and nothing is unknown."""
    frame = FRAME.assign(v=FRAME.v / 2)
    lazy = md.DataFrame(frame, chunk_size=3)

    def unmatched(d: Any) -> Any:
        merged = d.merge(d[d.v < 1.1][["k", "v"]].rename(columns={"v": "w"}), on="k", how="left")
        return merged[~((merged.s == "a") & (merged.v + merged.w > 0))]

    equal(unmatched(lazy), unmatched(frame))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_integers_beside_nothing(how: Any) -> None:
    """After a left merge they are floats, but only where some row has no partner."""
    lazy = md.DataFrame(FRAME, chunk_size=3)
    for most in (2, 9):
        other, theirs = lazy[lazy.v < most], FRAME[FRAME.v < most]
        other, theirs = other.assign(b=other.v > 1), theirs.assign(b=theirs.v > 1)
        equal(
            lazy.merge(other, on=["k", "v"], how=how), FRAME.merge(theirs, on=["k", "v"], how=how)
        )


def test_sums_that_overflow() -> None:
    """They wrap as NumPy's do, and small integers are summed as large ones."""
    frame = pd.DataFrame({"a": np.full(4, 2**62), "b": np.full(4, 127, np.int8), "k": [0, 0, 0, 1]})
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(lazy.groupby("k").sum(), frame.groupby("k").sum())
    equal(lazy.a.sum(), frame.a.sum())
    equal(lazy.b.sum(), frame.b.sum())


def test_of_no_rows() -> None:
    """Sums are zero, extremes missing, groups none."""
    lazy = md.DataFrame(FRAME, chunk_size=3)
    none, nothing = lazy[lazy.v > 9], FRAME[FRAME.v > 9]
    equal(none.groupby("s").v.mean(), nothing.groupby("s").v.mean())
    for name in ("sum", "mean", "count", "min", "max"):
        equal(getattr(none.v, name)(), getattr(nothing.v, name)())


def test_columns_named_as_the_engine_names_them() -> None:
    """Keys and values of groups have names of ours, which columns may have too."""
    frame = FRAME.rename(columns={"k": "v0", "v": "k0", "s": "0"})
    lazy = md.DataFrame(frame, chunk_size=3)
    for by in ("v0", "k0", "0", ["k0", "v0"]):
        named = {"k1": ("k0", "sum"), "v1": ("v0", "max"), "label 0": ("0", "count")}
        found, wanted = lazy.groupby(by).agg(**named), frame.groupby(by).agg(**named)
        equal(found, wanted)
        equal(
            found.reset_index().groupby("k1").v1.sum(), wanted.reset_index().groupby("k1").v1.sum()
        )


def test_columns_go_as_they_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """At no time are there two copies of all columns of a result."""
    columns: list[int] = []
    column = results._column

    def counted(series: dict[str, Any], *given: Any) -> Any:
        columns.append(len(series))
        return column(series, *given)

    monkeypatch.setattr(results, "_column", counted)
    frame = pd.DataFrame({"k": np.arange(2347)[::-1], "v": np.arange(2347.0)})
    with option_context({"dataframe.kernels": "polars"}):
        equal(md.DataFrame(frame, chunk_size=1000).sort_values("k"), frame.sort_values("k"))
    assert columns[-3:] == [3, 2, 1]


def test_arrays_own_their_memory() -> None:
    """They may be written to, and keep no other columns."""
    frame = pd.DataFrame({"k": range(9), "v": np.arange(9.0), "b": [True] * 9})
    rows = md.DataFrame(frame, chunk_size=4).sort_values("v", ascending=False).compute()
    for name in rows:
        values = rows[name].to_numpy()
        values = values if values.base is None else values.base
        assert values.flags.owndata
        assert rows[name].array._ndarray.flags.writeable


def test_extremes_of_times() -> None:
    """They are pandas's times: of no rows, the missing one."""
    frame = pd.DataFrame({"i": [1, 2, 3], "t": pd.to_datetime(["2020", "2019", "2021"])})
    for limit in (1, 9):
        rows = md.DataFrame(frame, chunk_size=2)
        found, wanted = rows[rows.i > limit].t.max().compute(), frame[frame.i > limit].t.max()
        assert type(found) is type(wanted)
        assert found is wanted or found == wanted


@pytest.mark.parametrize("value", [1, 100])
def test_sums_of_small_integers(value: int) -> None:
    """They have pandas's type: more bits where a sum needs them."""
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "v": np.full(4, value, "i1")})
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(lazy.groupby("k").v.sum(), frame.groupby("k").v.sum())
    equal(lazy.groupby("k").sum().reset_index(), frame.groupby("k").sum().reset_index())


def test_types_are_those_of_all_rows() -> None:
    """A part without gaps has the types of one with gaps, and small sums those of large ones."""
    frame = pd.DataFrame({"k": range(60), "v": np.int8(100), "g": np.arange(60) % 2})
    lazy = md.DataFrame(frame, chunk_size=13)
    few = frame[frame.k > 50][["k", "v"]].rename(columns={"v": "z"})
    equal(
        lazy.merge(lazy[lazy.k > 50][["k", "v"]].rename(columns={"v": "z"}), on="k", how="left"),
        frame.merge(few, on="k", how="left"),
    )
    sums = frame.assign(k=frame.k.clip(upper=50)).groupby("k").v.sum()
    equal(lazy.assign(k=lazy.k.clip(upper=50)).groupby("k").v.sum(), sums)
    wanted = frame.sort_values("g", kind="stable", ignore_index=True)
    equal(lazy.sort_values("g", kind="stable").reset_index(drop=True), wanted)
