"""Operands as nodes, arrays in memory as sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.tensor.operands import Literal, as_array, as_node, empty, literal
from tests.strategies import assert_same


def test_metas_are_shared() -> None:
    """The same type and number of axes give the same array, which has no elements."""
    assert empty(np.dtype("f8"), 2) is empty(np.dtype("f8"), 2)
    assert empty(np.dtype("f8"), 2).shape == (0, 0)
    tagged = np.dtype("f8", metadata={"unit": "m"})
    empty(np.dtype("f8", copy=True), 1)
    assert empty(tagged, 1).dtype.metadata == tagged.metadata
    assert empty(np.dtype("f8"), 1).dtype.metadata is None


def test_equal_arrays_are_one_source() -> None:
    """Arrays of equal content are the same node; a tensor's node is its own."""
    node = as_node(np.arange(4))
    assert isinstance(node, Literal)
    assert as_node(np.arange(4)) is node
    assert as_node(np.arange(4.0)) is not node
    tensor = mt.ones(3)
    assert as_node(tensor) is tensor.node
    assert as_node(tensor.node) is tensor.node


#: What makes a lazy object of an array, one of shape (6, 4).
SOURCES: dict[str, Any] = {
    "tensor": mt.tensor,
    "array": mt.array,
    "asarray": mt.asarray,
    "asarray of the type": lambda x: mt.asarray(x, dtype=x.dtype),
    "from_array": lambda x: mt.from_array(x, chunks=3),
    "ascontiguousarray": mt.ascontiguousarray,
    "from_dlpack": mt.from_dlpack,
    "frombuffer": lambda x: mt.frombuffer(x, x.dtype),
    "memoryview": lambda x: mt.tensor(memoryview(x)),
    "pandas": lambda x: mt.tensor(pd.DataFrame(x, copy=False)),
    "views": lambda x: mt.tensor(x[::2, ::-1]),
    "read-only views": lambda x: mt.tensor(np.broadcast_to(x, (2, *x.shape))),
    "masked": lambda x: mt.ma.masked_array(x, x > 3),
    "operand": lambda x: mt.ones(x.shape) + x,
    "reflected": lambda x: x * mt.ones(x.shape),
    "ufunc": lambda x: np.arctan2(mt.ones(x.shape), x),
    "index": lambda x: mt.arange(30)[x.astype(int).ravel()],
    "value": lambda x: assigned(mt.zeros(x.shape), x),
    "full": lambda x: mt.full((2, *x.shape), x),
    "sparse": lambda x: mt.tensor(csr_matrix_of(x)).todense(),
    "column": lambda x: md.Series(x[:, 0]),
    "frame": md.DataFrame,
    "dict": lambda x: md.DataFrame({"a": x[:, 0]}),
    "series": lambda x: md.Series(pd.Series(x[:, 0], copy=False)),
    "labels": lambda x: md.Index(pd.Index(x[:, 0], copy=False)),
    "another column": lambda x: md.DataFrame({"a": range(6)}).assign(b=x[:, 1]),
}


def assigned(target: Any, value: Any) -> Any:
    """Return a tensor whose elements were set."""
    target[...] = value
    return target


def csr_matrix_of(array: Any) -> Any:
    """Return a sparse array that stores its values in ``array``."""
    rows, columns = array.shape
    places = np.tile(np.arange(columns), rows), np.arange(0, array.size + 1, columns)
    return csr_array((array.reshape(-1), *places), shape=array.shape)


@pytest.mark.parametrize("name", SOURCES)
def test_later_writes_change_nothing(name: str) -> None:
    """What was made of an array keeps its values and its name; what is made later has the new."""
    make, array = SOURCES[name], np.arange(24.0).reshape(6, 4)
    expected = np.asarray(make(array.copy()).compute())
    lazy, kept = make(array), make(array)
    kept.execute()
    assert lazy.node.name == make(array.copy()).node.name
    array[...] = array[::-1] + 2
    np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_array_equal(kept.fetch(), expected)
    changed = np.asarray(make(array.copy()).compute())
    assert not np.array_equal(changed, expected)
    np.testing.assert_array_equal(make(array).compute(), changed)


def test_what_nobody_can_write_to_is_not_copied() -> None:
    """Values of Python, frozen arrays and bytes are taken as they are."""
    array = np.arange(10)
    array.flags.writeable = False
    for source in (array, array[2:], np.frombuffer(bytes(80), np.int64)):
        held: Any = mt.tensor(source).node
        assert np.shares_memory(held.array, source)
    made = as_array([1, 2, 3])
    assert literal(made, ((3,),)).array is made
    wide: Any = mt.tensor(np.broadcast_to(np.arange(3.0), (2**40, 3))).node
    assert wide.array.strides == (0, 8)


def test_shared_arrays() -> None:
    """With copy=False tensors look at the array, which no function of theirs changes."""
    array = np.arange(10)
    lazy = mt.tensor(array, chunk_size=3, copy=False)
    again = mt.asarray(array, copy=False)
    assert np.shares_memory(lazy.node.array, array)  # type: ignore[attr-defined]
    assert lazy.node.name != again.node.name
    assert not lazy.map_blocks(written).compute().any()
    assert array[1] == 1
    kept = lazy[::2].execute()
    array[0] = 5
    assert lazy.compute()[0] == 5
    assert kept.fetch()[0] == 0
    with pytest.raises(ValueError, match="copy"):
        mt.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="copy"):
        mt.asarray(array, dtype="f4", copy=False)


def written(block: Any) -> Any:
    """Return a block that was changed in place."""
    block[...] = 0
    return block


def test_blocks_written_in_place() -> None:
    """A function that writes into its block gets a copy: others are made of the same array."""
    lazy = mt.tensor(np.arange(10))
    assert not lazy.map_blocks(written).compute().any()
    assert_same(lazy, np.arange(10))


def test_memory_maps_are_shared(tmp_path: Path) -> None:
    """A memory map is read when it is needed; what was executed is as it was."""
    array = np.memmap(tmp_path / "map", np.float64, "w+", shape=(6, 4))
    for source in (array, np.asarray(array), array[2:]):
        held: Any = mt.tensor(source).node
        assert np.shares_memory(held.array, array)
    lazy = mt.tensor(array)
    kept = mt.tensor(array).execute()
    copied = mt.tensor(array, copy=True)
    array[...] = 3
    assert_same(lazy, np.full((6, 4), 3.0))
    assert_same(kept, np.zeros((6, 4)))
    assert_same(copied, np.zeros((6, 4)))
    assert_same(mt.tensor(array), np.full((6, 4), 3.0))


def test_chunks_are_views() -> None:
    """The chunks of an array in memory are views of it."""
    node: Any = as_node(np.arange(10), 3)
    (part,) = node.tile().rule.varying((1,))
    assert np.shares_memory(part, node.array)
    assert part.tolist() == [3, 4, 5]
