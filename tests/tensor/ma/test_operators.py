"""Operators of masked tensors are those of ``numpy.ma``, functions are NumPy's."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

from .test_ma import check

#: Operators, with whether the masked array comes first.
OPERATORS: dict[str, Any] = {
    "x + 1": lambda x: x + 1,
    "x - x": lambda x: x - x,
    "x * nan": lambda x: x * np.nan,
    "x / x": lambda x: x / x,
    "1 / x": lambda x: 1 / x,
    "x ** 2": lambda x: x**2,
    "x ** 0.5": lambda x: x**0.5,
    "x ** -1.0": lambda x: x**-1.0,
    "2 ** x": lambda x: 2**x,
    "array / x": lambda x: np.array([1, 0, 2, 3]) / x,
    "x == 1": lambda x: x == 1,
    "x != x": lambda x: x != x,
}
#: Those of real numbers alone.
OF_REAL: dict[str, Any] = {
    "x // 0": lambda x: x // 0,
    "x % 0": lambda x: x % 0,
    "x < 1": lambda x: x < 1,
    "array >= x": lambda x: np.array([1, 0, 2, 3]) >= x,
}
FUNCTIONS = ("sqrt", "log", "exp", "arccos", "reciprocal", "tan", "absolute", "square", "isnan")
PAIRS = ("add", "subtract", "multiply", "divide", "power", "equal", "not_equal")
PAIRS_OF_REAL = ("floor_divide", "remainder", "greater", "less_equal", "arctan2", "fmod")
CHANGES = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "ipow")

MASKS = {"some": [False, False, False, True], "none": [False] * 4, "all": [True] * 4}


def masked(kind: str, mask: str, chunk: int) -> tuple[Any, Any]:
    """Return a masked array with values that are not finite, and its tensor."""
    data: Any = [2, 0, -3, 1] if kind == "i4" else [np.nan, 0, np.inf, -1]
    x = np.ma.masked_array(np.array(data, kind), mask=MASKS[mask])
    return x, mt.tensor(x, chunk_size=chunk)


@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["f8", "f4", "c16", "c8", "i4"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_and_functions(kind: str, mask: str, chunk: int) -> None:
    """Only operators mask what is not finite; each keeps its values below masks."""
    array, tensor = masked(kind, mask, chunk)
    real = kind[0] != "c"
    calls = [*OPERATORS.values(), *(OF_REAL.values() if real else ())]
    if kind == "i4":
        calls.remove(OPERATORS["2 ** x"])  # NumPy refuses negative powers of integers
    functions = [name for name in FUNCTIONS if kind != "i4" or name != "reciprocal"]
    twos = (*PAIRS, *(PAIRS_OF_REAL if real else ()))
    pairs = [
        *((call(tensor), call(array)) for call in calls),
        *((getattr(mt, name)(tensor), getattr(np, name)(array)) for name in functions),
        *((getattr(mt, name)(tensor, 2), getattr(np, name)(array, 2)) for name in twos),
    ]
    for lazy, wanted in pairs:
        assert lazy.dtype == wanted.dtype
    values = mt.compute(*(lazy for lazy, _ in pairs))
    for value, (_, wanted) in zip(values, pairs, strict=True):
        check(value, wanted, 1e-6)
        shown = ~np.ma.getmaskarray(wanted)
        np.testing.assert_allclose(value.data[~shown], wanted.data[~shown], 1e-6)


@pytest.mark.parametrize("other", [2, 0.5, 0])
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", ["f8", "i4"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_in_place(kind: str, name: str, other: Any) -> None:
    """They keep the type and the values under masks, and raise what NumPy raises."""
    array, tensor = masked(kind, "some", 3)
    change = getattr(operator, name)
    try:
        wanted = change(array, other)
    except TypeError:
        with pytest.raises(TypeError):
            change(tensor, other)
        return
    value = change(tensor, other).compute()
    check(value, wanted, 1e-6)
    np.testing.assert_allclose(value.data, wanted.data, 1e-6)
