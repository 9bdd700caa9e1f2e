"""Operands as nodes, arrays in memory as sources."""

from __future__ import annotations

from typing import Any

import numpy as np

import marsdask.tensor as mt
from marsdask.tensor.base import Literal, as_node, empty
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


def test_arrays_written_to_are_no_source_of_equal_ones() -> None:
    """An array that has changed since does not stand for one that is what it was."""
    array = np.zeros(3)
    first = mt.tensor(array)
    array[:] = 1
    assert_same(mt.tensor(np.zeros(3)), np.zeros(3))
    assert_same(first + mt.tensor(array), np.full(3, 2.0))


def test_chunks_are_views() -> None:
    """The chunks of an array in memory are views of it."""
    array = np.arange(10)
    assert_same(mt.tensor(array, chunk_size=3), array)
    grid: Any = as_node(array, 3).tile()
    (part,) = grid.rule.varying((1,))
    assert np.shares_memory(part, array)
    assert part.tolist() == [3, 4, 5]
