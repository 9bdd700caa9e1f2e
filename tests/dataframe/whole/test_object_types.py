"""Methods whose way depends on a type look at the rows where only these tell it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.collection import Collection
from marsdask.dataframe.nodes import dtypes
from marsdask.dataframe.whole.object_types import with_known_types
from tests.dataframe import one_mode

_coalesce = one_mode.as_given

DAYS = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04", "2024-01-06"]), name="t")
VALUES = {
    "times": DAYS,
    "lengths": pd.Series(pd.to_timedelta([3, 1, 2, 5], unit="D"), name="t"),
    "integers": pd.Series([3, 1, 2, 5], name="t"),
    "floats": pd.Series([3, 1, None, 5.5], name="t"),
    "texts": pd.Series(["c", "a", "b", "d"], name="t"),
}
KEYS = pd.Series([0, 1, 0, 1], name="k")

#: What declares objects where no value is replaced.
MAKERS: dict[str, Callable[[Any], Any]] = {
    "where": lambda t: t.where(t.notna() | t.isna(), _other(t)),
    "mask": lambda t: t.mask(t.isna() & t.notna(), _other(t)),
    "combine_first": lambda t: t.combine_first(_of(t, pd.Series([_other(t)] * 4, name="t"))),
    "clip": lambda t: t.clip(upper=_of(t, DAYS).max()),
}


def _other(t: Any) -> Any:
    return -3 if str(t.dtype) == "str" else "x"


def _of(like: Any, rows: Any) -> Any:
    """Return rows of the library that another object is of."""
    return rows if isinstance(like, pd.Series) else md.Series(rows)


def _frame(t: Any) -> Any:
    return t.to_frame().assign(k=_of(t, KEYS), x=1.5)


def _timed(t: Any) -> Any:
    return _frame(t).set_index("t").x


def _groups(t: Any) -> Any:
    return t.groupby(_of(t, KEYS))


def _library(t: Any) -> Any:
    return pd if isinstance(t, pd.Series) else md


#: Methods of columns of any type.
CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda t, name=name: getattr(t, name)()  # type: ignore[misc]
        for name in ("mean", "median", "std", "sem", "skew", "kurt", "quantile", "describe")
    },
    "agg": lambda t: t.agg(["min", "median"]),
    "agg of a name": lambda t: t.agg("mean"),
    "apply of a name": lambda t: t.apply("mean"),
    "quantiles": lambda t: t.quantile([0.2, 0.5]),
    "mean of columns": lambda t: t.to_frame().mean(),
    "std of columns": lambda t: t.to_frame().std(),
    "sum of columns": lambda t: t.to_frame().sum(),
    "max of columns": lambda t: t.to_frame().max(),
    "skew of columns": lambda t: t.to_frame().skew(),
    "median of numbers": lambda t: _frame(t).median(numeric_only=True),
    "agg of columns": lambda t: t.to_frame().agg({"t": ["median", "min"]}),
    "description of columns": lambda t: t.to_frame().describe(),
    "columns of a type": lambda t: t.to_frame().select_dtypes(["datetime", "number"]),
    "largest": lambda t: t.nlargest(2),
    "rows of the least": lambda t: t.to_frame().nsmallest(2, "t"),
    "interpolate": lambda t: t.interpolate(),
    "correlation": lambda t: t.to_frame().corrwith(t.to_frame()),
    "columns as rows": lambda t: _frame(t).melt("k"),
    "infer_objects": lambda t: t.infer_objects(),
    "quantiles as bins": lambda t: _library(t).qcut(t, 2),
    "quantile of groups": lambda t: _groups(t).quantile(),
    "sums so far of groups": lambda t: _groups(t).cumsum(),
    "largest so far of groups": lambda t: _groups(t).cummax(),
    "transform of groups": lambda t: _groups(t).transform("cummin"),
    "largest of groups": lambda t: _groups(t).nlargest(1),
    "means of groups": lambda t: _frame(t).groupby("k").mean(numeric_only=True),
}

#: Methods of rows that times label.
BY_TIME: dict[str, Callable[[Any], Any]] = {
    "rolling": lambda t: _timed(t).rolling("2D").sum(),
    "rolling on": lambda t: _frame(t)[["t", "x"]].rolling("2D", on="t").sum(),
    "between_time": lambda t: _timed(t).between_time("00:00", "01:00"),
    "at_time": lambda t: _timed(t).at_time("01:00"),
    "asfreq": lambda t: _timed(t).asfreq("12h"),
    "to_period": lambda t: _timed(t).to_period("D"),
    "shift": lambda t: _timed(t).shift(freq="D"),
    "loc of a month": lambda t: _timed(t).loc["2024-01"],
    "loc of days": lambda t: _timed(t).loc["2024-01-02":"2024-01-04"],
    "item": lambda t: _timed(t)["2024-01"],
    "field of labels": lambda t: _timed(t).index.year,
    "field of an index": lambda t: _library(t).Index(t).day,
    "mean of labels": lambda t: _library(t).Index(t).mean(),
    "zone of labels": lambda t: _library(t).Index(t).tz_localize(None),
    "position": lambda t: _timed(t).index.slice_indexer("2024-01-02"),
    "bins": lambda t: _frame(t).groupby(pd.Grouper(key="t", freq="2D")).x.sum(),
    "bins of labels": lambda t: _timed(t).groupby(pd.Grouper(freq="2D")).sum(),
    "bins of groups": lambda t: _frame(t).set_index("t").groupby("k").x.resample("2D").sum(),
    "quantiles of bins": lambda t: (
        t.to_frame("v").assign(w=_of(t, DAYS)).resample("3D", on="w").v.quantile()
    ),
}


def _outcome(call: Callable[[Any], Any], t: Any) -> Any:
    """Return what a call returns, or the type of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call(t)
            return result.compute() if isinstance(result, Collection) else result
        except Exception as error:  # noqa: BLE001 - it is compared
            return type(error)


def _check(call: Callable[[Any], Any], make: Callable[[Any], Any], values: Any) -> None:
    theirs = _outcome(lambda t: call(make(t)), values)
    ours = _outcome(lambda t: call(make(t)), md.Series(values, chunk_size=2))
    if ours is NotImplementedError:  # as for values whose type is known
        assert _outcome(call, md.Series(values, chunk_size=2)) is ours
    elif isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs, check_freq=False)
    elif isinstance(theirs, pd.Series):
        pd.testing.assert_series_equal(ours, theirs, check_freq=False)
    elif isinstance(theirs, pd.Index):
        pd.testing.assert_index_equal(ours, theirs)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, nan_ok=True)
    elif isinstance(theirs, type):
        assert isinstance(ours, type)
    else:
        assert type(ours) is type(theirs)
        assert ours == theirs


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", CALLS)
def test_a_method_by_types_is_that_of_the_values(name: str, values: str) -> None:
    """No value is replaced, so all keep their type, which declares objects."""
    _check(CALLS[name], MAKERS["where"], VALUES[values])


@pytest.mark.parametrize("name", BY_TIME)
def test_a_method_by_labels_is_that_of_the_labels(name: str) -> None:
    """The rows tell that declared objects are times."""
    _check(BY_TIME[name], MAKERS["where"], DAYS)


@pytest.mark.parametrize("name", ["mean", "quantile", "largest", "sums so far of groups"])
def test_times_of_a_zone(name: str) -> None:
    """They are times, too."""
    _check(CALLS[name], MAKERS["where"], DAYS.dt.tz_localize("UTC"))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", ["mean", "describe", "quantile of groups"])
def test_each_method_that_declares_objects(name: str, maker: str) -> None:
    """It does not matter which one leaves the types to the rows."""
    _check(CALLS[name], MAKERS[maker], VALUES["times"])


def test_objects_stay_objects() -> None:
    """Replaced values are objects; a mean of numbers among them is one of objects."""
    rows = pd.Series([3, 1, 2, 5], name="t")
    for other in ("x", 2**70):
        make = lambda t, other=other: t.where(t < 5, other)
        for name in ("mean", "describe", "mean of columns", "max of columns"):
            _check(CALLS[name], make, rows)


def test_rows_are_computed_only_where_a_type_is_open() -> None:
    """Known types, and methods that have one way for all, cost nothing at the call."""

    def calls(rows: Any) -> Any:
        raise AssertionError(rows)

    lazy = md.Series(DAYS, chunk_size=2).map_partitions(calls, meta=DAYS.iloc[:0])
    open_types = lazy.where(lazy.notna(), "x")
    for t in (open_types.max(), open_types.count(), open_types.isna(), lazy.nlargest(2)):
        assert t.node is not None
    with pytest.raises(AssertionError):
        open_types.mean()
    objects = md.Series([1, "x"], dtype=object)
    assert with_known_types(objects) is objects


def test_the_type_of_nunique() -> None:
    """It is NumPy's, as of all counts."""
    t = md.Series(DAYS, chunk_size=2)
    assert isinstance(t.where(t.notna(), "x").nunique().compute(), np.integer)


def test_sums_of_large_sources_are_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As objects they are the same numbers."""
    monkeypatch.setattr(dtypes, "SMALL_SOURCES", 16)
    lazy = md.DataFrame({"a": [1, 2, 3]}, chunk_size=1).map_partitions(lambda rows: rows)
    rows = lazy.where(lazy.notna(), "x")
    with mock.patch.object(md.DataFrame, "persist", side_effect=AssertionError):
        total = rows.sum()
    assert total.compute().tolist() == [6]
