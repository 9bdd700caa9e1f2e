"""Columns as rows, and the tops of two libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table

LEVELS = pd.MultiIndex.from_tuples([("x", "y"), ("x", "z")], names=["n", None])
CASES: dict[str, Any] = {
    "all": lambda xd, d: xd.melt(d),
    "identifiers": lambda xd, d: d.melt(["s", "k"], ["u", "f"], var_name="v", value_name="w"),
    "numbers and truths": lambda xd, d: d.melt(value_vars=["u", "b"]),
    "times": lambda xd, d: d.melt("k", "t"),
    "with labels": lambda xd, d: d.melt("k", ["s", "t"], ignore_index=False),
    "of nothing": lambda xd, d: d.melt("k", []),
}


def test_levels_of_columns():
    """Become columns, or one of them names the variables."""
    frame = table(5)[["u", "f"]].set_axis(LEVELS, axis=1)
    for options in ({}, {"col_level": 1}, {"id_vars": [("x", "y")]}):
        equal(md.DataFrame(frame, chunk_size=2).melt(**options), frame.melt(**options))


@pytest.mark.parametrize("rows", [0, 5])
def test_melts_equal_pandas(rows):
    """Whatever the types of the columns and the cut of the rows."""
    frame = table(rows, 1, "labels")
    for operation in CASES.values():
        for lazy in (md.DataFrame(frame, chunk_size=2), md.DataFrame(frame, chunk_size=9)):
            equal(operation(md, lazy), operation(pd, frame))
    equal(CASES["identifiers"](md, filtered(lazy)), CASES["identifiers"](pd, filtered(frame)))


def test_what_cannot_be_melted_raises_at_the_call():
    """As in pandas."""
    lazy: Any = md.DataFrame(table(4), chunk_size=2)
    with pytest.raises(KeyError, match="nope"):
        lazy.melt("nope")
    with pytest.raises(ValueError, match="cannot match"):
        lazy.melt(value_name="k")
    with pytest.raises(NotImplementedError, match="set_axis"):
        lazy.set_axis(list("aabcde"), axis=1).melt()


def test_missing_values_by_functions():
    """Of lazy objects and of others; the objects of pandas are pandas's."""
    frame = table(5)
    equal(md.isna(md.DataFrame(frame, chunk_size=2)), pd.isna(frame))
    equal(md.notnull(md.Series(frame.f, chunk_size=2)), pd.notnull(frame.f))
    assert md.isnull(np.nan)
    assert md.notna(1)
    assert md.NaT is pd.NaT
    assert md.NamedAgg is pd.NamedAgg


@pytest.mark.parametrize("labels", [["a", None], ["a", float("nan")]])
def test_labels_that_are_missing(labels):
    """A column may be called None or NaN."""
    columns = pd.Index(labels, dtype=object)
    frame = pd.DataFrame([[1, 3], [2, 4]], columns=columns)
    lazy = md.DataFrame(frame, chunk_size=1)
    for call in (
        lambda f: f.melt(),
        lambda f: f.melt(id_vars=[columns[1]]),
        lambda f: f.melt(value_vars=[columns[1]], ignore_index=False),
        lambda f: f.melt(id_vars=[columns[0]], value_vars=list(columns)),
        lambda f: f.melt(value_vars=[]),
    ):
        equal(call(lazy), call(frame))
