"""Whoever names arguments as NumPy does is understood."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

#: Keywords that make no sense here, of any function.
NOWHERE = {"like", "subok"}

#: Others, and why they are not there.
REASONS = {
    ("arange", "start_or_stop"): "NumPy's signature; the argument is positional",
    ("array", "object"): "the name hides a builtin; the argument is first everywhere",
    ("array", "ndmax"): "only objects nested in arrays need it",
    ("astype", "x"): "positional only",
    ("empty_like", "prototype"): "the argument is first, and named a in all of its kin",
    ("load", "encoding"): "archives of Python 2 are not read",
    ("load", "fix_imports"): "archives of Python 2 are not read",
    ("load", "max_header_size"): "headers are read by NumPy with its own limit",
}


def functions() -> Iterator[tuple[str, Any, Any]]:
    """Yield the functions that both have and that tell their parameters."""
    pairs = (("", np, mt), ("linalg.", np.linalg, mt.linalg), ("fft.", np.fft, mt.fft))
    for prefix, theirs, ours in pairs:
        for name in sorted(set(dir(theirs)) & set(dir(ours))):
            first, second = getattr(theirs, name), getattr(ours, name)
            if not name.startswith("_") and inspect.isroutine(first) and first is not second:
                yield prefix + name, first, second


FUNCTIONS = {name: pair for name, *pair in functions()}


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters by name; none of functions that do not tell."""
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:
        return {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keywords(name: str) -> None:
    """Each of NumPy's keywords is one of ours, unless a reason stands above."""
    theirs, ours = map(parameters, FUNCTIONS[name])
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in ours.values()):
        return  # settled by the functions that take them
    named = {
        key
        for key, parameter in theirs.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    missing = named - ours.keys() - NOWHERE
    assert missing == {key for place, key in REASONS if place == name and key in named}
