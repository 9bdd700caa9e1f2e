"""Functions of expressions and aggregations as SQL of duckdb, with the values of pandas.

Columns of floats hold NaN where a value is missing, others null. As for polars NaN is equal to
itself and larger than all numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ..expression import Constant, Expression, FunctionCall, kind_of
from ..properties import is_compared_alike, never_null
from ..relation import Aggregation

NAN = "'nan'::DOUBLE"

#: Types of duckdb by the names of NumPy's.
TYPES = {
    "bool": "BOOLEAN",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "datetime64[ms]": "TIMESTAMP_MS",
    "datetime64[us]": "TIMESTAMP",
    "datetime64[ns]": "TIMESTAMP_NS",
}


#: What makes a time of the count of a unit.
TIMES = {"ms": "epoch_ms", "us": "make_timestamp", "ns": "make_timestamp_ns"}


def duckdb_type(dtype: Any) -> str:
    """Return duckdb's type for pandas's."""
    return "VARCHAR" if kind_of(dtype) == "s" else TYPES[dtype.name]


def quoted(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def literal(value: Any) -> str:
    """Return a value as SQL writes it, in a type that holds it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"
    if isinstance(value, pd.Timestamp):
        return f"{TIMES[value.unit]}({value.asm8.view('i8')})"
    return f"({value})::BIGINT"


def cast(values: str, dtype: Any) -> str:
    """Return values in duckdb's type for pandas's."""
    return f"CAST({values} AS {duckdb_type(dtype)})"


def wrapped(values: str, dtype: Any) -> str:
    """Return integers as NumPy keeps them: modulo a power of two, where duckdb would raise."""
    count = f"{2 ** (8 * dtype.itemsize)}::HUGEINT"
    if kind_of(dtype) == "u":
        return cast(f"(({values}) % {count} + {count}) % {count}", dtype)
    half = f"{2 ** (8 * dtype.itemsize - 1)}::HUGEINT"
    return cast(f"((({values}) + {half}) % {count} + {count}) % {count} - {half}", dtype)


def _arithmetic(operator: str) -> Callable[..., str]:
    def compute(term: FunctionCall, *args: str) -> str:
        if kind_of(term.dtype) == "f":
            return f"({f' {operator} '.join(cast(arg, term.dtype) for arg in args)})"
        # In 128 bits nothing overflows: products of two integers of 64 fit.
        wide = f" {operator} ".join(f"({cast(arg, term.dtype)})::HUGEINT" for arg in args)
        return wrapped(wide, term.dtype)

    return compute


def _floor_divide(term: FunctionCall, of: str, by: str) -> str:
    of, by = cast(of, term.dtype), cast(by, term.dtype)
    below = f"-((-({of} + 1)) // {by}) - 1"
    return f"(CASE WHEN {of} >= 0 THEN {of} // {by} ELSE {below} END)"


def _modulo(term: FunctionCall, of: str, by: str) -> str:
    of, by = cast(of, term.dtype), cast(by, term.dtype)
    return f"(CASE WHEN {of} % {by} < 0 THEN {of} % {by} + {by} ELSE {of} % {by} END)"


def _comparison(operator: str, name: str) -> Callable[..., str]:
    def compute(term: FunctionCall, *args: str) -> str:
        sides = _alike(term, args)
        result = f"({sides[0]} {operator} {sides[1]})"
        if not all(map(never_null, term.args)):
            result = f"coalesce({result}, {str(name == 'ne').upper()})"
        for place, (arg, side) in enumerate(zip(term.args, sides, strict=True)):
            if kind_of(arg.dtype) == "f" and not is_compared_alike(
                term.args[1 - place], name, place
            ):
                glue = "OR" if name == "ne" else "AND NOT"
                result = f"({result} {glue} isnan({side}))"
        return result

    return compute


def _alike(term: FunctionCall, args: tuple[str, ...]) -> list[str]:
    """Return numbers in one type that holds all of them; times in one unit."""
    dtypes = [arg.dtype for arg in term.args if not isinstance(arg, Constant)]
    kinds = {kind_of(dtype) for dtype in dtypes}
    constants = [arg.value for arg in term.args if isinstance(arg, Constant)]
    if kinds == {"M"}:
        return [cast(arg, dtypes[0]) for arg in args]
    if kinds and kinds <= set("iuf"):
        floats = "f" in kinds or any(isinstance(value, float) for value in constants)
        return [cast(arg, np.dtype(np.float64 if floats else np.int64)) for arg in args]
    return list(args)


def _of_text(pattern: str) -> Callable[..., str]:
    """Return a question about text, false of a missing one."""

    def compute(term: FunctionCall, text: str) -> str:
        result = pattern.format(text, literal(term.options[0]))
        return result if term.args[0].full else f"coalesce({result}, FALSE)"

    return compute


def _missing(term: FunctionCall, values: str) -> str:
    null = f"{values} IS NULL"
    if kind_of(term.args[0].dtype) == "f":
        null = f"{null} OR isnan({values})"
    return f"({null})" if term.function == "isna" else f"(NOT ({null}))"


def _isin(term: FunctionCall, values: str) -> str:
    if not term.options:
        return "FALSE"
    result = f"({values} IN ({', '.join(map(literal, term.options))}))"
    return result if term.args[0].full else f"coalesce({result}, FALSE)"


def _fill(term: FunctionCall, values: str, other: str) -> str:
    other = cast(other, term.dtype)
    if kind_of(term.dtype) == "f":
        return f"(CASE WHEN isnan({values}) THEN {other} ELSE {values} END)"
    return f"coalesce({values}, {other})"


def _choose(term: FunctionCall, test: str, one: str, other: str) -> str:
    values = f"{cast(one, term.dtype)} ELSE {cast(other, term.dtype)}"
    return f"(CASE WHEN {test} THEN {values} END)"


def _bound(operator: str) -> Callable[..., str]:
    """Return a bound of numbers; NaN, which duckdb takes for the largest one, stays."""

    def compute(term: FunctionCall, values: str, bound: str) -> str:
        bound = cast(bound, term.dtype)
        beyond = f"{values} {operator} {bound}"
        if kind_of(term.dtype) == "f":
            beyond = f"{beyond} AND NOT isnan({values})"
        return f"(CASE WHEN {beyond} THEN {bound} ELSE {values} END)"

    return compute


def _negated(term: FunctionCall, values: str) -> str:
    is_float = kind_of(term.dtype) == "f"
    return f"(-{values})" if is_float else wrapped(f"-({values})::HUGEINT", term.dtype)


def _absolute(term: FunctionCall, values: str) -> str:
    is_float = kind_of(term.dtype) == "f"
    return f"abs({values})" if is_float else wrapped(f"abs(({values})::HUGEINT)", term.dtype)


def _part_of_time(term: FunctionCall, values: str) -> str:
    return f"CAST({term.function}({values}) AS INTEGER)"


def _slice(term: FunctionCall, text: str) -> str:
    start, length = term.options
    return f"substring({text}, {start + 1}, {length})"


FUNCTIONS: dict[str, Callable[..., str]] = {
    "add": _arithmetic("+"),
    "sub": _arithmetic("-"),
    "mul": _arithmetic("*"),
    "truediv": _arithmetic("/"),
    "floordiv": _floor_divide,
    "mod": _modulo,
    "lt": _comparison("<", "lt"),
    "le": _comparison("<=", "le"),
    "gt": _comparison(">", "gt"),
    "ge": _comparison(">=", "ge"),
    "eq": _comparison("=", "eq"),
    "ne": _comparison("<>", "ne"),
    "and_": lambda _, left, right: f"({left} AND {right})",
    "or_": lambda _, left, right: f"({left} OR {right})",
    "xor": lambda _, left, right: f"({left} <> {right})",
    "invert": lambda _, values: f"(NOT {values})",
    "neg": _negated,
    "abs": _absolute,
    "isna": _missing,
    "notna": _missing,
    "isin": _isin,
    "fillna": _fill,
    "choose": _choose,
    "at_least": _bound("<"),
    "at_most": _bound(">"),
    "cast": lambda term, values: cast(values, term.dtype),
    "startswith": _of_text("starts_with({}, {})"),
    "endswith": _of_text("ends_with({}, {})"),
    "contains": _of_text("contains({}, {})"),
    "matches": _of_text("regexp_matches({}, {})"),
    "slice": _slice,
    "year": _part_of_time,
    "month": _part_of_time,
    "day": _part_of_time,
}


def _sum(values: str, term: Aggregation) -> str:
    if kind_of(term.dtype) == "f":
        return f"coalesce(sum({values}), 0)"
    is_bool = term.of is not None and kind_of(term.of.dtype) == "b"
    return wrapped(f"coalesce(sum({values}{'::BIGINT' * is_bool}), 0)", term.dtype)


def _variance(name: str) -> Callable[[str, Aggregation], str]:
    """Return the variance or deviation with any number of degrees of freedom."""

    def compute(values: str, term: Aggregation) -> str:
        population = f"var_pop(({values})::DOUBLE)"
        count = f"count({values})"
        left = f"nullif(greatest({count} - {term.ddof}, 0), 0)"
        sample = f"var_samp(({values})::DOUBLE)"
        variance = sample if term.ddof == 1 else f"{population} * {count} / {left}"
        return f"sqrt({variance})" if name == "std" else variance

    return compute


#: How a value is made of those of a group, null where one is missing.
AGGREGATES: dict[str, Callable[[str, Aggregation], str]] = {
    "sum": _sum,
    "mean": lambda values, _: f"avg(({values})::DOUBLE)",
    "count": lambda values, _: f"count({values})",
    "min": lambda values, _: f"min({values})",
    "max": lambda values, _: f"max({values})",
    "var": _variance("var"),
    "std": _variance("std"),
    "nunique": lambda values, _: f"count(DISTINCT {values})",
}


def is_function_of(expression: Expression) -> bool:
    """Tell whether duckdb has all functions, types and constants of an expression."""
    stack: list[Expression] = [expression]
    while stack:
        term = stack.pop()
        if kind_of(term.dtype) != "s" and term.dtype.name not in TYPES:
            return False
        if isinstance(term, FunctionCall):
            texts = [item for item in term.options if isinstance(item, str)]
            if term.function not in FUNCTIONS or any("\0" in item for item in texts):
                return False
            stack.extend(term.args)
        elif isinstance(term, Constant) and isinstance(term.value, str) and "\0" in term.value:
            return False
    return True
