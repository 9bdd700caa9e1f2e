"""Calls that tell whether an argument is heeded: values that change what the reference returns."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection

#: Values that are tried for each parameter, beside the words in quotes of its documentation.
POOL: list[Any] = [
    *(True, False, None, 0, 1, 2, -1, 0.5, 1.5, "a", "b", "index", "columns", "raise", "ignore"),
    *(["a"], ["b"], [0], [1, 0], [True, False], {"a": "z"}, {"a": 0}, (0, 1), {}),
    *("float32", str, float, np.nan, "first", "last", "D", "h", "left", "neither", "UTC"),
    *([0.25, 0.75], np.array([1, 0]), object()),
]


@dataclass(frozen=True)
class Case:
    """A function of the reference and ours, with the arguments that they need."""

    name: str
    model: Callable[..., Any] = field(repr=False)
    ours: Callable[..., Any] = field(repr=False)
    signature: Any = field(repr=False)
    needed: dict[str, Any]

    def probes(self) -> Iterator[tuple[str, Any]]:
        """Yield a parameter and a value for it."""
        for parameter in _parameters(self.signature):
            if parameter in self.needed or parameter == "inplace":
                continue
            words = _words(self.signature, parameter)
            for value in [*POOL, *words]:
                yield parameter, value


def _parameters(func: Any) -> list[str]:
    try:
        found = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return [one.name for one in found if one.kind in kinds and one.name != "self"]


def _words(func: Any, parameter: str) -> list[str]:
    text = inspect.getdoc(func) or ""
    part = re.search(rf"^\s*{re.escape(parameter)}\s*:(.*(?:\n.*){{0,4}})", text, re.MULTILINE)
    return re.findall(r"['\"]([^'\"\n]{1,15})['\"]", part.group(1)) if part else []


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
        return (
            type(value)([computed(one) for one in value])
            if type(value) in {tuple, list}
            else [computed(one) for one in value]
        )
    return value.compute() if isinstance(value, Collection) else value


def equal(a: Any, b: Any) -> bool:
    """Tell whether two results are equal, types and labels too."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    try:
        if isinstance(a, pd.DataFrame):
            pd.testing.assert_frame_equal(a, b, check_freq=False)
        elif isinstance(a, pd.Series):
            pd.testing.assert_series_equal(a, b, check_freq=False)
        elif isinstance(a, pd.Index):
            pd.testing.assert_index_equal(a, b)
        elif isinstance(a, np.ndarray | np.generic | float):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(np.asarray(a), b) if np.asarray(a).dtype.kind in "fc" else (
                np.testing.assert_array_equal(a, b)
            )
        else:
            return bool(a == b)
    except Exception:  # noqa: BLE001 - objects of two kinds may not compare
        return False
    return True


#: Errors that say that an argument is invalid.
INVALID = (TypeError, ValueError, KeyError, NotImplementedError, IndexError)


def dropped(case: Case, checked: Callable[[str, Any], bool]) -> list[str]:
    """Return the arguments that the reference heeds, or refuses, and ours takes in silence."""
    plain = result(lambda: case.model(**case.needed))
    if isinstance(plain, Exception):
        return []
    default: Any = None
    faults: list[str] = []
    tried: dict[str, int] = {}
    for parameter, value in case.probes():
        if not checked(parameter, value) or tried.get(parameter, 0) >= 8:
            continue
        given = {**case.needed, parameter: value}
        wanted = result(partial(case.model, **given))
        refused = isinstance(wanted, Exception)
        if (refused and not isinstance(wanted, INVALID)) or (not refused and equal(wanted, plain)):
            continue
        tried[parameter] = tried.get(parameter, 0) + 1
        found = result(partial(case.ours, **given))
        if isinstance(found, Exception) or (not refused and equal(found, wanted)):
            continue
        default = result(lambda: case.ours(**case.needed)) if default is None else default
        if refused or equal(found, default):
            kind = type(wanted).__name__ if refused else "dropped"
            faults.append(f"{case.name}: {parameter}={value!r} ({kind})")
    return faults
