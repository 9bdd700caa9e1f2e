"""Polars's results as pandas's, and the order that somebody sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.needs import ordered
from marsdask.dataframe.relations.planning import _tables
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
