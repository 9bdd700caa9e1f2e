"""A state goes from chunk to chunk, whatever happened to the rows before."""

from __future__ import annotations

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, table
from tests.strategies import HISTORIES

COLUMNS = ["k", "f", "b", "u"]


@pytest.mark.parametrize("name", ["executed", "persisted", "adopted"])
def test_history(name):
    """What happened to the rows before changes nothing."""
    frame = table(11)[COLUMNS]
    lazy = HISTORIES[name](md.DataFrame(frame, chunk_size=3))
    equal(lazy.expanding().var(), frame.expanding().var())
    equal(lazy.f.ewm(span=3).mean(), frame.f.ewm(span=3).mean())
    equal(lazy.u.rolling(4).mean(), frame.u.rolling(4).mean())


def test_merged_chunks():
    """Chunks that are merged come to the same, and rows in one chunk are cut as they were."""
    frame = table(11)[COLUMNS]
    with option_context({"coalesce": True}):
        lazy = md.DataFrame(frame, chunk_size=1)
        equal(lazy.ffill(), frame.ffill())
        equal(lazy.expanding().sum(), frame.expanding().sum())
        found = lazy.f.expanding().median()
        equal(found, frame.f.expanding().median())
        assert found.chunks == lazy.chunks
    by_dask = lazy.bfill().to_dask().compute(scheduler="synchronous")
    pd.testing.assert_frame_equal(by_dask, frame.bfill())
