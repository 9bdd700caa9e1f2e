"""A RangeIndex that a Parquet file stores comes back as with pandas."""

from __future__ import annotations

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal


@pytest.mark.parametrize(
    "labels",
    [
        pd.RangeIndex(5, 13, 2),
        pd.RangeIndex(4, name="row"),
        pd.RangeIndex(7, -1, -2),
        pd.RangeIndex(0, 4),
    ],
    ids=repr,
)
def test_start_step_and_name(labels, tmp_path):
    """Of one file they are kept, also of some rows of it; of several, rows are numbered from 0."""
    frame = pd.DataFrame({"a": range(4), "b": 1.5}, index=labels)
    frame.to_parquet(tmp_path / "0.parquet", row_group_size=1)
    for each in (True, False):
        lazy = md.read_parquet(tmp_path / "0.parquet", groups_as_chunks=each)
        assert lazy.node.meta.index.name == labels.name
        wanted = pd.read_parquet(tmp_path / "0.parquet")
        for call in (
            lambda d: d,
            lambda d: d.b,
            lambda d: d[(d.a == 0) | (d.a == 3)],
            lambda d: d.b.sum(),
            lambda d: d[d.a > 1].reset_index(),
        ):
            equal(call(lazy), call(wanted))
    frame.to_parquet(tmp_path / "1.parquet")
    equal(md.read_parquet(tmp_path), pd.read_parquet(tmp_path))


def test_labels_made_of_a_column(tmp_path):
    """Consecutive integers as labels are a named RangeIndex to pandas, and stay labels."""
    frame = pd.DataFrame({"k": [3, 4, 5], "x": [1.0, 2.0, 3.0]}).set_index("k")
    frame.to_parquet(tmp_path / "one.parquet")
    equal(md.read_parquet(tmp_path / "one.parquet").sort_values("x"), frame)


def test_labels_of_rows_chosen_of_an_unknown_number(tmp_path):
    """Stay, though it is not known before that they are several chunks."""
    frame = pd.DataFrame({"a": [1, 2, 0, 3, 2, 2]})
    with option_context({"coalesce": False}):
        rows = md.DataFrame(frame, chunk_size=1).query("a > 0").iloc[::2]
        rows.to_parquet(tmp_path)
    equal(md.read_parquet(tmp_path), frame.query("a > 0").iloc[::2])
