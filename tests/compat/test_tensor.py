"""The names that NumPy removed and Mars's programs may still use."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.compat import tensor as old

A = mt.tensor([[3, 1], [2, 5]], chunk_size=1)


def test_constants_and_types() -> None:
    """Are NumPy 2's under other names."""
    assert old.Inf == old.PINF == -old.NINF == np.inf
    assert np.isnan(old.NaN)
    assert old.float_ is np.float64
    assert old.unicode_ is np.str_
    assert old.object is object


def test_functions() -> None:
    """Do what they did."""
    assert old.product(A).compute() == 30
    assert old.in1d(A, [1, 5]).compute().tolist() == [False, True, False, True]
    assert old.msort(A).compute().tolist() == [[2, 1], [3, 5]]
    assert old.trapz([1.0, 2.0]).compute() == 1.5
    assert old.bitand(A, 1).compute().tolist() == [[1, 1], [0, 1]]


def test_all_other_names_are_the_tensors() -> None:
    """So that one module can stand for mars.tensor; the removed names are nowhere else."""
    assert old.histogram is mt.histogram
    with pytest.raises(AttributeError):
        _ = old.no_such_name
    for name in ("Inf", "NaN", "float_", "product", "in1d", "trapz", "round_"):
        with pytest.raises(AttributeError, match=f"marsdask.compat.tensor.{name}"):
            getattr(mt, name)
