"""Functions of expressions and aggregations by polars, with the values of pandas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from ..expression import Constant, Expression, FunctionCall, kind_of
from ..properties import is_compared_alike, never_null
from ..relation import Aggregation


def polars_type(dtype: Any) -> Any:
    """Return polars's type for pandas's."""
    if kind_of(dtype) == "s":
        return pl.String()
    if dtype.kind in "mM":
        unit = np.datetime_data(dtype)[0]
        return pl.Datetime(unit) if dtype.kind == "M" else pl.Duration(unit)  # type: ignore[arg-type]
    return TYPES[dtype.name]


def literal(value: Any) -> pl.Expr:
    """Return a constant; times with their nanoseconds, which polars's conversion drops."""
    if isinstance(value, pd.Timestamp):
        unit: Any = value.unit
        return pl.lit(int(value.asm8.view("i8")), dtype=pl.Int64()).cast(pl.Datetime(unit))
    return pl.lit(value)


TYPES: dict[str, Any] = {
    "bool": pl.Boolean(),
    "float32": pl.Float32(),
    "float64": pl.Float64(),
    **{f"int{bits}": getattr(pl, f"Int{bits}")() for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": getattr(pl, f"UInt{bits}")() for bits in (8, 16, 32, 64)},
}


def _arithmetic(method: str) -> Callable[..., pl.Expr]:
    def compute(term: FunctionCall, *args: pl.Expr) -> pl.Expr:
        dtype = polars_type(term.dtype)
        left, right = (arg.cast(dtype) for arg in args)
        result: pl.Expr = getattr(left, method)(right)
        return result

    return compute


def _divide(term: FunctionCall, *args: pl.Expr) -> pl.Expr:
    left, right = (arg.cast(polars_type(term.dtype)) for arg in args)
    # By a single value polars multiplies with its reciprocal, which rounds twice: give it a column.
    nothing = left.is_null().cast(polars_type(term.dtype)) * 0
    return left / (right - nothing)


def _comparison(method: str) -> Callable[..., pl.Expr]:
    def compute(term: FunctionCall, *args: pl.Expr) -> pl.Expr:
        sides = _alike(term.args, args)
        left, right = sides
        result: pl.Expr = getattr(left, method)(right)
        if not all(map(never_null, term.args)):
            result = result.fill_null(method == "ne")
        # For polars NaN is equal to itself, and larger than all numbers.
        for place, (arg, side) in enumerate(zip(term.args, sides, strict=True)):
            if kind_of(arg.dtype) == "f" and not is_compared_alike(
                term.args[1 - place], method, place
            ):
                result = result | side.is_nan() if method == "ne" else result & side.is_not_nan()
        return result

    return compute


def _alike(terms: Sequence[Expression], args: Sequence[pl.Expr]) -> list[pl.Expr]:
    """Return numbers in one type that holds all of them; times in one unit."""
    dtypes = [term.dtype for term in terms if not isinstance(term, Constant)]
    kinds = {kind_of(dtype) for dtype in dtypes}
    constants = [term.value for term in terms if isinstance(term, Constant)]
    if kinds == {"M"}:
        common = polars_type(dtypes[0])
    elif kinds <= set("iuf"):
        floats = "f" in kinds or any(isinstance(value, float) for value in constants)
        common = pl.Float64() if floats else pl.Int64()
    else:
        return list(args)
    return [arg.cast(common) for arg in args]


def _ask(name: str) -> Callable[..., pl.Expr]:
    def compute(term: FunctionCall, text: pl.Expr) -> pl.Expr:
        result: pl.Expr = getattr(text.str, name)(*term.options)
        return result if term.args[0].full else result.fill_null(value=False)

    return compute


def _contains(term: FunctionCall, text: pl.Expr) -> pl.Expr:
    result = text.str.contains(term.options[0], literal=term.function == "contains")
    return result if term.args[0].full else result.fill_null(value=False)


def _missing(term: FunctionCall, values: pl.Expr) -> pl.Expr:
    null = values.is_null()
    null = null | values.is_nan() if kind_of(term.args[0].dtype) == "f" else null
    return null if term.function == "isna" else ~null


def _isin(term: FunctionCall, values: pl.Expr) -> pl.Expr:
    options = pl.Series(list(term.options), dtype=polars_type(term.args[0].dtype))
    result = values.is_in(options.implode())
    return result if term.args[0].full else result.fill_null(value=False)


def _fill(term: FunctionCall, values: pl.Expr, other: pl.Expr) -> pl.Expr:
    if kind_of(term.dtype) == "f":
        return values.fill_nan(other.cast(polars_type(term.dtype)))
    return values.fill_null(other)


def _choose(term: FunctionCall, test: pl.Expr, one: pl.Expr, other: pl.Expr) -> pl.Expr:
    dtype = polars_type(term.dtype)
    return pl.when(test).then(one.cast(dtype)).otherwise(other.cast(dtype))


def _bound(method: str) -> Callable[..., pl.Expr]:
    """Return a bound of numbers; NaN, which polars takes for the largest one, stays."""

    def compute(term: FunctionCall, values: pl.Expr, bound: pl.Expr) -> pl.Expr:
        bound = bound.cast(polars_type(term.dtype))
        beyond: pl.Expr = getattr(values, method)(bound)
        if kind_of(term.dtype) == "f":
            beyond = beyond & values.is_not_nan()
        return pl.when(beyond).then(bound).otherwise(values)

    return compute


FUNCTIONS: dict[str, Callable[..., pl.Expr]] = {
    **{name: _arithmetic(name) for name in ("add", "sub", "mul", "floordiv", "mod")},
    "truediv": _divide,
    **{name: _comparison(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "and_": lambda _, left, right: left & right,
    "or_": lambda _, left, right: left | right,
    "xor": lambda _, left, right: left ^ right,
    "invert": lambda _, values: ~values,
    "neg": lambda _, values: -values,
    "abs": lambda _, values: values.abs(),
    "isna": _missing,
    "notna": _missing,
    "isin": _isin,
    "fillna": _fill,
    "choose": _choose,
    "at_least": _bound("lt"),
    "at_most": _bound("gt"),
    "cast": lambda term, values: values.cast(polars_type(term.dtype)),
    "startswith": _ask("starts_with"),
    "endswith": _ask("ends_with"),
    "contains": _contains,
    "matches": _contains,
    "slice": lambda term, text: text.str.slice(*term.options),
    **{
        name: lambda term, values: getattr(values.dt, term.function)().cast(pl.Int32)
        for name in ("year", "month", "day")
    },
}

#: How a value is made of those of a group, null where one is missing.
AGGREGATES: dict[str, Callable[[pl.Expr, Aggregation], pl.Expr]] = {
    "sum": lambda values, one: values.cast(polars_type(one.dtype)).sum(),
    "mean": lambda values, _: values.cast(pl.Float64).mean(),
    "count": lambda values, _: values.count(),
    "min": lambda values, _: values.min(),
    "max": lambda values, _: values.max(),
    "first": lambda values, _: values.drop_nulls().first(),
    "last": lambda values, _: values.drop_nulls().last(),
    "var": lambda values, one: values.cast(pl.Float64).var(ddof=one.ddof),
    "std": lambda values, one: values.cast(pl.Float64).std(ddof=one.ddof),
    "nunique": lambda values, _: values.drop_nulls().n_unique(),
    "median": lambda values, _: values.cast(pl.Float64).median(),
}
