"""Hypothesis strategies that all families of tensor operations share."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def _cuts(length: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Return ways to cut one axis: whole, in ones, ragged, with empty chunks."""
    borders = st.lists(st.integers(0, length), max_size=4).map(sorted)

    def sizes(inner: list[int]) -> tuple[int, ...]:
        stops = [*inner, length]
        return tuple(stop - start for start, stop in zip([0, *inner], stops, strict=True))

    ones = (1,) * length or (0,)
    return st.one_of(st.just((length,)), st.just(ones), borders.map(sizes))


def chunkings(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Return explicit chunk sizes for every axis of ``shape``."""
    return st.tuples(*map(_cuts, shape))
