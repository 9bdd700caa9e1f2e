"""Types of values of columns are tested by samples of their length."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal


@pytest.mark.parametrize("symbol", [operator.and_, operator.or_, operator.xor])
def test_truth_values_of_columns(symbol):
    """They have operators, also with a mask; numbers with a fraction have none."""
    frame = pd.DataFrame({"k": [1.5, 2], "m": pd.array([1, None], dtype="Int64")})
    lazy = md.DataFrame(frame, chunk_size=1)
    forms = [lambda d: d.sum() > 1, lambda d: d.sum().isna(), lambda d: d.notna().all()]
    forms += [lambda d: np.array([True, False])]
    for left in forms[:3]:
        for right in forms:
            equal(symbol(left(lazy), right(lazy)), symbol(left(frame), right(frame)))
    equal(symbol(lazy.notna(), lazy.notna().any()), symbol(frame.notna(), frame.notna().any()))
    for d in (frame[["k"]], lazy[["k"]]):
        for other in (d.sum().isna(), np.array([True])):
            with pytest.raises(TypeError, match="unsupported operand"):
                symbol(d.max(), other)
