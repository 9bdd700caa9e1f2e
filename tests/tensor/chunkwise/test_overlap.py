"""Stencils: halos, functions of chunks with halos, windows."""

from __future__ import annotations

import functools
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.grids.neighbours import merge_sizes
from marsdask.tensor.chunkwise.halo import Overlap
from tests.strategies import arrays_and_chunks, assert_same, draws, grids

DATA = np.arange(48.0).reshape(8, 6)
EDGES = {"reflect": "symmetric", "periodic": "wrap", "nearest": "edge"}


def neighbours(block: Any, depth: Any) -> Any:
    """Sum the elements at some distances along every axis, around the end of the block."""
    total = block.copy()
    for axis, (before, after) in enumerate(depth):
        total = total + np.roll(block, before, axis) - 2 * np.roll(block, -after, axis)
    return total


@pytest.mark.parametrize("boundary", [*EDGES, 7, ("reflect", 3), {0: "periodic"}, None])
@pytest.mark.parametrize("depth", [1, {0: 2}, (3, 1)])
def test_halos_are_those_of_dask(depth: Any, boundary: Any) -> None:
    """The same chunks, those smaller than the halo joined, and the same values in each."""
    theirs = da.from_array(DATA, chunks=((3, 3, 2), (4, 2)))
    ours = mt.tensor(DATA, chunk_size=((3, 3, 2), (4, 2)))
    wide = mt.overlap.overlap(ours, depth, boundary)
    expected = da.overlap.overlap(theirs, depth, boundary)
    assert wide.chunks == expected.chunks
    assert_same(wide, expected.compute(scheduler="sync"))
    assert_same(mt.overlap.trim_overlap(wide, depth, boundary), DATA)
    assert_same(mt.overlap.trim_internal(wide, depth, boundary), DATA)


@draws(40)
@given(st.data(), st.booleans())
def test_a_stencil_does_not_see_the_chunks(data: Any, merged: bool) -> None:
    """Whatever the chunks, the boundary and the depth, and with lengths that nobody knows."""
    array, chunks = data.draw(arrays_and_chunks(("f8", "i4"), min_dims=1, max_dims=2, min_side=1))
    pairs = st.tuples(st.integers(0, 4), st.integers(0, 4))
    depth = tuple(data.draw(st.tuples(*[pairs] * array.ndim)))
    kind = data.draw(st.sampled_from([*EDGES, "constant"]))
    lazy = mt.tensor(array, chunks=chunks)
    if data.draw(st.booleans()):
        lazy = lazy[mt.tensor(np.ones(len(array), bool), chunk_size=2) > 0]
    options = {"constant_values": 3} if kind == "constant" else {}
    framed = np.pad(array, depth, mode=EDGES.get(kind, "constant"), **options)  # type: ignore[call-overload]
    inner = tuple(slice(a, len_ - b) for (a, b), len_ in zip(depth, framed.shape, strict=True))
    stencil = functools.partial(neighbours, depth=depth)
    edge = 3 if kind == "constant" else kind
    with grids(merged=merged):
        result = lazy.map_overlap(stencil, depth, edge, dtype=array.dtype)
        assert_same(result, stencil(framed)[inner].astype(array.dtype))


@given(st.data())
def test_without_a_boundary_the_ends_have_no_halo(data: Any) -> None:
    """``boundary="none"``: what the function makes of the ends is kept."""
    array, chunks = data.draw(arrays_and_chunks(("f8",), 1, 1, min_side=1, nan=False))
    depth = data.draw(st.integers(0, 8))
    lazy = mt.tensor(array, chunks=chunks)

    def largest(block: Any) -> Any:
        padded = np.pad(block, depth, constant_values=-100.0)
        return np.lib.stride_tricks.sliding_window_view(padded, 2 * depth + 1).max(axis=-1)

    assert_same(mt.map_overlap(largest, lazy, depth=depth, dtype=float), largest(array))


def test_several_arrays_keep_together() -> None:
    """Cut alike, with a depth and a boundary each, and arrays of fewer axes."""
    x = mt.tensor(DATA, chunk_size=(3, 2))
    y = mt.tensor(DATA[0] + 1, chunk_size=4)

    def mix(a: Any, b: Any) -> Any:
        return a + b[1:-1]

    result = mt.map_overlap(mix, x, y, depth=[0, 1], boundary=["none", "periodic"], dtype=float)
    assert result.chunks == ((3, 3, 2), (2, 2, 2))
    assert_same(result, DATA + DATA[0] + 1)


def test_axes_may_go_and_come() -> None:
    """Halos are taken off the axes that are left."""
    x = mt.tensor(DATA, chunk_size=(3, 6))
    dropped = x.map_overlap(lambda b: b.sum(axis=1), (1, 0), drop_axis=1, dtype=float)
    assert_same(dropped, DATA.sum(axis=1))
    added = x.map_overlap(lambda b: b[None], {0: 2}, "reflect", new_axis=0, dtype=float)
    assert_same(added, DATA[None])


def test_results_may_keep_their_halo() -> None:
    """``trim=False`` is for functions that take it off themselves."""
    x = mt.tensor(DATA, chunk_size=(2, 6))
    result = x.map_overlap(lambda b: b[3:-3], {0: 3}, "nearest", trim=False, dtype=float)
    assert result.chunks == ((4, 4), (6,))
    assert_same(result, DATA)
    free = x.map_overlap(lambda b: b[1:-1], {0: 1}, 0, False, allow_rechunk=False, dtype=float)
    assert_same(free, DATA)


def test_each_chunk_is_put_together_once() -> None:
    """A task for each chunk with its halo, and one for the function."""
    x = mt.ones((8, 6), chunk_size=(2, 6)).map_overlap(np.sin, {0: 1}, "reflect", dtype=float)
    names = [key[0].split("-")[0] for key in dict(x.__dask_graph__())]
    assert sum(name == "overlap" for name in names) == 4
    assert len(names) <= 12


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"depth": -1}, ValueError, "negative"),
        ({"depth": 1, "boundary": "mirror"}, ValueError, "reflect"),
        ({"depth": 2, "allow_rechunk": False}, ValueError, "allow_rechunk=True"),
        ({"depth": [1, 1]}, ValueError, "2 items"),
        ({"depth": (1, 1, 1)}, ValueError, "axes"),
    ],
)
def test_bad_halos_are_refused_at_the_call(options: Any, error: Any, match: str) -> None:
    """With what would work."""
    with pytest.raises(error, match=match):
        mt.map_overlap(np.sin, mt.tensor(DATA, chunk_size=(1, 6)), dtype=float, **options)


def test_something_must_be_a_function_of_tensors() -> None:
    """Dask's errors, and its older order of arguments."""
    with pytest.raises(TypeError, match="function"):
        mt.map_overlap(3, mt.ones(3), depth=1)
    with pytest.raises(TypeError, match="tensors"):
        mt.map_overlap(np.sin, 3, depth=1)
    assert_same(mt.map_overlap(mt.ones(3), np.negative, depth=1, dtype=float), -np.ones(3))


@given(st.data())
def test_windows(data: Any) -> None:
    """Along any axes, one of them several times."""
    array, chunks = data.draw(arrays_and_chunks(("i4",), 1, 2, min_side=1))
    axes = data.draw(st.lists(st.integers(0, array.ndim - 1), min_size=1, max_size=2))
    sizes = [data.draw(st.integers(1, 3)) for _ in axes]
    view = np.lib.stride_tricks.sliding_window_view
    lazy = mt.tensor(array, chunks=chunks)
    try:
        expected = view(array, sizes, axes)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            mt.sliding_window_view(lazy, sizes, axes)
    else:
        assert_same(mt.sliding_window_view(lazy, sizes, axes), expected)


def test_windows_along_every_axis() -> None:
    """Where none is named; and what NumPy refuses."""
    lazy = mt.tensor(DATA, chunk_size=3)
    assert_same(
        mt.sliding_window_view(lazy, (2, 3)), np.lib.stride_tricks.sliding_window_view(DATA, (2, 3))
    )
    for bad in [(-1, 2), (0, 2), (2,)]:
        with pytest.raises(ValueError, match="window_shape"):
            mt.sliding_window_view(lazy, bad)


def test_the_smallest_chunks_are_those_of_dask() -> None:
    """Joined with the next, the last with the one before."""
    assert merge_sizes(3, (1, 1, 1, 5, 2)) == (3, 7)
    assert merge_sizes(9, (1, 2)) == (3,)
    assert isinstance(mt.overlap.overlap(mt.ones(9, chunk_size=3), 1, "none").node, Overlap)


@pytest.mark.parametrize(
    ("edge", "lengths"), [("none", (2, 2, 0, 2)), ("periodic", (0, 2, 0, 1)), (7, (0, 2, 0, 1))]
)
def test_lengths_without_halos(edge: Any, lengths: Any) -> None:
    """Those of the chunks, also of chunks that are shorter than their halos."""
    x = mt.arange(13, chunk_size=(3, 5, 1, 4))
    trimmed = mt.overlap.trim_overlap(x, {0: (2, 1)}, {0: edge})
    assert trimmed.chunks == (lengths,)
    assert tuple(len(block.compute()) for block in trimmed.blocks.ravel()) == lengths
