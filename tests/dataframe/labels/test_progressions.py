"""Small integers become labels of 64 bits where pandas makes a range of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

VALUES: tuple[list[int], ...] = ([], [5], [3, 4], [1, 1, 1], [7, 4, 1], [1, 2, 5, 9, 10, 11])


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_progressions_are_ranges(values, dtype):
    """All rows decide, however they are cut, chosen or labelled again."""
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype), "b": range(len(values))})
    for size in (1, 2, 6):
        lazy: Any = md.DataFrame(frame, chunk_size=size)
        for rows, chosen in ((frame, lazy), (frame[frame.b >= 0], lazy[lazy.b >= 0])):
            equal(chosen.set_index("a"), rows.set_index("a"))
            equal(chosen.set_index(["a"]).reset_index(), rows.set_index(["a"]).reset_index())
            equal(chosen.set_index(chosen.a, drop=False), rows.set_index(rows.a, drop=False))
            equal(chosen.set_index("a", append=True), rows.set_index("a", append=True))
