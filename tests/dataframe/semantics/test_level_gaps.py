"""Levels of integers and truth values with gaps are floats and objects where rows have a gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.as_given

NUMBERS = pd.DataFrame(
    {"v": [1, 2, 3, 4]},
    index=pd.MultiIndex.from_arrays([[1, np.nan, 1, 2], ["b", "a", None, "a"]], names=["p", "q"]),
)
TRUTHS = pd.DataFrame(
    {"v": [1, 2, 3, 4, 5]},
    index=pd.MultiIndex.from_arrays(
        [[True, None, True, False, True], ["b", "a", None, "a", "b"], [3, 4, 5, 6, 7]],
        names=["p", "q", "r"],
    ),
)

#: Programs whose types are known before anything runs.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "reset_index": lambda f: f.reset_index(),
    "reset_index(level=)": lambda f: f.reset_index("p"),
    "dropna": lambda f: f.reset_index().dropna(),
    "mask": lambda f: f.reset_index()[lambda rows: rows.v > 2],
    "drop_duplicates": lambda f: f.reset_index().p.drop_duplicates(),
    "droplevel": lambda f: f.droplevel("q"),
    "droplevel, iloc": lambda f: f.droplevel("q").iloc[:1],
    "get_level_values": lambda f: f.index.get_level_values("p"),
    "get_level_values, slice": lambda f: f.index.get_level_values(0)[:1],
    "Index.droplevel": lambda f: f.index.droplevel("q"),
    "Index.to_frame": lambda f: f.index.to_frame(),
    "groupby(level=)": lambda f: f.groupby(level="p").sum(),
    "groupby(level=[])": lambda f: f.groupby(level=["p", "q"]).sum(),
    "pivot_table": lambda f: f.pivot_table(index="p", columns="q", values="v"),
    "swaplevel": lambda f: f.swaplevel(0, 1).reset_index(),
    "set_index(append=True)": lambda f: f.set_index("v", append=True).reset_index("p"),
    "assign": lambda f: f.assign(w=f.index.get_level_values("p")),
    "stack": lambda f: f.stack().reset_index(),
    "cumsum": lambda f: f.cumsum().reset_index(),
    "astype": lambda f: f.reset_index().p.astype(str),
}
#: Programs that choose rows, which may have no gap.
CHOICES: dict[str, Callable[[Any], Any]] = {
    "mask, reset_index": lambda f: f[f.v != 2].reset_index(),
    "mask, droplevel": lambda f: f[f.v == 1].droplevel("q"),
    "head": lambda f: f.head(1).reset_index(),
    "query": lambda f: f.query("p == 1").reset_index(),
    "nlargest": lambda f: f.nlargest(1, "v").reset_index(),
    "unstack": lambda f: f.unstack("p"),
    "unstack, rows": lambda f: f.unstack("q"),
    "unstack, reset_index": lambda f: f.unstack("q").reset_index(),
}


def types(obj: Any) -> list[Any]:
    """Return the types of columns, or of values."""
    return list(obj.dtypes) if hasattr(obj, "columns") else [obj.dtype]


@pytest.mark.parametrize("name", [*PROGRAMS, *CHOICES])
@pytest.mark.parametrize(
    ("frame", "executed"), [(NUMBERS, False), (TRUTHS, True)], ids=["numbers", "truths"]
)
def test_types_of_levels_with_gaps(name, frame, executed):
    """Are those of pandas, on chunks of one row, whatever of them has a gap."""
    program = {**PROGRAMS, **CHOICES}[name]
    expected = program(frame)
    source = md.DataFrame(frame, chunk_size=1)
    lazy = program(source.execute() if executed else source)
    declared = types(lazy)
    equal(lazy, expected)
    assert name in CHOICES or declared == types(expected)


def test_distinct_values_of_levels_with_gaps():
    """Are an array of floats."""
    lazy = md.DataFrame(NUMBERS, chunk_size=1).reset_index().p.unique()
    np.testing.assert_array_equal(lazy.compute(), [1.0, np.nan, 2.0])


def test_unstacked_rows_without_columns():
    """Have no columns, either."""
    frame, lazy = (rows.set_index("v", append=True) for rows in (NUMBERS, md.DataFrame(NUMBERS)))
    equal(lazy.unstack(["p", "q"]), frame.unstack(["p", "q"]))
