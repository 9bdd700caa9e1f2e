"""What needs all rows of a group in one task: functions of users, and results of several rows."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.machine.costs import cost_of
from marsdask.dataframe.keyed import group_aggregation
from marsdask.dataframe.keyed.aggregation import (
    aggregate_groups,
    count_distinct,
    count_distinct_in_chunk,
    groups_of,
)
from marsdask.dataframe.keyed.group_aggregation import kernels_of
from tests.dataframe.tables import equal, planned, same, table, tables

MODES = pytest.mark.parametrize("mode", ["shuffled", "tight"])
FEW = settings(max_examples=3)


def _spread(values):
    return values.max() - values.min()


def _largest(rows, count=1):
    return rows.sort_values("u").tail(count)


CALLS = {
    "sem": lambda g: g[["f", "u"]].sem(),
    "skew": lambda g: g.u.skew(),
    "kurt": lambda g: g.u.kurt(),
    "quantile": lambda g: g[["f", "u"]].quantile(0.3),
    "quantiles": lambda g: g.u.quantile([0.1, 0.9]),
    "idxmin": lambda g: g.u.idxmin(),
    "idxmax": lambda g: g[["u"]].idxmax(),
    "describe": lambda g: g[["u", "f"]].describe(),
    "value_counts": lambda g: g.b.value_counts(),
    "nlargest": lambda g: g.u.nlargest(2),
    "apply of a number": lambda g: g[["u", "f"]].apply(lambda rows: (rows.u + 1).sum()),
    "apply of a row": lambda g: g[["u", "f"]].apply(lambda rows: rows.max()),
    "apply of rows": lambda g: g[["u", "b"]].apply(_largest, count=2),
    "apply to a column": lambda g: g.u.apply(_spread),
    "apply of values": lambda g: g.u.apply(lambda values: values * 2),
    "agg of a function": lambda g: g[["u", "f"]].agg(_spread),
    "agg of functions": lambda g: g.u.agg(["sum", _spread]),
    "agg of a dict": lambda g: g.agg({"u": _spread, "f": ["mean", _spread]}),
    "agg of names": lambda g: g.agg(a=("u", _spread), b=("f", "sum")),
}


@MODES
@pytest.mark.parametrize("name", CALLS)
@FEW
@given(both=tables(min_rows=1), by=st.sampled_from(["k", "s", ["b", "s"]]))
def test_calls_equal_pandas(mode, name, both, by):
    """Sorted groups, over chunkings."""
    frame, lazy = both
    if frame.s.isna().all():
        by = "k"
    with planned(mode):
        equal(CALLS[name](lazy.groupby(by)), CALLS[name](frame.groupby(by)))


@pytest.mark.parametrize("name", CALLS)
@FEW
@given(both=tables(min_rows=1))
def test_calls_of_unsorted_groups_equal_pandas(name, both):
    """Groups come in the order in which they are met."""
    frame, lazy = both
    with planned("tight"):
        equal(
            CALLS[name](lazy.groupby("k", sort=False)), CALLS[name](frame.groupby("k", sort=False))
        )


def test_small_integers_stay_small_as_keys():
    """Whatever is grouped chunk by chunk; as labels pandas widens them."""
    frame = table(30).astype({"k": "int8", "u": "int32"})
    lazy = md.DataFrame(frame, chunk_size=7)
    for by in ("k", ["u", "k"]):
        equal(lazy.groupby(by).f.sum(), frame.groupby(by).f.sum())
        equal(lazy.groupby(by, as_index=False).b.any(), frame.groupby(by, as_index=False).b.any())
        equal(lazy.set_index(by), frame.set_index(by))


@FEW
@given(both=tables(min_rows=1))
def test_groups_of_labels_and_arrays(both):
    """Keys are levels of the row labels, by number or by name, or values in memory."""
    frame, lazy = both
    equal(lazy.groupby(level=0).u.sum(), frame.groupby(level=0).u.sum())
    equal(lazy.u.groupby(level=0).max(), frame.u.groupby(level=0).max())
    parity = frame.u.to_numpy() % 2
    equal(lazy.groupby(parity).f.count(), frame.groupby(parity).f.count())
    wide, wanted = lazy.set_index(["k", "b"]), frame.set_index(["k", "b"])
    equal(wide.groupby(level="b").u.sum(), wanted.groupby(level="b").u.sum())
    equal(wide.groupby(["k", "s"]).u.sum(), wanted.groupby(["k", "s"]).u.sum())
    equal(wide.groupby(level=[1, 0]).head(1), wanted.groupby(level=[1, 0]).head(1))


@FEW
@given(both=tables(min_rows=1), by=st.sampled_from(["k", ["k"], ["k", "b"]]))
def test_groups_one_by_one(both, by):
    """Iteration, ``groups``, ``ngroups`` and ``get_group`` name them as pandas does."""
    frame, lazy = both
    groups, wanted = lazy.groupby(by), frame.groupby(by)
    assert groups.ngroups == len(groups) == wanted.ngroups
    for (name, rows), (theirs, expected) in zip(groups, wanted, strict=True):
        assert name == theirs
        equal(rows, expected)
        equal(groups.u.get_group(name), wanted.u.get_group(name))
    for d in (groups, wanted):
        with pytest.raises(KeyError):
            d.get_group(77 if by == "k" else (77,) * len(by))
        if len(by) > 1:
            for name in (77, (77,)):
                with pytest.raises(ValueError, match="tuple to get_group with multiple grouping"):
                    d.get_group(name)


@pytest.mark.parametrize("by", ["k", ["k", "b"]])
def test_labels_and_positions_of_groups(by):
    """``groups`` and ``indices`` are dicts by the name of the group."""
    frame = table(9, index="text")
    groups, wanted = md.DataFrame(frame, chunk_size=2).groupby(by), frame.groupby(by)
    assert list(groups.groups) == list(wanted.groups)
    for name in wanted.groups:
        assert list(groups.groups[name]) == list(wanted.groups[name])
        assert list(groups.indices[name]) == list(wanted.indices[name])


def test_pipe():
    """A function, or a function and the name of its parameter for the groups."""
    groups = md.DataFrame(table(5)).groupby("k")
    equal(groups.pipe(lambda g, n: g.head(n), 1), table(5).groupby("k").head(1))
    equal(groups.pipe((lambda n, of: of.head(n), "of"), n=2), table(5).groupby("k").head(2))


def test_meta_declares_what_a_function_returns():
    """Where a sample of rows does not show it; other results are errors of the task."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=2)

    def choosy(rows):
        assert rows.u.min() >= 0
        return rows.u.max()

    with pytest.raises(AssertionError, match="use meta="):
        lazy.groupby("b").apply(choosy)
    meta = frame.groupby("b").u.max().rename(None)
    equal(lazy.groupby("b").apply(choosy, meta=meta), frame.groupby("b").apply(choosy))
    with pytest.raises(ValueError, match="is declared"):
        lazy.groupby("b").apply(choosy, meta=meta.rename("x")).compute()


def centred(rows):
    return rows - rows.mean()


@pytest.mark.parametrize("func", [_largest, centred, len], ids=["some", "all", "number"])
def test_functions_without_keys(func):
    """Rows of groups keep their labels; all rows of all groups keep their order."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    for sort in (True, False):
        found, wanted = (
            one.groupby("k", group_keys=False, sort=sort)[["u", "f"]].apply(func)
            for one in (lazy, frame)
        )
        equal(found, wanted)


def half(label):
    return label // 2


def test_refused_groups():
    """What is not supported says what to use instead."""
    frame = table(5)
    lazy = md.DataFrame(frame)
    with pytest.raises(NotImplementedError, match="reset_index"):
        lazy.groupby("k", as_index=False).apply(_largest)
    with pytest.raises(TypeError, match="callable"):
        lazy.groupby("k").apply("nope")
    with pytest.raises(NotImplementedError, match="Series"):
        lazy.set_index(["k", "u"]).groupby(len)
    with pytest.raises(KeyError):
        lazy.groupby("nope")
    with pytest.raises(ValueError, match="MultiIndex"):
        lazy.groupby(level=3)


def test_what_distinct_values_take_is_declared():
    """Counting them needs tables of values: more memory than other aggregations are given."""
    groups: Any = md.DataFrame(table(9), chunk_size=4).groupby("k")
    several = groups.agg({"s": ["max", "nunique"]}), groups.agg(n=("s", "nunique"))
    counted = (groups.s.nunique(), *several)
    for lazy in counted:
        assert kernels_of(lazy.node.call) == (count_distinct, count_distinct_in_chunk)
    assert kernels_of(groups.f.median().node.call) == (aggregate_groups, groups_of)
    assert cost_of(count_distinct).scratch > cost_of(aggregate_groups).scratch


@pytest.mark.parametrize(
    "key", [half, {0: "a", 1: "b", 3: "a"}, [half, "k"]], ids=["function", "dict", "list"]
)
def test_functions_and_dicts_of_labels(key):
    """They tell the groups of rows by their labels."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.groupby(key).u.sum(), frame.groupby(key).u.sum())
    if not isinstance(key, list):
        equal(lazy.u.groupby(key).agg(["sum", "max"]), frame.u.groupby(key).agg(["sum", "max"]))


def test_groupers():
    """Bins of time among other keys are those that have rows; columns and levels by name."""
    frame = table(12).assign(t=pd.date_range("2024", periods=12, freq="50min"))
    lazy = md.DataFrame(frame, chunk_size=5)
    for keys in (
        [pd.Grouper(key="t", freq="2h"), "k"],
        ["b", pd.Grouper(key="t", freq="D", closed="right", label="right")],
        [pd.Grouper(key="t", freq="3h", origin="epoch", offset="1h"), pd.Grouper(key="k")],
    ):
        equal(lazy.groupby(keys).u.sum(), frame.groupby(keys).u.sum())
    found, wanted = (one.set_index("t") for one in (lazy, frame))
    keys = [pd.Grouper(freq="MS"), "b"]
    equal(found.groupby(keys)[["u", "f"]].max(), wanted.groupby(keys)[["u", "f"]].max())
    with pytest.raises(TypeError, match="Only valid with DatetimeIndex"):
        lazy.groupby([pd.Grouper(freq="D"), "k"])


WIDE = st.sampled_from(["int8", "uint8", "int16", "uint32", "int32", "Int8", "UInt16", "Int32"])


@pytest.mark.parametrize("mode", ["usual", "shuffled"])
@FEW
@given(
    dtype=WIDE,
    sizes=st.sampled_from([(6,), (3, 3), (1, 4, 1)]),
    parts=st.tuples(*[st.sampled_from([0, 1, 1.0])] * 2),
    call=st.sampled_from(
        [
            lambda f: f.groupby("k").sum(),
            lambda f: f.groupby("k", sort=False).prod(),
            lambda f: f.groupby("k").agg({"v": ["sum", "max"], "w": "prod"}),
            lambda f: f.groupby("k").w.agg("sum"),
            lambda f: f.pivot_table(index="k", values=["v", "w"], aggfunc="sum"),
        ]
    ),
)
def test_sums_of_small_integers(mode, dtype, sizes, parts, call):
    """Sums that need more bits have 64 of them, whatever the chunks; others keep the type."""
    top = np.iinfo(dtype.lower()).max
    values = [[1, int(part * top), 1, int(part * top), 1, 1] for part in parts]
    frame = pd.DataFrame(
        {"k": [1, 2, 1, 2, 3, 1]}
        | {label: pd.Series(one).astype(dtype) for label, one in zip("vw", values, strict=True)}
    )
    with planned(mode):
        equal(call(md.DataFrame(frame, chunk_size=(sizes,))), call(frame))


LABELLED = {
    "a function": lambda g: g.agg("idxmax"),
    "functions": lambda g: g.agg({"x": ["idxmax", "max"]}),
    "names": lambda g: g.agg(first=("x", "idxmin")),
    "names of a series": lambda g: g.x.agg(first="idxmin"),
    "rows": lambda g: g.x.agg("nlargest", 1),
    "values": lambda g: g.x.transform("idxmax"),
}


@pytest.mark.parametrize("mode", ["usual", "shuffled"])
@pytest.mark.parametrize("name", LABELLED)
def test_labels_by_name(mode, name):
    """Functions given by name that return labels return those of the frame."""
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "x": [1.0, 2, 3, 4]}, index=list("abcd"))
    for form in (lambda f: f[f.x > 1].reset_index(drop=True), lambda f: f):
        with planned(mode):
            lazy = form(md.DataFrame(frame, chunk_size=2))
            equal(LABELLED[name](lazy.groupby("k")), LABELLED[name](form(frame).groupby("k")))


@pytest.mark.parametrize("how", ["skew", "kurt", "shift", "diff"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "Int8", "float64"])
def test_declared_types_by_rows(how, dtype):
    """agg() declares the types of the methods whose types rows tell."""
    rows = pd.DataFrame({"g": [1, 1, 1, 1, 2], "v": pd.array(np.arange(5), dtype=dtype)})
    wanted = rows.groupby("g").agg({"v": how})
    assert list(md.DataFrame(rows).groupby("g").agg({"v": how}).dtypes) == list(wanted.dtypes)


@pytest.mark.parametrize("name", ["sum", "first", "max"])
@pytest.mark.parametrize("dtype", ["int8", "bool", "Int8", "float32"])
@pytest.mark.parametrize("count", [1, 2])
def test_declared_types_of_groups_of_few_rows(count: int, dtype: Any, name: str) -> None:
    """Integers and truth values have gaps if a group may have too few rows."""
    rows = pd.DataFrame({"g": [1, 1, 2], "v": pd.array([1, 0, 1], dtype="Int8").astype(dtype)})
    result = getattr(md.DataFrame(rows, chunk_size=1).groupby("g").v, name)(min_count=count)
    wanted = getattr(rows.groupby("g").v, name)(min_count=count)
    assert result.dtype == wanted.dtype
    equal(result, wanted)


@pytest.mark.parametrize("name", ["skew", "kurt"])
@pytest.mark.parametrize("size", [1, 3, 6])
def test_higher_moments_of_objects(name, size):
    """Are those of the numbers that they are."""
    numbers = pd.Series([1, 2, 4, 5, 7, 12, 3, 4], dtype=object)
    frame = pd.DataFrame({"k": [1, 1, 1, 2, 2, 2, 1, 2], "v": numbers, "x": range(8)})
    lazy = md.DataFrame(frame, chunk_size=size)
    equal(getattr(lazy.groupby("k"), name)(), getattr(frame.groupby("k"), name)())
    equal(getattr(lazy.groupby("k").v, name)(), getattr(frame.groupby("k").v, name)())


@pytest.mark.parametrize("name", ["sum", "max", "first", "size", "nunique", "std", "describe"])
def test_types_have_no_rows_of_categories(name):
    """The types of groups of categories have no rows, though each category is a group."""
    key = pd.Categorical(["x", "y", "x"], ["y", "x", "z"])
    frame = pd.DataFrame({"c": key, "k": [1, 2, 1]})
    found, wanted = (
        getattr(rows.groupby("c", observed=False)["k"], name)()
        for rows in (md.DataFrame(frame, chunk_size=1), frame)
    )
    assert not len(found.node.meta)
    equal(found, wanted)
    if name == "max":  # pandas refuses windows of rows without keys
        several, all_of_them = md.concat([found, found]), pd.concat([wanted, wanted])
        windows = several.groupby(several).rolling(1).sum()
        equal(windows, all_of_them.groupby(all_of_them).rolling(1).sum())


OBJECTS = pd.DataFrame(
    {
        "k": [1, 0, 1, 2],
        "b": pd.Series([True, False, True, False], dtype=object),
        "s": pd.Series(["x", "y", None, "w"], dtype=object),
        "m": pd.Series([1, "a", None, 2.5], dtype=object),
    }
)


@pytest.mark.parametrize("name", ["min", "max", "first", "last", "sum", "count"])
@pytest.mark.parametrize("form", ["frame", "series", "each", "list"])
def test_types_of_objects(form: str, name: str) -> None:
    """No chunk decides the type: pandas makes texts of the extremes of a series, of all groups."""
    calls: dict[str, Any] = {
        "frame": lambda g: getattr(g[["b", "s"]], name)(),
        "series": lambda g: getattr(g.s, name)(),
        "each": lambda g: g.agg({"b": name, "s": name}),
        "list": lambda g: g[["b", "s"]].agg([name]),
    }
    for chunk in (1, 2, 4):
        groups = md.DataFrame(OBJECTS, chunk_size=chunk).groupby("k")
        same(calls[form], groups, OBJECTS.groupby("k"))


@pytest.mark.parametrize("name", ["min", "max", "first", "last"])
def test_types_that_rows_without_a_match_would_have(name: str) -> None:
    """Truth values of a left join stay what they are if all rows have a match."""
    frame = pd.DataFrame({"k": [1, 0, 1, 2], "b": [True, False, True, False]}, [3, 1, 0, 2])
    lazy = md.DataFrame(frame, chunk_size=1)
    joined = frame.join(frame.add_suffix("_j"))
    same(lambda d: getattr(d.groupby("k"), name)(), lazy.join(lazy.add_suffix("_j")), joined)


OF_ROWS: dict[str, Any] = {
    "where": lambda d: d.assign(v=d.v.where(d.n > 2)),
    "merge": lambda d: d[["k", "n"]].merge(d[["n", "v"]][3:], on="n", how="left"),
}


def _valued() -> tuple[Any, Any]:
    """Return rows in chunks of one, and in pandas, of which the first three have no key."""
    keys = [*[None] * 3, *"xyxz"]
    frame = pd.DataFrame({"v": np.arange(7, dtype="int8"), "k": keys, "n": range(7)})
    return md.DataFrame(frame, chunk_size=1), frame


@pytest.mark.parametrize(
    ("mode", "name"), [("auto", "where"), ("auto", "merge"), ("tight", "where")]
)
def test_types_of_rows_in_no_group(mode: str, name: str) -> None:
    """Rows without a key have no value, and count for the types, though no group has them."""
    lazy, rows = map(OF_ROWS[name], _valued())
    with planned(mode):
        same(lambda g: g.v.agg(["first", "std"]), lazy.groupby("k"), rows.groupby("k"))
        groups = (d.groupby("k", sort=False) for d in (lazy, rows))
        same(lambda g: g.max(), *groups)


@pytest.mark.parametrize("name", ["describe", "ohlc"])
def test_types_of_whole_chunks_in_no_group(name: str) -> None:
    """The same where groups meet in several tasks, one of which has none."""
    lazy, rows = map(OF_ROWS["where"], _valued())
    whole = mock.patch.object(group_aggregation, "repartition", lambda source: source.grid)
    with planned("shuffled"), whole:
        same(lambda g: getattr(g.v, name)(), lazy.groupby("k"), rows.groupby("k"))


def test_rows_in_no_group_of_concatenated_frames() -> None:
    """Chunks of a part count for the types though none of its rows is in a group."""

    def grouped(m: Any) -> Any:
        x = m.DataFrame({"k": [1, 2], "b": [True, False]})
        y = m.DataFrame({"k": [1, 2], "b": [True, True], "s": ["a", "b"]})
        return m.concat([x.where(x.b), y])

    same(lambda d: d.groupby("s").max(), grouped(md), grouped(pd))
    same(lambda d: d.pivot_table(index="s", values="k", aggfunc="sum"), grouped(md), grouped(pd))


def test_partials_of_many_columns_are_one_frame():
    """Columns are not added one by one, of which pandas warns."""
    frame = pd.DataFrame(np.arange(360.0).reshape(6, 60) % 7).rename(columns=str)
    with option_context({"coalesce": False, "dataframe.kernels": "pandas"}):
        lazy = md.DataFrame(frame, chunk_size=2)
        equal(lazy.groupby("0").agg(["max", "min"]), frame.groupby("0").agg(["max", "min"]))
