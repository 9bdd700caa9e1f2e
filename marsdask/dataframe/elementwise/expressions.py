"""Expressions of columns as text: each name is a lazy column, each operator that of the column."""

from __future__ import annotations

import ast
import io
import operator
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection
from marsdask.core.public import public_call

from .rowwise import level_values, rowwise, to_series, with_columns

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

UNARY: dict[type, Callable[[Any], Any]] = {
    ast.Not: operator.invert,
    ast.Invert: operator.invert,
    ast.USub: operator.neg,
    ast.UAdd: lambda value: value,
}

#: Pandas's functions in expressions, by their names.
FUNCTIONS = {
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "exp", "expm1", "log", "log1p", "log10"),
    *("sqrt", "abs", "floor", "ceil"),
}

#: What stands for ``@`` and for names in backticks in Python's grammar.
LOCAL, QUOTED = "_local_", "_quoted_"

#: Comments, texts and names in backticks, in which two backticks are one.
QUOTES = re.compile(r"""#[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`((?:[^`]|``)*)`""")

#: What ``parser="python"`` has not.
NOT_IN_PYTHON = (ast.BoolOp, ast.Not, ast.In, ast.NotIn)


@dataclass
class Evaluation:
    """Evaluates an expression with the columns of a frame."""

    frame: Any
    variables: dict[str, Any]
    """The values of names after ``@``."""
    parser: str = "pandas"
    quoted: list[str] = field(default_factory=list)
    repeated: bool = False
    """Whether a name means several columns."""

    def parsed(self, text: str) -> list[ast.stmt]:
        """Parse a text: ``&`` and ``|`` are ``and`` and ``or`` in pandas's grammar."""
        if not text.strip():
            raise ValueError("expr cannot be an empty string")
        text, self.quoted = _without_quoted_names(text)
        return ast.parse(tokenize.untokenize(list(self._words(text)))).body

    def _words(self, text: str) -> Iterator[tuple[Any, str]]:
        tokens = iter(_tokens(text))
        for kind, word in tokens:
            if word == "@" and self.parser == "python":
                raise SyntaxError("The '@' prefix is only supported by the pandas parser")
            if word == "@":
                yield tokenize.NAME, LOCAL + next(tokens)[1]
            elif word in {"&", "|"} and self.parser == "pandas":
                yield tokenize.NAME, {"&": "and", "|": "or"}[word]
            else:
                yield kind, word

    def value(self, node: ast.AST) -> Any:
        """Return the value of a part of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None or (self.parser == "python" and isinstance(node, NOT_IN_PYTHON)):
            raise NotImplementedError(
                f"'{type(node).__name__}' nodes are not implemented in expressions; use columns, "
                "as in df[df.a > 1]"
            )
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _list(self, node: ast.List | ast.Tuple) -> Any:
        return [self.value(item) for item in node.elts]

    _tuple = _list

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name.startswith(LOCAL):
            return self.variables[name.removeprefix(LOCAL)]
        label: Any = name
        if name.startswith(QUOTED):
            name = self.quoted[int(name.removeprefix(QUOTED))]
            # Of labels with the same text, as 1 and "1", the last one counts, as in pandas.
            label = next((item for item in self.frame.columns[::-1] if str(item) == name), name)
        labels = self.frame.node.meta.index
        # Of columns with several levels, a name is no key of the first one, as in pandas.
        if label in self.frame.columns.to_flat_index():
            column = self.frame[label]
            self.repeated |= column.ndim == 2
            return column
        if not isinstance(labels, pd.MultiIndex) and name in {"index", "ilevel_0", labels.name}:
            return rowwise(to_series, self.frame.index, name=None)
        for at, level in enumerate(labels.names if isinstance(labels, pd.MultiIndex) else ()):
            if name == (f"ilevel_{at}" if level is None else level):
                return rowwise(level_values, self.frame, level=at)
        if name in self.frame.columns.names:
            raise NotImplementedError(
                f"an expression with {name!r}, the name of the columns, is not supported; rename "
                "it with rename_axis(axis=1)"
            )
        raise pd.errors.UndefinedVariableError(name)

    def _boolop(self, node: ast.BoolOp) -> Any:
        func = operator.and_ if isinstance(node.op, ast.And) else operator.or_
        return reduce(func, map(self.value, node.values))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        self._check_operator(node.op)
        return UNARY[type(node.op)](self.value(node.operand))

    def _binop(self, node: ast.BinOp) -> Any:
        func = BINARY.get(type(node.op))
        if func is None:
            raise NotImplementedError(f"'{type(node.op).__name__}' nodes are not implemented")
        return func(self.value(node.left), self.value(node.right))

    def _check_operator(self, op: ast.AST, *operands: Any) -> None:
        """Raise for what pandas lacks with ``parser="python"``, where ``==`` of texts is ``in``."""
        among = isinstance(op, ast.Eq | ast.NotEq) and any(
            isinstance(operand, str | list) for operand in operands
        )
        if self.parser == "python" and (among or isinstance(op, NOT_IN_PYTHON)):
            raise NotImplementedError(
                f"'{type(op).__name__}' nodes of texts or lists are not implemented in expressions "
                "with parser='python'; use the default parser"
            )

    def _compare(self, node: ast.Compare) -> Any:
        if self.parser == "python" and len(node.ops) > 1:
            raise NotImplementedError(
                "'BoolOp' nodes are not implemented in expressions with parser='python'; use the "
                "default parser"
            )
        nodes = (node.left, *node.comparators)
        values = list(map(self.value, nodes))
        comparisons = [
            self._compared(op, left, right, comparator)
            for op, left, right, comparator in zip(
                node.ops, values, values[1:], node.comparators, strict=False
            )
        ]
        return reduce(operator.and_, comparisons)

    def _compared(self, op: ast.cmpop, left: Any, right: Any, node: ast.expr) -> Any:
        self._check_operator(op, left, right)
        left, right = _as_time(left, right), _as_time(right, left)
        among = isinstance(op, ast.In | ast.NotIn)
        if among and _is_rows(left) and isinstance(right, list) and any(map(_is_rows, right)):
            _check_names(node, right)
            equal = reduce(operator.or_, [left == value for value in right])
            return ~equal if isinstance(op, ast.NotIn) else equal
        if isinstance(left, list) and isinstance(op, ast.Eq | ast.NotEq):
            left, right = right, left
        several = isinstance(right, list | np.ndarray | set | tuple)
        if isinstance(op, ast.In) or (isinstance(op, ast.Eq) and several):
            return _is_in(left, right)
        if isinstance(op, ast.NotIn) or (isinstance(op, ast.NotEq) and several):
            return ~_is_in(left, right)
        return BINARY[type(op)](left, right)

    def _attribute(self, node: ast.Attribute) -> Any:
        return getattr(self.value(node.value), node.attr)

    def _subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def _call(self, node: ast.Call) -> Any:
        func: Any
        if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            func = getattr(np, node.func.id)
        elif isinstance(node.func, ast.Name) or (
            isinstance(node.func, ast.Attribute) and node.func.attr != "__call__"
        ):
            func = self.value(node.func)
        else:
            raise TypeError("Only named functions are supported")
        options = {pair.arg: self.value(pair.value) for pair in node.keywords if pair.arg}
        return func(*map(self.value, node.args), **options)


def _as_time(value: Any, other: Any) -> Any:
    """Return a number that is compared with times as one: 20240131 is a day, as in pandas."""
    dtype: Any = getattr(other.node.meta, "dtype", None) if isinstance(other, Collection) else None
    times = pd.api.types.is_datetime64_any_dtype(dtype)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return pd.Timestamp(str(value)) if times and is_number else value


def _is_rows(value: Any) -> bool:
    """Tell whether a value is a lazy column."""
    return isinstance(value, Collection) and bool(value.node.chunks)


def _check_names(node: ast.expr, values: list[Any]) -> None:
    """Raise for columns among a list that are computed in it: pandas compares named ones."""
    if not isinstance(node, ast.List | ast.Tuple):
        return
    for item, value in zip(node.elts, values, strict=True):
        if _is_rows(value) and not isinstance(item, ast.Name):
            raise NotImplementedError(
                "'in' a list of computed columns is not supported in expressions; use assign() "
                "first, and the columns' names"
            )


def _is_in(left: Any, right: Any) -> Any:
    """Tell of each value of a column whether it is among others, on whichever side these are."""
    several = [value for value in (left, right) if isinstance(value, Collection)]
    if not several:
        raise NotImplementedError("'in' without a column is not supported in expressions")
    column: Any = several[0]
    values = right if column is left else left
    if isinstance(values, list):
        # As in pandas, columns in a list are equal to no value, but with ``in``.
        values = [value for value in values if not _is_rows(value)]
    if (values is left and pd.api.types.is_scalar(values)) or isinstance(values, str):
        values = [values]
    return column.isin(values)


def _without_quoted_names(text: str) -> tuple[str, list[str]]:
    """Return a text with identifiers in place of the names in backticks, and these names."""
    names: list[str] = []

    def identifier(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        names.append(match[1].replace("``", "`"))
        return f"{QUOTED}{len(names) - 1}"

    lines = QUOTES.sub(identifier, text).splitlines()
    return "\n".join(map(str.strip, lines)), names


def _tokens(text: str) -> Iterator[tuple[Any, str]]:
    """Yield the tokens of a text without names in backticks."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield token.type, token.string


def names_in(text: str) -> set[str]:
    """Return the names after ``@`` in an expression."""
    words = [word for _, word in _tokens(_without_quoted_names(text)[0])]
    return {word for before, word in pairwise(words) if before == "@"}


def variables_of_caller(text: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return what the names after ``@`` mean where the user called."""
    places = scopes_of_caller(options)
    variables: dict[str, Any] = {}
    for name in names_in(text):
        holder = next((scope for scope in places if name in scope), None)
        if holder is None:
            raise pd.errors.UndefinedVariableError(f"local variable {name}")
        variables[name] = holder[name]
    return variables


def scopes_of_caller(options: dict[str, Any]) -> list[Mapping[str, Any]]:
    """Return where names are looked up: what is given, else the variables where the user called."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__", "")).startswith("marsdask."):
        frame = frame.f_back
    local, outer = options.get("local_dict"), options.get("global_dict")
    return [
        frame.f_locals if local is None else local,
        frame.f_globals if outer is None else outer,
    ]


@dataclass
class VariableEvaluation(Evaluation):
    """Evaluates an expression of the user's variables."""

    scopes: list[Mapping[str, Any]] = field(default_factory=list)

    def _name(self, node: ast.Name) -> Any:
        for scope in self.scopes:
            if node.id in scope:
                return scope[node.id]
        raise pd.errors.UndefinedVariableError(node.id)


#: Arguments of expressions of which only the defaults are supported, and those of speed.
CHANGING_NOTHING = {"parser", "engine"}


def check_engine(parser: Any, engine: Any) -> None:
    """Raise for what evaluates expressions in pandas, but other than it does."""
    if engine not in {None, "numexpr", "python"}:
        raise KeyError(f"Invalid engine '{engine}' passed, valid engines are numexpr and python")
    if parser not in {"pandas", "python"}:
        raise KeyError(f"Invalid parser '{parser}' passed, valid parsers are pandas and python")


@public_call
def evaluate_variables(
    expr: str,
    parser: str = "pandas",
    engine: str | None = None,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    resolvers: Any = (),
    level: int = 0,
    target: Any = None,
    inplace: bool = False,
) -> Any:
    """Evaluate an expression of frames, series and numbers by the names of variables.

    See pandas.eval. ``level`` is not supported, nor is ``inplace``.

    Parameters
    ----------
    expr : str
        The expression.
    parser : str
        ``"pandas"`` or ``"python"``, whose ``&`` binds as in Python.
    engine : str, optional
        pandas's argument, which changes nothing.
    local_dict, global_dict : dict, optional
        What names mean; by default, the local and global variables where it is called.
    resolvers : sequence of dict
        What names mean before all else.
    level, inplace
        Not supported.
    target : DataFrame, optional
        A frame of which a copy gets the columns that are assigned.

    Returns
    -------
    DataFrame, Series, Tensor or scalar
        The value, lazy if a variable is.

    Raises
    ------
    NotImplementedError
        For what is not supported.
    pandas.errors.UndefinedVariableError
        If a name is unknown.

    Examples
    --------
    >>> a, b = md.Series([1, 2]), md.Series([3, 1])
    >>> md.eval("a > b").compute().tolist()
    [False, True]
    """
    check_engine(parser, engine)
    if level or inplace:
        raise NotImplementedError(
            "eval() with level or inplace is not supported; use local_dict=, and assign the result"
        )
    if "@" in expr:
        raise SyntaxError(
            "The '@' prefix is not allowed in top-level eval calls; use the names of variables "
            "without it"
        )
    options = {"local_dict": local_dict, "global_dict": global_dict}
    assigned: dict[str, Any] = {}
    scopes = [assigned, *resolvers, *scopes_of_caller(options)]
    evaluation = VariableEvaluation(None, {}, parser, scopes=scopes)
    lines = evaluation.parsed(expr.strip())
    if len(lines) == 1 and isinstance(lines[0], ast.Expr):
        return evaluation.value(lines[0].value)
    for line in lines:
        if not isinstance(line, ast.Assign) or not isinstance(line.targets[0], ast.Name):
            raise ValueError(
                "Multi-line expressions are only valid if all expressions contain an assignment"
            )
        if target is None:
            raise ValueError("cannot assign without a target object")
        assigned[line.targets[0].id] = evaluation.value(line.value)
    frame = target.copy()
    for name, value in assigned.items():
        frame[name] = value
    return frame


def evaluate(frame: DataFrame, expr: str, **options: Any) -> DataFrame | Series:
    """Evaluate an expression of columns. See pandas.DataFrame.eval.

    Each name is a lazy column, so that ``a - a.mean()`` is that of all rows.
    """
    result: DataFrame | Series = _evaluated(evaluation_of(frame, expr, options), expr)
    return result


def evaluation_of(frame: Any, expr: str, options: dict[str, Any]) -> Evaluation:
    """Return what evaluates an expression of a frame's columns."""
    if extra := set(options) - {"local_dict", "global_dict", *CHANGING_NOTHING}:
        raise TypeError(f"eval() got an unexpected keyword argument {min(extra)!r}")
    parser = options.get("parser", "pandas")
    check_engine(parser, options.get("engine"))
    return Evaluation(frame, variables_of_caller(expr, options), parser)


def _evaluated(evaluation: Evaluation, expr: str) -> Any:
    """Return the value of an expression, or the frame with what it assigns."""
    result: Any = evaluation.frame
    for line in evaluation.parsed(expr.strip()):
        if isinstance(line, ast.Expr):
            result = evaluation.value(line.value)
        elif isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            value = evaluation.value(line.value)
            name = line.targets[0].id
            result = rowwise(with_columns, evaluation.frame, value, names=(name,))
            evaluation.frame = result
        else:
            raise ValueError("an expression or assignments to columns are expected")
    return result


def query(frame: DataFrame, expr: str, **options: Any) -> DataFrame:
    """Return the rows for which an expression of columns holds. See pandas.DataFrame.query."""
    if not isinstance(expr, str):
        raise ValueError(f"expr must be a string to be evaluated, {type(expr)} given")
    evaluation = evaluation_of(frame, expr, options)
    mask = _evaluated(evaluation, expr)
    if not isinstance(mask, Collection):
        raise NotImplementedError("query() of a constant is not supported; use the frame as it is")
    if evaluation.repeated and isinstance(mask.node.meta, pd.DataFrame):
        raise ValueError(
            "expr referenced a duplicated column label, so that it is no mask of rows; use other "
            "labels, or reduce it with .any(axis=1)"
        )
    rows: DataFrame = frame[mask]
    return rows
