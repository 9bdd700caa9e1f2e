"""What users may say about chunks, and how grids are brought into line."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.config
import numpy as np
import pytest

from marsdask.core.config import option_context
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.sizes import numbers
from marsdask.tensor.chunks import MOST_CHUNKS, as_shape, normalize_chunks


@pytest.mark.parametrize(
    ("wanted", "shape", "expected"),
    [
        (5, (10,), ((5, 5),)),
        (np.int64(4), (10,), ((4, 4, 2),)),
        (-1, (10, 3), ((10,), (3,))),
        ("auto", (10,), ((10,),)),
        ((4, 2), (8, 3), ((4, 4), (2, 1))),
        (((1, 2), 3), (3, 6), ((1, 2), (3, 3))),
        ({0: 2}, (4, 5), ((2, 2), (5,))),
        ({-1: 2}, (4, 5), ((4,), (2, 2, 1))),
        ((2, 2, 1), (5,), ((2, 2, 1),)),
        ((5,), (5,), ((5,),)),
        (3, (0,), ((0,),)),
        (3, (), ()),
        ((-1, "auto"), (3, 4), ((3,), (4,))),
    ],
)
def test_chunk_sizes(wanted: Any, shape: tuple[int, ...], expected: Any) -> None:
    """Ints, tuples, explicit sizes, dicts, -1 and "auto" are understood."""
    assert normalize_chunks(wanted, shape, "f8") == expected


@pytest.mark.parametrize(
    "wanted", [2.0, True, np.float32(3), "big", (2.0, 2), (True, 2), ("big", 2)]
)
def test_what_is_no_size_is_a_type_error(wanted: Any) -> None:
    """Floats, bools and other words are refused."""
    with pytest.raises(TypeError):
        normalize_chunks(wanted, (4, 4), "f8")


@pytest.mark.parametrize("wanted", [0, -2, (2,), (2, 2, 2), ((1, 2), 4), {3: 1}, ((-1, 5), 4)])
def test_what_does_not_fit_is_a_value_error(wanted: Any) -> None:
    """Sizes that are not positive, or do not add up, or name no axis are refused."""
    with pytest.raises(ValueError, match=r"chunk|axes"):
        normalize_chunks(wanted, (4, 4), "f8")


def test_the_limit_decides_what_is_left_open() -> None:
    """Chunks chosen for the user stay within the limit."""
    with option_context({"chunk_store_limit": 800}):
        chunks = normalize_chunks(None, (100, 100), "f8")
    assert max(numbers(chunks[0])) * max(numbers(chunks[1])) <= 100


def test_shapes() -> None:
    """Shapes are ints or sequences of them."""
    assert as_shape(3) == (3,)
    assert as_shape(np.int64(3)) == (3,)
    assert as_shape([2, np.int8(3)]) == (2, 3)
    assert as_shape(()) == ()


def test_dasks_settings() -> None:
    """Dask's size of chunks holds unless ours is set; "auto" starts from chunks that are there."""
    with dask.config.set({"array.chunk-size": "80B"}):
        assert normalize_chunks("auto", (20,), "f8") == ((10, 10),)
        with option_context({"chunk_store_limit": 40.0}):
            assert normalize_chunks("auto", (20,), "f8") == ((5,) * 4,)
    previous = ((1,) * 6, (2, 2, 2))
    for wanted, limit in (("auto", 96), ((3, "auto"), 48), (("auto", -1), "96B"), (2, None)):
        found = normalize_chunks(wanted, (6, 6), "f8", limit=limit, previous=previous)
        assert found == da.core.normalize_chunks(
            wanted, (6, 6), limit, np.dtype("f8"), previous_chunks=previous
        )


def test_lists_of_chunks_that_fit_no_memory_are_refused() -> None:
    """They are refused before they are made; the chunks that we choose are not that many."""
    with pytest.raises(MemoryBudgetError, match="use larger chunks"):
        normalize_chunks(1, (10**12,), float)
    (sizes,) = normalize_chunks(None, (10**18,), float)
    assert len(sizes) <= MOST_CHUNKS
    assert sum(numbers(sizes)) == 10**18
