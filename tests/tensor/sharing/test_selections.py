"""What a write to a view becomes: an assignment to the elements of its base."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.graph import Graph
from marsdask.tensor.indexing.assignment import SetSlice


def assigned(tensor: Any) -> int:
    """Return how many assignments a tensor is made of."""
    return sum(isinstance(node, SetSlice) for node in Graph([tensor.node]).nodes)


VIEWS: dict[str, Any] = {
    "rows": lambda a: a[1:],
    "one row": lambda a: a[2],
    "a column": lambda a: a[:, 1],
    "steps of steps back": lambda a: a[::-2][:, 1:][1:],
    "the transpose": lambda a: a.T[1:],
    "new axes": lambda a: a[:, None, 1:],
}


@pytest.mark.parametrize("name", VIEWS)
def test_an_assignment_to_a_view_is_one_to_its_base(name: str) -> None:
    """Of its value, to the right part: nothing is assigned twice."""
    array = np.arange(20.0).reshape(5, 4)
    tensor = mt.tensor(array, chunk_size=2)
    for count, value in enumerate([7, 8], start=1):
        for x in (array, tensor):
            VIEWS[name](x)[-1] = value
        assert assigned(tensor) == count
        np.testing.assert_array_equal(tensor.compute(), array)


def test_equal_writes_are_one_node() -> None:
    """By way of a view or not."""
    first, second = mt.ones((4, 4)), mt.ones((4, 4))
    first[1:][0, 1:3] = 5
    second[1, 1:3] = 5
    assert first.node is second.node


def test_what_is_written_over_is_forgotten() -> None:
    """A loop that changes a part again and again makes no chain of parts."""
    tensor = mt.ones((6, 4), chunk_size=2)
    view = tensor[2:]
    for _ in range(5):
        view += 1
    assert assigned(tensor) == 1
    assert tensor.compute().tolist() == [[1.0] * 4] * 2 + [[6.0] * 4] * 4


def test_chunks_stay() -> None:
    """A write by way of a flat view leaves the base's chunks, which others may have asked for."""
    tensor = mt.ones((6, 4), chunk_size=2)
    flat, windows = tensor.reshape(-1), mt.sliding_window_view(tensor, 2, axis=0)
    before = tensor.chunks
    flat[3] = 5
    mt.add(mt.ones((6, 4), chunk_size=4), mt.ones(4), out=tensor)
    assert tensor.chunks == before
    assert windows.compute().tolist() == [[[2.0, 2.0]] * 4] * 5


def test_long_chains() -> None:
    """A thousand views of views, all of which see a write."""
    tensor = mt.zeros(1002)
    view = tensor
    for _ in range(1000):
        view = view[1:]
    view[0] = 5
    assert tensor[1000].compute() == 5
    tensor[1001] = 6
    assert view.compute().tolist() == [5, 6]


def test_keys_may_change_after_their_use() -> None:
    """A view keeps what it was made by."""
    axes, key = [1, 0], [slice(1, None)]
    tensor = mt.arange(6).reshape(2, 3)
    turned, part = tensor.transpose(axes), tensor[tuple(key)]
    axes[:] = [0, 1]
    key[0] = slice(None)
    tensor[1, 0] = 9
    assert turned.compute().tolist() == [[0, 9], [1, 4], [2, 5]]
    assert part.compute().tolist() == [[9, 4, 5]]


def test_error_states_change_no_view() -> None:
    """Views of parts of numbers are found under another treatment of errors as well."""
    tensor = mt.ones(2) * 1j
    with np.errstate(all="ignore"):
        part = tensor.imag
    part[0] = 5
    assert tensor.compute().tolist() == [5j, 1j]
