"""Loops over rows and elements: NumPy's values, many of them for one computation."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.errors import SessionClosed
from marsdask.scheduler.inprocess.handles import LocalScheduler
from marsdask.tensor.indexing import iteration
from tests.strategies import arrays_and_chunks, assert_same, draws, tensor_of


@draws(10)
@given(data=st.data(), case=arrays_and_chunks(min_dims=1), executed=st.booleans())
def test_rows_and_elements_are_numpys(data, case, executed):
    """By loops and by integers, of results and of expressions; in expressions too."""
    array = case[0]
    lazy = tensor_of(*case)
    if executed:
        lazy.execute()
    found = list(lazy)
    assert len(found) == len(array)
    for row, wanted in zip(found, array, strict=True):
        assert_same(row, wanted)
    if array.size:
        count = data.draw(st.integers(1, array.ndim))
        key = tuple(data.draw(st.integers(-n, n - 1)) for n in array.shape[:count])
        assert_same(lazy[key], array[key])
        assert_same(mt.stack([lazy[key], found[0][key[1:]]]), [array[key], array[0][key[1:]]])


@pytest.fixture
def submissions(monkeypatch):
    """Count what is given to a scheduler in this process."""
    found: list[int] = []
    submit = LocalScheduler._submit

    def counted(self, graph, *args, **kwargs):
        found.append(len(graph))
        return submit(self, graph, *args, **kwargs)

    monkeypatch.setattr(LocalScheduler, "_submit", counted)
    return found


def test_a_loop_computes_a_window_at_a_time(submissions, monkeypatch):
    """One computation for each chunk, or for as many rows as the limit says; none unless read."""
    array = np.arange(120.0).reshape(60, 2)
    lazy = (mt.tensor(array, chunk_size=20) + 0).execute()
    submissions.clear()
    loop = list(lazy)
    assert submissions == []
    assert [float(row[1]) for row in loop] == array[:, 1].tolist()
    assert [[float(item) for item in row] for row in loop] == array.tolist()
    assert len(submissions) == 3
    del loop
    monkeypatch.setattr(iteration, "BATCH", 8 * 2 * 5)
    for tensor in (lazy, mt.tensor(array, chunk_size=20) * 1):
        submissions.clear()
        assert [row.compute().tolist() for row in tensor] == array.tolist()
        assert len(submissions) == 12


def test_integers_read_what_is_there(submissions):
    """An element of a result needs no graph, whichever way it is asked for."""
    lazy = (mt.arange(12, chunk_size=5).reshape(4, 3) + 0).execute()
    submissions.clear()
    assert [float(lazy[i, -1]) for i in range(4)] == [2, 5, 8, 11]
    assert lazy[1].fetch().tolist() == lazy[-3].compute().tolist() == [3, 4, 5]
    assert submissions == []
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        lazy[4]


def test_what_is_read_is_a_copy():
    """Nothing that is read can be changed for the next who reads it."""
    lazy = (mt.ones((4, 3), chunk_size=2) * 2).execute()
    for part in (lazy[1], next(iter(lazy))):
        part.compute()[:] = 7
        assert part.compute().tolist() == [2, 2, 2]


def test_elements_belong_to_their_session():
    """They are read where they are held; without the session they are gone."""
    with marsdask.new_session(default=False) as session:
        lazy = (mt.arange(6, chunk_size=2) * 2).execute(session=session)
        part = lazy[3]
        assert part.compute() == part.compute(session=session) == 6
        assert pickle.loads(pickle.dumps(part)).compute() == 6
    with pytest.raises(SessionClosed):
        part.compute()


def test_any_elements_can_be_iterated():
    """Objects, ``None`` among them, records and rows that are only known when they run."""
    things = np.array([None, "a", (1, 2)], object)
    assert [item.compute() for item in mt.tensor(things, chunk_size=2)] == things.tolist()
    records = np.array([(1, 2.0), (3, 4.0)], [("a", int), ("b", float)])
    found = [item.compute() for item in mt.tensor(records, chunk_size=1).execute()]
    assert [item.item() for item in found] == records.tolist()
    numbers = mt.arange(9, chunk_size=4)
    assert [int(item) for item in numbers[numbers > 5]] == [6, 7, 8]


@draws(10)
@given(case=arrays_and_chunks(min_dims=0))
@example(case=(np.arange(6).reshape(3, 2), ((2, 1), (1, 1))))
@pytest.mark.parametrize("batch", [1, 2**24])
def test_elements_are_enumerated_in_numpys_order(case, batch):
    """Over chunks, in batches of a row or of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iteration, "BATCH", batch)
        pairs = list(mt.ndenumerate(tensor_of(*case)))
    expected = list(np.ndenumerate(case[0]))
    assert [index for index, _ in pairs] == [index for index, _ in expected]
    values, wanted = ([value for _, value in side] for side in (pairs, expected))
    assert [type(value) for value in values] == [type(value) for value in wanted]
    np.testing.assert_array_equal(values, wanted)


@pytest.mark.parametrize("values", [[7, 8], 5, pd.DataFrame({"a": [1, 2]}), pd.Series([1.5])])
def test_other_values_are_enumerated(values):
    """Lists, numbers and lazy frames, as NumPy's function does."""
    lazy = md.from_pandas(values) if isinstance(values, pd.DataFrame | pd.Series) else values
    assert list(mt.ndenumerate(lazy)) == list(np.ndenumerate(values))


def test_tensors_without_declared_lengths_or_dense_blocks_are_enumerated():
    """An unknown length is looked at first, and zeros that are not stored are elements."""
    lazy = mt.arange(6, chunk_size=2)
    assert list(mt.ndenumerate(lazy[lazy > 2])) == [((0,), 3), ((1,), 4), ((2,), 5)]
    diagonal = mt.tensor(sparse.csr_array(np.diag([4, 5])), chunk_size=1)
    assert [value for _, value in mt.ndenumerate(diagonal)] == [4, 0, 0, 5]
    masked = mt.ma.masked_array([1, 2], [False, True])
    assert list(mt.ndenumerate(masked)) == [((0,), 1), ((1,), 2)]
