"""Polars's results as pandas's, and the order that somebody sees."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
from marsdask.dataframe.relations.polars_kernels import engine
from marsdask.dataframe.relations.properties import ordered
from marsdask.dataframe.relations.query import terms_of
from marsdask.dataframe.relations.relation import walk
from tests.dataframe.tables import equal

FRAME = pd.DataFrame({"k": [2, 1, 2, 1, 3, 2], "v": [1, 2, 3, 4, 5, 6], "s": list("abcabc")})


@pytest.fixture(autouse=True)
def _coalesce() -> Any:
    """Let polars run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        yield


def orders(lazy: Any) -> list[str]:
    """Return the kinds of relations whose order is seen, inputs first."""
    table = _tables(Graph([lazy.node]))[lazy.node]
    relations = walk([table.relation])
    seen = ordered(relations, {one.name for one in terms_of(table)})
    return [type(one).__name__ for one in relations if one.token_name in seen]


def test_order_that_nobody_sees() -> None:
    """Groups come sorted: what lies below them need not be in order."""
    lazy = md.DataFrame(FRAME, chunk_size=3)
    joined = lazy.merge(lazy[["k"]].drop_duplicates(), on="k")
    assert orders(joined.groupby("k").v.sum()) == ["GroupAggregate"]
    assert "Join" in orders(joined)
    assert "Join" in orders(joined.head(3).groupby("k").v.sum())
    assert "Join" in orders(joined.groupby("k", sort=False).v.sum())
    assert "Join" in orders(joined.groupby("k").v.first())


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


ROWS = pd.DataFrame(
    {
        "f": [1.0, np.nan, -2.5, np.inf, 0.0, 4.0, 7.0],
        "h": np.array([1, np.nan, 3, 0.5, 0, 2, 9], np.float32),
        "i": [2**53 + 1, 0, 3, -1, 0, 2, 8],
        "u": np.array([3, 1, 4, 1, 5, 9, 2], np.uint8),
        "s": pd.Series(["a", None, "c", "d", "e", "f", "g"], dtype="str"),
        "t": pd.to_datetime([1, 2, 3, 4, 5, 6, 7], unit="D"),
        "b": [True, False, True, True, False, False, True],
    }
)

#: Programs over rows before others, and whether polars computes all of it.
SHIFTS: dict[str, tuple[Any, bool]] = {
    "all types": (lambda d: d[["f", "h", "s", "t"]].shift(2), True),
    "backwards": (lambda d: d[["s", "f"]].shift(-1), True),
    "far": (lambda d: d.f.shift(9), True),
    "two at once": (lambda d: d.f.shift(1) - d.f.shift(-1) + d.f, True),
    "twice": (lambda d: d.f.shift(1).shift(2) + d.f.shift(3), True),
    "differences": (lambda d: d[["f"]].diff(2), True),
    "of an expression": (lambda d: (d.f * d.i).shift(1) + d.i, True),
    "assigned": (lambda d: d.assign(z=d.f.shift(1), y=d.s.shift(2)), True),
    "condition": (lambda d: d[d.i.shift(1) > 0], True),
    "missing ones": (
        lambda d: d[d.f.shift(1) != 4][["f"]].assign(z=lambda d: d.f.shift(2).isna()),
        True,
    ),
    "below a condition": (lambda d: d.assign(z=d.f.shift(1))[lambda d: d.i > 0], True),
    "above a condition": (lambda d: d[d.i >= 0].pipe(lambda d: d.f - d.f.shift(1)), True),
    "of sorted rows": (lambda d: d.sort_values("u").f.shift(1), True),
    "sum": (lambda d: (d.i - d.i.shift(1)).abs().sum(), True),
    "first rows": (lambda d: d.assign(z=d.f.shift(-2)).head(2), True),
    "groups": (lambda d: d.assign(z=d.i.shift(1)).groupby("b").z.sum(), True),
    "of groups": (lambda d: d.groupby("u").f.sum().shift(1), True),
    "integers of a column": (lambda d: d.u.shift(1) + d.i.shift(1), True),
    "integers of a frame": (lambda d: d[["f", "i"]].shift(1), True),
    "truth values": (lambda d: d.b.shift(1), False),
    "differences of integers": (lambda d: d.i.diff(), False),
    "filled": (lambda d: d.i.shift(1, fill_value=5), False),
    "not moved": (lambda d: d.f.shift(0), False),
    "other rows": (lambda d: d[d.b].f.shift(1) * 2, True),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_rows_before(name: str) -> None:
    """Values, types and labels are pandas's, in polars if it knows them, and in the given order."""
    program, known = SHIFTS[name]
    lazy = program(md.DataFrame(ROWS, chunk_size=3))
    table = _tables(Graph([lazy.node])).get(lazy.node)
    assert (table is not None and table.is_whole) == known
    equal(lazy, program(ROWS))


def test_columns_go_as_they_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """At no time are there two copies of all columns of a result."""
    columns: list[int] = []
    column = engine._column

    def counted(values: Any, dtype: Any, *, gaps: bool) -> Any:
        held = [one for one in gc.get_objects() if isinstance(one, (pl.Series, pl.DataFrame))]
        columns.append(sum(len(one) == 2347 for one in held))
        return column(values, dtype, gaps=gaps)

    monkeypatch.setattr(engine, "_column", counted)
    frame = pd.DataFrame({"k": np.arange(2347)[::-1], "v": np.arange(2347.0)})
    equal(md.DataFrame(frame, chunk_size=1000).sort_values("k"), frame.sort_values("k"))
    assert columns[-3:] == [3, 2, 1]


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
