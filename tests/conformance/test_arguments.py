"""No argument is taken in silence: what changes the reference's result changes ours, or raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.conformance.arguments import Case, dropped, equal, result

FRAME = pd.DataFrame(
    {"a": [3, 1, 2, 2, 5], "b": [1.5, np.nan, -2.25, 0.5, 8.0]},
    index=pd.Index(["r", "q", "v", "p", "s"], name="lab"),
)
LEVELS = FRAME.set_axis(
    pd.MultiIndex.from_arrays([list("uuvvw"), [2, 1, 2, 1, 2]], names=["k", "l"])
)
TEXTS = pd.Series(["Abc", "b,c,d", None, " pad ", " a,a"], name="t")
TIMES = pd.Series(
    pd.DatetimeIndex(["2024-03-30 22:15", "2023-12-31 23:00", "NaT", "2024-03-31 04:00"]), name="w"
)
CATEGORIES = pd.Series(pd.Categorical(["x", "y", None], ["z", "y", "x"]), name="c")
GROUPED = FRAME.assign(g=[1, 2, 1, 2, 1]).reset_index(drop=True)
X = np.array([[4.0, 1.0, 3.0], [2.0, np.nan, 5.0]])
Y = np.array([[4, 1, 3], [2, 0, 5]])

#: The arguments that methods need.
NEEDED: dict[str, dict[str, Any]] = {
    **{name: {"other": 2} for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    **{name: {"other": 2} for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "agg": {"func": ["sum", "min"]},
    "apply": {"func": "sum"},
    "transform": {"func": "cumsum"},
    "astype": {"dtype": "float64"},
    "clip": {"lower": 1},
    "fillna": {"value": 0},
    "isin": {"values": [1, 2]},
    "query": {"expr": "a > 1"},
    "eval": {"expr": "a + b"},
    "nlargest": {"n": 2},
    "nsmallest": {"n": 2},
    "rename": {"index": {"r": "R"}},
    "rename_axis": {"index": "m"},
    "replace": {"to_replace": 2, "value": 9},
    "set_index": {"keys": "a"},
    "take": {"indices": [0, 2]},
    "xs": {"key": "u"},
    "droplevel": {"level": 0},
    "add_prefix": {"prefix": "p"},
    "add_suffix": {"suffix": "s"},
    "contains": {"pat": "a"},
    "startswith": {"pat": "A"},
    "endswith": {"pat": "a"},
    "find": {"sub": "a"},
    "match": {"pat": "a"},
    "fullmatch": {"pat": "a.*"},
    "pad": {"width": 8},
    "extract": {"pat": "([a-c])"},
    "tz_localize": {"tz": "UTC"},
    "round": {},
    "floor": {"freq": "h"},
    "ceil": {"freq": "h"},
    "set_categories": {"new_categories": ["x", "y"]},
    "reorder_categories": {"new_categories": ["x", "y", "z"]},
}
#: Methods whose results are random, of another kind, or elsewhere tested.
LEFT_OUT = {
    *("plot", "hist", "boxplot", "info", "sample", "pipe", "items", "set_flags", "view"),
    *("itertuples", "iterrows"),
    *("rolling", "expanding", "ewm", "resample", "groupby", "memory_usage", "copy", "stack"),
}
#: Methods of row labels of several levels.
OF_LEVELS = {
    *("xs", "droplevel", "sort_index", "reset_index", "reorder_levels", "swaplevel", "unstack"),
    *("set_index", "rename_axis", "reindex", "drop"),
}
#: Arguments that are deliberately taken without an effect, or whose values are not checked.
DELIBERATE: dict[str, str] = {
    "copy": "results never share memory with what they are made of",
    "deep": "results never share memory with what they are made of",
    "kind": "sorts are stable, whatever is asked for",
    "sort_remaining": "all levels are sorted",
    "engine": "it decides about speed only",
    "engine_kwargs": "it decides about speed only",
    "local_dict": "pandas takes any mapping that can be copied",
    "global_dict": "pandas takes any mapping that can be copied",
    "by_row": "pandas asserts",
}


def _methods(title: str, model: Any, ours: Any) -> Iterator[Case]:
    """Yield the methods that both objects have."""
    for name in dir(type(model)):
        if name.startswith(("_", "to_", "from_")) or name in LEFT_OUT:
            continue
        if not callable(getattr(type(model), name)):
            continue
        try:
            method, own = getattr(model, name), getattr(ours, name)
        except AttributeError:
            continue
        yield Case(f"{title}.{name}", method, own, method, NEEDED.get(name, {}))


#: Functions of tensors, with the arguments that they need.
FUNCTIONS: dict[str, dict[str, Any]] = {
    **{name: {"a": X} for name in ("sum", "mean", "std", "var", "max", "min", "prod", "ptp")},
    **{name: {"a": X} for name in ("nansum", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin")},
    **{name: {"a": X} for name in ("argmax", "argmin", "cumsum", "cumprod", "argsort", "sort")},
    **{name: {"a": Y} for name in ("all", "any", "median", "average", "flip", "squeeze", "ravel")},
    **{name: {"a": Y} for name in ("count_nonzero", "trace", "diff", "round", "nonzero")},
    **{name: {"a": Y} for name in ("ones_like", "zeros_like", "empty_like")},
    "clip": {"a": Y, "a_min": 1, "a_max": 3},
    "percentile": {"a": X, "q": 40},
    "quantile": {"a": X, "q": 0.4},
    "unique": {"ar": Y},
    "isin": {"element": Y, "test_elements": [1, 2]},
    "searchsorted": {"a": np.arange(5), "v": [1, 2]},
    "nan_to_num": {"x": X},
    "tril": {"m": Y},
    "triu": {"m": Y},
    "eye": {"N": 3},
    "arange": {"start": 5},
    "linspace": {"start": 0, "stop": 1, "num": 5},
    "full": {"shape": (2,), "fill_value": 3},
    "repeat": {"a": Y, "repeats": 2},
    "roll": {"a": Y, "shift": 1},
    "rot90": {"m": Y},
    "histogram": {"a": Y},
    "bincount": {"x": [1, 2, 2]},
    "digitize": {"x": [0.5, 2.0], "bins": [0, 1, 2]},
    "isclose": {"a": X, "b": X + 1e-4},
    "allclose": {"a": Y, "b": Y + 1e-4},
    "array_equal": {"a1": X, "a2": X},
    "cov": {"m": Y},
    "corrcoef": {"x": Y},
    "take": {"a": Y, "indices": [0, 1]},
    "expand_dims": {"a": Y, "axis": 0},
    "meshgrid": {},
    "tri": {"N": 3},
    "vander": {"x": [1, 2, 3]},
    "trapezoid": {"y": Y},
    "gradient": {},
}
#: The same of one function.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("Levels.sort_index", "ascending"): "a number is a flag, as for other labels",
    ("np.eye", "M"): "a text is the size of chunks, as in Dask",
    ("Series.argmax", "axis"): "a series has one axis, by number or by name",
    ("Series.argmin", "axis"): "a series has one axis, by number or by name",
}
#: What NumPy's functions take that chunks have no use for.
MEMORY = {
    "order": "the layout in memory is its own",
    "subok": "there are no subclasses",
    "overwrite_input": "inputs are never written to",
    "like": "collections make their own",
    "out": "arrays are tested by their own",
    "sorted": "values are sorted, whether or not they have to be",
}
#: Numbers for which a flag is taken as well.
NUMBERS = {"axis", "shape", "M", "N"}


def _is_loose(parameter: str, value: Any) -> bool:
    """Tell of values of NumPy's arguments whose types we check less strictly.

    ``None`` is the default of most, a flag is a number, and what is true keeps the axes.
    """
    if isinstance(value, bool):
        return parameter in NUMBERS
    return value is None or parameter in {"keepdims", "where"}


def _functions() -> Iterator[Case]:
    for name, needed in FUNCTIONS.items():
        model, ours = getattr(np, name), getattr(mt, name, None)
        if ours is not None:
            yield Case(f"np.{name}", model, ours, model, needed)


def _cases() -> Iterator[Case]:
    yield from _methods("DataFrame", FRAME, md.DataFrame(FRAME))
    for case in _methods("Levels", LEVELS, md.DataFrame(LEVELS)):
        if case.name.removeprefix("Levels.") in OF_LEVELS:
            yield case
    yield from _methods("Series", FRAME["b"], md.Series(FRAME["b"]))
    yield from _methods("str", TEXTS.str, md.Series(TEXTS).str)
    yield from _methods("dt", TIMES.dt, md.Series(TIMES).dt)
    yield from _methods("cat", CATEGORIES.cat, md.Series(CATEGORIES).cat)
    groups = GROUPED.groupby("g"), md.DataFrame(GROUPED).groupby("g")
    yield from _methods("groups", *groups)
    yield from _methods("rolling", FRAME.rolling(2), md.DataFrame(FRAME).rolling(2))
    yield from _methods("expanding", FRAME.expanding(), md.DataFrame(FRAME).expanding())
    yield from _methods("ewm", FRAME.ewm(com=1), md.DataFrame(FRAME).ewm(com=1))
    yield from _functions()


CASES = list(_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_arguments_are_heeded(case: Case) -> None:
    """Each value of each parameter that changes the reference's result changes ours, or raises."""
    of_numpy = case.name.startswith("np.")
    reasons = {**DELIBERATE, **(MEMORY if of_numpy else {})}

    def checked(parameter: str, value: Any) -> bool:
        if of_numpy and _is_loose(parameter, value):
            return False
        return parameter not in reasons and (case.name, parameter) not in EXCEPTIONS

    assert dropped(case, checked) == []


QUERIED = FRAME.reset_index(drop=True).assign(c=[9, 7, 0, 1, 5], s=list("xyzxx"), t=list("xqzyx"))
PERIODS = pd.Series(range(12), index=pd.period_range("2000Q1", periods=12, freq="Q-FEB"))
MINUTES = pd.Series([1.0, 2.0, 3.0], index=pd.period_range("2020-01-01", periods=3, freq="min"))
KINDS = pd.DataFrame({"f": [True, False], "n": [1, 2], "s": ["x", "y"]})
NAMED = FRAME.rename_axis("cols", axis=1)


def _of_array(rows: Any) -> Any:
    out = np.zeros(rows.shape)
    found = np.add(rows, 1, out=out)
    np.testing.assert_array_equal(out, np.asarray(found.compute()) if _lazy(found) else found)
    return found


def _lazy(value: Any) -> bool:
    return hasattr(value, "compute")


def _own_row(rows: Any) -> Any:
    rows.loc[0, [(0, 1)]] = rows.loc[0, [(0, 1)]]
    return rows


def _attribute(rows: Any) -> Any:
    rows.str.xlabel = 1


#: Programs of which an argument was dropped, by their data.
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "agg of a list": (FRAME, lambda x: x.agg(["var", "std"], ddof=0)),
    "agg of a function": (FRAME, lambda x: x.agg([np.std], ddof=1)),
    "agg of a column": (FRAME.b, lambda x: x.agg(["var"], ddof=0)),
    "agg of numbers": (KINDS, lambda x: x.agg(["sum"], numeric_only=True)),
    "agg of flags": (KINDS, lambda x: x.agg(["any", "all"], bool_only=True)),
    "agg of groups": (GROUPED, lambda x: x.groupby("g").agg(["var"], ddof=0)),
    "agg of windows": (FRAME, lambda x: x.rolling(2).agg(["var"], ddof=0)),
    "agg with nonsense": (FRAME, lambda x: x.agg(["sum"], nonsense=1)),
    **{
        f"query {text}": (QUERIED, lambda x, text=text: x.query(text))
        for text in (
            *("b in (a, c)", "b in [a, 8]", "b not in [a, c]", "b == [8, 1.5]", "b != [8, 1.5]"),
            *("b == [a, 8]", "[8, 1.5] == b", "[a, 8] in b", "s in t", "s in ['y', t]", "b in a"),
            *("a in [1, 2] and b in [8, c]", "'x' in s", "a in 1"),
        )
    },
    "query with nonsense": (QUERIED, lambda x: x.query("a > 1", nonsense=1)),
    "query by another engine": (QUERIED, lambda x: x.query("a > 1", engine="none")),
    "xs": (LEVELS, lambda x: x.xs("u", drop_level=False)),
    "xs of a row": (LEVELS, lambda x: x.xs(("u", 1), drop_level=False)),
    "xs of a column": (LEVELS.T, lambda x: x.xs("u", axis=1, drop_level=False)),
    "xs of a level of columns": (LEVELS.T, lambda x: x.xs(1, axis=1, level="l")),
    "xs of levels": (LEVELS, lambda x: x.xs(("u", 1), level=["k", "l"])),
    "xs of values": (LEVELS.b, lambda x: x.xs("u", drop_level=False)),
    "truncate": (PERIODS, lambda x: x.truncate("2001Q1", "2001Q3")),
    "a slice in a tuple": (FRAME.b, lambda x: x[(slice(2),)]),
    "a row of levels": (
        pd.DataFrame("a", index=range(2), columns=pd.MultiIndex.from_product([range(2)] * 2)),
        _own_row,
    ),
    "diff": (FRAME, lambda x: x.diff(1.5)),
    "shift": (FRAME, lambda x: x.shift(0.5)),
    **{
        f"sort_index {value}": (FRAME, lambda x, value=value: x.sort_index(ascending=value))
        for value in (None, "no", 1.5)
    },
    **{
        f"sort_values {value}": (FRAME.b, lambda x, value=value: x.sort_values(ascending=value))
        for value in (None, "no", 1.5)
    },
    "drop_duplicates": (FRAME, lambda x: x.drop_duplicates(ignore_index="no")),
    "dropna": (FRAME.b, lambda x: x.dropna(ignore_index="no")),
    "mean": (TIMES, lambda x: x.mean(skipna="no")),
    "median": (FRAME.b, lambda x: x.median(skipna="no")),
    "an attribute": (TEXTS, _attribute),
    "apply across": (FRAME, lambda x: x.apply("pct_change", axis=1)),
    "apply cumsum across": (FRAME, lambda x: x.apply("cumsum", axis=1)),
    "transform across": (FRAME, lambda x: x.transform("cumsum", axis=1)),
    "apply as": (FRAME, lambda x: x.apply("sum", result_type="no")),
    "out of a frame": (FRAME, _of_array),
    "out of a series": (FRAME.a, _of_array),
    "windows of periods": (MINUTES, lambda x: x.rolling("2min").sum()),
    "windows of objects": (pd.Series([1, 2, 3], dtype=object), lambda x: x.expanding().mean()),
    "no name": (NAMED, lambda x: x.rename_axis(None)),
    "no name of columns": (NAMED, lambda x: x.rename_axis(columns=None)),
    "no name across": (NAMED, lambda x: x.rename_axis(None, axis=1)),
    "rename": (FRAME, lambda x: x.rename(columns={"a": "z"}, axis=1)),
    "transpose": (FRAME.b, lambda x: x.transpose(nonsense=1)),
}


@pytest.mark.parametrize("rows", [100, 2, 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, rows: int) -> None:
    """A program gives what pandas gives, whatever the chunks, or its error at the call."""
    data, program = PROGRAMS[name]
    kind = md.DataFrame if isinstance(data, pd.DataFrame) else md.Series
    wanted = result(lambda: program(data.copy()))
    with option_context({"coalesce": rows == 100}):
        found = result(lambda: program(kind(data, chunk_size=rows)))
    assert equal(wanted, found), (wanted, found)
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted))


def test_arrays_in_cells_are_no_scalars() -> None:
    """Nor are they equal to others of another length."""
    texts = pd.DataFrame({"x": ["a", "b"]}, dtype=object)
    arrays, longer = texts.copy(), texts.copy()
    arrays["x"] = pd.Series([np.array(["a"], dtype=object), "b"])
    longer["x"] = pd.Series([np.array(["a", "c"], dtype=object), "b"])
    for left in (texts, arrays, longer):
        for right in (texts, arrays, longer):
            lazy = md.DataFrame(left, chunk_size=1)
            assert lazy.equals(md.DataFrame(right, chunk_size=1)) is left.equals(right)
