"""Columns may be called anything, names of pandas's own attributes among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.scheduler.base import describe
from tests.dataframe.tables import equal, planned

LABELS = [
    *("dtype", "shape", "index", "columns", "name", "chunks", "sum", "nbytes", "itemsize", "meta"),
    *("size", "loc", "values", 0, None, ("a", 1)),
]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "filter": lambda d, x: d[d[x] > 2],
    "assign": lambda d, x: d.assign(new=d[x] * 2),
    "group by it": lambda d, x: d.groupby(x)["v"].sum(),
    "group": lambda d, x: d.groupby("k").max(),
    "merge on it": lambda d, x: d.merge(d, on=x),
    "merge": lambda d, x: d.merge(d, on="k"),
    "sort": lambda d, x: d.sort_values(x),
    "reduce": lambda d, x: d.sum(),
    "rows": lambda d, x: d.iloc[1:4],
    "labels": lambda d, x: d.set_index(x).reset_index(),
    "rename": lambda d, x: d.rename(columns={x: "new"}),
    "ufunc": lambda d, x: np.sqrt(d),
}
#: What pandas takes for several labels, or for none.
REFUSED = {("merge on it", ("a", 1)), ("group by it", None)}


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_any_label_will_do(label):
    """Shown, verified after each pass, and computed as pandas does it."""
    columns = pd.Index(["k", "v", label], dtype=object, tupleize_cols=False)
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "v": [1.5, 2.5, 3.5, 4.5], 2: [5, 4, 3, 2]})
    frame = frame.set_axis(columns, axis=1)
    with marsdask.option_context({"verify": True}):
        for name, operation in OPERATIONS.items():
            if (name, label) in REFUSED:
                continue
            lazy = operation(md.DataFrame(frame, chunk_size=1), label)
            assert "\n" not in repr(lazy)
            assert "<table" in lazy._repr_html_()
            equal(lazy, operation(frame, label))


def test_a_single_column_of_groups_may_have_no_name():
    """``None`` is a label, and not all columns."""
    frame: Any = pd.DataFrame([[1, 2, 3], [1, 4, 5]]).set_axis(["k", "v", None], axis=1)
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.groupby("k")[None].sum(), frame.groupby("k")[None].sum())


def test_what_is_told_of_a_chunk_is_no_column():
    """The facts about a chunk travel to whoever asked: its data does not."""
    info = describe(pd.DataFrame({"dtype": [1.5], "shape": [2], "nbytes": [3]}))
    assert info.dtype is None
    assert info.shape == (1, 3)
    assert describe(np.zeros(3, "f4")).dtype == "f4"
    assert describe(pd.Series([1])).dtype == "int64"


@pytest.mark.parametrize("operation", ["filter", "isna", "head", "iloc", "concat", "count"])
def test_several_columns_of_one_label(operation):
    """What goes by row or by all columns takes them as they are."""
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3)).set_axis(["a", "b", "a"], axis=1)
    lazy = md.DataFrame(frame, chunk_size=3)
    functions: dict[str, Callable[[Any], Any]] = {
        "filter": lambda d: d[d["b"] > 2],
        "isna": lambda d: d.isna(),
        "head": lambda d: d.head(2),
        "iloc": lambda d: d.iloc[1:3],
        "concat": lambda d: (pd if d is frame else md).concat([d, d]),
        "count": lambda d: d.count(),
    }
    assert "\n" not in repr(lazy)
    equal(functions[operation](lazy), functions[operation](frame))


def test_labels_may_be_missing_or_tuples():
    """NaN is the same label after each pass; a tuple that is a label is one column."""
    nan = float("nan")
    with marsdask.option_context({"verify": True}):
        column = pd.Series([1, 1, 2], name=nan)
        lazy = md.Series(column, chunk_size=1)
        equal(lazy.to_frame(), column.to_frame())
        equal(lazy.reset_index(), column.reset_index())
        equal(lazy.value_counts(), column.value_counts())
        frame = pd.DataFrame([[1, 2], [1, 3], [2, 3]])
        frame.columns = pd.Index([("a", "b"), "c"], tupleize_cols=False)
        found = md.DataFrame(frame, chunk_size=1).drop_duplicates(("a", "b"))
        equal(found, frame.drop_duplicates(("a", "b")))


def _as_categories(values: Any) -> Any:
    return pd.Series(pd.Categorical(values))


#: Makers of columns of equal values, and types of which Dask's tokens are equal.
TYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "texts": (lambda t: pd.Series(["1", None, "3"], dtype=t), ("str", "string")),
    "floats": (lambda t: pd.Series([1.0, 2.0], dtype=t), ("Float64", "Sparse[float64]")),
    "fills": (
        lambda fill: pd.Series([1, 0, 3], dtype=pd.SparseDtype("int64", fill)),
        (0, 1),
    ),
    "categories": (lambda t: _as_categories(pd.Series(["a", "b"], dtype=t)), ("str", "string")),
    "labels": (lambda t: pd.Series([1, 2], pd.Index(["a", "b"], dtype=t)), ("str", "string")),
    "columns": (
        lambda t: pd.DataFrame([[1, 2]], columns=pd.Index(["a", "b"], dtype=t)),
        ("str", "string"),
    ),
    "levels": (
        lambda t: pd.Series([1], pd.MultiIndex.from_arrays([pd.Index(["a"], dtype=t), [1]])),
        ("str", "string"),
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_frames_that_differ_only_in_types(name: str) -> None:
    """They have other names: one does not get the rows of the other."""
    make, types = TYPES[name]
    first, second = (pd.DataFrame(make(one)) for one in types)
    kept = md.DataFrame(first).execute()
    equal(md.DataFrame(second), second)
    equal(kept, first)
    if name == "texts":
        equal(md.concat([kept, md.DataFrame(second)]), pd.concat([first, second]))


#: What uses levels by their positions, though their names are numbers, too.
NUMBERED: dict[str, Callable[[Any], Any]] = {
    "pivot": lambda f: f.pivot(index=1, columns=0, values="v"),
    "pivot to several levels": lambda f: f.pivot(index="v", columns=[1, 0], values=3),
    "pivot_table": lambda f: f.pivot_table(index=0, columns=1, values=3),
    "pivot_table of functions": lambda f: f.pivot_table(
        index=1, columns=0, values="v", aggfunc=["sum", "mean"]
    ),
    "pivot_table without rows": lambda f: f.pivot_table(columns=[1, 0], values=3),
    "unstack": lambda f: f.set_index([1, 0]).unstack(0),
    "unstack two": lambda f: f.set_index([1, 0, "v"]).unstack([0, 1]),
    "stack": lambda f: f.set_index([1, 0]).stack(),
    "groups by a level": lambda f: f.set_index([1, 0]).groupby(level=0).sum(),
    "values of groups": lambda f: f.set_index([1, 0]).groupby(level=1).v.cumsum(),
    "a label": lambda f: f.set_index([1, 0]).loc[(1, 7)],
    "a first level": lambda f: f.set_index([1, 0]).loc[1],
}


@pytest.mark.parametrize("mode", ["usual", "shuffled"])
@pytest.mark.parametrize("name", NUMBERED)
def test_levels_named_by_numbers(name: str, mode: str) -> None:
    """Numbers of levels are positions, where their names are other numbers."""
    frame = pd.DataFrame({1: [1, 1, 2, 2], 0: [7, 8, 7, 8], "v": [1, 2, 3, 4], 3: [1.0, 2, 3, 4]})
    call = NUMBERED[name]
    with planned(mode):
        equal(call(md.DataFrame(frame, chunk_size=1)), call(frame))


@pytest.mark.parametrize(
    "values",
    [pd.date_range("2020", periods=4), pd.timedelta_range("1s", periods=4), pd.RangeIndex(4)],
    ids=lambda values: str(values.dtype),
)
def test_labels_of_objects_stay_objects(values):
    """Where chunks are joined they are not taken for times or numbers again."""
    frame = pd.DataFrame({"v": range(4)}, index=values.astype(object))
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.index, frame.index)
    equal(lazy[lazy.v > 0], frame[frame.v > 0])


ONE_LEVEL: dict[str, Callable[[Any], Any]] = {
    "reset_index": lambda s: s.reset_index(name="n"),
    "sort_index": lambda s: s.sort_index().reset_index(),
    "groupby": lambda s: s.groupby(level=0).sum(),
    "query": lambda s: s.to_frame("n").query("k == 2"),
    "eval": lambda s: s.to_frame("n").eval("k == 2"),
    "pivot_table": lambda s: s.to_frame("n").pivot_table(index="k", values="n"),
    "droplevel": lambda s: s.rename_axis("other").index.get_level_values(0),
}


@pytest.mark.parametrize("name", ONE_LEVEL)
@pytest.mark.parametrize("values", [[2, 1, 2], [None, "a", "a"]], ids=["numbers", "objects"])
def test_tuples_of_one_label(name, values):
    """Numbers of equal rows of one column have such labels, as in pandas."""
    frame = pd.DataFrame({"k": pd.Series(values, dtype=type(values[-1]))})
    lazy = md.DataFrame(frame, chunk_size=2)
    operation = ONE_LEVEL[name]
    counts = frame.value_counts(sort=False, dropna=False)
    equal(operation(lazy.value_counts(sort=False, dropna=False)), operation(counts))


BY_FLAGS: dict[str, Callable[[Any, Any], Any]] = {
    "dropna": lambda pd, d: d.dropna(subset=[False]),
    "dropna of all": lambda pd, d: d.dropna(subset=[True, False], ignore_index=True),
    "nlargest": lambda pd, d: d.nlargest(2, True),
    "nsmallest": lambda pd, d: d.nsmallest(2, [False, True], keep="all"),
    "transform": lambda pd, d: d.groupby(True)[False].transform("sum"),
    "ngroup": lambda pd, d: d.groupby([True, False]).ngroup(),
    "apply": lambda pd, d: d.groupby(True).apply(len),
    "sums of 32 bits": lambda pd, d: d.astype("f4").groupby([True, False]).sum(),
    "concat": lambda pd, d: pd.concat([d, d], join="inner", sort=True),
    "lreshape": lambda pd, d: pd.lreshape(d, {"z": [True, False]}),
    "merge": lambda pd, d: d.merge(d, on=[True, False]),
    "drop_duplicates": lambda pd, d: d.drop_duplicates([True, False], keep=False),
    "cumsum": lambda pd, d: d.cumsum(numeric_only=True),
    "pivot_table": lambda pd, d: d.assign(v=1).pivot_table(
        index=True, columns=False, values="v", aggfunc="sum"
    ),
}


@pytest.mark.parametrize("name", BY_FLAGS)
def test_lists_of_truth_values_are_labels(name):
    """Where pandas does not take them for a mask."""
    frame = pd.DataFrame({True: [1, 2, 1, 2, 1], False: [3.0, np.nan, 3.0, 4.0, 5.0]})
    with marsdask.option_context({"coalesce": False}):
        result = BY_FLAGS[name](md, md.DataFrame(frame, chunk_size=2))
        equal(result, BY_FLAGS[name](pd, frame))


TYPED_LABELS = {
    "objects": pd.Index(["a", "k", "f"], dtype=object),
    "flags": pd.Index([True, False]),
    "categories": pd.CategoricalIndex(["a", "k", "f"]),
    "times": pd.DatetimeIndex(["2024-01-01", "2024-01-03", "2024-01-04"]),
    "numbers of 8 bits": pd.Index([1, 2, 3], dtype="i1"),
}
OF_TYPED_LABELS: dict[str, Callable[[Any, Any], Any]] = {
    "windows": lambda pd, d: d.rolling(2).agg(["sum", "max"]),
    "windows of one": lambda pd, d: d.iloc[:, 1:2].expanding(1).agg(["sum"]),
    "ewm": lambda pd, d: d.ewm(com=1).agg(["mean", "var"]),
    "keys beside": lambda pd, d: d.groupby(d.iloc[:, 1] + 0).agg(["sum", "max"]),
    "rows of keys beside": lambda pd, d: d.groupby(d.iloc[:, 1] + 0).shift(),
    "windows of keys beside": lambda pd, d: (
        d.iloc[:, ::-1].groupby(d.iloc[:, 1] * 2).rolling(2).sum()
    ),
    "level": lambda pd, d: d.groupby(level=0).describe(),
    "level of a transform": lambda pd, d: d.groupby(level=0).transform("sum"),
    "bins": lambda pd, d: d.set_index(pd.to_datetime(d.iloc[:, 1])).resample("D").sum(),
    "memory_usage": lambda pd, d: d.memory_usage(index=True),
}


@pytest.mark.parametrize("labels", TYPED_LABELS)
def test_labels_of_columns_keep_their_types(labels):
    """Also where columns of other labels are beside them for a while."""
    index = TYPED_LABELS[labels]
    frame = pd.DataFrame([[1.0, 1, 1.5], [2, 2, np.nan], [3, 1, 2]]).iloc[:, : len(index)]
    frame = frame.astype({1: "i8"}).set_axis(index, axis=1)
    for name, operation in OF_TYPED_LABELS.items():
        if (name, labels) != ("windows of keys beside", "flags"):  # a mask for pandas's windows
            equal(operation(md, md.DataFrame(frame, chunk_size=2)), operation(pd, frame))


def test_windows_of_columns_of_one_label_are_aggregated():
    """By their positions."""
    frame = pd.DataFrame([[1.0, 2], [3, 4]], columns=["a", "a"])
    lazy = md.DataFrame(frame, chunk_size=1).rolling(2).agg(["sum", "max"])
    equal(lazy, frame.rolling(2).agg(["sum", "max"]))


def test_keys_of_windows_hide_columns_of_their_names():
    """As in pandas, which keeps them in other aggregations."""
    frame = pd.DataFrame({"a": [1.0, 2, 3], "k": [1, 2, 1]})
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.groupby(lazy.k + 0).rolling(2).sum(), frame.groupby(frame.k + 0).rolling(2).sum())


@pytest.mark.parametrize("how", ["merge", "assign"])
def test_some_of_mixed_labels_have_the_type_of_all(how):
    """Though columns are not computed that nobody needs."""
    values, other = pd.Series([0, 1]), pd.DataFrame({"n": [1, 2], "m": [0, 1]})
    operation: Callable[[Any, Any], Any] = {
        "merge": lambda d, o: d.merge(o, left_index=True, right_on="m")[["n"]],
        "assign": lambda d, o: d.assign(n=1)[["n"]].fillna(0),
    }[how]
    lazy = operation(md.get_dummies(md.Series(values)), md.DataFrame(other))
    equal(lazy, operation(pd.get_dummies(values), other))
