"""Values at positions: which chunk is given which of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import assert_same, draws, grids, shapes, tensor_of, values
from tests.strategies import chunkings as cut
from tests.tensor.stages import first_graph


def elements_in(task):
    """Count the elements of the arrays among a task's arguments."""
    stack, count = list(task.args), 0
    while stack:
        item = stack.pop()
        if isinstance(item, np.ndarray):
            count += item.size
        elif isinstance(item, list | tuple):
            stack.extend(item)
        else:
            stack.extend(getattr(item, "args", ()))
    return count


@pytest.mark.parametrize("name", ["setitem", "put", "along"])
def test_known_points_go_where_they_lie(name):
    """A task is given the positions and values of its chunk, no others."""
    x = np.zeros((20, 30))
    lazy = mt.zeros((20, 30), chunk_size=(5, 10))
    where = np.random.default_rng(0).integers(0, 600, 100)
    rows, columns = np.unravel_index(where, x.shape)
    ones = np.arange(100.0)
    for a, xp in ((x, np), (lazy, mt)):
        if name == "setitem":
            a[rows, columns] = ones
        elif name == "put":
            xp.put(a, where, ones)
        else:
            xp.put_along_axis(a, columns.reshape(20, 5), ones.reshape(20, 5), 1)
    graph = first_graph(lazy)
    assert len(graph) == 12
    assert sum(map(elements_in, graph.values())) == 3 * 100
    assert_same(lazy, x)


def test_values_of_length_one_repeat_however_they_are_cut():
    """Chunks without elements beside the one that has it change nothing."""
    x, value = np.zeros((2, 3, 3)), np.arange(3).reshape(3, 1)
    lazy = mt.tensor(x, chunk_size=2)
    lazy[1, [0, 1, 2]] = mt.tensor(value, chunks=((1, 2), (0, 1)))
    x = x.copy()
    x[1, [0, 1, 2]] = value
    with grids(merged=False):
        assert_same(lazy, x)


def test_a_diagonal_is_put_in_the_chunks_it_crosses():
    """The others are what they were."""
    lazy = mt.ones((40, 40), chunk_size=10) * mt.arange(40)
    mt.fill_diagonal(lazy, np.arange(40.0))
    graph = first_graph(lazy)
    assert sorted(filter(None, map(elements_in, graph.values()))) == [30] * 4


def test_computed_positions_of_lines_stay_among_them():
    """A chunk sees the positions and values of its own lines."""
    lazy = mt.zeros((40, 40), chunk_size=10)
    where, ones = (mt.tensor(x, chunk_size=10).map_blocks(abs) for x in (_RANKS, _RANKS / 2))
    mt.put_along_axis(lazy, where, ones, 1)
    graph = first_graph(lazy)
    assert sum(len(task.dependencies) for task in graph.values()) <= 4 * 4 * 2
    x = np.zeros((40, 40))
    np.put_along_axis(x, _RANKS, _RANKS / 2, 1)
    assert_same(lazy, x)


_RANKS = np.random.default_rng(0).permuted(np.tile(np.arange(40), (40, 1)), axis=1)[:, :10]


@draws(12)
@given(data=st.data(), known=st.booleans())
def test_put_along_axis_is_numpys(data, known):
    """Over all ways to cut; of positions that come twice the last wins, beyond the end none do."""
    shape = data.draw(shapes(min_dims=1, min_side=1))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    lines = list(shape)
    lines[axis] = data.draw(st.integers(0, 4))
    one = data.draw(st.integers(0, len(shape) - 1))
    if one != axis % len(shape):
        lines[one] = 1
    size = shape[axis]
    indices = data.draw(values("i2", tuple(lines))) % (2 * size) - size
    x, new = data.draw(values("f4", shape)), data.draw(values("i8", tuple(lines)))
    lazy = tensor_of(x, data.draw(cut(shape)))
    cuts = data.draw(cut(tuple(lines)))
    own = indices if known else tensor_of(indices, cuts)
    mt.put_along_axis(lazy, own, tensor_of(new, cuts), axis)
    np.put_along_axis(x, indices, new, axis)
    assert_same(lazy, x)
    if indices.size:
        indices.flat[-1] = size
        with pytest.raises(IndexError, match="out of bounds"):  # noqa: PT012
            mt.put_along_axis(lazy, tensor_of(indices, cuts), 0, axis)
            lazy.compute()
