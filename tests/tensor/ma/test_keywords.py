"""Functions of masked arrays take NumPy's keywords."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from marsdask.tensor import ma

KEYWORDS: dict[str, Any] = {
    "argmax": lambda ma, m: m.argmax(axis=1, keepdims=True),
    "argmin": lambda ma, m: m.argmin(axis=0, keepdims=True),
    "argmax by a value": lambda ma, m: m.argmax(axis=1, fill_value=99),
    "argmin by a value": lambda ma, m: ma.argmin(m, 1, -99),
    "sort by kind": lambda ma, m: ma.sort(m, 1, "stable"),
    "sort from the begin": lambda ma, m: ma.sort(m, kind="stable", endwith=False),
    "sum of weights": lambda ma, m: ma.average(m, axis=1, weights=[1, 2, 3, 4], returned=True)[1],
}


@pytest.mark.parametrize("call", KEYWORDS.values(), ids=list(KEYWORDS))
def test_keywords(call: Any) -> None:
    """Functions of masked arrays take NumPy's, and return its types."""
    array = np.ma.masked_equal([[3, 1, 2, 1], [0, 5, 5, 2], [1, 1, 9, 0]], 5)
    expected, result = call(np.ma, array), call(ma, ma.from_masked(array).rechunk(2)).compute()
    assert type(result) is type(expected)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.ma.getmaskarray(result), np.ma.getmaskarray(expected))
    with pytest.raises(ValueError, match="stable"):
        ma.sort(array, stable=True)
