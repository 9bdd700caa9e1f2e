"""Large arguments of joblib's calls are held by sessions whose workers are other processes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from joblib.parallel import BatchedCalls, Parallel, delayed, parallel_config

import marsdask
from marsdask.learn.contrib.joblib import register_mars_backend
from marsdask.learn.contrib.joblib.shared_arguments import (
    LARGE,
    ArgumentPlace,
    SharedArguments,
    filled,
)


def total(table, *, factor=1, weights=None):
    """Return a sum; NumPy's arrays, sparse ones and frames alike."""
    weighted = 0 if weights is None else float(np.asarray(weights.sum()).sum())
    return float(np.asarray(table.sum()).sum()) * factor + weighted


def batch(*items):
    """Return a batch as joblib makes it."""
    return BatchedCalls([(total, args, kwargs) for args, kwargs in items], ("threading", 1))


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: calls have no chunks to merge."""


@pytest.fixture
def session():
    with marsdask.new_session("processes", nprocesses=1) as session:
        yield session


def test_an_argument_is_held_from_its_second_call_on(session):
    """In each place of it, by position and by name; others stay in their calls."""
    small = np.ones(3)
    shared = SharedArguments(session)
    for large in (
        np.ones(LARGE // 8),
        scipy.sparse.csr_array(np.ones((LARGE // 64, 8))),
        pd.DataFrame({"a": np.ones(LARGE // 8)}),
    ):
        first = batch(((large,), {}))
        assert shared.take(first) == (first, ())
        second = batch(((large,), {"factor": 2}), ((small,), {"weights": large}))
        calls, (node,) = shared.take(second)
        assert calls.items[0][1] == (ArgumentPlace(0),)
        assert calls.items[1][1:] == ((small,), {"weights": ArgumentPlace(0)})
        assert second.items[0][1] == (large,)
        assert shared.take(second)[1] == (node,)
        assert filled(calls, [large])() == second()
        (held,) = session.fetch(node)
        assert total(held) == total(large)
    for _ in range(3):  # another at the same address is another
        calls = batch(((np.ones(LARGE // 8),), {}))
        assert shared.take(calls) == (calls, ())


def test_calls_of_several_processes_get_what_is_held(session):
    """Their results are those of the calls themselves."""
    register_mars_backend()
    large = np.arange(LARGE // 8, dtype=float)
    with parallel_config(backend="marsdask", session=session):
        found = Parallel()(delayed(total)(large, factor=factor) for factor in range(4))
    assert found == [total(large, factor=factor) for factor in range(4)]


def test_sessions_in_this_process_hold_nothing():
    """Their tasks see the caller's memory."""
    with marsdask.new_session("threads", nthreads=1) as session:
        shared = SharedArguments(session)
        calls = batch(((np.ones(LARGE),), {}))
        assert [shared.take(calls) for _ in range(2)] == [(calls, ())] * 2
