"""Functions of a reference and ours, how they are called, and how their results are compared."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from pandas.io.json._json import JsonReader
from pandas.io.parsers import TextFileReader

from marsdask.core.collection import Collection

#: Errors that say that an argument is invalid.
INVALID = (TypeError, ValueError, KeyError, NotImplementedError, IndexError)

#: Parameters of files, which no value is tried for.
FILES = {"buf", "path", "path_or_buf", "excel_writer", "fname", "file"}
KEYWORDS = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@dataclass(frozen=True)
class Case:
    """A function of the reference and ours, with the arguments that they need.

    Two results are ``alike`` if they may be results of one call. Random numbers are, for example,
    if their shapes and types are equal.
    """

    name: str
    model: Callable[..., Any] = field(repr=False)
    ours: Callable[..., Any] = field(repr=False)
    signature: Any = field(repr=False)
    args: tuple[Any, ...] = ()
    needed: Mapping[str, Any] = field(default_factory=dict)
    alike: Callable[[Any, Any], bool] | None = field(default=None, repr=False)

    def parameters(self) -> list[str]:
        """Return the names of the keywords that the reference's signature has."""
        try:
            parameters = list(inspect.signature(self.signature).parameters.values())
        except (TypeError, ValueError):
            return []
        own = [x for x in parameters if x.name != "self"][len(self.args) :]
        return [x.name for x in own if x.kind in KEYWORDS and x.name not in FILES]

    def wanted(self, **given: Any) -> Any:
        """Return the reference's result, or its error."""
        return result(partial(self.model, *self.args, **{**self.needed, **given}))

    def returned(self, **given: Any) -> Any:
        """Return our result, or our error."""
        return result(partial(self.ours, *self.args, **{**self.needed, **given}))

    def verdict(self, parameter: str, value: Any, default: Callable[[], Any]) -> str:
        """Return what is wrong with how we take an argument: nothing, in the good case.

        ``default`` gives our result without the argument, which is needed in a bad case only.
        """
        wanted = self.wanted(**{parameter: value})
        returned = self.returned(**{parameter: value})
        if isinstance(returned, Exception):
            return ""
        if isinstance(wanted, Exception):
            return f"taken, for {type(wanted).__name__}"
        if not (self.alike or equal)(wanted, returned):
            return "dropped" if equal(returned, default()) else "another value"
        if self.alike is not None and equal(returned, default()):
            return "dropped"
        return ""


def result(call: Callable[[], Any]) -> Any:
    """Return the computed value of a call, or the error that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return computed(call())
    except Exception as error:  # noqa: BLE001 - whatever a call raises is its result
        return error


def computed(value: Any) -> Any:
    """Return a value with pandas's and NumPy's objects in place of lazy ones."""
    if isinstance(value, tuple | list):
        values = [computed(item) for item in value]
        return type(value)(values) if type(value) in {tuple, list} else values
    if isinstance(value, dict):
        return {key: computed(item) for key, item in value.items()}
    if isinstance(value, TextFileReader | JsonReader):
        value.close()
    return value.compute() if isinstance(value, Collection) else value


def equal(a: Any, b: Any) -> bool:
    """Tell whether two results are equal, types and labels too."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    try:
        return _equal(a, b)
    except Exception:  # noqa: BLE001 - objects of two kinds may not compare
        return False


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_freq=False)
    elif isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b, check_freq=False)
    elif isinstance(a, pd.Index):
        pd.testing.assert_index_equal(a, b)
    elif isinstance(a, np.ndarray | np.generic | float):
        left, right = np.asarray(a), np.asarray(b)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        same = np.testing.assert_allclose if left.dtype.kind in "fc" else _same
        same(left, right)
    else:
        return bool(a == b)
    return True


def _same(a: Any, b: Any) -> None:
    if a.dtype.names:
        for name in a.dtype.names:
            np.testing.assert_array_equal(a[name], b[name])
        return
    np.testing.assert_array_equal(a, b)
