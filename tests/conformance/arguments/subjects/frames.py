"""Methods of frames, series and their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.methods import methods

FRAME = pd.DataFrame(
    {"a": [3, 1, 2, 2, 5], "b": [1.5, np.nan, -2.25, 0.5, 8.0]},
    index=pd.Index(["r", "q", "v", "p", "s"], name="lab"),
)
LEVELS = FRAME.set_axis(
    pd.MultiIndex.from_arrays([list("uuvvw"), [2, 1, 2, 1, 2]], names=["k", "l"])
)
TIMES = pd.date_range("2024-01-30 22:00", periods=5, freq="9h", name="w")

#: The arguments that methods need.
NEEDED: dict[str, dict[str, Any]] = {
    **{
        name: {"other": 2}
        for stem in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        for name in (stem, f"r{stem}")
    },
    **{name: {"other": 2} for name in ("lt", "le", "gt", "ge", "eq", "ne", "div", "rdiv")},
    **{name: {"other": 2} for name in ("divide", "multiply", "subtract", "divmod", "rdivmod")},
    "agg": {"func": ["sum", "min"]},
    "aggregate": {"func": ["sum", "min"]},
    "apply": {"func": "sum"},
    "transform": {"func": "cumsum"},
    "map": {"func": abs},
    "Index.map": {"mapper": str.upper},
    "astype": {"dtype": "float64"},
    "Index.astype": {"dtype": "object"},
    "clip": {"lower": 1},
    "fillna": {"value": 0},
    "isin": {"values": [1, 2]},
    "query": {"expr": "a > 1"},
    "eval": {"expr": "a + b"},
    "nlargest": {"n": 2, "columns": "a"},
    "nsmallest": {"n": 2, "columns": "a"},
    "Series.nlargest": {"n": 2},
    "Series.nsmallest": {"n": 2},
    "rename": {"index": {"r": "R"}},
    "Index.rename": {"name": "m"},
    "rename_axis": {"index": "m"},
    "replace": {"to_replace": 2, "value": 9},
    "set_index": {"keys": "a"},
    "take": {"indices": [0, 2]},
    "xs": {"key": "r"},
    "Levels.xs": {"key": "u"},
    "droplevel": {"level": 0},
    "Index.droplevel": {},
    "add_prefix": {"prefix": "p"},
    "add_suffix": {"suffix": "s"},
    "drop": {"labels": ["r"]},
    "Index.drop": {"labels": ["r"]},
    "Levels.drop": {"labels": "u"},
    "filter": {"items": ["a"]},
    "Series.filter": {"items": ["r"]},
    "insert": {"loc": 1, "column": "z", "value": 7},
    "Index.insert": {"loc": 1, "item": "z"},
    "join": {"other": FRAME.rename(columns=str.upper)},
    "merge": {"right": FRAME.assign(c=[1, 2, 3, 4, 5]), "on": "a"},
    "combine": {"other": FRAME * 2, "func": np.maximum},
    "Series.combine": {"other": FRAME["a"] * 2, "func": np.maximum},
    "combine_first": {"other": FRAME * 2},
    "Series.combine_first": {"other": FRAME["a"]},
    "compare": {"other": FRAME.assign(a=[3, 1, 2, 2, 4])},
    "Series.compare": {"other": FRAME["b"] * 2},
    "align": {"other": FRAME.iloc[:3]},
    "corrwith": {"other": FRAME * [2, -1]},
    "Series.corr": {"other": FRAME["a"]},
    "Series.cov": {"other": FRAME["a"]},
    "dot": {"other": np.array([[1.0], [2.0]])},
    "Series.dot": {"other": FRAME["b"]},
    "equals": {"other": FRAME},
    "assign": {},
    "explode": {"column": "a"},
    "Series.explode": {},
    "isetitem": {"loc": 1, "value": 7},
    "mask": {"cond": FRAME > 2},
    "where": {"cond": FRAME > 2},
    "Series.mask": {"cond": FRAME["b"] > 1},
    "Series.where": {"cond": FRAME["b"] > 1},
    "Index.where": {"cond": [True, False, True, True, False]},
    "pivot": {"columns": "a"},
    "pivot_table": {"values": "b", "index": "a"},
    "pop": {"item": "a"},
    "Series.pop": {"item": "r"},
    "reindex": {"index": ["r", "z"]},
    "reindex_like": {"other": FRAME.iloc[[2, 0]]},
    "Index.reindex": {"target": ["r", "z"]},
    "reorder_levels": {"order": ["l", "k"]},
    "set_axis": {"labels": [4, 3, 2, 1, 0]},
    "sort_values": {"by": "a"},
    "Series.sort_values": {},
    "Index.sort_values": {},
    "update": {"other": FRAME * 2},
    "Series.update": {"other": FRAME["b"] * 2},
    "stack": {},
    "unstack": {},
    "melt": {},
    "get": {"key": "a"},
    "Series.get": {"key": "r"},
    "Series.map": {"func": {1.5: 2.0, 8.0: 3.0}},
    "case_when": {"caselist": [(FRAME["b"] > 1, 9.0)]},
    "repeat": {"repeats": 2},
    "searchsorted": {"value": 1.0},
    "between": {"left": 0, "right": 1.5},
    "to_period": {"freq": "M"},
    "asfreq": {"freq": "6h"},
    "at_time": {"time": "22:00"},
    "between_time": {"start_time": "01:00", "end_time": "17:00"},
    "tz_localize": {"tz": "UTC"},
    "tz_convert": {"tz": "Asia/Tokyo"},
    "truncate": {"after": "2024-01-31"},
    "Levels.rename_axis": {"index": ["m", "n"]},
    "select_dtypes": {"include": "float"},
    "transpose": {},
    "Index.searchsorted": {"value": "s"},
    "asof": {"where": TIMES[3]},
    "swaplevel": {},
    "append": {"other": pd.Index(["z"])},
    "delete": {"loc": 1},
    "difference": {"other": ["r"]},
    "intersection": {"other": ["r", "z", "q"]},
    "union": {"other": ["r", "z", "a"]},
    "symmetric_difference": {"other": ["r", "z"]},
    "Index.join": {"other": pd.Index(["r", "z"])},
    "get_indexer": {"target": ["r", "z"]},
    "get_indexer_for": {"target": ["r", "z"]},
    "get_indexer_non_unique": {"target": ["r", "z"]},
    "get_loc": {"key": "r"},
    "get_level_values": {"level": 0},
    "get_slice_bound": {"label": "r", "side": "left"},
    "slice_indexer": {"start": "r", "end": "v"},
    "slice_locs": {"start": "r", "end": "v"},
    "groupby": {"values": [1, 2, 1, 2, 1]},
    "identical": {"other": pd.Index(["r", "q"])},
    "is_": {"other": pd.Index(["r", "q"])},
    "putmask": {"mask": [True, False, False, False, False], "value": "z"},
    "set_names": {"names": ["m"]},
}
#: Methods whose results are random or of another kind, which have tables or tests of their own.
LEFT_OUT = {
    *("plot", "hist", "boxplot", "info", "sample", "pipe", "items", "set_flags", "view"),
    *("itertuples", "iterrows", "memory_usage", "copy", "to_clipboard", "to_gbq"),
    *("rolling", "expanding", "ewm", "resample", "groupby"),
    *("from_dict", "from_records", "style", "sparse", "str", "dt", "cat", "list", "struct"),
    *("to_csv", "to_excel", "to_feather", "to_hdf", "to_orc", "to_parquet", "to_pickle", "to_sql"),
    *("to_stata", "to_xml", "to_iceberg", "to_markdown"),
    *("item", "to_string"),
}
#: Methods of row labels of several levels.
OF_LEVELS = {
    *("xs", "droplevel", "sort_index", "reset_index", "reorder_levels", "swaplevel", "unstack"),
    *("set_index", "rename_axis", "reindex", "drop", "stack"),
}
#: Methods of row labels that are times.
OF_TIMES = {
    *("asfreq", "asof", "at_time", "between_time", "shift", "to_period", "to_timestamp"),
    *("tz_localize", "tz_convert", "truncate"),
}
#: Those that only rows with labels of the one kind have.
NOT_OF_TEXTS = OF_TIMES - {"shift"} | {"droplevel", "reorder_levels", "swaplevel"}


def frames() -> list[Case]:
    """Return the methods of frames."""
    left_out = LEFT_OUT | NOT_OF_TEXTS
    cases = [
        *methods("DataFrame", FRAME.copy, lambda: md.DataFrame(FRAME), NEEDED, left_out),
        *methods("Levels", LEVELS.copy, lambda: md.DataFrame(LEVELS), NEEDED, LEFT_OUT),
    ]
    timed = FRAME.set_axis(TIMES)
    timed_cases = methods("Timed", timed.copy, lambda: md.DataFrame(timed), NEEDED, LEFT_OUT)
    return [
        *(x for x in cases if not x.name.startswith("Levels") or _last(x) in OF_LEVELS),
        *(x for x in timed_cases if _last(x) in OF_TIMES - {"tz_convert", "to_timestamp"}),
    ]


def series() -> list[Case]:
    """Return the methods of series."""
    left_out = LEFT_OUT | NOT_OF_TEXTS | {"unstack"}
    values = FRAME["b"]
    return list(methods("Series", values.copy, lambda: md.Series(values), NEEDED, left_out))


def labels() -> list[Case]:
    """Return the methods of labels."""
    index = FRAME.index
    left_out = LEFT_OUT - {"groupby"} | {"asof", "diff", "droplevel", "shift"}
    return list(methods("Index", index.copy, lambda: md.Index(index), NEEDED, left_out))


def _last(case: Case) -> str:
    return case.name.rpartition(".")[2]
