"""Iteration gives what pandas's gives, and holds one run of rows at a time."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask
import marsdask.dataframe as md
from marsdask.dataframe import batches
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, table
from tests.strategies import draws


def same(found, wanted):
    """Check that lists are equal in values and their types, missing ones included."""
    assert [type(one) for one in found] == [type(one) for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        if isinstance(one, tuple):
            same(one, other)
        elif isinstance(one, pd.Series):
            pd.testing.assert_series_equal(one, other)
        else:
            assert (one is other) or one == other or (pd.isna(one) and pd.isna(other))


@draws(40)
@given(both=states())
def test_iteration_is_pandas(both):
    """Values, labels, pairs and rows, in order, as the same Python objects."""
    frame, lazy = both
    for column in frame:
        same(list(lazy[column]), list(frame[column]))
        same(list(lazy[column].items()), list(frame[column].items()))
    same(list(lazy.index), list(frame.index))
    assert list(lazy) == list(frame)
    assert len(lazy) == len(frame)
    same([tuple(row) for row in lazy.itertuples()], [tuple(row) for row in frame.itertuples()])
    same(list(lazy.itertuples(index=False, name=None)), list(frame.itertuples(False, None)))
    same(list(lazy.iterrows()), list(frame.iterrows()))
    for (label, column), (other, wanted) in zip(lazy.items(), frame.items(), strict=True):
        assert label == other
        equal(column, wanted)


@pytest.mark.parametrize("dtype", ["Int8", "boolean", "category", "int64[pyarrow]", "string"])
@pytest.mark.parametrize("values", [[0, 1, None], [1, 0, 1], [None, 1, 0], []])
def test_rows_of_one_extension_column_are_pandas(dtype, values):
    """A missing value decides on the dtype of every row, whichever batch it is in."""
    values = [str(value) if dtype == "string" and value is not None else value for value in values]
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    same(list(md.DataFrame(frame, chunk_size=1).iterrows()), list(frame.iterrows()))


def test_columns_of_one_label_are_told_apart():
    """``items`` goes by position."""
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    found = [(label, list(column)) for label, column in md.DataFrame(frame, chunk_size=1).items()]
    assert found == [("a", [1, 3]), ("a", [2, 4])]


@pytest.mark.parametrize("frame", [table(6), table(6, index="text"), table(0)])
def test_membership_is_of_labels(frame):
    """In a series and an index of row labels, in a frame of column labels."""
    lazy = md.DataFrame(frame, chunk_size=2)
    for label in (0, 5, 6, "r1", "zz", np.nan, None):
        assert (label in lazy.u) == (label in frame.u)
        assert (label in lazy.index) == (label in frame.index)
    assert "u" in lazy
    assert "zz" not in lazy
    with pytest.raises(TypeError, match="unhashable"):
        [] in lazy.index  # noqa: B015


def test_one_run_of_rows_at_a_time():
    """What a loop has not come to stays with the scheduler, and is freed when the loop ends."""
    with (
        marsdask.new_session(default=False) as session,
        marsdask.option_context({"coalesce": False}),
    ):
        lazy = md.Series(np.arange(100), session=session, chunk_size=10)
        gathered = mock.Mock(side_effect=session.scheduler.gather)
        with mock.patch.object(session.scheduler, "gather", gathered):
            values = iter(lazy)
            assert list(itertools.islice(values, 11)) == list(range(11))
            assert gathered.call_count == 2
            assert len(session._results) == 1
            del values
        assert not len(session._results)


def test_nothing_is_computed_twice(monkeypatch):
    """Executed rows are iterated as they are."""
    lazy = (md.Series(np.arange(9), chunk_size=3) + 1).execute()
    monkeypatch.setattr(batches, "rowwise", None)
    node = lazy.node
    assert list(lazy) == list(range(1, 10))
    assert lazy.node is node


@pytest.mark.parametrize("size", [1, 3, 4, 7, 20])
def test_batches_of_a_size(size):
    """Batches have exactly the wanted rows, whatever the chunks are; the last one has the rest."""
    frame = table(11)
    for chunk in (2, 5, 11):
        lazy = md.DataFrame(frame, chunk_size=chunk)
        for rows, wanted in ((lazy, frame), (lazy.k, frame.k), (lazy.index, frame.index)):
            found = list(rows.iterbatch(batch_size=size))
            assert [len(one) for one in found] == [
                min(size, 11 - start) for start in range(0, 11, size)
            ]
            for start, one in zip(range(0, 11, size), found, strict=True):
                part = slice(start, start + size)
                if isinstance(wanted, pd.Index):
                    pd.testing.assert_index_equal(one, wanted[part])
                else:
                    assert one.equals(wanted.iloc[part])
    assert list(lazy.iloc[:0].iterbatch()) == []
    with pytest.raises(ValueError, match="batch_size"):
        list(lazy.iterbatch(0))


def test_bags():
    """Rows become tuples of a bag, with their labels if wanted."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": list("xyz")}, index=[5, 6, 7])
    lazy = md.DataFrame(frame, chunk_size=2)
    bag = lazy.to_bag(index=True).compute(scheduler="sync")
    assert [tuple(one) for one in bag] == list(frame.itertuples(name=None))
    assert list(lazy.a.to_bag().compute(scheduler="sync")) == [1, 2, 3]
