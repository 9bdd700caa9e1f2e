"""The function that correlates the columns of a group."""

from __future__ import annotations

import pandas as pd

from marsdask.dataframe.keyed.group_corrwith import CorrWith


def test_one_row_of_a_group():
    """One row of a group, NaN where nothing varies."""
    group = pd.DataFrame({"x": [1.0, 2, 3], "y": [1.0, 1, 1], "z": [3.0, 2, 1]})
    found = CorrWith((("x", "z"), ("y", "z")), "pearson")(group)
    assert found.x.tolist() == [-1]
    assert found.y.isna().all()
