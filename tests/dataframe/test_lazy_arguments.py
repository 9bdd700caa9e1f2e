"""What users give in lists: iterators are read once, and lazy values are found anywhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.arguments import WithValues, returning_values
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3, 1],
        "b": [4.0, np.nan, 6.0, 8.0],
        "s": ["x", "y", None, "x"],
        "t": pd.to_datetime(["2021-01-01", "2021-01-02", "2021-01-03", "2021-01-05"]),
    }
)
TRUTH = [True, False, True, False]
ROWS = [9, 8, 7, 6]
TIMES = [FRAME["t"][1], FRAME["t"][2]]


def module(frame: Any) -> Any:
    """Return pandas for its frames, and our functions for ours."""
    return pd if isinstance(frame, pd.DataFrame) else md


def change(frame: Any, write: Callable[[Any], Any]) -> Any:
    """Return a copy that was written to."""
    other = frame.copy()
    write(other)
    return other


def by_levels(frame: Any) -> Any:
    """Return the rows under labels of two levels."""
    return frame.set_index(["a", "t"])


def categories(frame: Any) -> Any:
    """Return the functions of categories."""
    return frame.s.astype("category").cat


def increased(value: Any, by: Any) -> Any:
    """Add a number."""
    return value + by


#: Calls with a list, and the list.
LISTS: dict[str, tuple[Callable[[Any, Any], Any], list[Any]]] = {
    "frame[]": (lambda f, v: f[v], ["a", "s"]),
    "frame[mask]": (lambda f, v: f[v], TRUTH),
    "loc[:, ]": (lambda f, v: f.loc[:, v], ["a", "s"]),
    "loc[]": (lambda f, v: f.loc[v], [1, 3]),
    "loc[mask]": (lambda f, v: f.loc[v], TRUTH),
    "iloc[]": (lambda f, v: f.iloc[v], [1, 3]),
    "iloc[mask]": (lambda f, v: f.iloc[v], TRUTH),
    "iloc[:, ]": (lambda f, v: f.iloc[:, v], [0, 2]),
    "series[]": (lambda f, v: f.a[v], [1, 3]),
    "series.loc[]": (lambda f, v: f.a.loc[v], [1, 3]),
    "isin of numbers": (lambda f, v: f.a.isin(v), [1, 3]),
    "isin of times": (lambda f, v: f.t.isin(v), TIMES),
    "isin of texts": (lambda f, v: f.s.isin(v), ["x", "q"]),
    "frame.isin": (lambda f, v: f[["a", "b"]].isin(v), [1, 6]),
    "frame.isin(dict)": (lambda f, v: f[["a", "b"]].isin({"a": v}), [1, 6]),
    "index.isin": (lambda f, v: f.index.isin(v), [1, 3]),
    "drop(columns=)": (lambda f, v: f.drop(columns=v), ["a", "s"]),
    "drop": (lambda f, v: f.drop(v), [1, 3]),
    "drop(index=)": (lambda f, v: f.drop(index=v), [1, 3]),
    "series.drop": (lambda f, v: f.a.drop(v), [1, 3]),
    "index.drop": (lambda f, v: f.index.drop(v), [1, 3]),
    "reindex": (lambda f, v: f.reindex(v), [1, 3, 7]),
    "reindex(columns=)": (lambda f, v: f.reindex(columns=v), ["a", "z"]),
    "filter": (lambda f, v: f.filter(items=v), ["a", "s"]),
    "set_axis": (lambda f, v: f.set_axis(v), ROWS),
    "set_axis(axis=1)": (lambda f, v: f.set_axis(v, axis=1), list("wxyz")),
    "columns =": (lambda f, v: change(f, lambda o: setattr(o, "columns", v)), list("wxyz")),
    "assign": (lambda f, v: f.assign(n=v), ROWS),
    "insert": (lambda f, v: change(f, lambda o: o.insert(0, "n", v)), ROWS),
    "frame[list] =": (lambda f, v: change(f, lambda o: o.__setitem__(["a", "b"], v)), [9, 8]),
    "loc[:, a] =": (
        lambda f, v: change(f, lambda o: o.loc.__setitem__((slice(None), "a"), v)),
        ROWS,
    ),
    "iloc[list] =": (lambda f, v: change(f, lambda o: o.iloc.__setitem__(([0, 2], 0), v)), [9, 8]),
    "iloc[v] =": (lambda f, v: change(f, lambda o: o.iloc.__setitem__((v, 0), 7)), [1, 2]),
    "loc[v] =": (lambda f, v: change(f, lambda o: o.loc.__setitem__((v, "a"), 7)), [1, 2]),
    "dropna": (lambda f, v: f.dropna(subset=v), ["b", "s"]),
    "drop_duplicates": (lambda f, v: f.drop_duplicates(subset=v), ["a", "s"]),
    "duplicated": (lambda f, v: f.duplicated(subset=v), ["a", "s"]),
    "sort_values": (lambda f, v: f.sort_values(v), ["a", "b"]),
    "sort_values(ascending=)": (
        lambda f, v: f.sort_values(["a", "b"], ascending=v),
        [True, False],
    ),
    "groupby": (lambda f, v: f[["a", "b", "s"]].groupby(v).size(), ["a", "s"]),
    "groupby of rows": (lambda f, v: f.b.groupby(v).sum(), [1, 2, 3, 4]),
    "groupby()[]": (lambda f, v: f.groupby("a")[v].count(), ["b", "s"]),
    "groupby().agg": (lambda f, v: f.groupby("a").b.agg(v), ["sum", "max"]),
    "groupby().nth": (lambda f, v: f.groupby("a").nth(v), [0, 1]),
    "groupby().quantile": (lambda f, v: f.groupby("a").b.quantile(v), [0.2, 0.5]),
    "series.agg": (lambda f, v: f.b.agg(v), ["sum", "max"]),
    "frame.agg": (lambda f, v: f[["a", "b"]].agg(v), ["sum", "max"]),
    "frame.agg(dict)": (lambda f, v: f.agg({"a": v}), ["sum", "max"]),
    "set_index": (lambda f, v: f.set_index(v), ["a", "s"]),
    "nlargest": (lambda f, v: f.nlargest(2, v), ["a", "b"]),
    "quantile": (lambda f, v: f.b.quantile(v), [0.2, 0.5]),
    "frame.quantile": (lambda f, v: f[["a", "b"]].quantile(v), [0.2, 0.5]),
    "describe": (lambda f, v: f.b.describe(percentiles=v), [0.2, 0.5]),
    "describe(include=)": (lambda f, v: f.describe(include=v), ["float64"]),
    "select_dtypes": (lambda f, v: f.select_dtypes(v), ["int64"]),
    "melt": (lambda f, v: f.melt(id_vars=v, value_vars=["b"]), ["a", "s"]),
    "melt(value_vars=)": (lambda f, v: f.melt(id_vars="s", value_vars=v), ["a", "b"]),
    "explode": (lambda f, v: f.explode(v), ["a"]),
    "take": (lambda f, v: f.take(v), [1, 3]),
    "searchsorted": (lambda f, v: f.t.searchsorted(v), TIMES),
    "clip": (lambda f, v: f.a.clip(v, 3), [2, 3, 1, 0]),
    "where": (lambda f, v: f.a.where(v, 0), TRUTH),
    "where(other)": (lambda f, v: f.a.where(f.a > 1, v), ROWS),
    "mask": (lambda f, v: f.a.mask(v, 0), TRUTH),
    "replace": (lambda f, v: f.a.replace(v, 0), [1, 3]),
    "replace by": (lambda f, v: f.a.replace([1, 3], v), [7, 8]),
    "+": (lambda f, v: f.a + v, ROWS),
    "add": (lambda f, v: f.a.add(v), ROWS),
    "==": (lambda f, v: f.a == v, [1, 8, 9, 2]),
    "case_when": (lambda f, v: f.a.case_when([(f.a > 1, v)]), ROWS),
    "str.cat": (lambda f, v: f.s.str.cat(v), list("abcd")),
    "str.repeat": (lambda f, v: f.s.str.repeat(v), [3, 2, 1, 0]),
    "pivot_table": (
        lambda f, v: f.pivot_table(index="a", values=v, aggfunc="sum"),
        ["b"],
    ),
    "merge": (lambda f, v: f.merge(f, on=v), ["a", "s"]),
    "merge(suffixes=)": (lambda f, v: f.merge(f, on="a", suffixes=v), ["_p", "_q"]),
    "value_counts": (lambda f, v: f.value_counts(subset=v), ["a"]),
    "cat.add_categories": (lambda f, v: categories(f).add_categories(v), ["q"]),
    "cat.set_categories": (lambda f, v: categories(f).set_categories(v), ["x", "q"]),
    "cat.rename_categories": (lambda f, v: categories(f).rename_categories(v), ["q", "r"]),
    "droplevel": (lambda f, v: by_levels(f).droplevel(v), ["t"]),
    "reorder_levels": (lambda f, v: by_levels(f).reorder_levels(v), ["t", "a"]),
    "rename_axis": (lambda f, v: by_levels(f).rename_axis(v), ["p", "q"]),
    "set_names": (lambda f, v: by_levels(f).index.set_names(v), ["p", "q"]),
    "get_indexer": (lambda f, v: f.index.get_indexer(v), [1, 3]),
    "index.union": (lambda f, v: f.index.union(v), [1, 9]),
    "index.difference": (lambda f, v: f.index.difference(v), [1, 9]),
    "index.intersection": (lambda f, v: f.index.intersection(v), [1, 9]),
    "index.where": (lambda f, v: f.index.where(v, 0), TRUTH),
    "index[]": (lambda f, v: f.index[v], [1, 2]),
    "Series": (lambda f, v: module(f).Series(v), [1, 9]),
    "Index": (lambda f, v: module(f).Index(v), [1, 9]),
    "DataFrame": (lambda f, v: module(f).DataFrame({"q": v}), [1, 9]),
    "Series(index=)": (lambda f, v: module(f).Series([1, 2], index=v), [1, 9]),
    "DataFrame(columns=)": (lambda f, v: module(f).DataFrame([[1, 2]], columns=v), ["p", "q"]),
    "cut": (lambda f, v: module(f).cut(f.b, v), [1, 5, 9]),
    "cut(labels=)": (lambda f, v: module(f).cut(f.b, [1, 5, 9], labels=v), ["p", "q"]),
    "qcut": (lambda f, v: module(f).qcut(f.b, v), [0, 0.5, 1]),
    "get_dummies": (lambda f, v: module(f).get_dummies(f, columns=v), ["s"]),
    "concat(keys=)": (lambda f, v: module(f).concat([f, f], keys=v), ["p", "q"]),
}

#: Calls with scalars, and these.
SCALARS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "shift": (lambda f, n: f.a.shift(n), (1,)),
    "head": (lambda f, n: f.a.head(n), (2,)),
    "nlargest": (lambda f, n: f.a.nlargest(n), (2,)),
    "rolling": (lambda f, n: f.a.rolling(n).sum(), (2,)),
    "diff": (lambda f, n: f.a.diff(n), (2,)),
    "pct_change": (lambda f, n: f.a.pct_change(n), (2,)),
    "var": (lambda f, n: f.b.var(ddof=n), (0,)),
    "sum": (lambda f, n: f.b.sum(min_count=n), (2,)),
    "quantile": (lambda f, n: f.b.quantile(n), (0.2,)),
    "sample": (lambda f, n: f.sample(n, random_state=1), (2,)),
    "truncate": (lambda f, n, m: f.truncate(n, m), (1, 2)),
    "loc[:]": (lambda f, n, m: f.loc[n:m], (1, 2)),
    "iloc[:]": (lambda f, n, m: f.iloc[n:m], (1, 2)),
    "frame[:]": (lambda f, n, m: f[n:m], (1, 2)),
    "at": (lambda f, n: f.at[n, "a"], (1,)),
    "iat": (lambda f, n: f.iat[n, 0], (1,)),
    "get": (lambda f, n: f.a.get(n), (1,)),
    "between": (lambda f, n, m: f.a.between(n, m), (1, 2)),
    "clip": (lambda f, n, m: f.a.clip(n, m), (1, 2)),
    "fillna": (lambda f, n: f.b.fillna(n), (1.0,)),
    "fillna(dict)": (lambda f, n: f.fillna({"b": n}), (7.0,)),
    "where": (lambda f, n: f.a.where(f.a > 1, n), (7,)),
    "replace": (lambda f, n, m: f.a.replace(n, m), (1, 2)),
    "replace(dict)": (lambda f, n, m: f.a.replace({1: n, 3: m}), (7, 8)),
    "map(dict)": (lambda f, n, m: f.a.map({1: n, 3: m}), (7, 8)),
    "assign": (lambda f, n: f.assign(n=n), (1,)),
    "loc[1] =": (lambda f, n: change(f, lambda o: o.loc.__setitem__((1, "a"), n)), (9,)),
    "loc[n] =": (lambda f, n: change(f, lambda o: o.loc.__setitem__((n, "a"), 5)), (1,)),
    "iloc[n] =": (lambda f, n: change(f, lambda o: o.iloc.__setitem__((n, 0), 5)), (1,)),
    "at[n] =": (lambda f, n, m: change(f, lambda o: o.at.__setitem__((n, "a"), m)), (1, 2)),
    "*": (lambda f, n: f.a * n, (3,)),
    "pow": (lambda f, n: f.a.pow(n), (3,)),
    "reindex(fill_value=)": (lambda f, n: f.a.reindex([0, 9], fill_value=n), (3,)),
    "round": (lambda f, n: f.b.round(n), (1,)),
    "repeat": (lambda f, n: f.a.repeat(n), (2,)),
    "str.pad": (lambda f, n: f.s.str.pad(n), (3,)),
    "str[]": (lambda f, n: f.s.str[n], (0,)),
    "str[:]": (lambda f, n, m: f.s.str[n:m], (0, 2)),
    "str.repeat": (lambda f, n: f.s.str.repeat(n), (3,)),
    "str.startswith": (lambda f, n: f.s.str.startswith((n,)), ("x",)),
    "asof": (lambda f, n: f.set_index("t").b.asof(n), (TIMES[1],)),
    "get_group": (lambda f, n: f.groupby("a").get_group(n), (1,)),
    "groupby().head": (lambda f, n: f.groupby("a").head(n), (1,)),
    "groupby().shift": (lambda f, n: f.groupby("a").b.shift(n), (1,)),
    "apply": (lambda f, n: f.b.apply(increased, args=(n,)), (1,)),
    "get_loc": (lambda f, n: f.index.get_loc(n), (1,)),
    "index.insert": (lambda f, n: f.index.insert(1, n), (9,)),
    "rename": (lambda f, n: f.rename(columns={"a": n}), ("z",)),
    "add_prefix": (lambda f, n: f.add_prefix(n), ("q",)),
    "isna": (lambda f, n: module(f).isna(n), (1,)),
    "notna": (lambda f, n: module(f).notna(n), (np.nan,)),
}

#: What is read once, or shows a dict.
READ_ONCE: dict[str, Callable[[list[Any]], Any]] = {
    "generator": lambda v: (item for item in v),
    "iterator": iter,
    "map": lambda v: map(v.__getitem__, range(len(v))),
    "filter": lambda v: filter(lambda item: True, v),
    "keys": lambda v: dict.fromkeys(v).keys(),
    "values": lambda v: dict(enumerate(v)).values(),
}


def lazy(value: Any) -> Any:
    """Return a lazy scalar."""
    return md.Series([value]).iloc[0]


#: Lists with lazy values, lazy rows in place of lists, and values of NumPy.
LAZY: dict[str, Callable[[list[Any]], Any]] = {
    "all items": lambda v: [lazy(item) for item in v],
    "one item": lambda v: [lazy(v[0]), *v[1:]],
    "series": md.Series,
    "index": md.Index,
    "tensor": lambda v: mt.tensor(np.array(v)),
    "scalars of NumPy": lambda v: [
        item if isinstance(item, pd.Timestamp) else np.asarray(item)[()] for item in v
    ],
}


def computed(value: Any) -> Any:
    """Return a result in memory."""
    return value.compute() if hasattr(value, "compute") else value


def result(call: Callable[..., Any], *args: Any) -> Any:
    """Return a result in memory, or the error that a call raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return computed(call(*args))
    except Exception as error:  # noqa: BLE001 - whatever a call raises is its result
        return error


def check(found: Any, wanted: Any) -> None:
    """Check that values, types and labels are equal."""
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted, check_freq=False)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted, check_freq=False)
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(found, wanted, exact="equiv")
    else:
        np.testing.assert_array_equal(found, wanted)


#: Calls whose iterators are lists here, and some of these that pandas refuses: they have no
#: length, or are no masks.
REFUSED = {
    **dict.fromkeys(("frame[mask]", "index[]", "groupby()[]", "groupby().agg"), "generator"),
    **dict.fromkeys(("assign", "loc[:, a] =", "iloc[list] =", "frame[list] ="), "generator"),
    **dict.fromkeys(("case_when", "index.where", "str.repeat", "set_index"), "generator"),
    **dict.fromkeys(("loc[mask]", "iloc[mask]", "iloc[]", "iloc[:, ]", "iloc[v] ="), "keys"),
    **dict.fromkeys(("str.cat", "merge(suffixes=)"), "keys"),
}
#: Calls whose iterators are lists here, where pandas finds them empty at a second look, or compares
#: the iterator itself.
EMPTY = ("frame.isin", "groupby().nth", "cat.add_categories", "get_dummies", "==")


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", LISTS)
def test_iterators(name: str) -> None:
    """What can be read only once gives what it gives in pandas, its error or a result.

    Some calls take a list in its place.
    """
    call, values = LISTS[name]
    frame = md.DataFrame(FRAME, chunk_size=3)
    for kind, given in READ_ONCE.items():
        if kind == "keys" and len(set(values)) < len(values):
            continue
        wanted = result(call, FRAME, given(values))
        returned = result(call, frame, given(values))
        if isinstance(wanted, Exception) and isinstance(returned, type(wanted) | TypeError):
            continue
        if name in REFUSED or name in EMPTY:
            wanted = call(FRAME, values)
        assert not isinstance(returned, Exception), (kind, wanted)
        check(returned, wanted)


@pytest.mark.parametrize("name", [*REFUSED, *EMPTY])
def test_lists_in_place_of_iterators_where_pandas_takes_none(name: str) -> None:
    """These calls raise in pandas, or their result is not that of a list."""
    call, values = LISTS[name]
    given = READ_ONCE[REFUSED.get(name, "generator")]
    wanted = result(call, FRAME, given(values))
    if name in REFUSED:
        assert isinstance(wanted, Exception)
        return
    with pytest.raises(AssertionError):
        check(wanted, call(FRAME, values))


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("kind", LAZY)
@pytest.mark.parametrize("name", LISTS)
def test_lazy_values_in_place_of_plain_ones(name: str, kind: str) -> None:
    """Lazy values give what their values give, or are refused by the name of the function."""
    call, values = LISTS[name]
    frame = md.DataFrame(FRAME, chunk_size=3)
    try:
        found = computed(call(frame, LAZY[kind](values)))
    except NotImplementedError:
        return
    except (KeyError, ValueError) as error:
        # Arrays are keys of rows here, as in pandas, and a series is a mask.
        assert (name, kind) in {  # noqa: PT017 - which calls raise is the claim
            ("groupby", "tensor"),
            ("set_index", "tensor"),
            ("frame[]", "series"),
            ("loc[:, ]", "series"),
        }, error
        return
    named = kind == "series" and name in {"+", "add", "=="}  # of rows without a name
    wanted = call(FRAME, values)
    check(found, wanted.rename(None) if named else wanted)


@pytest.mark.parametrize("name", SCALARS)
def test_lazy_scalars(name: str) -> None:
    """A lazy scalar as an argument gives what its value gives."""
    call, values = SCALARS[name]
    frame = md.DataFrame(FRAME, chunk_size=3)
    check(computed(call(frame, *map(lazy, values))), call(FRAME, *values))


NOT_ITERABLE: dict[str, Callable[[Any], Any]] = {
    "str": lambda f: f.s.str,
    "dt": lambda f: f.t.dt,
    "cat": categories,
    "index.str": lambda f: f.s.fillna("").set_axis(list("abcd")).index.str,
}
NOT_ITERATED: dict[str, Callable[[Any], Any]] = {
    "rolling": lambda f: f.a.rolling(2),
    "expanding": lambda f: f.a.expanding(),
    "ewm": lambda f: f.a.ewm(1),
    "resample": lambda f: f.set_index("t").a.resample("D"),
    "groupby().rolling": lambda f: f.groupby("a").b.rolling(2),
    "groupby().expanding": lambda f: f.groupby("a").b.expanding(),
    "groupby().ewm": lambda f: f.groupby("a").b.ewm(1),
    "groupby().resample": lambda f: f.set_index("t").groupby("a").b.resample("D"),
}


@pytest.mark.parametrize("name", NOT_ITERABLE)
def test_accessors_are_not_iterable(name: str) -> None:
    """As in pandas; iteration by position would never end."""
    with pytest.raises(TypeError, match="not iterable"):
        iter(NOT_ITERABLE[name](md.DataFrame(FRAME)))


@pytest.mark.parametrize("name", NOT_ITERATED)
def test_iteration_over_windows_is_refused(name: str) -> None:
    """The message names what makes the windows."""
    with pytest.raises(NotImplementedError, match=name.rpartition(".")[2]):
        iter(NOT_ITERATED[name](md.DataFrame(FRAME)))


#: Calls with a series whose labels, or whose name, tell more than its values.
LABELLED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "agg": (lambda f, v: f[["a", "b"]].agg(v), pd.Series({"a": "sum", "b": "mean"})),
    "series.agg": (lambda f, v: f.a.agg(v), pd.Series({"x": "sum", "y": "mean"})),
    "transform": (lambda f, v: f.transform(v), pd.Series({"a": "cumsum", "b": np.abs})),
    "groupby.agg": (lambda f, v: f[["a", "b"]].groupby("a").agg(v), pd.Series({"b": "mean"})),
    "rolling.agg": (lambda f, v: f.rolling(2).agg(v), pd.Series({"a": "sum", "b": "mean"})),
    "resample.agg": (
        lambda f, v: f.set_index("t").resample("2D").agg(v),
        pd.Series({"a": "sum", "b": "mean"}),
    ),
    "reindex": (lambda f, v: f.reindex(columns=v), pd.Series(["a", "z"], name="new")),
    "reindex(axis=)": (lambda f, v: f.reindex(v, axis=1), pd.Series(["a", "z"], name="new")),
}


@pytest.mark.parametrize("name", LABELLED)
def test_labelled_arguments(name: str) -> None:
    """A series stands for a dict of functions, or gives its name to labels, lazy or not."""
    call, series = LABELLED[name]
    wanted = call(FRAME, series)
    check = pd.testing.assert_frame_equal if wanted.ndim == 2 else pd.testing.assert_series_equal
    for argument in (series, md.Series(series, chunk_size=1)):
        found = call(md.DataFrame(FRAME, chunk_size=2), argument).compute()
        check(found, wanted, check_freq=False)


NUMBERS = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [2, 1, 4, 4]})


def _share(top: Any, value: Any) -> Any:
    return value / top


def _by_days(frame: Any) -> Any:
    days = pd.date_range("2024-01-01", periods=4, freq="12h")
    return frame.set_axis(days, axis=0).a.resample("D")


#: Calls of a function that captures the frame.
CAPTURING: dict[str, Callable[[Any], Any]] = {
    "a method": lambda d: d.apply(d.a.corr),
    "a partial function": lambda d: d.a.map(partial(_share, d.a.max())),
    "map": lambda d: d.a.map(lambda value: value * d.a.loc[2]),
    "map of a frame": lambda d: d.map(lambda value: value / d.a.max()),
    "map of labels": lambda d: d.index.map(lambda label: d.loc[label, "a"]).to_series(),
    "apply of a column": lambda d: d.a.apply(lambda value: d.a.sum() - value),
    "apply of rows": lambda d: d.apply(lambda row: row.a + d.b.max(), axis=1),
    "apply of columns": lambda d: d.apply(lambda column: column.max() / d.a.max()),
    "agg": lambda d: d.agg(lambda column: column.max() / d.a.max()),
    "agg of a list": lambda d: d.agg(["sum", lambda column: column.max() / d.a.max()]),
    "agg of a dict": lambda d: d.agg({"a": lambda column: column.max() / d.a.max(), "b": "sum"}),
    "combine": lambda d: d.a.combine(d.b, lambda left, right: left + right + d.a.max()),
    "transform": lambda d: d.transform(lambda column: column / d.a.max()),
    "rename": lambda d: d.rename(index=lambda label: d.loc[label, "a"]),
    "labels of groups": lambda d: d.groupby(lambda label: d.loc[label, "b"]).sum(),
    "agg of groups": lambda d: d.groupby("b").agg(lambda rows: rows.max() / d.a.max()),
    "named agg of groups": lambda d: d.groupby("b").agg(x=("a", lambda rows: d.a.max())),
    "apply of groups": lambda d: d.groupby("b").a.apply(lambda rows: rows.max() / d.a.max()),
    "transform of groups": lambda d: d.groupby("b").a.transform(lambda rows: d.a.max()),
    "filter of groups": lambda d: d.groupby("b").filter(lambda rows: rows.a.max() == d.a.max()),
    "agg of bins": lambda d: _by_days(d).agg(lambda rows: rows.max() / d.a.sum()),
}


@pytest.mark.parametrize("call", CAPTURING)
def test_what_functions_return_is_computed(call: str) -> None:
    """The results are numbers, and not objects that are lazy."""
    with option_context({"coalesce": False}):
        result = CAPTURING[call](md.DataFrame(NUMBERS, chunk_size=3))
        equal(result, CAPTURING[call](NUMBERS))


def test_other_functions_stay() -> None:
    """Only functions that have lazy objects are called in another way."""
    lazy = md.Series([1.0, 2.0])

    def inner(value: Any) -> Any:
        return value + lazy.max()

    assert returning_values(np.sum) is np.sum
    assert returning_values(lazy) is lazy
    assert isinstance(returning_values(lambda value: -inner(value)), WithValues)
    functions = returning_values({"a": [inner, "sum"]})
    assert functions["a"][0](1.0) == 3.0
    assert functions["a"][1] == "sum"
    # What is called with lazy objects returns such.
    assert isinstance(functions["a"][0](lazy), md.Series)
