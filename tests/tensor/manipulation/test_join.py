"""Arrays put together and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, chunkings, grids, tensor_of
from tests.tensor.stages import first_graph

JOINS = {
    "concatenate": lambda xp, a, b: xp.concatenate([a, b, a]),
    "concatenate last": lambda xp, a, b: xp.concatenate([a, b], axis=-1),
    "concatenate all": lambda xp, a, b: xp.concatenate([a, b], axis=None),
    "concatenate as": lambda xp, a, b: xp.concatenate([a, b], dtype="f8", casting="unsafe"),
    "stack": lambda xp, a, b: xp.stack([a, b]),
    "stack as": lambda xp, a, b: xp.stack([a, b], dtype="f8", casting="unsafe"),
    "vstack as": lambda xp, a, b: xp.vstack([a, b], dtype="c16"),
    "hstack as": lambda xp, a, b: xp.hstack([a, b], dtype="f4", casting="unsafe"),
    "stack last": lambda xp, a, b: xp.stack([a, b, b], axis=-1),
    "vstack": lambda xp, a, b: xp.vstack([a, b]),
    "hstack": lambda xp, a, b: xp.hstack([a, b]),
    "dstack": lambda xp, a, b: xp.dstack([a, b]),
    "column_stack": lambda xp, a, b: xp.column_stack([a, b]),
    "append": lambda xp, a, b: xp.append(a, b),
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", JOINS)
@given(data=st.data())
def test_joins_are_numpys(name, merged, data):
    """Types are promoted, other axes cut alike, values NumPy's."""
    a, chunks = data.draw(arrays_and_chunks(dtypes=("i8", "?"), min_dims=1))
    b = a.astype(data.draw(st.sampled_from(["i8", "f4"]))) * 2
    x, y = tensor_of(a, chunks), tensor_of(b, data.draw(chunkings(b.shape)))
    with grids(merged=merged):
        assert_same(JOINS[name](mt, x, y), JOINS[name](np, a, b))


MOVES = {
    "flip": lambda xp, a: xp.flip(a),
    "flip axis": lambda xp, a: xp.flip(a, (0, -1)),
    "flipud": lambda xp, a: xp.flipud(a),
    "fliplr": lambda xp, a: xp.fliplr(a),
    "rot90": lambda xp, a: xp.rot90(a),
    "rot180": lambda xp, a: xp.rot90(a, 2),
    "rot270": lambda xp, a: xp.rot90(a, -1, axes=(1, 0)),
    "rot0": lambda xp, a: xp.rot90(a, 4),
    "roll": lambda xp, a: xp.roll(a, 3),
    "roll axis": lambda xp, a: xp.roll(a, -2, 1),
    "roll axes": lambda xp, a: xp.roll(a, (1, 2), (0, 1)),
    "tile": lambda xp, a: xp.tile(a, 2),
    "tile more": lambda xp, a: xp.tile(a, (2, 1, 1, 3)),
    "tile none": lambda xp, a: xp.tile(a, (0, 2)),
    "atleast": lambda xp, a: xp.atleast_3d(a),
    "atleast flat": lambda xp, a: xp.atleast_3d(a.ravel()),
    "split": lambda xp, a: xp.array_split(a, 3)[1],
    "split at": lambda xp, a: xp.split(a, [1, 2], axis=1)[-1],
    "hsplit": lambda xp, a: xp.hsplit(a, [1])[0],
    "vsplit": lambda xp, a: xp.vsplit(a, [1])[1],
}


#: What NumPy takes for starts of parts (all that has a length) or for their number.
CUTS: Any = ({1: 0, 2: 0}.keys(), {1: 0, 2: 0}, {1, 2}, range(1, 3), (3, -1), np.array(2), 2.0, [])
BAD_CUTS: Any = ("a", [1.5], None, 0)


def test_starts_and_numbers_of_parts() -> None:
    """Parts come in a list, as from NumPy."""
    a = np.arange(16).reshape(2, 4, 2)
    lazy = mt.tensor(a, chunk_size=2)
    for name in ("split", "array_split", "hsplit", "vsplit", "dsplit"):
        for cuts in CUTS:
            parts, wanted = (getattr(xp, name)(x, cuts) for xp, x in ((mt, lazy), (np, a)))
            assert isinstance(parts, list)
            for part, expected in zip(parts, wanted, strict=True):
                assert_same(part, expected)
    assert len(mt.array_split(lazy, 1.5)) == 1
    for wrong in BAD_CUTS:
        for call in (mt.split, np.split):
            with pytest.raises((TypeError, ZeroDivisionError)):
                call(lazy, wrong)


@pytest.mark.parametrize("name", MOVES)
@given(case=arrays_and_chunks(dtypes=("i8",), min_dims=2))
def test_moves_are_numpys(name, case):
    """Elements moved and repeated along axes."""
    array, chunks = case
    assert_same(MOVES[name](mt, tensor_of(array, chunks)), MOVES[name](np, array))


def test_unknown_lengths_are_joined_as_they_are():
    """Along the joined axis nothing need be known; along others lengths are compared when run."""
    a = np.arange(20).reshape(10, 2)
    x = mt.array(a, chunk_size=3)
    kept = x[x[:, 0] > 7]
    want = a[a[:, 0] > 7]
    assert_same(mt.concatenate([kept, x, kept]), np.concatenate([want, a, want]))
    assert_same(mt.concatenate([kept, x[x[:, 1] > 8]], axis=1), np.concatenate([want] * 2, axis=1))
    with pytest.raises(ValueError, match="different lengths along axis 0"):
        mt.concatenate([kept, x], axis=1).compute()


def test_joined_into_what_is_given():
    """In its type, if each may be cast to it."""
    a, out = np.arange(6).reshape(2, 3), mt.zeros((4, 3), dtype="f4", chunk_size=3)
    x, before = mt.tensor(a, chunk_size=2), out + 0
    for found in (mt.concatenate([x, x], out=out), np.concatenate([x, a.astype("u8")], out=out)):  # type: ignore[call-overload]
        assert found is out
        assert_same(out, np.concatenate([a, a]).astype("f4"))
    assert mt.stack([x, x], out=mt.zeros((2, 2, 3), dtype=int)).shape == (2, 2, 3)
    assert_same(before, np.zeros((4, 3), "f4"))


BAD = {
    "type and place": lambda x: mt.concatenate([x, x], out=mt.ones((6, 4)), dtype="f8"),
    "lesser place": lambda x: mt.concatenate([x, x], out=mt.ones((6, 4), dtype="i8")),
    "other place": lambda x: mt.concatenate([x, x], out=mt.ones((6, 5))),
    "nothing": lambda x: mt.concatenate([]),
    "no axes": lambda x: mt.concatenate([x.sum(), x.sum()]),
    "axis": lambda x: mt.concatenate([x, x], axis=2),
    "lengths": lambda x: mt.concatenate([x, x.T]),
    "axes": lambda x: mt.concatenate([x, x[0]]),
    "stack": lambda x: mt.stack([x, x.T]),
    "stack nothing": lambda x: mt.stack([]),
    "split": lambda x: mt.split(x, 2),
    "sections": lambda x: mt.array_split(x, 0),
    "dsplit": lambda x: mt.dsplit(x, 1),
    "rot90": lambda x: mt.rot90(x, axes=(0, 0)),
    "casting": lambda x: mt.concatenate([x, x], dtype="i8", casting="safe"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_refused_at_the_call(name):
    """Each is the error NumPy raises (TypeError for casting), before anything runs."""
    with pytest.raises((ValueError, TypeError)):
        BAD[name](mt.ones((3, 4), chunk_size=2))


@pytest.mark.parametrize("join", [mt.concatenate, mt.stack, mt.vstack, mt.hstack])
def test_a_map_of_what_is_joined_is_one_task_a_chunk(join):
    """What is joined is made in the tasks of the map, and so is the join by itself."""
    a, b = mt.arange(1600.0, chunk_size=100), mt.ones(1600, chunk_size=100) * 2
    lazy = join([a, b])
    assert len(first_graph(lazy + 1)) == len(first_graph(lazy)) == 32
    assert_same(lazy + 1, getattr(np, join.__name__)([np.arange(1600.0), np.full(1600, 2.0)]) + 1)


def test_functions_that_write_into_blocks_leave_what_was_joined_alone():
    """A chunk that is taken twice, or kept, is given to each as if it were theirs."""

    def doubled(block):
        block *= 2
        return block

    kept = (mt.arange(6, chunk_size=2) + 1).execute()
    for part in (kept, mt.arange(6, chunk_size=2) + 1):
        lazy = mt.concatenate([part, part])
        expected = np.tile(np.arange(1, 7), 2)
        assert_same(lazy.map_blocks(doubled, dtype=expected.dtype), 2 * expected)
        both = lazy.map_blocks(doubled, dtype=expected.dtype) + lazy
        assert_same(both, 3 * expected)
    assert_same(kept, np.arange(1, 7))
