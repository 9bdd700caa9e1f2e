"""Rows that become several rows: how many, if it is known."""

from __future__ import annotations

import pandas as pd

import marsdask.dataframe as md
from marsdask.dataframe.reshape.flat_map import flat_map
from tests.dataframe.tables import equal, table


def twice(block: pd.DataFrame) -> pd.DataFrame:
    """Return each row twice."""
    return block.loc[block.index.repeat(2)]


def test_sizes_are_known_if_each_row_becomes_as_many():
    """And columns that nobody wants are not read."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    found = flat_map(twice, lazy, times=2, read=())
    assert found.chunks == ((4, 4, 2),)
    equal(found[["k"]], twice(frame)[["k"]])
    assert flat_map(twice, lazy).shape[0] != 10
