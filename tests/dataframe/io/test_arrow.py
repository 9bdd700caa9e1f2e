"""Arrow sees lazy frames as the tables that pandas's frames become, batch by batch."""

from __future__ import annotations

import datetime as dt
import itertools
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import marsdask
import marsdask.dataframe as md
from tests.dataframe.kinds import states
from tests.dataframe.tables import table
from tests.strategies import draws


@draws(40)
@given(both=states())
def test_tables_are_those_of_pandas(both):
    """Values, types and labels arrive, and come back to pandas as they were."""
    frame, lazy = both
    found, wanted = pa.table(lazy), pa.table(frame)
    assert found.schema.names == wanted.schema.names
    assert found.to_pylist() == wanted.to_pylist()
    for column in frame.columns.difference(["object"]):
        assert found.schema.field(column).type == wanted.schema.field(column).type
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas())
    for column in frame:
        ours, theirs = pa.chunked_array(lazy[column]), pa.chunked_array(frame[column])
        assert ours.equals(theirs)


@draws(20)
@given(both=states())
def test_frames_come_back_by_the_interchange(both):
    """Pandas's own way in, by Arrow or by the older protocol, labels included."""
    frame, lazy = both
    found = pd.api.interchange.from_dataframe(lazy)
    pd.testing.assert_frame_equal(found, pa.table(frame).to_pandas())
    exchanged = lazy.__dataframe__()
    assert exchanged.num_rows() == len(frame)
    assert list(exchanged.column_names())[: len(frame.columns)] == list(frame.columns)


def test_types_of_objects_are_those_of_all_chunks():
    """A chunk of missing values, or of whole numbers, has no say against others."""
    frame = pd.DataFrame(
        {
            "text": [None, None, "a", "b"],
            "number": [1, 2, 0.5, None],
            "day": [None, None, None, dt.date(2024, 2, 29)],
        },
        dtype=object,
    )
    found = pa.table(md.DataFrame(frame, chunk_size=1))
    assert found.schema.types == [pa.string(), pa.float64(), pa.date32()]
    assert found.to_pylist() == pa.table(frame).to_pylist()
    mixed = pd.DataFrame({"a": ["x", 1]}, dtype=object)
    with pytest.raises(pa.ArrowException):
        pa.table(md.DataFrame(mixed, chunk_size=1))


def test_labels_and_columns_of_numbers():
    """Numbered columns, rows of a range cut anywhere, and rows that are no range."""
    frame = pd.DataFrame(np.arange(20).reshape(10, 2))
    lazy = md.DataFrame(frame, chunk_size=3)
    pd.testing.assert_frame_equal(pa.table(lazy).to_pandas(), pa.table(frame).to_pandas())
    for ours, theirs in ((lazy.iloc[2:8:2], frame.iloc[2:8:2]), (lazy[lazy[0] > 7], frame[4:])):
        back = pa.table(ours).to_pandas()
        assert list(back.index) == list(theirs.index)
        assert back.to_numpy().tolist() == theirs.to_numpy().tolist()


def test_a_schema_can_be_asked_for():
    """As pyarrow does of whoever streams."""
    lazy = md.DataFrame({"a": [1, 2, 3]}, chunk_size=2)
    wanted = pa.schema([("a", pa.float32())])
    assert pa.table(lazy, schema=wanted).schema.types == [pa.float32()]


def test_batches_are_made_when_they_are_read():
    """Not before, and not again."""
    options = {"coalesce": False}
    with marsdask.new_session(default=False) as session, marsdask.option_context(options):
        lazy = md.DataFrame(table(20), session=session, chunk_size=2)
        gathered = mock.Mock(side_effect=session.scheduler.gather)
        reader = pa.RecordBatchReader.from_stream(lazy)
        with mock.patch.object(session.scheduler, "gather", gathered):
            assert [batch.num_rows for batch in itertools.islice(reader, 3)] == [2, 2, 2]
            assert gathered.call_count == 3
        del reader
        assert not len(session._results)
