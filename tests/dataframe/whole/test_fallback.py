"""What has no way by chunks is computed by pandas from all rows, with its values and errors."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.dataframe.whole import calls

FRAME = pd.DataFrame(
    {"k": ["x", "y", "x", "y"], "a": [3, 1, 2, 5], "f": [1.0, None, 4.0, 2.0]}, index=[4, 1, 7, 2]
)


def _timed(pd: Any, frame: Any) -> Any:
    return frame.set_index(pd.to_datetime(frame.a, unit="D"))


def _of_categories(frame: Any) -> Any:
    return frame.assign(k=frame.k.astype(pd.CategoricalDtype(["x", "y", "z"])))


def _assigned(frame: Any, change: Any) -> Any:
    change(frame)
    return frame


def _not_computed(rows: Any) -> Any:
    raise AssertionError(rows)


def _number(value: Any, most: int) -> Any:
    """Fail for values that the table has not, as a made-up row has."""
    if value not in ("x", "y") and not value <= most:
        raise ZeroDivisionError(value)
    return len(str(value))


def _file() -> io.StringIO:
    return io.StringIO("a,b\n1,x\n2,y\n3,z\n")


def _rows_of_file(pd: Any) -> list[Any]:
    with pd.read_csv(_file(), chunksize=2) as reader:
        return list(reader)


INTERVALS = pd.interval_range(0, 4)


def _of_levels(frame: Any) -> Any:
    return frame.sort_index().set_index("k", append=True)


#: Calls that our own methods refuse.
CALLS: dict[str, Any] = {
    "a method": lambda pd, d: d[["a", "f"]].corr("kendall"),
    "a method of a series": lambda pd, d: d.a.corr(d.f, "kendall"),
    "an operator": lambda pd, d: d.a + FRAME.a.iloc[:2],
    "an operand of other labels": lambda pd, d: (
        d.assign(n=d.a * 2).n + FRAME.a.set_axis([4, 1, 7, 9])
    ),
    "values as keys": lambda pd, d: d.merge(d, on=[np.array([1, 2, 1, 3])]),
    "a lazy argument": lambda pd, d: d.a.reindex(d.a[::-1].index + 1),
    "groups": lambda pd, d: d.groupby("k").filter(lambda rows: len(rows) > 1, dropna=False),
    "columns of groups": lambda pd, d: d.groupby("k")["a"].transform("sum", engine="cython"),
    "a column of groups": lambda pd, d: _timed(pd, d).groupby("k").a.shift(freq="D"),
    "windows": lambda pd, d: [len(rows) for rows in d.a.rolling(2)],
    "windows of groups": lambda pd, d: [len(rows) for rows in d.groupby("k").rolling(2)],
    "groups without rows": lambda pd, d: {
        key: list(labels)
        for key, labels in _of_categories(d).groupby("k", observed=False).groups.items()
    },
    "positions of groups": lambda pd, d: [
        list(places) for places in _of_categories(d).groupby("k", observed=False).indices.values()
    ],
    "rows at a position": lambda pd, d: d.groupby("k").nth(0, dropna="any"),
    "functions of weighted windows": lambda pd, d: d.a.rolling(2, win_type="gaussian").agg(
        [lambda rows: rows.mean(std=1), lambda rows: rows.sum(std=3)]
    ),
    "a function of groups": lambda pd, d: d.groupby("k").f.apply(
        lambda rows: _number(rows.name, 3)
    ),
    "a function of bins": lambda pd, d: (
        _timed(pd, d).f.resample("2D").agg(lambda rows: _number(rows.max(), 5))
    ),
    "a function of columns": lambda pd, d: d.agg(lambda column: _number(len(column), 4)),
    "a function of columns of groups": lambda pd, d: d.groupby("k").transform(
        lambda rows: rows * _number(len(rows), 2)
    ),
    "an attribute of an array": lambda pd, d: d.a.astype("Sparse[int]").array.npoints,
    "a name that we lack": lambda pd, d: d.index.sortlevel()[0].tolist(),
    "groups that we cannot make": lambda pd, d: d.groupby([FRAME.a > 2, "k"]).f.sum(),
    "an accessor": lambda pd, d: d.k.str.cat(FRAME.k.iloc[:2], na_rep="-"),
    "a function": lambda pd, d: pd.to_numeric(d.a, downcast="integer", dtype_backend="pyarrow"),
    "an item": lambda pd, d: _assigned(d, lambda d: d.__setitem__("z", FRAME.a.iloc[:2])),
    "a row that is not there": lambda pd, d: _assigned(d, lambda d: d.loc.__setitem__((9, "a"), 4)),
    "values as a key of a merge": lambda pd, d: d.merge(
        d[["a"]], left_on=FRAME.a.to_numpy(), right_on="a"
    ),
    "lazy values as a key of a merge": lambda pd, d: d.merge(d, on=["k", d.a % 2]),
    "values as a key of merge_asof": lambda pd, d: pd.merge_asof(
        d, pd.DataFrame({"a": [1, 3]}), left_on=np.arange(4), right_on="a"
    ),
    "values that a function of rows reads": lambda pd, d: d.assign(t="3").apply(
        lambda row: int(row["t"]) + row["a"], axis=1
    ),
    "texts that a function reads": lambda pd, d: d.a.astype(str).apply(int),
    "texts that a function transforms": lambda pd, d: d.a.astype(str).transform(int),
    "categories that a function reads": lambda pd, d: (
        d.a.astype(str).astype("category").map(int).astype(int)
    ),
    "a condition in memory": lambda _, d: d.a.filter(cond=[True, False, True, True]),
    "a parameter of a function that we lack": lambda pd, d: pd.concat(
        [d[["k"]].astype("category"), d[["k"]].astype("category").iloc[:1]], union_categories=True
    ),
    "an accessor that we lack": lambda pd, d: d.a.astype("Sparse[int]").sparse.density,
    "an array's method": lambda pd, d: d.k.astype("category").array.equals(
        FRAME.k.astype("category").array
    ),
    "some rows of a reader": lambda pd, d: pd.read_csv(_file(), iterator=True).get_chunk(2),
    "rows of a reader": lambda pd, d: pd.concat(_rows_of_file(pd), ignore_index=True),
    "slices of levels": lambda _, d: _of_levels(d).loc[(slice(2, 7), ["x"]), :],
    "slices of levels of rows": lambda _, d: _of_levels(d).loc(axis=0)[:, "y"],
    "levels beside columns": lambda _, d: _of_levels(d).loc[:, "y", :],
    "other levels as labels": lambda _, d: d.set_axis(
        d.set_index(["k", "f"]).index.set_levels(["p", "q"], level=0)
    ),
    "lists within intervals": lambda pd, d: (
        d.set_axis(pd.Index(INTERVALS)).loc[[3.5, 0.5]].reset_index()
    ),
    "a list as a cell": lambda _, d: _assigned(
        d.astype(object), lambda d: d.iloc.__setitem__((0, 1), [7, 8])
    ),
    "one item for several rows": lambda _, d: _assigned(
        d[["a"]], lambda d: d.iloc.__setitem__(([1, 2], 0), [9])
    ),
    "a dict for a row": lambda _, d: _assigned(
        d, lambda d: d.loc.__setitem__(4, {"f": 0.5, "k": "q", "a": 7})
    ),
    "an array for a mask": lambda _, d: _assigned(
        d, lambda d: d.loc.__setitem__((d.a > 2, "a"), d.a.values[:2])
    ),
    "an array for two columns": lambda _, d: _assigned(
        d[["a", "f", "f"]], lambda d: d.__setitem__("f", d[["a", "a"]].values)
    ),
    "values for no rows": lambda _, d: _assigned(
        d[["a"]].iloc[:0], lambda d: d.__setitem__("z", [1, 2])
    ),
    "a column for no rows": lambda _, d: _assigned(
        d[["a"]].iloc[:0], lambda d: d.loc.__setitem__((slice(None), "z"), [1, 2])
    ),
    "a condition with gaps": lambda _, d: d.filter(cond=d.f.convert_dtypes() > 1, na=True),
    "a distance for each label": lambda _, d: d.sort_index().reindex(
        [0, 3, 8], method="nearest", tolerance=[2, 0, 5]
    ),
    "a value for each row of one column": lambda _, d: d[["f"]].where(d[["f"]] > 1, [5, 6, 7, 8]),
    "indicators of a column without a name": lambda pd, d: pd.get_dummies(
        d[["k"]].set_axis([None], axis=1)
    ),
    "columns of one name in a table": lambda pd, d: d.set_axis(["k", "v", "v"], axis=1).pivot_table(
        index="k", values="v"
    ),
    "the name of the columns": lambda _, d: (
        d[["a", "f"]].iloc[:2].set_axis([4, 1], axis=1).rename_axis(columns="n").eval("n * 2")
    ),
    "tuples": lambda pd, d: d.align(FRAME.iloc[:2])[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_equal_to_pandas(name):
    """Values, types, labels and their order are pandas's."""
    expected = CALLS[name](pd, FRAME.copy())
    lazy = md.DataFrame(FRAME, chunk_size=2)
    with option_context({"dataframe.whole": "allow"}):
        result = CALLS[name](md, lazy)
    result = result.compute() if hasattr(result, "compute") else result
    if isinstance(expected, pd.DataFrame | pd.Series):
        assert isinstance(result, type(expected))
        assert result.equals(expected)  # type: ignore[arg-type]  # of one class
        assert result.index.equals(expected.index)
    else:
        assert result == expected


def test_an_assignment_changes_the_object_itself():
    """Other objects that were made of it before keep their values."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    before = lazy.a + 0
    with option_context({"dataframe.whole": "allow"}):
        lazy.loc[9, "a"] = 8
    assert lazy.a.compute().tolist() == [3, 1, 2, 5, 8]
    assert len(before) == 4


def test_groups_have_the_rows_of_the_call():
    """What is written to the frame later is not in its groups."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    groups = lazy.groupby("k")
    lazy["a"] = 0
    with option_context({"dataframe.whole": "allow"}):
        result = groups.filter(lambda rows: rows.a.sum() > 5, dropna=False)
    expected: Any = FRAME.groupby("k").filter(lambda rows: rows.a.sum() > 5, dropna=False)
    pd.testing.assert_frame_equal(result.compute(), expected)


def test_errors_are_those_of_pandas():
    """What pandas refuses too raises its error."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    with option_context({"dataframe.whole": "allow"}), pytest.raises(ValueError, match="method"):
        lazy.corr("nonsense", numeric_only=True)


def test_a_warning_names_the_function_once(monkeypatch):
    """It says what the function lacks, at the line of the user."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    monkeypatch.setattr(calls, "_warned", set())

    def windows() -> Any:
        with option_context({"dataframe.whole": "warn"}):
            return iter(lazy.a.rolling(2))

    with pytest.warns(
        pd.errors.PerformanceWarning, match=r"^pandas computes Rolling.__iter__"
    ) as said:
        windows()
    windows()  # warnings are errors
    (warning,) = said
    assert warning.filename == __file__


def test_what_is_refused():
    """With the option "error" the call raises, and says what would work."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    with option_context({"dataframe.whole": "error"}):
        with pytest.raises(NotImplementedError, match="use to_pandas"):
            iter(lazy.a.rolling(2))
        assert not hasattr(lazy.index, "sortlevel")


def test_what_pandas_does_not_have_is_refused():
    """Methods of Dask and Mars raise before anything is computed."""
    lazy = md.DataFrame(FRAME, chunk_size=2).map_partitions(_not_computed, meta=FRAME[:0])
    with option_context({"dataframe.whole": "allow"}), pytest.raises(NotImplementedError):
        lazy.rebalance(factor=3)


def test_rows_that_do_not_fit_are_refused_before_they_are_computed():
    """The error says why all rows are needed."""
    lazy = md.Series(mt.arange(10**12))
    with (
        option_context({"dataframe.whole": "allow"}),
        pytest.raises(MemoryError, match="GiB") as error,
    ):
        iter(lazy.rolling(2))
    (note,) = error.value.__notes__
    assert "to_pandas() before rolling()" in note


def test_scalars_are_lazy_where_those_by_chunks_are():
    """A program that computes a result runs whichever way it took."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    with option_context({"dataframe.whole": "allow"}):
        result = lazy.f.dot(FRAME.f.iloc[::-1])
    np.testing.assert_equal(result.compute(), FRAME.f.dot(FRAME.f.iloc[::-1]))


#: Objects whose text tells how they were made, and those that only name their class.
TEXTS: dict[str, tuple[Any, bool]] = {
    "resample": (lambda f: f.resample("2D"), True),
    "rolling": (lambda f: f.rolling("2D", center=True), True),
    "rolling column": (lambda f: f.a.rolling(2), True),
    "expanding": (lambda f: f.expanding(2), True),
    "ewm": (lambda f: f.ewm(2), True),
    "rolling groups": (lambda f: f.groupby("a").rolling(2), True),
    "groups": (lambda f: f.groupby("a"), False),
    "groups of lazy keys": (lambda f: f.groupby(f.a), False),
    "loc": (lambda f: f.loc, False),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str) -> None:
    """What pandas says of a window or of bins is said of lazy ones, too."""
    call, tells = TEXTS[name]
    frame = pd.DataFrame({"a": [1, 2]}, pd.date_range("2024", periods=2))
    found = str(call(md.DataFrame(frame, chunk_size=1)))
    assert found == str(call(frame)) if tells else "marsdask" in found


LABELS: dict[str, Any] = {
    "idxmin": lambda d: d.a.idxmin(),
    "idxmax": lambda d: d.a.idxmax(),
    "agg": lambda d: d.a.agg("idxmin"),
    "element": lambda d: d.index[1],
    "min": lambda d: d.index.min(),
    "max": lambda d: d.index.max(),
}


@pytest.mark.parametrize("call", LABELS.values(), ids=list(LABELS))
def test_labels_of_several_levels(call: Any) -> None:
    """They are tuples of values, which loc takes, and not of lazy scalars."""
    frame = FRAME.set_index("k", append=True)
    with option_context({"dataframe.whole": "allow"}):
        label = call(md.DataFrame(frame, chunk_size=2))
    expected = call(frame)
    assert label == expected
    assert list(map(type, label)) == list(map(type, expected))
