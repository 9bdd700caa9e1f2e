"""Expressions for pandas's functions of rows, where engines agree on every value."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from .expression import (
    LARGEST,
    Constant,
    Expression,
    FunctionCall,
    has_gaps,
    is_supported,
    kind_of,
)
from .relation import Table

#: An argument of a function of rows: rows, a number computed before, or what the program says.
Argument: TypeAlias = Any

#: Patterns that mean the same in every engine: letters, digits, spaces and ``.*``.
PLAIN_PATTERN = re.compile(r"(?:[A-Za-z0-9 _]|\.\*)*")

INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class Operation:
    """The arguments of a function of rows."""

    args: tuple[Argument, ...]
    """Tables, numbers computed before, and constants."""
    kwargs: dict[str, Any]
    labels: pd.Index[Any] | None = None
    """The labels of the columns of the first argument, if it is a frame."""


def call(function: str, operands: Sequence[Argument], *options: Any) -> Expression | None:
    """Return a function of columns and constants; ``None`` where only pandas knows its values."""
    terms = [as_term(value) for value in operands]
    if function in COMPARISONS:
        terms = _with_times(terms)
    if any(term is None or has_gaps(term) for term in terms):
        return None
    dtype = _dtype(function, terms)  # type: ignore[arg-type]
    if dtype is None:
        return None
    expression = FunctionCall(function, tuple(terms), dtype, options)  # type: ignore[arg-type]
    return expression if expression.size <= LARGEST else None


def as_term(value: Any) -> Expression | None:
    """Return a column as it is, and a value as a constant of a Python type."""
    if value is None or isinstance(value, Expression):
        return value
    if isinstance(value, datetime | np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return None  # it passes for an integer
    if isinstance(value, np.generic):
        # NumPy's scalars have types of their own, which decide those of results.
        value = value.item() if value.dtype in (np.float64, np.int64, np.bool_) else None
    if isinstance(value, pd.Timestamp):
        return Constant(value) if value.tz is None else None
    if isinstance(value, bool | str):
        return Constant(value)
    if isinstance(value, Integral) and INT64.min <= int(value) <= INT64.max:
        return Constant(int(value))
    return Constant(float(value)) if isinstance(value, Real) else None


def _with_times(terms: Sequence[Expression | None]) -> list[Expression | None]:
    """Return constants that are compared with times in their unit; texts as pandas reads them."""
    times = [term for term in terms if term is not None and kind_of(term.dtype) == "M"]
    units = {_unit(term) for term in times if not isinstance(term, Constant)}
    if len(units) != 1:
        return list(terms)
    return [_in_unit(term, *units) for term in terms]


def _in_unit(term: Expression | None, unit: Any) -> Expression | None:
    """Return a constant in a unit, ``None`` if it is no time or the unit cannot tell it."""
    if not isinstance(term, Constant) or not isinstance(term.value, str | pd.Timestamp):
        return term
    try:
        value = pd.Timestamp(term.value)
        return None if value.tz else as_term(value.as_unit(unit, round_ok=False))
    except ValueError:
        return None


def _dtype(function: str, terms: Sequence[Expression]) -> Any:
    """Return pandas's type of a function of these terms, ``None`` if it is not told."""
    kinds = "".join(kind_of(term.dtype) for term in terms)
    if function in ARITHMETIC:
        # Truth values alone are no numbers: their sum is a truth value.
        return _arithmetic(function, terms) if set("b") != set(kinds) <= set("biuf") else None
    if function in DIVISIONS:
        return _divided(*terms)
    if function in COMPARISONS:
        return np.dtype(bool) if _comparable(terms, kinds) else None
    if function in {"and_", "or_", "xor", "invert"}:
        return np.dtype(bool) if set(kinds) == {"b"} else None
    if function in {"abs", "neg"}:
        return terms[0].dtype if kinds in {"i", "f"} else None
    if function in {"isna", "notna"}:
        return np.dtype(bool)
    return None


def _arithmetic(function: str, terms: Sequence[Expression]) -> Any:
    if all(isinstance(term, Constant) for term in terms):
        return None
    values = [
        term.value if isinstance(term, Constant) else np.ones(1, term.dtype) for term in terms
    ]
    try:
        with np.errstate(all="ignore"):  # a constant may be zero
            dtype = getattr(np, ARITHMETIC[function])(*values).dtype
    except OverflowError:
        return None  # a constant that the type of the column does not hold
    return dtype if is_supported(dtype) else None


def _divided(of: Expression, by: Expression) -> Any:
    """Return the type of a quotient or remainder of integers by a positive constant.

    Others are pandas's: of floats the last bits differ, and zero makes floats of integers.
    """
    positive = isinstance(by, Constant) and type(by.value) is int and by.value > 0
    if not positive or isinstance(of, Constant) or kind_of(of.dtype) not in {"i", "u"}:
        return None
    fits = by.value <= np.iinfo(of.dtype).max  # type: ignore[union-attr,operator]
    return of.dtype if fits else None


def _comparable(terms: Sequence[Expression], kinds: str) -> bool:
    if "s" in kinds or "b" in kinds:
        return len(set(kinds)) == 1
    if "M" in kinds:
        return set(kinds) == {"M"} and len({_unit(term) for term in terms}) == 1
    # A comparison of signed with unsigned integers of 64 bits is by floats for some engines.
    return set(kinds) <= set("if") or (
        set(kinds) <= set("iuf")
        and all(_width(term) < 8 for term in terms if kind_of(term.dtype) == "u")
    )


def _unit(term: Expression) -> str:
    """Return the unit of times."""
    if isinstance(term, Constant):
        value: Any = term.value
        return str(value.unit)
    return str(np.datetime_data(term.dtype)[0])


def _width(term: Expression) -> int:
    return int(term.dtype.itemsize)


#: Arithmetic, and NumPy's functions that tell its types.
ARITHMETIC = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide"}
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}
DIVISIONS = {"floordiv", "mod"}

Translation: TypeAlias = Callable[[Operation], Table | None]


def elementwise(function: str) -> Translation:
    """Return the translation of a function of the values at one place."""

    def translate(operation: Operation) -> Table | None:
        tables = [arg for arg in operation.args if isinstance(arg, Table)]
        if operation.kwargs or len({len(arg.columns) for arg in tables}) != 1:
            return None
        columns = tuple(
            call(function, [_column(arg, place) for arg in operation.args])
            for place in range(len(tables[0].columns))
        )
        return _with(tables[0], columns)

    return translate


def _column(argument: Argument, place: int) -> Argument:
    if isinstance(argument, Table):
        return argument.columns[place]
    return argument


def _with(table: Table, columns: Sequence[Expression | None]) -> Table:
    return Table(table.relation, tuple(columns), table.labels)


def _each(operation: Operation, function: Callable[[Expression], Expression | None]) -> Table:
    """Apply a function to each known column of the first argument."""
    (table, *_) = operation.args
    return _with(table, [None if column is None else function(column) for column in table.columns])


def isin(operation: Operation) -> Table | None:
    """Translate ``isin(values)`` of text and integers."""
    if len(operation.args) != 2 or operation.kwargs:
        return None
    values = operation.args[1]
    if not isinstance(values, list | tuple | set | frozenset | np.ndarray):
        return None
    terms = [as_term(value) for value in values]
    if any(not isinstance(term, Constant) for term in terms):
        return None
    kinds = {kind_of(term.dtype) for term in terms if term is not None}

    def among(column: Expression) -> Expression | None:
        kind = kind_of(column.dtype)
        if has_gaps(column) or kind not in {"s", "i"} or not kinds <= {kind}:
            return None
        options = tuple(term.value for term in terms)  # type: ignore[union-attr]
        return FunctionCall("isin", (column,), np.dtype(bool), options)

    return _each(operation, among)


def between(operation: Operation) -> Table | None:
    """Translate ``between(left, right)`` with constant bounds."""
    names = {"left": 1, "right": 2, "inclusive": 3}
    kwargs = dict(zip(("column", *names), operation.args, strict=False)) | operation.kwargs
    if not kwargs.keys() <= {"column", *names} or not {"left", "right"} <= kwargs.keys():
        return None
    inclusive = kwargs.get("inclusive", "both")
    if isinstance(kwargs["left"], Table) or isinstance(kwargs["right"], Table):
        return None
    if not isinstance(inclusive, str):
        return None
    low = "ge" if inclusive in {"both", "left"} else "gt"
    high = "le" if inclusive in {"both", "right"} else "lt"

    def within(column: Expression) -> Expression | None:
        return call(
            "and_", [call(low, [column, kwargs["left"]]), call(high, [column, kwargs["right"]])]
        )

    return _each(operation, within)


def unary(function: str) -> Translation:
    """Return the translation of a function of one column without options."""

    def translate(operation: Operation) -> Table | None:
        if len(operation.args) != 1 or operation.kwargs:
            return None
        return _each(operation, lambda column: call(function, [column]))

    return translate


def missing(function: str) -> Translation:
    """Return the translation of ``isna`` or ``notna``, which columns with gaps answer too."""

    def translate(operation: Operation) -> Table | None:
        if len(operation.args) != 1 or operation.kwargs:
            return None
        return _each(operation, lambda column: FunctionCall(function, (column,), np.dtype(bool)))

    return translate


def of_text(function: str, accepts: Callable[[Any], bool]) -> Translation:
    """Return the translation of a question about text and one constant."""

    def translate(operation: Operation) -> Table | None:
        if len(operation.args) != 2 or not accepts(operation.args[1]) or operation.kwargs:
            return None
        pattern = operation.args[1]

        def ask(column: Expression) -> Expression | None:
            if kind_of(column.dtype) != "s":
                return None
            return FunctionCall(function, (column,), np.dtype(bool), (pattern,))

        return _each(operation, ask)

    return translate


def contains(operation: Operation) -> Table | None:
    """Translate ``str.contains`` of literal text and of simple patterns."""
    options = dict(operation.kwargs)
    regex = options.pop("regex", True)
    options.pop("na", None)
    args = operation.args
    if options or len(args) != 2 or not isinstance(args[1], str) or "na" in operation.kwargs:
        return None
    if regex and not PLAIN_PATTERN.fullmatch(args[1]):
        return None
    name = "matches" if regex and ".*" in args[1] else "contains"
    return of_text(name, lambda _: True)(Operation(args, {}))


def slice_text(operation: Operation) -> Table | None:
    """Translate ``str[start:stop]`` with bounds counted from the beginning."""
    if len(operation.args) != 2 or operation.kwargs or not isinstance(operation.args[1], slice):
        return None
    part = operation.args[1]
    start, stop = part.start or 0, part.stop
    if part.step not in {None, 1} or stop is None or not 0 <= start <= stop:
        return None

    def cut(column: Expression) -> Expression | None:
        if kind_of(column.dtype) != "s":
            return None
        return FunctionCall("slice", (column,), column.dtype, (start, stop - start))

    return _each(operation, cut)


def slice_by_name(operation: Operation) -> Table | None:
    """Translate ``str.slice(start, stop)``."""
    names = ("start", "stop", "step")
    kwargs = dict(zip(names, operation.args[1:], strict=False)) | operation.kwargs
    part = slice(*(kwargs.get(name) for name in names))
    return slice_text(Operation((operation.args[0], part), {}))


def of_time(function: str) -> Translation:
    """Return the translation of a part of a date, where none is missing: pandas's are floats."""

    def translate(operation: Operation) -> Table | None:
        def part(column: Expression) -> Expression | None:
            if kind_of(column.dtype) != "M" or not column.full:
                return None
            return FunctionCall(function, (column,), np.dtype(np.int32))

        return _each(operation, part)

    return translate


#: Operators of Python.
OPERATORS: dict[Callable[..., Any], Translation] = {
    operator.add: elementwise("add"),
    operator.sub: elementwise("sub"),
    operator.mul: elementwise("mul"),
    operator.truediv: elementwise("truediv"),
    operator.floordiv: elementwise("floordiv"),
    operator.mod: elementwise("mod"),
    **{getattr(operator, name): elementwise(name) for name in sorted(COMPARISONS)},
    operator.and_: elementwise("and_"),
    operator.or_: elementwise("or_"),
    operator.xor: elementwise("xor"),
}

#: Methods by accessor and name.
METHODS: dict[tuple[str | None, str], Translation] = {
    (None, "__neg__"): unary("neg"),
    (None, "__invert__"): unary("invert"),
    (None, "abs"): unary("abs"),
    (None, "between"): between,
    (None, "isin"): isin,
    (None, "isna"): missing("isna"),
    (None, "notna"): missing("notna"),
    ("str", "startswith"): of_text("startswith", lambda prefix: isinstance(prefix, str)),
    ("str", "endswith"): of_text("endswith", lambda suffix: isinstance(suffix, str)),
    ("str", "contains"): contains,
    ("str", "__getitem__"): slice_text,
    ("str", "slice"): slice_by_name,
    ("dt", "year"): of_time("year"),
    ("dt", "month"): of_time("month"),
    ("dt", "day"): of_time("day"),
}
