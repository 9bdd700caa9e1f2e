"""Tables by keys of rows and of columns equal pandas's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table

PIVOTS: list[dict[str, Any]] = [
    {"index": "k", "columns": "s", "values": "u"},
    {"index": "k", "columns": "s"},
    {"columns": "s", "values": "t"},
    {"index": ["k"], "columns": ["s", "b"], "values": ["u", "f"]},
    {"index": "k", "columns": "s", "values": ["s", "u"]},
]
TABLES: list[dict[str, Any]] = [
    {"values": "u", "index": "k", "columns": "s"},
    {"values": ["f", "u"], "index": ["k", "b"], "columns": ["s", "t"], "aggfunc": "max"},
    {"values": "u", "index": "k", "columns": "s", "aggfunc": "count", "fill_value": 0},
    {"values": "f", "index": "k"},
    {"values": ["f", "u"], "columns": ["k", "s"], "aggfunc": "sum", "fill_value": -1},
    {"values": ["u", "f"], "index": "k", "columns": "s", "aggfunc": {"u": "sum", "f": "mean"}},
    {"values": "u", "index": "k", "columns": "s", "aggfunc": ["sum", "mean"]},
    {"values": "f", "index": "k", "columns": "s", "margins": True},
    {"values": ["f", "u"], "index": ["k", "b"], "columns": "s", "aggfunc": "sum", "margins": True},
    {"values": ["f", "u"], "index": "k", "aggfunc": "max", "margins": True, "margins_name": "T"},
]


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
def test_pivots_equal_pandas(mode):
    """Labels, types and gaps, whatever the cut."""
    frame = table(30, 3).drop_duplicates(["k", "s"])
    lazy = md.DataFrame(frame, chunk_size=4)
    with planned(mode):
        for options in PIVOTS:
            equal(lazy.pivot(**options), frame.pivot(**options))
    equal(md.pivot(filtered(lazy), **PIVOTS[0]), pd.pivot(filtered(frame), **PIVOTS[0]))


@pytest.mark.parametrize("rows", [0, 25])
def test_tables_equal_pandas(rows):
    """Of one function or several, with margins or without."""
    frame = table(rows, 4)
    lazy = md.DataFrame(frame, chunk_size=9)
    for options in TABLES:
        equal(lazy.pivot_table(**options), frame.pivot_table(**options))
    if rows:
        equal(md.pivot_table(lazy, **TABLES[0])[["a"]], frame.pivot_table(**TABLES[0])[["a"]])


@pytest.mark.parametrize("keys", ["k", "s", ["k", "s"]])
@pytest.mark.parametrize("drop", [True, False])
def test_levels_as_keys(keys, drop):
    """Labels of rows may be keys of tables, unless a column has the name, too."""
    rows = table(25, 4)
    frame = rows.set_index(keys, drop=drop)
    lazy = md.DataFrame(frame, chunk_size=9)
    for options in (*TABLES[:1], *TABLES[2:4], {"index": "k", "values": "u", "margins": True}):
        try:
            wanted = frame.pivot_table(**options)
        except ValueError:
            with pytest.raises(ValueError, match="ambiguous"):
                lazy.pivot_table(**options)
        else:
            equal(lazy.pivot_table(**options), wanted)


def test_pivots_of_rows_with_several_levels():
    """New labels are sorted, whatever the old ones are."""
    frame = pd.DataFrame({"k": [-2, -1, 1, -1], "f": [0.25, None, 2, 3], "u": [8, 8, 7, 3]})
    frame.index = pd.MultiIndex.from_tuples([(1, "p"), (1, "q"), (0, "q"), (0, "p")])
    for rows, chosen in ((frame, frame[:]), (frame, frame[1:])):
        options = {"index": "u", "columns": "k", "values": "f"}
        lazy = md.DataFrame(rows, chunk_size=3)
        lazy = lazy if len(chosen) == len(rows) else lazy.iloc[1:]
        equal(lazy.pivot(**options), chosen.pivot(**options))


CATEGORIES: list[dict[str, Any]] = [
    {"values": "u", "index": "c", "columns": "m", "aggfunc": "sum"},
    {"values": ["f", "u"], "index": ["m", "c"], "aggfunc": "count"},
    {"values": "u", "index": "c", "aggfunc": "sum", "margins": True},
    {"values": "f", "index": "m", "columns": ["c"], "fill_value": 0, "margins": True},
    {"values": ["f"], "columns": ["c", "m"], "aggfunc": "max"},
]


@pytest.mark.parametrize(("observed", "rows"), [(True, 14), (False, 14), (False, 0)])
def test_categories_as_keys(observed, rows):
    """Those without rows are keys unless observed; sums of no values are there, means are not."""
    frame = table(rows, 4)
    frame["c"] = pd.Categorical(frame.s.replace("ä", None), ["z", "bb", "a"], ordered=True)
    frame["m"] = pd.Categorical(frame.b, [True, False])
    lazy = md.DataFrame(frame, chunk_size=((3, 0, 9, 2) if rows else (0,),))
    for given in CATEGORIES if rows else CATEGORIES[:2]:
        options = {**given, "observed": observed}
        equal(lazy.pivot_table(**options), frame.pivot_table(**options))


def test_what_is_refused():
    """At the call, but repeated keys where they are met."""
    lazy: Any = md.DataFrame(table(12), chunk_size=5)
    a: Any = {"margins": True, "margins_name": "ä"}
    for kind, words, call in [
        (KeyError, "nope", lambda: lazy.pivot(columns="nope")),
        (ValueError, "duplicate", lambda: lazy.pivot(index="k", columns="b").compute()),
        (KeyError, "nope", lambda: lazy.pivot_table("nope", "k")),
        (KeyError, "nope", lambda: lazy.pivot_table("u", "nope")),
        (ValueError, "No group keys", lambda: lazy.pivot_table("u")),
        (ValueError, "Conflicting", lambda: lazy.pivot_table("u", "s", **a)),
        (NotImplementedError, "unstack", lambda: lazy.pivot_table("u", "k", dropna=False)),
        (NotImplementedError, "assign", lambda: lazy.pivot_table("u", lazy.k)),
        (NotImplementedError, "assign", lambda: lazy.pivot_table("u", pd.Grouper("k"))),
        (NotImplementedError, "assign", lambda: lazy.pivot_table("u", np.arange(len(lazy)))),
        (NotImplementedError, "crosstab", lambda: lazy[["k"]].pivot_table(index="k")),
        (NotImplementedError, "False", lambda: lazy.pivot_table("u", columns="k", margins=True)),
    ]:
        with pytest.raises(kind, match=words):
            call()


SIZES = {
    "sizes": lambda f: f.pivot_table(index="k", columns="c", values="x", aggfunc="size"),
    "sizes without values": lambda f: f.pivot_table(index=["k", "c"], aggfunc="size"),
    "sizes filled": lambda f: f.pivot_table(
        index="c", columns="i", values=["x"], aggfunc="size", fill_value=0
    ),
    "sizes by columns": lambda f: f.pivot_table(columns="c", values=["x"], aggfunc="size"),
    "sizes and sums": lambda f: f.pivot_table(
        index="k", columns="c", values="x", aggfunc=["size", "sum"]
    ),
    "some functions of a value": lambda f: f.pivot_table(
        index="k", columns="c", aggfunc={"x": "sum", "i": ["min", "max"]}
    ),
    "functions of one value": lambda f: f.pivot_table(
        index="k", columns=["c", "i"], values=["x"], aggfunc={"x": ["sum", "min"]}
    ),
}


@pytest.mark.parametrize("mode", ["usual", "shuffled"])
@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_functions_of_each_value(name: str, mode: str) -> None:
    """Numbers of rows, and several functions of some values."""
    frame = pd.DataFrame(
        {"k": [1, 2, 1, 2, 1], "c": list("aabba"), "x": [1.0, 2, 3, 4, 5], "i": [1, 2, 3, 4, 5]}
    )
    with planned(mode):
        equal(SIZES[name](md.DataFrame(frame, chunk_size=2)), SIZES[name](frame))


@pytest.mark.parametrize("values", ["z", ["z"], ["z", "w"]])
@pytest.mark.parametrize(
    "objects", [["A1", "B2"], [1, "x"], ["x", None], [1, 2], [None, 1.5]], ids=str
)
def test_objects_have_the_types_of_new_ones(objects: list[Any], values: Any) -> None:
    """Values that are texts become texts, others stay what they are; keys stay objects."""
    frame = pd.DataFrame({"x": ["A", "B"], "y": ["1", "2"], "z": objects}, dtype=object)
    frame["w"] = [1, 2]
    found = md.DataFrame(frame, chunk_size=1).pivot(index="y", columns="x", values=values)
    equal(found, frame.pivot(index="y", columns="x", values=values))


def test_label_that_is_none() -> None:
    """Among texts it is a missing one, which names the rows."""
    frame = pd.DataFrame({None: [1], "b": 2, "c": 3})
    found = md.DataFrame(frame).pivot(columns="b", index=None, values="c").compute()
    wanted = frame.pivot(columns="b", index=None, values="c")
    pd.testing.assert_frame_equal(found, wanted)
    name: Any = found.index.name
    assert pd.isna(name)
