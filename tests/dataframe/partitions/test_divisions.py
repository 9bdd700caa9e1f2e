"""Divisions are those of Dask where they are known; partitions are taken by number."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce


@pytest.mark.parametrize("labels", [range(10), range(5, 25, 2), list("aabbccdeff")], ids=str)
def test_known_divisions(labels: Any) -> None:
    """Of sorted labels, the first of each partition and the last one."""
    frame = pd.DataFrame({"a": range(10)}, index=pd.Index(labels))
    theirs = dd.from_pandas(frame, chunksize=5)
    lazy = md.DataFrame(frame, chunk_size=5)
    if list(labels) == list(range(10)):
        assert (lazy + 1).divisions == theirs.divisions
    assert lazy.known_divisions
    assert lazy.divisions == (labels[0], labels[5], labels[9])
    assert lazy.clear_divisions().compute().equals(frame)


def test_unknown_divisions() -> None:
    """Are ``None``, one more than there are partitions, as in Dask."""
    lazy = md.DataFrame(table(10, index="labels"), chunk_size=4)
    rows = md.DataFrame(table(10), chunk_size=4).iloc[1:]
    for one in (lazy, lazy[lazy.u > 3], lazy.set_index("u"), md.DataFrame(table(0)), rows):
        assert not one.known_divisions
        assert one.divisions == (None,) * (one.npartitions + 1)


def test_partitions_by_number() -> None:
    """Single ones, several, and from the end."""
    frame = table(10)
    lazy = md.DataFrame(frame, chunk_size=4)
    assert len(lazy.partitions) == 3
    equal(lazy.partitions[1], frame[4:8])
    equal(lazy.partitions[-1], frame[8:])
    equal(lazy.partitions[1:], frame[4:])
    equal(lazy.u.partitions[[2, 0]], pd.concat([frame.u[8:], frame.u[:4]]))
    equal(lazy[lazy.u > 4].get_partition(0), frame[:4][frame.u[:4] > 4])
    assert [len(part) for part in lazy.partitions] == [4, 4, 2]
    with pytest.raises(ValueError, match="0 <= n < 3"):
        lazy.get_partition(3)
    with pytest.raises(IndexError):
        lazy.partitions[3]
