"""Calls of the public methods of frames, on columns whose first rows or chunks mislead.

A call takes an object ``s`` (or ``f``) and ``v``, a value that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

Call = Callable[[Any, Any], Any]
NAN = np.nan
TIMES: Any = [None, *("2024-01-31T00:00", "2024-02-29T12:00", "2024-01-31T00:00"), None]
TIMES += ["2023-12-31T00:00"]

#: Columns of six rows: the first ones are missing, or of another kind than the others.
COLUMNS: dict[str, Any] = {
    "ints": np.array([0, 0, 3, 1, -2, 3]),
    "small ints": np.array([0, 0, 3, 1, 100, 120], "u1"),
    "floats": np.array([NAN, NAN, 1.5, -2.0, 0.5, 1.5]),
    "short floats": np.array([NAN, 16777217.0, 1.5, -2.0, 0.1, 1.5], "f4"),
    "whole floats": np.array([1.0, 2.0, 1.0, NAN, 4.0, 2.5]),
    "bools": np.array([False, False, True, False, True, True]),
    "objects": pd.array([1, None, "a", NAN, 2.5, "a"], dtype=object),
    "object numbers": pd.array([None, NAN, 2, 1.5, 1, True], dtype=object),
    "object ints": pd.array([3, 1, 2, 2, 2**70, 0], dtype=object),
    "object bools": pd.array([True, False, None, True, NAN, False], dtype=object),
    "object texts": pd.array([None, NAN, "b", "a", None, "b"], dtype=object),
    "texts": pd.array([None, "b", "a", "", "b", None], dtype="str"),
    "strings": pd.array([None, "b", "a", "", "b", None], dtype="string"),
    "categories": pd.Categorical([None, "b", "b", "a", "b", None], ["c", "b", "a"]),
    "ordered": pd.Categorical(["b", None, "b", "a", "b", None], ["c", "b", "a"], ordered=True),
    "times": pd.array(pd.to_datetime(TIMES)),
    "zoned": pd.array(pd.to_datetime(TIMES).tz_localize("Europe/Berlin")),
    "durations": pd.array(pd.to_timedelta([None, "1D", "2h", "1D", None, "-3s"])),
    "periods": pd.array(pd.PeriodIndex(["NaT", "2024-01", "2024-02", "2024-01", "NaT"], freq="M")),
    "masked ints": pd.array([None, None, 3, 1, -2, 3], dtype="Int64"),
    "masked bools": pd.array([None, True, None, False, True, True], dtype="boolean"),
    "masked floats": pd.array([None, 1.0, None, 2.5, 1.0, 3.0], dtype="Float64"),
}
COLUMNS["periods"] = COLUMNS["periods"].take([0, 1, 2, 3, 4, 1])
#: Kinds of columns of which a method is not called, and why.
NOT_CALLED: dict[tuple[str, str], str] = {
    ("pow", "object ints"): "powers of such integers take all memory",
    ("rpow", "object ints"): "powers of such integers take all memory",
    ("explode", "categories"): "pandas makes categories of lists, which it cannot join",
    ("explode", "ordered"): "pandas makes categories of lists, which it cannot join",
    ("is_monotonic_increasing", "objects"): "a chunk may raise for values that do not compare",
    ("is_monotonic_decreasing", "objects"): "a chunk may raise for values that do not compare",
    ("is_monotonic_increasing", "object bools"): "a chunk may raise for None",
    ("is_monotonic_decreasing", "object bools"): "a chunk may raise for None",
    ("map", "masked ints"): "pandas makes floats of a mapping with gaps",
    ("map", "masked bools"): "pandas makes floats of a mapping with gaps",
}
#: Methods that differ from pandas in one chunk too, and how: chunks are compared with one.
OTHER_THAN_PANDAS: dict[str, str] = {
    "agg": "huge integers among several statistics are floats",
    "autocorr": "objects are refused",
    "corr": "objects are refused",
    "cov": "objects are refused",
    "divmod": "objects are divided where pandas raises",
    "dot": "what is missing is left out",
    "is_sparse": "of no Series of pandas",
    "issparse": "of no Series of pandas",
    "quantile": "categories with an order are refused",
    "rdivmod": "objects are divided where pandas raises",
    "unique": "an array of NumPy",
    "values": "an array of NumPy",
}
#: Chunks of one row, and empty ones in front of them, among them and behind them.
SIZES = (0, 1, 1, 0, 1, 1, 1, 1, 0)
#: Methods of objects whose labels are times.
OF_TIMES = {
    *("asfreq", "asof", "at_time", "between_time", "to_period", "to_timestamp", "truncate"),
    *("tz_convert", "tz_localize"),
}
LABELS = pd.Index(list("qprtsu"), name="lab")
TIME_LABELS = pd.date_range("2024-01-30 06:00", periods=6, freq="17h", name="when")


def _by_two(name: str, s: Any, v: Any) -> Any:
    del v
    return getattr(s, name)(2)


def _by_value(name: str, s: Any, v: Any) -> Any:
    return getattr(s, name)(v)


def _operators(*names: str) -> dict[str, list[Call]]:
    return {name: [partial(_by_two, name), partial(_by_value, name)] for name in names}


def _updated(s: Any, v: Any) -> Any:
    copy = s.copy()
    copy.update(s.shift(1))
    return copy


#: The calls of methods of columns that need arguments, or for which several calls tell more.
OF_SERIES: dict[str, list[Call]] = {
    **_operators("add", "sub", "subtract", "mul", "multiply", "div", "divide", "truediv"),
    **_operators("floordiv", "mod", "pow", "radd", "rsub", "rmul", "rdiv", "rtruediv"),
    **_operators("rfloordiv", "rmod", "rpow", "divmod", "rdivmod"),
    **_operators("eq", "ne", "lt", "le", "gt", "ge"),
    "add_prefix": [lambda s, v: s.add_prefix("p")],
    "add_suffix": [lambda s, v: s.add_suffix("p")],
    "agg": [lambda s, v: s.agg(["min", "max", "count"])],
    "aggregate": [lambda s, v: s.aggregate(["nunique", "count"])],
    "align": [lambda s, v: s.align(s)],
    "apply": [
        lambda s, v: s.apply(lambda x: x),
        lambda s, v: s.apply(str),
        lambda s, v: s.apply(lambda x: None if x == v else x),
    ],
    "asfreq": [lambda s, v: s.asfreq("12h")],
    "asof": [lambda s, v: s.asof(s.index[2])],
    "astype": [lambda s, v: s.astype("str"), lambda s, v: s.astype(object)],
    "at_time": [lambda s, v: s.at_time("06:00")],
    "between": [lambda s, v: s.between(v, v)],
    "between_time": [lambda s, v: s.between_time("00:00", "12:00")],
    "case_when": [lambda s, v: s.case_when([(s == v, v)])],
    "clip": [lambda s, v: s.clip(lower=v)],
    "combine": [lambda s, v: s.combine(s, lambda a, b: a)],
    "combine_first": [lambda s, v: s.combine_first(s)],
    "compare": [lambda s, v: s.compare(s.shift(1), keep_shape=True)],
    "corr": [lambda s, v: s.corr(s)],
    "cov": [lambda s, v: s.cov(s)],
    "diff": [lambda s, v: s.diff(), lambda s, v: s.diff(-2)],
    "dot": [lambda s, v: s.dot(s)],
    "drop": [lambda s, v: s.drop(s.index[1])],
    "drop_duplicates": [lambda s, v: s.drop_duplicates(keep="last")],
    "duplicated": [lambda s, v: s.duplicated(keep=False)],
    "equals": [lambda s, v: s.equals(s)],
    "explode": [lambda s, v: s.explode(), lambda s, v: s.map(lambda x: [x]).explode()],
    "factorize": [lambda s, v: s.factorize()],
    "fillna": [lambda s, v: s.fillna(v)],
    "filter": [lambda s, v: s.filter([s.index[1]])],
    "get": [lambda s, v: s.get(s.index[1])],
    "iloc": [lambda s, v: s.iloc[[0, 3]], lambda s, v: s.iloc[3]],
    "isin": [lambda s, v: s.isin([v]), lambda s, v: s.isin([None])],
    "item": [lambda s, v: s[s == v].head(1).item()],
    "items": [lambda s, v: list(s.items())],
    "loc": [lambda s, v: s.loc[s == v], lambda s, v: s.loc[[s.index[3]]]],
    "map": [
        lambda s, v: s.map(lambda x: x),
        lambda s, v: s.map({v: "z"}),
        lambda s, v: s.map(lambda x: 1 if x == v else None),
        lambda s, v: s.map(str, na_action="ignore"),
    ],
    "mask": [lambda s, v: s.mask(s == v), lambda s, v: s.mask(s.isna(), v)],
    "mode": [lambda s, v: s.mode(dropna=False)],
    "nlargest": [lambda s, v: s.nlargest(2)],
    "nsmallest": [lambda s, v: s.nsmallest(2)],
    "pop": [lambda s, v: s.copy().pop(s.index[1])],
    "quantile": [lambda s, v: s.quantile([0.25, 0.75])],
    "reindex": [lambda s, v: s.reindex([s.index[2], "none"])],
    "reindex_like": [lambda s, v: s.reindex_like(s)],
    "rename": [lambda s, v: s.rename("z"), lambda s, v: s.rename({"q": "z"})],
    "rename_axis": [lambda s, v: s.rename_axis("z")],
    "reorder_levels": [lambda s, v: _leveled(s).reorder_levels([1, 0])],
    "droplevel": [lambda s, v: _leveled(s).droplevel(0)],
    "repeat": [lambda s, v: s.repeat(2)],
    "replace": [lambda s, v: s.replace(v, 1), lambda s, v: s.replace({v: "z"})],
    "searchsorted": [lambda s, v: s.dropna().sort_values().searchsorted(v)],
    "set_axis": [lambda s, v: s.set_axis(list("abcdef"))],
    "shift": [lambda s, v: s.shift(-2), lambda s, v: s.shift(1, fill_value=v)],
    "sort_values": [lambda s, v: s.sort_values(kind="stable", na_position="first")],
    "swaplevel": [lambda s, v: _leveled(s).swaplevel()],
    "take": [lambda s, v: s.take([3, 0])],
    "to_timestamp": [lambda s, v: s.to_period("D").to_timestamp()],
    "to_period": [lambda s, v: s.to_period("D")],
    "transform": [lambda s, v: s.transform("shift"), lambda s, v: s.transform(lambda x: x)],
    "truncate": [lambda s, v: s.truncate(s.index[1], s.index[4])],
    "tz_convert": [lambda s, v: s.tz_localize("UTC").tz_convert("Asia/Tokyo")],
    "tz_localize": [lambda s, v: s.tz_localize("UTC")],
    "unstack": [lambda s, v: _leveled(s).unstack()],
    "update": [_updated],
    "value_counts": [lambda s, v: s.value_counts(dropna=False, normalize=True)],
    "where": [lambda s, v: s.where(s == v), lambda s, v: s.where(s.notna(), None)],
    "xs": [lambda s, v: s.xs(s.index[0])],
}


def _leveled(s: Any) -> Any:
    return s.to_frame("n").assign(k=[1, 1, 2, 2, 3, 3]).set_index("k", append=True)["n"]


#: Methods that are not called, and why.
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        (
            *("chunk_shape", "chunks", "clear_divisions", "compute", "divisions", "execute"),
            *("explain", "fetch", "get_partition", "iterbatch", "known_divisions", "map_chunk"),
            *("map_overlap", "map_partitions", "memory_usage_per_partition", "node", "nsplits"),
            *("npartitions", "partitions", "persist", "random_split", "rebalance", "rechunk"),
            *("repartition", "sample", "shuffle", "to_delayed", "visualize"),
        ),
        "it shows chunks, or depends on them by contract",
    ),
    **dict.fromkeys(
        (
            *("to_bag", "to_clipboard", "to_cpu", "to_csv", "to_dask", "to_dask_array"),
            *("to_dask_dataframe", "to_excel", "to_hdf", "to_json", "to_latex", "to_markdown"),
            *(
                "to_object",
                "to_pickle",
                "to_sql",
                "to_string",
                "to_tensor",
                "to_xarray",
                "to_pandas",
            ),
            *("to_feather", "to_html", "to_orc", "to_parquet", "to_records", "to_stata", "to_xml"),
        ),
        "it writes, or converts what other calls compute",
    ),
    **dict.fromkeys(
        (
            *("at", "attrs", "axes", "copy", "dtype", "dtypes", "flags", "handles_ufuncs", "hist"),
            *("iat", "info", "memory_usage", "name", "nbytes", "ndim", "pipe", "plot", "set_flags"),
            *("boxplot", "from_dict", "from_records", "T", "narrows", "kind", "theirs", "size"),
        ),
        "it computes nothing from rows, or draws",
    ),
    **dict.fromkeys(("median_approximate", "nunique_approx"), "approximations depend on chunks"),
    **dict.fromkeys(
        ("str", "dt", "cat", "groupby", "rolling", "expanding", "ewm", "resample"),
        "their methods are called in tables of their own",
    ),
}
