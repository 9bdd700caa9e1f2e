"""Column labels become a level of labels, and levels columns, as in pandas."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, planned

KEYS = list(itertools.product([3, 1, 2], ["b", "a", None], pd.to_datetime([1, 2])))
np.random.default_rng(0).shuffle(KEYS)


def levels(rows: int) -> Any:
    """Return a table with labels of three levels, some of them missing."""
    rng = np.random.default_rng(rows)
    types: Any = {"p": "i8", "q": "str", "r": "datetime64[ns]"}
    keys = pd.DataFrame(KEYS[:rows], columns=["p", "q", "r"]).astype(types)
    return pd.DataFrame(
        {
            "i": np.arange(rows),
            "f": np.where(rng.random(rows) < 0.3, np.nan, 1.5),
            "s": pd.Series(rng.choice(["x", "y", "z"], rows), dtype="str").array,
            "b": rng.random(rows) < 0.5,
            "c": pd.Categorical(rng.choice(["u", "v"], rows), ["u", "v"]),
        },
        index=pd.MultiIndex.from_frame(keys, names=["p", None, "r"]),
    )


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
@pytest.mark.parametrize("rows", [0, 5, 18])
def test_levels_become_columns(rows, mode):
    """Types, gaps, labels and their order are pandas's; also where rows are shuffled."""
    frame = levels(rows)
    lazy = md.DataFrame(frame, chunk_size=4)
    with planned(mode):
        for level in (-1, "p", [1, 2]):
            equal(lazy.unstack(level), frame.unstack(level))
            equal(lazy.s.unstack(level), frame.s.unstack(level))
        equal(lazy.i.unstack(1, -1), frame.i.unstack(1, -1))
        equal(lazy[["i", "f"]].unstack(0, 0), frame[["i", "f"]].unstack(0, 0))
        some, same = lazy[lazy.i > 2], frame[frame.i > 2]
        equal(some.i.unstack(), same.i.unstack())


@pytest.mark.parametrize("columns", [["i"], ["i", "f"], ["s"], ["i", "s"], ["b", "i"], ["c"]])
def test_column_labels_become_levels(columns):
    """Row by row, or column by column without other levels."""
    frame = levels(7)[columns]
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(lazy.stack(), frame.stack())
    numbered = frame.reset_index(drop=True)
    equal(md.DataFrame(numbered, chunk_size=3).unstack(), numbered.unstack())


def test_levels_of_columns():
    """One of them, or all."""
    frame = levels(9)[["i", "f"]].unstack("p")
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    for level in (-1, 0, "p", [0, 1]):
        equal(lazy.stack(level), frame.stack(level))


def test_what_is_not_supported():
    """At the call, but repeated labels where they are met."""
    frame = levels(6)
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    for kind, words, call in [
        (NotImplementedError, "reset_index", lambda: lazy.unstack([0, 1, 2])),
        (NotImplementedError, "sort_values", lambda: lazy.unstack(sort=False)),
        (NotImplementedError, "dropna", lambda: lazy.stack(future_stack=False)),
        (ValueError, "dropna", lambda: lazy.stack(dropna=True)),
        (KeyError, "nope", lambda: lazy.unstack("nope")),
        (ValueError, "MultiIndex", lambda: md.Series([1, 2]).unstack()),
        (ValueError, "duplicate", lambda: md.concat([lazy, lazy]).unstack().compute()),
    ]:
        with pytest.raises(kind, match=words):
            call()


def test_categories_of_groups_are_in_order():
    """Those of groups as pandas sorts them, those of other rows as they come."""
    kinds = pd.Categorical(["x", "x", "y"], ["y", "x", "z"])
    frame = pd.DataFrame({"k": [1, 2, 2], "c": kinds, "f": [1.0, 2.0, 3.0]})
    lazy = md.DataFrame(frame, chunk_size=2)
    for call in (
        lambda d: d.groupby(["k", "c"], observed=True).size().unstack(),
        lambda d: d.groupby(["k", "c"], observed=True)[["f"]].sum().unstack(),
        lambda d: d.pivot_table(index="k", columns="c", values=["f"], aggfunc="size"),
        lambda d: d.set_index(["k", "c"]).f.unstack(),
    ):
        equal(call(lazy), call(frame))


UNSORTED = {
    "rows": lambda x: x.value_counts(["k", "b"]).unstack(),
    "shares": lambda x: x.value_counts(["k", "b"], sort=False, normalize=True).unstack(0),
    "filled": lambda x: x.groupby(["k", "b"], sort=False)[["v"]].sum().unstack(fill_value=0),
    "filtered": lambda x: large(unsorted_sums(x)).unstack(),
    "head": lambda x: unsorted_sums(x).head(2).unstack(),
    "sorted by values": lambda x: unsorted_sums(x).sort_values().unstack(),
    "sorted by labels": lambda x: unsorted_sums(x).sort_index().unstack(),
    "gaps": lambda x: x.groupby(["c", "k"], sort=False, dropna=False).v.sum().unstack(),
    "three levels": lambda x: x.groupby(["k", "b", "c"], sort=False).v.sum().unstack(["c", "b"]),
    "other labels": lambda x: unsorted_sums(x).reset_index().set_index(["k", "b"]).v.unstack(),
}


def unsorted_sums(frame: Any) -> Any:
    """Return the sums of groups in the order in which these occur."""
    return frame.groupby(["k", "b"], sort=False).v.sum()


def large(sums: Any) -> Any:
    """Return the larger ones of some sums."""
    return sums[sums > 3]


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
def test_unsorted_groups_keep_their_order(mode):
    """Levels of groups have the order in which groups occur; also if some are left out."""
    frame = pd.DataFrame(
        {
            "k": [0, -1, 1, -1, 2, 0],
            "b": [True, False, True, True, False, True],
            "c": ["q", "p", None, "p", "q", "z"],
            "v": [1.0, 2, 3, 4, 5, 6],
        }
    )
    with planned(mode):
        for program in UNSORTED.values():
            equal(program(md.DataFrame(frame, chunk_size=2)), program(frame))


CHOICES: dict[str, Any] = {
    "list": lambda x: x.loc[[2, 0]],
    "pairs": lambda x: x.loc[[(2, "c"), (0, "a")]],
    "mask": lambda x: x[x.v > 1],
    "all": lambda x: x[x.v > 0],
    "first": lambda x: x.head(3),
    "places": lambda x: x.iloc[[2, 0]],
    "sorted": lambda x: x.sort_values("v", ascending=False)[:3],
    "largest": lambda x: x.nlargest(2, "v"),
    "missing": lambda x: x.mask(x.v == 2).dropna(),
    "added up": lambda x: x.iloc[[2, 0]].cumsum(),
    "shifted": lambda x: x.iloc[[2, 0]].shift(1),
    "falling labels": lambda x: x.iloc[[2, 0, 1]].sort_index(ascending=False),
    "falling labels, ranked": lambda x: x[x.v > 1].sort_index(ascending=False).rank(),
    "sorted by a level": lambda x: x.iloc[[2, 0, 1]].sort_index(level=1),
    "falling by a level": lambda x: x.iloc[[0, 2]].sort_index(level=0, ascending=False) * 2,
    "sorted by levels": lambda x: x[x.v > 1].sort_index(level=[1, 0], ascending=[True, False]),
    "sorted by a key": lambda x: x.iloc[[2, 0, 1]].sort_index(key=lambda level: level),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_chosen_rows_order_levels_by_their_labels(choice):
    """A level is in the order of its labels if chosen rows have all of them, else in theirs."""
    frame = pd.DataFrame({"k": [2, 1, 0, 1], "j": [*"cbaa"], "v": [1.0, 2, 3, 4]})
    programs: tuple[Any, ...] = (
        lambda x: x.set_index(["k", "j"]),
        lambda x: x.groupby(["k", "j"]).sum(),
        lambda x: x.groupby(["k", "j"], sort=False).sum(),
    )
    first = list(CHOICES).index(choice) % 2
    for program, level in zip(programs, (first, 1 - first, first), strict=True):
        wanted = CHOICES[choice](program(frame)).unstack(level)
        lazy = program(md.DataFrame(frame, chunk_size=1))
        equal(CHOICES[choice](lazy).unstack(level), wanted)


#: Rows whose levels pandas does not sort, of a frame of one level of labels.
OWN_ORDERS: dict[str, Any] = {
    "stack": lambda x, m: x.stack(),
    "columns as rows": lambda x, m: x.unstack(),
    "frames below keys": lambda x, m: m.concat({"z": x, "b": x}),
    "other frames below keys": lambda x, m: m.concat({"z": x, "b": x.sort_index()}),
    "groups": lambda x, m: x.groupby([x.index, "k"], sort=False).sum(),
    "arithmetic": lambda x, m: x.stack() * 2,
    "sorted by a level": lambda x, m: x.stack().sort_index(level=1, ascending=False),
    "sorted by one level": lambda x, m: x.stack().sort_index(level=0, sort_remaining=False),
    "chosen": lambda x, m: x.stack()[x.stack() > 1],
    "windows": lambda x, m: x.groupby("k", sort=False)[["j"]].rolling(1).sum(),
    "largest of groups": lambda x, m: x.groupby("k", sort=False).j.nlargest(1),
    "quantiles of groups": lambda x, m: x.groupby("k", sort=False).j.quantile([0.5, 0.2]),
    "sums of columns": lambda x, m: x.groupby("k").agg(["sum", "mean"]).sum(),
    "medians of columns": lambda x, m: x.groupby("k").agg(["sum", "mean"]).median(),
    "a row": lambda x, m: x.groupby("k").agg(["sum", "mean"]).iloc[1],
    "some columns": lambda x, m: x.groupby("k").describe()[[("j", "std"), ("a", "mean")]].sum(),
    "columns, reversed": lambda x, m: x.groupby("k").agg(["sum", "mean"])[["j"]].max()[::-1],
    "sorted columns": lambda x, m: x.groupby("k").agg(["sum", "mean"]).sum().sort_index(),
    "transposed": lambda x, m: x.groupby("k").agg(["sum", "mean"]).T,
    "in memory": lambda x, m: x.set_axis(
        pd.MultiIndex([["z", "a"], [2, 1]], [[0, 1, 0, 1], [0, 0, 1, 1]])
    ),
}


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("name", OWN_ORDERS)
def test_levels_in_an_order_of_their_own(name: str, executed: bool) -> None:
    """They keep it where a level becomes columns, as in pandas, also after execution."""
    frame = pd.DataFrame({"k": [4, 1, 3, 2], "j": [5, 6, 7, 8], "a": 0}, [*"yxzw"])
    source: Any = md.DataFrame(frame, chunk_size=2)
    if name == "in memory":
        source, lazy = frame, md.DataFrame(OWN_ORDERS[name](frame, pd), chunk_size=2)
    else:
        lazy = OWN_ORDERS[name](source, md)
    lazy = lazy.execute() if executed else lazy
    wanted = OWN_ORDERS[name](frame, pd)
    for level in (0, 1) if not (executed and name in {"chosen", "columns, reversed"}) else ():
        equal(lazy.unstack(level), wanted.unstack(level))


#: Values and types of two columns, of which pandas joins some as objects.
PAIRS: dict[str, tuple[Any, Any]] = {
    "objects": (pd.Series(["x", "y"], dtype=object), pd.Series(["x", "y"], dtype=object)),
    "objects and texts": (pd.Series(["x", "y"], dtype=object), pd.Series(["x", "y"], dtype="str")),
    "objects and numbers": (pd.Series([1, "y"], dtype=object), pd.Series([1, 2])),
    "integers with gaps": (pd.Series([1, 2], dtype="Int64"), pd.Series([1, 2], dtype="Int64")),
    "numbers with gaps": (pd.Series([1, None], dtype="Int64"), pd.Series([1, 2], dtype="Float64")),
    "some with gaps": (pd.Series([1, 2], dtype="int64"), pd.Series([1, None], dtype="Float64")),
}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_types_of_joined_columns(name: str, several: bool) -> None:
    """Objects are only looked at where labels have one level, and types differ."""
    frame = pd.concat(PAIRS[name], axis=1, keys=[("A", 1), ("A", 2)] if several else [1, 2])
    equal(md.DataFrame(frame, chunk_size=1).stack(), frame.stack())


def test_levels_of_objects_stay_objects() -> None:
    """A column of them that are texts does not make them texts."""
    frame = pd.DataFrame([["A", "1", 5], ["B", "2", 6]], columns=["x", "y", "v"], dtype=object)
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.set_index(["y", "x"]).unstack(), frame.set_index(["y", "x"]).unstack())


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("unused", [False, True])
def test_missing_labels_beside_levels_in_an_order_of_their_own(level: int, unused: bool) -> None:
    """They come first, as in pandas, though the labels of another level are not sorted."""
    outer = ["z", "a", "b"] if unused else ["z", "a"]
    labels = pd.MultiIndex([outer, ["x", "y"]], [[0, 1, 1, 0], [0, -1, 1, -1]])
    series = pd.Series(range(4), labels)
    equal(md.Series(series, chunk_size=1).unstack(level), series.unstack(level))
