"""User's functions of chunks."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.config import option_context
from tests.core.recording import recording_session

DATA = np.arange(30.0).reshape(5, 6)


@pytest.fixture(autouse=True, params=[True, False], ids=["coalesced", "as written"])
def session(request):
    with (
        recording_session() as (_, scheduler),
        option_context({"coalesce": request.param, "verify": True}),
    ):
        yield scheduler


def tensor(chunks=(2, 3)):
    return mt.ones((5, 6), chunk_size=chunks) * DATA


def double(block):
    return block * 2


def test_a_function_sees_the_chunks_that_the_user_stated():
    """Whatever the passes would have merged."""
    x = tensor().map_blocks(np.shape, dtype=object, chunks=(1, 1))
    shapes = []

    def record(block):
        shapes.append(block.shape)
        return block

    np.testing.assert_array_equal(tensor().map_blocks(record, dtype=float).compute(), DATA)
    assert sorted(shapes) == sorted([(2, 3)] * 4 + [(1, 3)] * 2)
    assert x.chunks == ((1, 1, 1), (1, 1))


@pytest.mark.parametrize("chunks", [(5, 6), (2, 3), (1, 6), ((0, 5), (2, 0, 4))])
def test_values_are_those_of_dask(chunks):
    """With several arrays, constants and keywords."""

    def mix(a, constant, b, factor=1):
        return a * constant + b * factor

    x = tensor(chunks)
    result = mt.map_blocks(mix, x, 10, x + 1, factor=3)
    assert result.dtype == float
    assert result.chunks == x.chunks
    np.testing.assert_array_equal(result.compute(), DATA * 10 + (DATA + 1) * 3)


def test_inputs_broadcast():
    """Axes of one chunk go with all of the others', missing ones too."""
    row = mt.ones(6, chunk_size=3) * np.arange(6.0)
    np.testing.assert_array_equal(
        mt.map_blocks(np.add, tensor(), row).compute(), DATA + np.arange(6.0)
    )


def test_the_dtype_is_inferred_or_stated():
    """By calling the function with one item."""
    assert tensor().map_blocks(lambda block: block > 3).dtype == bool
    assert tensor().map_blocks(double, dtype="f4").dtype == np.dtype("f4")
    assert tensor().map_blocks(double, meta=np.empty((0, 0), "i4")).dtype == np.dtype("i4")
    with pytest.raises(ValueError, match=r"ZeroDivisionError.*dtype="):
        tensor().map_blocks(lambda block: 1 // 0)


def test_axes_may_go_and_come():
    """``drop_axis`` and ``new_axis`` as in dask.array."""
    total = tensor((2, 6)).map_blocks(lambda b: b.sum(axis=1), drop_axis=1, dtype=float)
    assert total.chunks == ((2, 2, 1),)
    np.testing.assert_array_equal(total.compute(), DATA.sum(axis=1))
    deep = tensor().map_blocks(lambda b: b[None], new_axis=0, dtype=float)
    assert deep.shape == (1, 5, 6)
    np.testing.assert_array_equal(deep.compute(), DATA[None])
    # As in Dask, chunks are whole along what is dropped.
    cut = tensor().map_blocks(lambda b: b.sum(axis=1), drop_axis=1, dtype=float)
    assert cut.chunks == ((2, 2, 1),)
    np.testing.assert_array_equal(cut.compute(), DATA.sum(axis=1))
    for wrong in ({"drop_axis": 2}, {"new_axis": (3, 4)}):
        with pytest.raises(ValueError, match="axis"):
            tensor().map_blocks(lambda b: b, dtype=float, **wrong)


def test_no_arrays():
    """Without arrays ``chunks`` says how often the function is called."""

    def numbered(start, block_info=None):
        ((low, high),) = block_info[None]["array-location"]
        assert set(block_info) == {None}
        return start + np.arange(low, high)

    made = mt.map_blocks(numbered, 10, chunks=((5, 3),), dtype=int)
    assert made.chunks == ((5, 3),)
    np.testing.assert_array_equal(made.compute(), np.arange(10, 18))
    with pytest.raises(TypeError, match="chunks="):
        mt.map_blocks(numbered, 10, dtype=int)


def test_chunks_of_unlike_lengths_match_by_position():
    """Arrays that do not broadcast, but whose chunks do."""
    a, b = mt.tensor([1, 2, 3], chunk_size=3), mt.tensor([0, 1, 2, 0, 1, 2], chunk_size=3)
    found = mt.map_blocks(np.add, a, b, chunks=b.chunks)
    np.testing.assert_array_equal(found.compute(), [1, 3, 5, 1, 3, 5])


def test_new_axes_follow_from_chunks():
    """More chunks than axes add axes in front."""
    deep = tensor().map_blocks(lambda b: b[None], dtype=float, chunks=((1,), *tensor().chunks))
    np.testing.assert_array_equal(deep.compute(), DATA[None])


def test_chunks_say_new_sizes():
    """One for all chunks of an axis or one for each; wrong counts are refused at the call."""
    twice = tensor((2, 6)).map_blocks(
        lambda b: np.repeat(b, 2, axis=0), dtype=float, chunks=((4, 4, 2), (6,))
    )
    assert twice.shape == (10, 6)
    np.testing.assert_array_equal(twice.compute(), np.repeat(DATA, 2, axis=0))
    ones = tensor().map_blocks(lambda b: b[:1, :1], dtype=float, chunks=(1, 1))
    assert ones.shape == (3, 2)
    with pytest.raises(ValueError, match="sizes"):
        tensor().map_blocks(double, dtype=float, chunks=((1, 1), (6,)))
    with pytest.raises(ValueError, match="axes"):
        tensor().map_blocks(double, dtype=float, chunks=(1,))


def test_a_function_may_ask_about_its_chunk():
    """``block_info`` and ``block_id`` say what dask.array's say."""
    seen: dict[str, list[Any]] = {"ours": [], "dask's": []}

    def record(who):
        def inner(block, block_info=None, block_id=None):
            if block_info is not None and block_id is not None and None in block_info:
                facts = {key: dict(value) for key, value in block_info.items()}
                seen[who].append((block_id, facts))
            return block

        return inner

    tensor().map_blocks(record("ours"), dtype=float).compute()
    da.from_array(DATA, chunks=(2, 3)).map_blocks(
        record("dask's"), dtype=float, meta=np.empty((0, 0))
    ).compute(scheduler="sync")
    order = [sorted(entries, key=lambda entry: entry[0]) for entries in seen.values()]
    assert len(order[0]) == 6
    for ours, theirs in zip(*order, strict=True):
        assert ours[0] == theirs[0]
        for key in (0, None):
            for fact in ours[1][key]:
                assert ours[1][key][fact] == theirs[1][key][fact], (key, fact)


def test_map_chunk_is_mars_word():
    """``args``, keywords and ``with_chunk_index``; the shape is known where elementwise."""
    x = tensor()

    def place(block, factor, chunk_index=None, offset=0):
        return block * 0 + factor * chunk_index[0] + offset

    y = x.map_chunk(place, args=(10,), with_chunk_index=True, elementwise=True, offset=1)
    assert y.shape == (5, 6)
    np.testing.assert_array_equal(y.compute()[:, 0], [1, 1, 11, 11, 21])
    z = x.map_chunk(lambda block: block[:1])
    assert np.isnan(z.shape).all()
    np.testing.assert_array_equal(z.compute(), DATA[[0, 2, 4]])
    assert z.execute().shape == (3, 6)
    with pytest.raises(NotImplementedError, match="map_blocks"):
        x.map_chunk(lambda block: block[None])


def test_something_must_be_an_array():
    """Constants alone have no chunks."""
    with pytest.raises(TypeError, match="tensor"):
        mt.map_blocks(double, 3)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (0, 1),
        (slice(1, None), 0),
        slice(None, None, 2),
        (..., 1),
        ([0, 2], slice(None)),
        np.array([1, 2, 0]),
    ],
)
def test_blocks_are_those_of_dask(key):
    """The same indexing of chunks, the same values."""
    array = da.from_array(DATA, chunks=(2, 3))
    ours, theirs = tensor().blocks[key], array.blocks[key]
    assert ours.chunks == theirs.chunks
    np.testing.assert_array_equal(ours.compute(), theirs.compute(scheduler="sync"))
    np.testing.assert_array_equal(
        ours.map_blocks(double, dtype=float).compute(), 2 * theirs.compute(scheduler="sync")
    )


def test_blocks_can_be_counted_and_listed():
    """Shape, size, and one tensor for each."""
    blocks = tensor().blocks
    assert (blocks.shape, blocks.size) == ((3, 2), 6)
    np.testing.assert_array_equal(blocks.ravel()[3].compute(), DATA[2:4, 3:])


@pytest.mark.parametrize(
    ("key", "error"),
    [((0, 0, 0), IndexError), (3, IndexError), (None, ValueError), (slice(5, 9), IndexError)],
)
def test_blocks_that_are_not_there(key, error):
    """Refused at the call."""
    with pytest.raises(error):
        tensor().blocks[key]


def test_users_functions_over_tiny_chunks_run_side_by_side():
    """However small a chunk is, what is done to it may take long."""
    both = threading.Barrier(2)

    def meet(block):
        both.wait(30)
        return block

    with new_session(n_workers=2):
        x = mt.ones(4, chunk_size=2).map_blocks(meet, dtype=float)
        np.testing.assert_array_equal(x.compute(), np.ones(4))


def test_a_promised_shape_is_checked():
    """Where ``chunks=`` says a shape, a result of another one is refused, in between as well."""
    x = mt.ones((4, 4), chunk_size=2)
    wrong = x.map_blocks(lambda block: block[:1], chunks=(2, 2), dtype=float)
    for lazy in (wrong, wrong + 1, wrong.sum()):
        with pytest.raises(ValueError, match=r"shape \(1,2\), but chunks= says \(2,2\)"):
            lazy.compute()


def test_a_promised_shape_may_lack_leading_axes():
    """As in Dask, numbers do for chunks of one element."""
    x = mt.ones((4, 4), chunk_size=2)
    sums = x.map_blocks(lambda block: block.sum(), chunks=(1, 1), dtype=float)
    np.testing.assert_array_equal(sums.compute(), np.full((2, 2), 4.0))


def test_a_shape_that_nobody_promised_is_not_checked():
    """As in Dask, compute() joins what the function returns."""
    x = mt.ones((4, 4), chunk_size=2)
    assert x.map_blocks(lambda block: block[:1], dtype=float).compute().shape == (2, 4)


def test_the_signature_of_a_function_is_read_once(monkeypatch: Any) -> None:
    """Reading it takes longer than making a node; what has none has no parameters."""

    def shifted(block: Any, block_id: Any) -> Any:
        return block + block_id[0]

    def largest(block: Any, axis: Any, keepdims: Any, dtype: Any) -> Any:
        return np.max(block, axis, keepdims=keepdims).astype(dtype)

    read = []

    def recorded(func: Any) -> Any:
        read.append(func)
        return signature(func)

    signature = inspect.signature
    monkeypatch.setattr(inspect, "signature", recorded)
    x = mt.ones(4, chunk_size=2)
    for _ in range(3):
        x = mt.map_blocks(shifted, x, dtype=float)
        x = mt.map_blocks(np.negative, x, dtype=float)
        x = x + mt.reduction(x, largest, largest, dtype=float)
    assert [read.count(func) for func in (shifted, largest)] == [1, 1]
    np.testing.assert_array_equal(mt.map_blocks(np.negative, x).compute(), -x.compute())


PLACES: list[Any] = []


def recorded(block, other, block_info=None):
    """Note where the chunks lie."""
    PLACES.append([tuple(block_info[key]["chunk-location"]) for key in (0, 1, None)])
    return np.zeros((1, 1))


def test_facts_of_chunks_whose_axes_come_and_go():
    """``block_info`` says where chunks of the arguments lie, whatever axes the result has."""

    def places(xp, x, row, **how):
        PLACES.clear()
        result = xp.map_blocks(recorded, x, row, dtype=float, meta=np.zeros((0, 0)), **how)
        result.compute(scheduler="sync")
        return sorted(PLACES)

    row = np.arange(6.0)
    for how in (
        {"drop_axis": 1, "new_axis": 0, "chunks": ((1,), (1,) * 3)},
        {"drop_axis": 1, "new_axis": 1, "chunks": ((1,) * 3, (1,))},
    ):
        pairs = (
            (mt, tensor(), mt.tensor(row, chunk_size=3)),
            (da, da.from_array(DATA, chunks=(2, 3)), da.from_array(row, chunks=3)),
        )
        ours, theirs = (places(xp, x, y, **how) for xp, x, y in pairs)
        assert ours == theirs


def test_functions_that_return_sparse_matrices():
    """The tensor has sparse chunks."""
    found = tensor().map_blocks(csr_matrix)
    assert mt.issparse(found)
    assert (found.compute().toarray() == DATA).all()
    assert found[[0, 3], :].sum().compute() == DATA[[0, 3]].sum()
    assert (mt.concatenate([found, found]).compute().toarray() == np.vstack([DATA, DATA])).all()
