"""Hypothesis strategies for the keys of indexing and assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks


def slices(length: int) -> st.SearchStrategy[slice]:
    """Return slices in and out of bounds, backwards ones too."""
    bound = st.one_of(st.none(), st.integers(-length - 2, length + 2))
    return st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2]))


def positions(length: int) -> st.SearchStrategy[Any]:
    """Return arrays of positions that exist."""
    if not length:
        return st.just(np.zeros((0,), np.intp))
    shape = st.sampled_from([(0,), (1,), (5,), (9,), (2, 3)])
    return shape.flatmap(
        lambda s: st.lists(
            st.integers(-length, length - 1), min_size=int(np.prod(s)), max_size=int(np.prod(s))
        ).map(lambda x: np.array(x, np.intp).reshape(s))
    )


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a key with at most one array or mask in it."""
    key: list[Any] = []
    special = draw(st.integers(-1, len(shape)))
    for axis, n in enumerate(shape[: draw(st.integers(0, len(shape)))]):
        if axis == special:
            masks = st.lists(st.booleans(), min_size=n, max_size=n).map(
                lambda x: np.array(x, np.bool_)
            )
            key.append(draw(st.one_of(positions(n), masks)))
        elif n and draw(st.booleans()):
            key.append(draw(st.integers(-n, n - 1)))
        else:
            key.append(draw(slices(n)))
        if draw(st.integers(0, 9)) == 0:
            key.append(None)
    if draw(st.booleans()):
        key.append(Ellipsis)

    return tuple(key)


@st.composite
def assignments(draw: Any, dtypes: tuple[str, ...] = ("i8", "f8")) -> tuple[Any, ...]:
    """Return an array, its chunks, a key and a value that fits."""
    array, chunks = draw(arrays_and_chunks(dtypes=dtypes, min_side=1, nan=False))
    key = draw(keys(array.shape))
    shape = list(array[key].shape)
    shape = [1 if draw(st.integers(0, 3)) == 0 else n for n in shape]
    shape = shape[draw(st.integers(0, len(shape))) :]
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape) + 100
    return array, chunks, key, value


def lazy_key(key: tuple[Any, ...], step: int) -> tuple[Any, ...]:
    """Return the key with its arrays as tensors."""
    return tuple(mt.array(k, chunk_size=step) if isinstance(k, np.ndarray) else k for k in key)
