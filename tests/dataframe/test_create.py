"""Frames from pandas objects, dicts and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.dataframe.tables import equal, table
from tests.strategies import chunkings


@given(rows=st.integers(0, 9), data=st.data())
def test_from_tensors(rows, data):
    """Columns of tensors, however these are cut, with and without names."""
    values = np.arange(rows * 3.0).reshape(rows, 3)
    tensor = mt.tensor(values, chunk_size=data.draw(chunkings(values.shape)))
    equal(md.DataFrame(tensor), pd.DataFrame(values))
    equal(md.DataFrame(tensor, columns=list("abc")), pd.DataFrame(values, columns=list("abc")))
    equal(md.DataFrame(tensor[:, 0]), pd.DataFrame(values[:, 0]))
    equal(md.Series(tensor[:, 1], name="x"), pd.Series(values[:, 1], name="x"))


def test_from_unknown_lengths():
    """Rows are numbered once it is known how many there are."""
    values = np.arange(20)
    x = mt.tensor(values, chunk_size=6)
    equal(md.Series(x[x % 3 == 0]), pd.Series(values[values % 3 == 0]))


def test_from_pandas_and_dicts():
    """The constructors take what pandas's take, and say how the rows are cut."""
    frame = table(10)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy, frame)
    assert lazy.chunks == ((4, 4, 2),)
    assert md.DataFrame(frame, num_partitions=2).npartitions == 2
    equal(
        md.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    )
    equal(
        md.Series([1.5, None], index=["a", "b"], name="n"),
        pd.Series([1.5, None], ["a", "b"], name="n"),
    )
    equal(md.Index([3, 1], name="i"), pd.Index([3, 1], name="i"))
    equal(md.DataFrame(lazy.u), frame[["u"]])


def test_shared_frames():
    """With copy=False a frame's memory is shared; what was executed is as it was."""
    array = np.arange(10.0)
    frame = pd.DataFrame(array, copy=False)
    for lazy in (md.DataFrame(frame, chunk_size=10, copy=False), md.from_pandas(frame, copy=False)):
        grid: Any = lazy.node.tile()
        (block,) = grid.rule.varying((0,))
        assert np.shares_memory(block[0].to_numpy(), array)
        kept = lazy.iloc[2:].execute()
        array += 1
        equal(lazy, pd.DataFrame(array))
        equal(kept, pd.DataFrame(array - 1).iloc[2:])
    assert md.Series(frame[0], copy=False).node is not md.Series(frame[0], copy=False).node


def test_frames_written_to():
    """A frame that changes, or the arrays in it, changes nothing that was made of it."""
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": pd.array([1, 2], dtype="Int64"), "c": ["x", "y"]})
    before = frame.copy()
    lazy = md.DataFrame(frame)
    frame["a"].array[0] = 7.0
    frame["b"].array[0] = 7
    frame.loc[1, "c"] = "z"
    equal(lazy, before)
    equal(md.DataFrame(frame), frame)


@pytest.mark.parametrize("kind", ["object", "string[python]", "str", "category"])
def test_texts_are_told_apart(kind):
    """Columns and labels whose texts are equal once joined by dashes are not one node."""
    one, other = ["a-b", "c"], ["a", "b-c"]
    column, another = pd.Series(one, dtype=kind), pd.Series(other, dtype=kind)
    assert md.Series(column).node is not md.Series(another).node
    assert md.Series(column).node is md.Series(column.copy()).node
    frames = [pd.DataFrame({"a": [1, 2]}, index=pd.Index(labels)) for labels in (column, another)]
    assert md.DataFrame(frames[0]).node is not md.DataFrame(frames[1]).node


def test_attributes():
    """What pandas tells without looking at rows is told without running."""
    frame = table(10)
    lazy = md.DataFrame(frame, chunk_size=3)
    assert lazy.shape == (10, 6)
    assert len(lazy) == 10
    assert lazy.ndim == 2
    assert list(lazy) == list(frame)
    assert "k" in lazy
    pd.testing.assert_series_equal(lazy.dtypes, frame.dtypes)
    assert lazy.u.dtype == frame.u.dtype
    assert lazy.u.name == "u"


@pytest.mark.parametrize("bad", [0, -3, 1.5])
def test_bad_chunks(bad):
    """Sizes that are not sizes are refused."""
    with pytest.raises((TypeError, ValueError)):
        md.DataFrame(table(5), chunk_size=bad)


def test_bad_columns():
    """Labels that do not fit the tensor are refused as pandas does."""
    with pytest.raises(ValueError, match="columns"):
        md.DataFrame(mt.ones((3, 2)), columns=["a"])
    with pytest.raises(ValueError, match="2-d"):
        md.DataFrame(mt.ones((3, 2, 2)))


def test_from_pandas_takes_dasks_names():
    """npartitions= and chunksize= cut as num_partitions= and chunk_size= do."""
    frame = pd.DataFrame({"a": range(10)})
    assert md.from_pandas(frame, npartitions=2).chunks == ((5, 5),)
    assert md.from_pandas(frame, chunksize=4).chunks == ((4, 4, 2),)


def test_frames_of_dicts_and_records():
    """Are pandas's, of columns and of rows."""
    data: Any = {"a": [1, 2], "b": [3, 4]}
    equal(md.DataFrame.from_dict(data, npartitions=2), pd.DataFrame.from_dict(data))
    rows: Any = {"orient": "index", "columns": ["x", "y"]}
    equal(md.DataFrame.from_dict(data, **rows), pd.DataFrame.from_dict(data, **rows))
    records = [(1, "a"), (2, "b")]
    found = md.DataFrame.from_records(records, columns=["n", "s"])
    equal(found, pd.DataFrame.from_records(records, columns=["n", "s"]))


def test_lazy_scalars_among_values():
    """They are computed: a cell never holds a lazy object."""
    lazy = md.Series([1, 2, 4], chunk_size=2)
    low, high = lazy.min(), lazy.max()
    equal(md.Series({"low": low, "high": high}), pd.Series({"low": 1, "high": 4}))
    equal(md.Series([low, 2.5]), pd.Series([1, 2.5]))
    equal(md.DataFrame({"a": [low, high], "b": 3}), pd.DataFrame({"a": [1, 4], "b": 3}))
    equal(md.DataFrame([{"a": low}, {"a": high}]), pd.DataFrame({"a": [1, 4]}))


#: Objects made of an array of labels.
LABELLED: dict[str, Any] = {
    "series": lambda labels: md.Series([1, 2], index=labels),
    "frame": lambda labels: md.DataFrame({"a": [1, 2]}, index=labels),
    "columns": lambda labels: md.DataFrame([[1, 2]], columns=labels),
    "of an array": lambda labels: md.DataFrame(np.array([[1, 2]]), columns=labels),
    "of a dict of rows": lambda labels: md.DataFrame.from_dict({0: [1, 2]}, "index", None, labels),
    "index": md.Index,
    "of an Index": lambda labels: md.Series([1, 2], index=pd.Index(labels, copy=False)),
    "of pandas's series": lambda labels: md.Series(pd.Series([1, 2], index=labels)),
    "from_pandas": lambda labels: md.from_pandas(pd.DataFrame({"a": [1, 2]}, index=labels)),
    "set_axis": lambda labels: md.Series([1, 2]).set_axis(labels),
    "times": lambda labels: md.Series([1, 2], index=labels.view("M8[ns]")),
}


@pytest.mark.parametrize("name", LABELLED)
def test_arrays_of_labels_are_copied(name):
    """Later changes of an array have no effect, nor on new objects of equal labels."""
    labels = np.array([5, 6])
    wanted = LABELLED[name](labels.copy()).compute()
    lazy = LABELLED[name](labels)
    labels[:] = [8, 9]
    equal(lazy, wanted)
    equal(LABELLED[name](np.array([5, 6])), wanted)


def _set_columns(frame: Any, labels: Any) -> Any:
    frame.columns = labels
    return frame


#: Labels whose type, name or frequency an array lacks.
LAZY_LABELS: dict[str, Any] = {
    "dates": pd.date_range("2024", periods=2),
    "steps": pd.timedelta_range("1D", periods=2),
    "names": pd.Index([3, 4], name="n"),
    "categories": pd.CategoricalIndex(["a", "b"]),
    "masked": pd.Index([1, 2], dtype="Int64"),
    "ranges": pd.RangeIndex(3, 5),
    "levels": pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["u", None]),
}
#: Calls that take such labels, of a library.
TAKES_LABELS: dict[str, Any] = {
    "Series": lambda p, labels: p.Series([1, 2], index=labels),
    "Series of nothing": lambda p, labels: p.Series(index=labels),
    "DataFrame": lambda p, labels: p.DataFrame({"a": [1, 2]}, index=labels),
    "DataFrame(columns=)": lambda p, labels: p.DataFrame([[1, 2]], columns=labels),
    "columns": lambda p, labels: _set_columns(p.DataFrame([[1, 2]]), labels),
    "set_axis": lambda p, labels: p.DataFrame([[1, 2]]).set_axis(labels, axis=1),
    "reindex": lambda p, labels: p.DataFrame([[1, 2]], columns=list(labels)).reindex(
        columns=labels
    ),
    "concat": lambda p, labels: p.concat([p.Series([1]), p.Series([2])], keys=labels),
}


@pytest.mark.parametrize("call", TAKES_LABELS)
def test_lazy_labels(call):
    """Lazy labels of new rows and columns keep their type, name and frequency."""
    for labels in LAZY_LABELS.values():
        if call == "reindex" and labels.nlevels > 1:
            continue
        for value in (labels, labels.to_series(index=range(2))):
            if call in {"concat", "reindex"} and value is not labels:
                continue
            wanted = TAKES_LABELS[call](pd, value)
            found = TAKES_LABELS[call](md, md.from_pandas(value))
            equal(found, wanted, check_freq=False)
            if value is not labels:
                continue
            for ours, theirs in zip(found.compute().axes, wanted.axes, strict=True):
                assert getattr(ours, "freq", None) == getattr(theirs, "freq", None)


def test_times_whose_unit_values_tell():
    """Rows of a tensor of times have the unit that its values tell."""
    texts = np.array(["2020-01-01", "2020-01-01T00:00:00.123"], dtype=object)
    times = mt.tensor(texts, chunk_size=1).astype("M8")
    for call in (lambda x: x, lambda x: x.head(1), lambda x: x.to_frame("t").sort_values("t")):
        equal(call(md.Series(times)), call(pd.Series(texts.astype("M8"))))
