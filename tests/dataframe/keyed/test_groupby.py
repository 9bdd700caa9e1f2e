"""Group-by equals pandas's over chunkings, by tree and by shuffle."""

from __future__ import annotations

from operator import methodcaller
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.dataframe.keyed.aggregation import AGGREGATES
from tests.dataframe.conftest import MODES as MODES_OF_FRAMES
from tests.dataframe.tables import equal, filtered, planned, table, tables

MODES = pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
CALLS = {
    "string": lambda d: d.groupby("k")[["f", "u"]].agg("mean"),
    "list": lambda d: d.groupby("s").u.agg(["min", "max", "std"]),
    "dict": lambda d: d.groupby(["k", "b"]).agg({"u": "sum", "f": "count"}),
    "dict of lists": lambda d: d.groupby("k").agg({"u": ["sum", "var"], "s": ["first", "size"]}),
    "named": lambda d: d.groupby("b").agg(x=("f", "mean"), y=("u", "max")),
    "named series": lambda d: d.groupby("b").f.agg(x="mean", y="last"),
    "columns": lambda d: d.groupby("k", as_index=False).agg({"f": "sum"}),
    # pandas orders equal counts by an unstable sort of all groups, which a shuffle cannot follow.
    "counts as column": lambda d: (
        d.groupby("k", as_index=False).b.value_counts().sort_values(["k", "b"], ignore_index=True)
    ),
    "size as column": lambda d: d.groupby("k", as_index=False).size(),
    "missing keys": lambda d: d.groupby(["s", "k"], dropna=False).u.sum(),
    "missing floats": lambda d: d.groupby("f", dropna=False).u.max(),
    "computed key": lambda d: d.groupby(d.u % 3).f.sum(),
    "computed keys": lambda d: d.u.groupby([d.k > 0, d.s]).count(),
    "times": lambda d: d.groupby("t").u.sum(),
    "extremes of texts": lambda d: d.groupby("k").s.max(),
    "numeric only": lambda d: d.groupby("s").mean(numeric_only=True),
    "whole groups": lambda d: d.groupby("k")[["f", "u"]].median(),
    "distinct": lambda d: d.groupby("k").agg({"s": "nunique", "u": "sum"}),
    "ddof": lambda d: d.groupby("k").u.var(ddof=0),
    "followed": lambda d: d.groupby("k").u.sum().reset_index().sort_values(["u", "k"]),
    "of one table": lambda d: d.groupby("k").u.sum() / d.groupby("k").u.count(),
}


@MODES
@pytest.mark.parametrize("name", [*AGGREGATES, "nunique"])
@given(
    both=tables(min_rows=1),
    by=st.sampled_from(["k", "s", ["b", "k"]]),
    whole=st.permutations(["f", ["u"]]),
)
def test_aggregations_equal_pandas(mode, name, both, by, whole):
    """Every aggregation, of a series and of a table, one of which is filtered."""
    frame, lazy = both
    both = (frame, lazy), (filtered(frame), filtered(lazy))
    with planned(mode):
        for (d, e), columns in zip(both, whole, strict=True):
            equal(getattr(e.groupby(by)[columns], name)(), getattr(d.groupby(by)[columns], name)())


@MODES
@pytest.mark.parametrize("name", CALLS)
@given(both=tables(min_rows=1))
def test_calls_equal_pandas(mode, name, both):
    """Every way to say what to aggregate by what."""
    frame, lazy = both
    with planned(mode):
        equal(CALLS[name](lazy), CALLS[name](frame))


@pytest.mark.parametrize("mode", ["as it comes", "tight"])
@given(
    both=tables(min_rows=1),
    by=st.sampled_from(["k", "s", ["b", "s"]]),
    how=st.sampled_from(["sum", "std", "size", "nunique", "median"]),
    dropna=st.booleans(),
)
def test_groups_unsorted(mode, both, by, how, dropna):
    """Without sorting, groups come in the order in which they are met, however many there are."""
    options = {"sort": False, "dropna": dropna}
    frame, lazy = both
    with planned(mode):
        equal(
            getattr(lazy.groupby(by, **options).u, how)(),
            getattr(frame.groupby(by, **options).u, how)(),
        )


@given(both=tables(min_rows=1), name=st.sampled_from(sorted(CALLS)))
def test_groups_of_more_rows_than_memory_has_room_for(both, name):
    """Sorted groups are pandas's where no task could take all of them."""
    frame, lazy = both
    with planned("tight"):
        equal(CALLS[name](lazy), CALLS[name](frame))


@MODES
@pytest.mark.parametrize("step", [1, 2, 4])
def test_infinite_values_have_no_variance(mode, step):
    """Nor have those beside them in a group, in whichever chunk they are; means they have."""
    inf, nan = np.inf, np.nan
    values = [inf, 1.0, nan, 2.0, nan, 3.0, 4.0, nan]
    frame = pd.DataFrame({"k": [0, 1, 2, 0, 2, 1, 0, 3], "x": values})
    lazy = md.DataFrame(frame, chunk_size=step)
    with planned(mode), np.errstate(invalid="ignore"):
        for name in ("var", "std", "mean"):
            equal(getattr(lazy.groupby("k").x, name)(), getattr(frame.groupby("k").x, name)())


@pytest.mark.parametrize("how", ["sum", "size", "nunique"])
def test_no_rows(how):
    """Without rows the result has the right columns and types."""
    frame = table(0)
    lazy = md.DataFrame(frame)
    equal(getattr(lazy.groupby("k").u, how)(), getattr(frame.groupby("k").u, how)())


@pytest.mark.parametrize("how", ["sum", "size", "nunique", "median"])
def test_a_column_labelled_none(how):
    """A list with ``None`` groups by it; all columns cannot be aggregated then, as in pandas."""
    frame = pd.DataFrame([[1, 2], [1, 3], [2, 5]], columns=[None, "b"])
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(getattr(lazy.groupby([None])["b"], how)(), getattr(frame.groupby([None])["b"], how)())
    for d in (frame, lazy):
        with pytest.raises(KeyError, match="not found in axis"):
            d.groupby([None]).sum()


def test_refused_at_the_call():
    """Keys and columns that are not there, and what is not supported."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(KeyError):
        lazy.groupby("nope")
    with pytest.raises(KeyError):
        lazy.groupby("k")["nope"]
    with pytest.raises(AttributeError):
        lazy.groupby("k").u.agg("nope")


#: A frame with the labels that keys once got, and calls.
NAMED = {
    "a key": lambda f: f.groupby([f.c * 2, "by 0"]).x.sum(),
    "values": lambda f: f.groupby(f.c * 2)[["by 0", "x"]].sum(),
    "a column as a key": lambda f: f.groupby(f.c).sum(numeric_only=True),
    "bins of time": lambda f: f.groupby(pd.Grouper(key="t", freq="1D"))["times of rows"].max(),
    "categories": lambda f: (
        f.assign(c=f.c.astype("category"))
        .groupby("c", observed=False)[["x", "key 0 of groups"]]
        .max()
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_columns_called_like_keys(name):
    """What keys are called is no label of a column."""
    frame = pd.DataFrame({"by 0": [1, 2, 2, 1], "c": [1, 1, 2, 2], "x": [1, 2, 3, 4]})
    frame["times of rows"] = frame["key 0 of groups"] = frame.x
    frame["t"] = pd.date_range("2020", periods=4, freq="6h")
    equal(NAMED[name](md.DataFrame(frame, chunk_size=2)), NAMED[name](frame))


def test_the_group_without_a_key():
    """It is there only with dropna=False."""
    frame = pd.DataFrame({"k": [1, np.nan, 1], "x": [1, 2, 3]})
    lazy = md.DataFrame(frame, chunk_size=2)
    for by, name in (("k", np.nan), (["k", "x"], (np.nan, 2))):
        with pytest.raises(KeyError):
            lazy.groupby(by).get_group(name)
        equal(
            lazy.groupby(by, dropna=False).get_group(name),
            frame.groupby(by, dropna=False).get_group(name),
        )


#: Columns of which pandas aggregates the whole groups only.
OF_WHOLE_GROUPS = {
    "times": pd.date_range("2020", periods=5),
    "times of a zone": pd.date_range("2020", periods=5, tz="UTC"),
    "times in seconds": pd.date_range("2020", periods=5).astype("M8[s]"),
    "durations": pd.to_timedelta([1, 2, None, 4, 9], unit="s"),
    "periods": pd.period_range("2020", periods=5),
    "complex numbers": [1j, 2, 3, 4, 5],
    "objects": np.array([1, 2, 3, 4, 5], object),
    "texts among objects": np.array([1.5, None, "a", 2, 3], object),
    "sparse numbers": pd.arrays.SparseArray([1.0, 2, 3, 4, 5]),
    "masked numbers": pd.array([1, 2, None, 4, 5], dtype="Int8"),
}


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
@pytest.mark.parametrize("name", OF_WHOLE_GROUPS)
def test_means_and_deviations_of_any_type(name, mode):
    """They are pandas's, or its errors."""
    frame = pd.DataFrame({"k": [1, 2, 1, 2, 1], "v": OF_WHOLE_GROUPS[name]})
    lazy = md.DataFrame(frame, chunk_size=2)
    for how in ("mean", "var", "std"):
        with planned(mode):
            try:
                wanted = getattr(frame.groupby("k"), how)()
            except (TypeError, ValueError) as error:
                with pytest.raises(type(error)):
                    getattr(lazy.groupby("k"), how)().compute()
            else:
                equal(getattr(lazy.groupby("k"), how)(), wanted)


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
def test_columns_of_one_label(mode):
    """Columns may have one label: each is aggregated."""
    frame = pd.DataFrame([[1, 1, 4], [2, 2, 5], [1, 3, 6]], columns=["k", "x", "x"])
    for call in (
        lambda f: f.groupby("k").sum(),
        lambda f: f.groupby("k")["x"].mean(),
        lambda f: f.groupby("k", sort=False).agg(["sum"]),
        lambda f: f.groupby("k", as_index=False).size(),
    ):
        with planned(mode):
            equal(call(md.DataFrame(frame, chunk_size=2)), call(frame))


AGGREGATED_KEYS = {
    "chosen": lambda f: f.groupby("k", as_index=False)[["k", "x"]].sum(),
    "one of two": lambda f: f.groupby(["k", "c"], as_index=False)[["x", "k"]].max(),
    "by a dict": lambda f: f.groupby("k", as_index=False).agg({"k": "count", "x": "sum"}),
    "by lists": lambda f: f.groupby("k", as_index=False).agg({"k": ["count"], "x": ["sum"]}),
    "named like it": lambda f: f.groupby("k", as_index=False).agg(k=("x", "sum")),
    "a column": lambda f: f.groupby("k", as_index=False)["k"].sum(),
    "sizes": lambda f: f.groupby("k")[["x", "c"]].agg("size"),
    "grouped again": lambda f: _sums(f).groupby("k").sum(),
    "joined": lambda f: _sums(f).merge(f, on="k", how="left"),
}


def _sums(frame):
    """Return sums of the keys of groups, which the labels below the new ones are called as, too."""
    return frame.groupby("k", as_index=False)[["k"]].sum()


@pytest.mark.parametrize("name", AGGREGATED_KEYS)
def test_aggregated_keys(name):
    """A key that is aggregated itself is no column beside that."""
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "c": list("aaba"), "x": [1.0, 2, 3, 4]})
    equal(AGGREGATED_KEYS[name](md.DataFrame(frame, chunk_size=3)), AGGREGATED_KEYS[name](frame))


#: What groups, bins and windows make of a series.
OF_SERIES: dict[str, Any] = {
    **{name: methodcaller(name) for name in {*AGGREGATES, "median"} - {"any", "all"}},
    **{name: methodcaller(name) for name in ("nunique", "sem", "ohlc")},
    "a list": lambda g: g.agg(["sum", "max"]),
    "named": lambda g: g.agg(low="min", high="max"),
    "a function": lambda g: g.agg(np.ptp),
    "the name that a function sees": lambda g: g.agg(lambda values: str(values.name)),
    "transform": lambda g: g.transform("sum"),
    "apply": lambda g: g.apply(len),
    "quantile": lambda g: g.quantile(0.3),
}
OF_GROUPS: dict[str, Any] = {
    **OF_SERIES,
    **{
        name: methodcaller(name)
        for name in (
            *(
                "any",
                "all",
                "skew",
                "idxmax",
                "idxmin",
                "describe",
                "value_counts",
                "nlargest",
                "unique",
            ),
            *("cumsum", "cummax", "cumcount", "rank", "shift", "diff", "ffill", "ngroup", "head"),
        )
    },
    "quantiles": lambda g: g.quantile([0.1, 0.5]),
    "rows": lambda g: g.apply(lambda values: values.iloc[:1]),
    "filter": lambda g: g.filter(lambda values: len(values) > 1),
    "rolling": lambda g: g.rolling(2).sum(),
    "expanding": lambda g: g.expanding().max(),
    "ewm": lambda g: g.ewm(com=1).mean(),
}


#: Names of series that are no label of one column.
NAMES = (None, ("a", "b"), 0)
GROUPED: dict[str, Any] = {
    "groups": lambda s: s.groupby([1, 2, 1, 2, 1, 1]),
    "bins": lambda s: s.resample("2D"),
    "groups of bins": lambda s: s.groupby(pd.Grouper(freq="2D")),
}


@pytest.mark.parametrize("how", GROUPED)
def test_names_of_series(how, frame_mode):
    """Results have the name of the series; each call has each mode and each name, in turn."""
    rows = pd.Series([3.0, 1, 2, 2, 5, 1], pd.date_range("2024-01-01", periods=6))
    turn = list(MODES_OF_FRAMES).index(frame_mode)
    for number, call in enumerate((OF_GROUPS if how == "groups" else OF_SERIES).values()):
        rows.name = NAMES[(number + turn) % len(NAMES)]
        lazy = md.Series(rows, chunk_size=2)
        found, wanted = (call(GROUPED[how](one)) for one in (lazy, rows))
        equal(found, wanted, check_freq=how != "groups")
        assert found.node.meta.index.names == wanted.index.names


def _fails(values):
    raise TypeError(f"{type(values).__name__} in a function of the user")


def _as_given(values, some=0):
    return values


#: Calls that pandas refuses, by the type of the error and words of it.
WRONG_CALLS: dict[str, tuple[Any, type[Exception], str]] = {
    "no keys": (lambda d: d.groupby([]), ValueError, "No group keys passed"),
    "equal labels": (lambda d: d.groupby("b"), ValueError, "not 1-dimensional"),
    "equal labels in a list": (lambda d: d.groupby(["a", "b"]), ValueError, "not 1-dimensional"),
    "no level": (lambda d: d.groupby(level=1), ValueError, "only valid with MultiIndex"),
    "other level": (lambda d: d.groupby(level="z"), ValueError, "not the name of the index"),
    "levels": (lambda d: d.groupby(level=[0, 1]), ValueError, "only valid with MultiIndex"),
    "a tuple": (lambda d: d.groupby("a")["c", "d"], ValueError, "Use a list instead"),
    "chosen twice": (lambda d: d.groupby("a")[["c", "d"]]["c"], IndexError, "already selected"),
    "chosen again": (lambda d: d.groupby("a")["c"]["c"], IndexError, "already selected"),
    "size of rows": (lambda d: d.groupby("a").agg("size", axis=1), ValueError, "axis=1"),
    "agg": (lambda d: d.groupby("a").c.agg(_fails), TypeError, "of the user"),
    "agg of a list": (lambda d: d.groupby("a").c.agg([_fails]), TypeError, "of the user"),
    "agg of other arguments": (
        lambda d: d.groupby("a").c.agg([_as_given], other=1),
        TypeError,
        "unexpected keyword argument 'other'",
    ),
    "transform": (lambda d: d.groupby("a").c.transform(_fails), TypeError, "of the user"),
    "apply": (lambda d: d.groupby("a").apply(_fails), TypeError, "of the user"),
    "keys": (lambda d: d.groupby(lambda label: label + "x"), TypeError, "unsupported operand"),
    "nested": (
        lambda d: d.groupby("a").agg({"c": {"x": "sum"}}),
        pd.errors.SpecificationError,
        "nested renamer",
    ),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_errors_are_those_of_pandas(name):
    """At the call; what a function raises has its own type."""
    call, error, words = WRONG_CALLS[name]
    frame = pd.DataFrame([[1, 2, 3, 4, 5]] * 3, columns=["a", "b", "b", "c", "d"])
    for d in (frame, md.DataFrame(frame, chunk_size=2)):
        with pytest.raises(error, match=words):
            call(d)


#: Groups by columns whose labels are numbers, such as the positions of other levels.
BY_NUMBERS: dict[str, Any] = {
    "size": lambda d: d.groupby([1, 2], as_index=False).size(),
    "counts": lambda d: d.groupby([1, 2], as_index=False)[3].value_counts(),
    "sum": lambda d: d.groupby([2, 1]).sum().reset_index(),
    "a method by its name": lambda d: d.groupby(2).apply("var", ddof=0),
    "a key of its columns": lambda d: (e := d.set_axis([1, 2, 3, 1], axis=1)).groupby(e[2]).max(),
    "its column": lambda d: d.groupby(d[1]).sum(),
    "an array": lambda d: d.groupby(np.arange(5) % 2).max(),
}


@pytest.mark.parametrize("name", BY_NUMBERS)
def test_labels_that_are_numbers(name):
    """Levels are not told by them where positions are meant."""
    frame = pd.DataFrame({1: [3, 3, 4, 4, 3], 2: [1, 2, 1, 1, 1], 3: [1, 2, 1, 1, 2], 0: 5})
    equal(BY_NUMBERS[name](md.DataFrame(frame, chunk_size=2)), BY_NUMBERS[name](frame))


def test_levels_of_numbers_beside_a_key():
    """Column labels of several levels keep their types."""
    columns = pd.MultiIndex.from_arrays([[1, 1, 2], [3, 4, 3]], names=["a", "b"])
    frame = pd.DataFrame(np.arange(12).reshape(4, 3), columns=columns)
    lazy = md.DataFrame(frame, chunk_size=3)
    for call in (lambda g: g.sum(), lambda g: g.agg(np.ptp)):
        found = call(lazy.groupby(np.array([0, 1, 0, 0])))
        equal(found, call(frame.groupby(np.array([0, 1, 0, 0]))))


@pytest.mark.parametrize("name", ["sum", "min", "first", "mean", "std", "median", "count", "any"])
def test_groups_without_columns(name):
    """The keys alone are a result."""
    frame = pd.DataFrame({"a": list("abssbab")})
    equal(
        getattr(md.DataFrame(frame, chunk_size=3).groupby("a"), name)(),
        getattr(frame.groupby("a"), name)(),
    )


@pytest.mark.parametrize("name", ["min", "max", "first", "last"])
def test_objects_stay_objects(name):
    """Columns of a frame do; one alone is inferred, as in pandas."""
    frame = pd.DataFrame({"a": pd.date_range("2000", periods=4), "b": 3}).astype(object)
    keys = np.array([0, 0, 1, 1])
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(getattr(lazy.groupby(keys), name)(), getattr(frame.groupby(keys), name)())


def test_a_group_of_times_is_in_their_order():
    """As pandas sorts the rows of bins."""
    times = pd.to_datetime(["2013-09-30", "2013-10-01", "2013-09-01", "2013-09-02"])
    frame = pd.DataFrame({"t": times, "x": range(4)})
    month = pd.Grouper(freq="ME", key="t")
    name = pd.Timestamp("2013-09-30")
    found = md.DataFrame(frame, chunk_size=2).groupby(month).get_group(name)
    equal(found, frame.groupby(month).get_group(name))


def test_distinct_values_are_declared_as_objects():
    """Each group has an array."""
    lazy = md.DataFrame(pd.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]})).groupby("k").x.unique()
    assert lazy.dtype == lazy.compute().dtype == object


@pytest.mark.parametrize("name", ["corr", "cov"])
def test_pairs_with_another_object(name):
    """A lazy object is no argument of a call of pandas in each group."""
    lazy = md.DataFrame(pd.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]}))
    with pytest.raises(NotImplementedError, match=r"apply\(\)"):
        getattr(lazy.groupby("k").x, name)(lazy.x)


def _above(rows: Any, least: int, *, factor: int) -> Any:
    return (rows * factor > least).sum()


#: Calls of groups of a small frame, whose first column has tuples.
OF_SMALL_GROUPS: dict[str, Any] = {
    "what is grouped": lambda d: d.groupby("k").obj,
    "a column that is grouped": lambda d: d.groupby("k").u.obj,
    "columns of what is grouped": lambda d: d.groupby("k")[["u"]].obj,
    "groups of a series without a name": lambda d: dict(
        iter(d.u.rename(None).groupby([1, 2, 1, None]))
    )[1.0],
    "groups of tuples": lambda d: dict(iter(d.groupby("p")))[1, 2],
    "groups of tuples in a list": lambda d: dict(iter(d.groupby(["p"])))[((1, 2),)],
    "groups of tuples of a function": lambda d: dict(iter(d.groupby(lambda x: (x % 2, "a"))))[
        0, "a"
    ],
    "group of a tuple": lambda d: d.groupby("p").get_group((1,)),
    "group of a tuple in a list": lambda d: d.groupby(["p"]).get_group(((1, 2),)),
    "named function with arguments": lambda d: d.groupby("k").agg(
        x=pd.NamedAgg("u", _above, 3, factor=2), y=pd.NamedAgg("u", "sum")
    ),
    "named function of all rows": lambda d: d[["u"]].agg(x=pd.NamedAgg("u", _above, 3, factor=2)),
    "named transform": lambda d: d.groupby("k").transform(x=pd.NamedAgg("u", "sum"), y=("u", _top)),
    "rows without keys as labels": lambda d: d.groupby(
        [d.k, d.u.rename(None)], group_keys=False
    ).apply(lambda rows: rows.iloc[:1]),
}


def _top(rows: Any) -> Any:
    return rows.max()


@pytest.mark.parametrize("name", OF_SMALL_GROUPS)
def test_calls_of_groups_equal_pandas(name):
    """Attributes, named functions and groups of tuples, whatever the names."""
    frame = pd.DataFrame({"p": [(1,), (1, 2), (1,), (3, 4)], "k": list("xyxy"), "u": [3, 1, 2, 5]})
    equal(OF_SMALL_GROUPS[name](md.DataFrame(frame, chunk_size=3)), OF_SMALL_GROUPS[name](frame))


def test_rows_at_positions_are_items_too():
    """``nth[0]`` is ``nth(0)``."""
    frame = table(12)
    lazy = md.DataFrame(frame, chunk_size=5).groupby("k")
    equal(lazy.nth[0, -1], frame.groupby("k").nth((0, -1)))
    equal(lazy.u.nth[1:], frame.groupby("k").u.nth(slice(1, None)))


def test_a_transform_of_a_column_needs_a_function():
    """As in pandas, whose error it is."""
    groups = md.DataFrame(table(4), chunk_size=2).groupby("k").u
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'func'"):
        groups.transform()


@pytest.mark.parametrize("key", [("a", "x"), ("a", "x", "z"), ("a", "q")])
@pytest.mark.parametrize("columns", [[("a", "x"), ("a", "y")], ["a", "x"]])
def test_a_tuple_chooses_no_columns(columns, key):
    """Not even the one of that label, as in pandas; a list of it does."""
    frame = pd.DataFrame([[1, 2], [3, 4]])
    frame.columns = pd.Index(columns)
    for rows in (frame, md.DataFrame(frame)):
        with pytest.raises(ValueError, match="Cannot subset columns with a tuple"):
            rows.groupby(columns[0])[key]


#: Types of keys that a sample of rows has to have.
KEY_TYPES: dict[str, Any] = {
    "arrow": pd.ArrowDtype(pa.string()),
    "arrow, bytes": pd.ArrowDtype(pa.binary()),
    "string": pd.StringDtype(),
    "object": np.dtype(object),
    "category": pd.CategoricalDtype(["a", "b"]),
}


@pytest.mark.parametrize("name", KEY_TYPES)
def test_functions_of_groups_by_type_of_key(name):
    """What a function returns is found from a sample that has groups."""
    raw = pd.DataFrame({"a": [1, 2, 1], "b": ["a", "b", "a"]}).astype({"b": KEY_TYPES[name]})
    lazy = md.DataFrame(raw, chunk_size=2)
    for func in (
        lambda rows: rows.a.sum(),
        lambda rows: rows,
        lambda rows: rows.a.head(1),
        lambda rows: rows[["a"]].sum(),
    ):
        expected = raw.groupby("b", observed=True).apply(func)
        equal(lazy.groupby("b", observed=True).apply(func), expected)


@pytest.mark.parametrize("least", [0, 3])
def test_lists_of_truth_values_are_masks(least: int) -> None:
    """Labels that are truth values are chosen by themselves, as in pandas."""
    frame = pd.DataFrame({False: [1.0, 2, 3], True: [1, 1, 2]})
    lazy = md.DataFrame(frame, chunk_size=2)
    for rows in (frame, lazy):
        with pytest.raises(ValueError, match="Item wrong length 1 instead of 3"):
            rows.groupby(True)[[False]].sum(min_count=least)
    wanted = frame.groupby(True)[False].sum(min_count=least)
    equal(lazy.groupby(True)[False].sum(min_count=least), wanted)
    with pytest.raises(NotImplementedError, match="mask"):
        lazy.groupby(True)[[False, True, True]]
