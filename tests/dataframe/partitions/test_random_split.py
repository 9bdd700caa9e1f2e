"""Random pieces, counts that are nearly right, and functions of frames in Dask's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.partitions.random_split import count_of, registers_of
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, filtered, table

_coalesce = one_mode.coalesce

FRAME = table(60)


@pytest.mark.parametrize("shuffle", [False, True])
def test_pieces(shuffle):
    """Each row is in one of them, the same ones each time; unless asked for, in order."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=25)
    for rows, one in ((FRAME, lazy), (filtered(FRAME), filtered(lazy))):
        pieces = one.random_split([0.5, 0.2, 0.3], random_state=3, shuffle=shuffle)
        found = [piece.compute() for piece in pieces]
        assert [len(piece) > 0 for piece in found] == [True] * 3
        pd.testing.assert_frame_equal(pd.concat(found).sort_index(), rows)
        assert all(piece.index.is_monotonic_increasing for piece in found) != shuffle
        again = one.random_split([0.5, 0.2, 0.3], random_state=3, shuffle=shuffle)
        equal(again[1], found[1])


def test_pieces_of_a_series():
    """Another seed draws other rows; shares are those that were asked for."""
    lazy: Any = md.Series(np.arange(4000), chunk_size=900)
    first, _ = lazy.random_split([0.25, 0.75], random_state=np.random.RandomState(1))
    other, _ = lazy.random_split([0.25, 0.75])
    assert 900 < len(first) < 1100
    assert first.compute().tolist() != other.compute().tolist()
    with pytest.raises(ValueError, match="sum to 1"):
        lazy.random_split([0.5, 0.6])


@pytest.mark.parametrize("count", [1, 500, 60_000])
def test_nearly_right_counts(count):
    """Within a few percent, of many and of few rows, whatever chunks repeat them."""
    values = np.random.default_rng(0).integers(0, 2**60, count)
    lazy: Any = md.Series(np.concatenate([values, values[::3]]), chunk_size=count)
    found = lazy.nunique_approx(split_every=2)
    assert found.dtype == float
    assert float(found.compute()) == pytest.approx(len(np.unique(values)), rel=0.03)


def test_nearly_right_counts_of_frames():
    """Rows count, and none are none."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=25)
    wanted = len(FRAME[["k", "s"]].drop_duplicates())
    assert round(float(lazy[["k", "s"]].nunique_approx().compute())) == wanted
    assert lazy[lazy.u > 99].nunique_approx().compute() == 0
    assert count_of(np.maximum(*[registers_of(FRAME.u)] * 2)) == count_of(registers_of(FRAME.u))


def test_functions():
    """Of lazy frames, and of those in memory."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=25)
    cut: Any = md.repartition(lazy.set_index("u"), [0, 20, 59])
    assert cut.divisions == (0, 20, 59)
    equal(cut, FRAME.set_index("u").sort_index())
    equal(md.repartition(FRAME.u, [0, 30, 59]), FRAME.u)
    found = md.map_overlap(lambda rows: rows.rolling(3).sum(), lazy[["u"]], 2, 0)
    equal(found, FRAME[["u"]].rolling(3).sum())


def test_bytes_and_medians():
    """Each partition has its bytes; medians are exact."""
    lazy: Any = md.DataFrame(FRAME[["k", "u"]], chunk_size=25)
    assert lazy.memory_usage_per_partition(index=False).compute().tolist() == [400, 400, 160]
    equal(lazy.median_approximate(method="tdigest"), FRAME[["k", "u"]].median())
    equal(lazy.u.median_approximate(), FRAME.u.median())
