"""Rows as columns, and levels of labels, as in pandas."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.reshape import transpose
from tests.dataframe.tables import equal, table

CASES: dict[str, Any] = {
    "without one": lambda d: d.droplevel(0),
    "without several": lambda d: d.droplevel(["k", "u"]),
    "swapped": lambda d: d.swaplevel(0, "u"),
    "in another order": lambda d: d.reorder_levels(["u", "k", "s"]),
    "of a series": lambda d: d.f.droplevel("k").swaplevel(),
}


@pytest.mark.parametrize("rows", [0, 7])
def test_rows_become_columns(rows):
    """Of one type or several, of rows of unknown number, before and after they are computed."""
    frame = table(rows, 1, "labels")
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    for columns in (["u"], ["u", "f"], ["s"], list(frame.columns)):
        equal(lazy[columns].T, frame[columns].T)
    some = lazy[lazy.k > 0][["u"]]
    equal(some.transpose(), frame[frame.k > 0][["u"]].T)
    equal(some.execute().T, frame[frame.k > 0][["u"]].T)


def test_levels():
    """Of rows and of columns."""
    frame = table(7).set_index(["k", "s", "u"])
    lazy: Any = md.DataFrame(table(7), chunk_size=3).set_index(["k", "s", "u"])
    for operation in CASES.values():
        equal(operation(lazy), operation(frame))
    wide = table(5)[["k", "u"]].set_axis(pd.MultiIndex.from_product([["a"], ["x", "y"]]), axis=1)
    equal(md.DataFrame(wide, chunk_size=2).droplevel(0, axis=1), wide.droplevel(0, axis=1))


def test_what_is_refused(monkeypatch):
    """Levels that are not there, and rows that are too many for columns."""
    lazy: Any = md.DataFrame(table(4), chunk_size=2)
    with pytest.raises(KeyError, match="nope"):
        lazy.droplevel("nope")
    with pytest.raises(ValueError, match="axes"):
        lazy.transpose(1)
    monkeypatch.setattr(transpose, "LARGEST", 8)
    with pytest.raises(NotImplementedError, match="to_tensor"):
        _ = lazy.T
