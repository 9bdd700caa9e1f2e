"""Values that are tried, as Python writes them."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd

#: What the values of the tables are made of.
NAMES: dict[str, Any] = {"np": np, "pd": pd, "nan": np.nan, "inf": np.inf}

#: Values that are tried for each parameter, beside the words in quotes of its documentation.
POOL = (
    *("True", "False", "None", "0", "1", "2", "-1", "0.5", "1.5", "'a'", "'b'"),
    *("'index'", "'columns'", "'raise'", "'ignore'", "'first'", "'last'", "'left'", "'neither'"),
    *("['a']", "['b']", "[0]", "[1, 0]", "[True, False]", "{'a': 'z'}", "{'a': 0}", "(0, 1)"),
    *("'float32'", "str", "float", "nan", "'D'", "'h'", "'UTC'", "[0.25, 0.75]"),
    *("np.array([1, 0])", "object()", "{}"),
)

#: Values that are tried first for some parameters.
SPECIAL = {"sample_weight": ("np.linspace(0.5, 2.0, 24)",)}


def value_of(text: str) -> Any:
    """Return the value that Python reads in a text of a table."""
    return eval(text, dict(NAMES))  # noqa: S307 - texts of our own tables


def candidates(func: Any, parameter: str) -> list[str]:
    """Return the texts of the values that are tried for a parameter of a function."""
    return list(dict.fromkeys([*SPECIAL.get(parameter, ()), *_words(func, parameter), *POOL]))


def _words(func: Any, parameter: str) -> list[str]:
    text = inspect.getdoc(func) or ""
    part = re.search(rf"^\s*{re.escape(parameter)}\s*:(.*(?:\n.*){{0,4}})", text, re.MULTILINE)
    words = re.findall(r"['\"]([^'\"\n|;]{1,15})['\"]", part.group(1)) if part else []
    return [repr(word) for word in words]
