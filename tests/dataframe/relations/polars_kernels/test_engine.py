"""Polars's results as pandas's, and the order that somebody sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.relations.planning import _tables
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
