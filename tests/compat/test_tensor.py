"""The names that NumPy removed and Mars's programs may still use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.compat import tensor as old

A = mt.tensor([[3, 1], [2, 5]], chunk_size=1)


def removed(name: str) -> Any:
    """Return what a name stood for, which warns of the new word."""
    with pytest.warns(DeprecationWarning, match=rf"mars\.tensor\.{name} is gone: use ."):
        return getattr(old, name)


def test_constants_and_types() -> None:
    """Are NumPy 2's under other names."""
    assert removed("Inf") == removed("PINF") == -removed("NINF") == np.inf
    assert np.isnan(removed("NaN"))
    assert removed("float_") is np.float64
    assert removed("unicode_") is np.str_
    assert removed("object") is object
    assert removed("AxisError") is np.exceptions.AxisError


def test_functions() -> None:
    """Do what they did."""
    assert removed("product")(A).compute() == 30
    assert removed("in1d")(A, [1, 5]).compute().tolist() == [False, True, False, True]
    assert removed("msort")(A).compute().tolist() == [[2, 1], [3, 5]]
    assert removed("trapz")([1.0, 2.0]).compute() == 1.5
    assert removed("bitand")(A, 1).compute().tolist() == [[1, 1], [0, 1]]


def test_all_other_names_are_the_tensors() -> None:
    """So that one module can stand for mars.tensor; the removed names are nowhere else."""
    assert old.histogram is mt.histogram
    with pytest.raises(AttributeError):
        _ = old.no_such_name
    for name in ("Inf", "NaN", "float_", "product", "in1d", "trapz", "round_"):
        with pytest.raises(AttributeError, match=f"marsdask.compat.tensor.{name}"):
            getattr(mt, name)
