"""Sorting equals NumPy's over dtypes and chunkings."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.machine.sizing import PART_BLOCKS
from marsdask.tensor.operands import as_node
from marsdask.tensor.sorting.sort import Pivots, part_count, parts
from tests import grid_pairs
from tests.strategies import chunkings, draws

RNG = np.random.default_rng(0)
VECTORS = {
    "normal": RNG.normal(size=300),
    "float32": RNG.normal(size=300).astype("f4"),
    "equal": np.zeros(300),
    "few": RNG.integers(0, 3, 300),
    "descending": np.arange(300)[::-1].copy(),
    "bool": RNG.random(300) < 0.3,
    "nan": np.where(RNG.random(300) < 0.5, np.nan, RNG.normal(size=300)),
    "all nan": np.full(300, np.nan),
    "complex": RNG.normal(size=300) + 1j * RNG.integers(0, 3, 300),
    "text": RNG.integers(0, 99, 300).astype(str),
    "time": RNG.integers(0, 99, 300).astype("M8[s]"),
    "object": RNG.integers(0, 9, 300).astype(object),
    "empty": np.empty(0),
    "one": np.ones(1),
}


_coalesce = grid_pairs.coalesce


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


@pytest.mark.parametrize("name", VECTORS)
@given(data=st.data())
def test_vectors_sort_as_numpys(name, data):
    """Values come in NumPy's order (NaN last) and positions keep ties in order."""
    x = VECTORS[name]
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    ordered = mt.sort(lazy)
    assert ordered.dtype == x.dtype
    assert ordered.shape == x.shape
    np.testing.assert_array_equal(ordered.compute(), np.sort(x))
    np.testing.assert_array_equal(mt.argsort(lazy).compute(), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@given(data=st.data())
def test_lanes_sort_as_numpys(axis, data):
    """Every axis of a block sorts alike, however it is cut."""
    x = RNG.integers(0, 9, (5, 4, 3))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    np.testing.assert_array_equal(mt.sort(lazy, axis).compute(), np.sort(x, axis))
    expected = np.argsort(x, axis, kind="stable")
    np.testing.assert_array_equal(mt.argsort(lazy, axis).compute(), expected)


@pytest.mark.parametrize("x", [np.zeros(4000), np.arange(4000) % 2, np.arange(4000)])
def test_parts_are_balanced_under_ties(x):
    """A pivot with its position cuts runs of equal values too."""
    ends = np.arange(0, 4001, 500)
    pivots = Pivots(np.sort(x)[[1000, 2000, 3000]], (1000, 2000, 3000))
    if len(np.unique(x)) == 2:
        pivots = Pivots(np.array([0, 1, 1]), (2000, 0, 2000))
    blocks = [parts(x[a:b], a, b, pivots) for a, b in itertools.pairwise(ends)]
    sizes = np.sum([[len(part) for part in block] for block in blocks], axis=0)
    assert sizes.tolist() == [1000, 1000, 1000, 1000]


@pytest.mark.parametrize("kth", [0, 3, (1, -2)])
def test_partitions_put_kth_in_place(kth):
    """What stands at kth is what sorting puts there, what precedes is not larger."""
    x = VECTORS["few"]
    at = np.atleast_1d(kth)
    lazy = tensor(x, 70)
    np.testing.assert_array_equal(mt.partition(lazy, kth).compute()[at], np.sort(x)[at])
    np.testing.assert_array_equal(x[mt.argpartition(lazy, kth).compute()][at], np.sort(x)[at])


@pytest.mark.parametrize("name", ["partition", "argpartition"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_of_nothing_any_rank_is_taken(name, shape, axis):
    """NumPy compares ranks with the length only where there are elements."""
    found = getattr(mt, name)(tensor(np.ones(shape), 2), (0, 7), axis)
    expected = getattr(np, name)(np.ones(shape), (0, 7), axis)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.compute(), expected, strict=True)


def test_wrong_arguments_are_refused_at_the_call():
    """Axes, kinds, ranks and fields are checked where they are written."""
    lazy = tensor(np.ones((3, 4)))
    with pytest.raises(np.exceptions.AxisError):
        mt.sort(lazy, 2)
    with pytest.raises(ValueError, match="kind"):
        mt.sort(lazy, kind="bogo")
    with pytest.raises(ValueError, match="out of bounds"):
        mt.partition(lazy, 4)
    with pytest.raises(ValueError, match="fields"):
        mt.sort(lazy, order="x")
    with pytest.raises(ValueError, match="unknown field name: z"):
        mt.argsort(tensor(np.zeros(3, RECORD)), order=["x", "z"])


RECORD = np.dtype([("x", "i4"), ("y", "f8"), ("s", "S2")])


@pytest.mark.parametrize("order", [None, "y", ["s", "x"]])
@draws(6)
@given(data=st.data())
def test_records_are_sorted_by_fields(order, data):
    """By the ones that are named, then by the others; positions keep the order of equal records."""
    shape = data.draw(st.sampled_from([(9,), (0,), (3, 4)]))
    x = np.zeros(shape, RECORD)
    for name, values in (("x", [0, 1, 2]), ("y", [0.5, np.nan, -1.0]), ("s", [b"", b"a", b"b"])):
        x[name] = np.resize(data.draw(st.lists(st.sampled_from(values), min_size=12)), shape)
    lazy = mt.tensor(x, chunk_size=data.draw(st.integers(1, 5)))
    axis = data.draw(st.sampled_from([0, -1, None]))
    ordered = mt.sort(lazy, axis, order=order).compute()
    for name in ("x", "y", "s"):  # records with nan in them are not equal to themselves
        np.testing.assert_array_equal(ordered[name], np.sort(x, axis, order=order)[name])
    want = np.argsort(x, axis, order=order, kind="stable")
    np.testing.assert_array_equal(mt.argsort(lazy, axis, order=order).compute(), want)


def test_mars_asks_for_positions_too():
    """Values and positions in one call."""
    x = np.array([3, 1, 2, 1])
    values, order = mt.sort(tensor(x), return_index=True).execute().fetch()
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


def test_sorting_an_unknown_length():
    """A vector whose length only running tells is sorted too."""
    x = VECTORS["normal"]
    lazy = tensor(x, 50)
    np.testing.assert_array_equal(mt.sort(lazy[lazy > 0]).compute(), np.sort(x[x > 0]))


def test_sorting_in_place_rebinds():
    """The tensor becomes the sorted one; expressions made before keep its old values."""
    x = VECTORS["few"].copy()
    lazy = tensor(x, 50)
    before = lazy + 0
    assert lazy.sort() is None
    np.testing.assert_array_equal(lazy.compute(), np.sort(x))
    np.testing.assert_array_equal(before.compute(), x)
    lazy.partition(5)
    np.testing.assert_array_equal(lazy.argsort().compute(), np.argsort(np.sort(x), kind="stable"))


@pytest.mark.parametrize("name", VECTORS)
def test_dask_sorts_without_a_look(name):
    """A Dask graph, which cannot wait for pivots, sorts as well."""
    x = VECTORS[name]
    lazy = tensor(x, 70)
    values, order = dask.compute(mt.sort(lazy), mt.argsort(lazy), scheduler="sync")
    np.testing.assert_array_equal(values, np.sort(x))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


def test_parts_are_as_many_as_memory_and_cores_want():
    """One for each core; as small as the budget wants, but of one to four of the largest chunks."""
    with in_plan(workers=2):
        assert part_count([100] * 10, 8) == 3
        assert part_count([100] * 5, 8) == 2
        assert part_count([100], 8) == 1
        assert part_count([], 8) == 0
        assert part_count([0], 8) == 1
    with in_plan(workers=2, budget=16 * 2 * 1600 // PART_BLOCKS):
        assert part_count([100] * 40, 8) == 20
        assert part_count([100] * 40, 80) == 40


@contextmanager
def in_plan(**options):
    token = current_plan.set(Plan(**options))
    try:
        yield
    finally:
        current_plan.reset(token)


def test_a_sort_keeps_to_small_budgets():
    """Three budgets of numbers are sorted, and neighbours compared, in parts that fit."""
    budget = 8 * 2**20
    session = marsdask.new_session("threads", n_workers=2, memory_limit=budget, default=False)
    try:
        x = mt.random.RandomState(0).rand(3 * budget // 8, chunk_size=2**16)
        ordered = mt.sort(x).execute(session=session)
        gap = (ordered[1:] - ordered[:-1]).min().compute(session=session)
        assert gap >= 0
        assert ordered.sum().compute(session=session) == pytest.approx(x.sum().compute())
    finally:
        session.close()


@pytest.mark.parametrize("name", ["partition", "argpartition"])
def test_kinds_of_partitions(name):
    """There is one, as in NumPy."""
    for module, x in ((np, np.arange(3)), (mt, mt.arange(3, chunk_size=2))):
        getattr(module, name)(x, 1, kind="introselect")
        with pytest.raises(ValueError, match="select kind must be 'introselect'"):
            getattr(module, name)(x, 1, kind="stable")
