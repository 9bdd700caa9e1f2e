"""What a user can see of the value of a call, as JSON: the same for Mars and for marsdask."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import numpy as np

#: The longest text that is kept of an error.
_WORDS = 200


def fact_of(line: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a line; return what its value is, or how it fails."""
    when = "call"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = _value_of(line, names)
            lazy = _is_lazy(value)
            when = "execute"
            found = _described(_fetched(value))
    except Exception as error:  # noqa: BLE001 - what it raises is the fact
        names_of = [one.__name__ for one in type(error).__mro__[:-3]]
        return {"error": names_of, "words": str(error).split("\n")[0][:_WORDS], "when": when}
    return {"lazy": lazy, **found}


def _value_of(line: str, names: dict[str, Any]) -> Any:
    """Run all statements; return the value of the last one, ``None`` if that is no expression."""
    tree = ast.parse(line)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<call>", "exec"), names)  # noqa: S102 - our own lines
        return None
    first = ast.Module(tree.body[:-1], [])
    exec(compile(first, "<call>", "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), "<call>", "eval"), names)  # noqa: S307


def _is_lazy(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_lazy, value))
    return hasattr(value, "execute") and not isinstance(value, type)


def _fetched(value: Any) -> Any:
    """Return the value in memory of a lazy one, however nested."""
    if isinstance(value, (list, tuple)):
        return [_fetched(item) for item in value]
    if _is_lazy(value):
        return value.execute().fetch()
    return value


def _described(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"items": [_described(item) for item in value]}
    if hasattr(value, "toarray"):
        dense = value.toarray()
        return {"sparse": True, "dtype": str(dense.dtype), "values": _plain(dense)}
    if isinstance(value, np.ndarray) and value.ndim:
        flags = value.flags
        order = "CF"[flags.f_contiguous] if flags.c_contiguous != flags.f_contiguous else "CF"
        shown = {"dtype": str(value.dtype), "values": _plain(value)}
        return {**shown, "order": order, "shape": list(value.shape)}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"dtype": str(value.dtype), "values": _plain(value)}
    if isinstance(value, (bool, int, float, complex, str, type(None), bytes)):
        return {"type": type(value).__name__, "values": _plain(value)}
    if isinstance(value, (np.dtype, type)):
        return {"value": str(value)}
    if isinstance(value, dict):
        return {"value": repr(value)}
    return {"type": type(value).__name__}


def _plain(value: Any) -> Any:
    """Return values as JSON has them: numbers that it lacks are texts."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, int, type(None), str)):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    return str(value)
