"""Expressions over the columns of a relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from marsdask.core.snapshots.tokens import token, values_of

#: Larger expressions stay with pandas: what names and runs them walks the whole tree.
LARGEST = 200


@dataclass(frozen=True, eq=False)
class Term:
    """A part of a plan: equal parts have equal names."""

    @cached_property
    def token_name(self) -> str:
        """The name: class, fields and the names of other parts in them."""
        return f"{type(self).__name__}:{token(type(self), *values_of(self))}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.token_name == other.token_name

    def __hash__(self) -> int:
        return hash(self.token_name)

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, eq=False)
class Column(Term):
    """A column of the relation below, by its name."""

    name: str
    dtype: Any
    full: bool = False
    """Whether no value is missing."""
    gaps: bool = False
    """Whether pandas's type depends on whether a value is missing: integers of a left merge."""

    numbers_rows: bool = False
    """Whether it has the numbers of rows, from 0, as labels."""

    @property
    def size(self) -> int:
        """The number of terms in it."""
        return 1


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """A value that the program names."""

    value: bool | int | float | str | pd.Timestamp

    @property
    def dtype(self) -> Any:
        """The type of a column of such values."""
        return CONSTANT_TYPES[type(self.value)]

    @property
    def size(self) -> int:
        """The number of terms in it."""
        return 1

    @property
    def full(self) -> bool:
        """Whether no value is missing."""
        return True


@dataclass(frozen=True, eq=False)
class Parameter(Term):
    """A number that another operation computes first, by the operation's name."""

    name: str
    dtype: Any

    @property
    def size(self) -> int:
        """The number of terms in it."""
        return 1

    @property
    def full(self) -> bool:
        """Whether no value is missing."""
        return False


@dataclass(frozen=True, eq=False)
class FunctionCall(Term):
    """A function of expressions; ``dtype`` is the type that pandas gives the result."""

    function: str
    args: tuple[Expression, ...]
    dtype: Any
    options: tuple[Any, ...] = ()

    @cached_property
    def size(self) -> int:
        """The number of terms in it, counted at each place where they stand."""
        return 1 + sum(arg.size for arg in self.args)

    @cached_property
    def full(self) -> bool:
        """Whether no value is missing."""
        return kind_of(self.dtype) == "b" or all(arg.full for arg in self.args)


#: The types of columns of constants.
CONSTANT_TYPES: dict[type, Any] = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    str: pd.StringDtype(na_value=np.nan),
    pd.Timestamp: np.dtype("M8[ns]"),
}

Expression: TypeAlias = Column | Constant | Parameter | FunctionCall


def is_supported(dtype: Any) -> bool:
    """Tell whether columns of a type have the same values in every engine."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.na_value is not pd.NA
    if isinstance(dtype, np.dtype):
        if dtype.kind in "mM":
            return np.datetime_data(dtype)[0] in {"ms", "us", "ns"}
        return dtype.kind in "biu" or dtype in (np.float32, np.float64)
    return False


def kind_of(dtype: Any) -> str:
    """Return the kind of a type as a letter: NumPy's, and ``s`` for text."""
    return "s" if isinstance(dtype, pd.StringDtype) else dtype.kind


def has_gaps(expression: Expression) -> bool:
    """Tell whether the type of a column depends on its values."""
    return isinstance(expression, Column) and expression.gaps


def columns_in(expression: Expression) -> Iterator[Column]:
    """Yield the columns that an expression reads."""
    stack = [expression]
    while stack:
        term = stack.pop()
        if isinstance(term, Column):
            yield term
        elif isinstance(term, FunctionCall):
            stack.extend(term.args)
