"""Sizes, known and unknown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from marsdask.core.sizes import (
    Unknown,
    UnknownShapeError,
    known_chunks,
    known_or_nan,
    numbers,
    total,
    unknown_sizes,
    upper,
    uppers,
)


def test_unknown_sizes_are_equal_by_what_determines_them():
    """Two arrays filtered by one mask have equal, if unknown, lengths."""
    assert unknown_sizes("mask-1", [3, 4]) == unknown_sizes("mask-1", [None, None])
    assert unknown_sizes("mask-1", [3, 4]) != unknown_sizes("mask-2", [3, 4])


def test_total_of_one_masks_sizes_is_that_masks_length():
    """The whole axis is known by the same name, with the sum of the bounds."""
    length = total(unknown_sizes("mask-1", [3, 4]))
    assert length == Unknown("mask-1")
    assert upper(length) == 7
    assert total(unknown_sizes("mask-1", [3, None])) == Unknown("mask-1")
    assert upper(total(unknown_sizes("mask-1", [3, None]))) is None


@pytest.mark.parametrize(
    "sizes",
    [
        unknown_sizes("mask-1", [3, 4])[::-1],
        (Unknown("mask-1", 0, 3), Unknown("mask-2", 1, 4)),
    ],
)
def test_total_of_chunks_of_no_mask_is_another_length(sizes):
    """In another order, or of several masks; the bounds are added all the same."""
    assert total(sizes) != Unknown("mask-1")
    assert upper(total(sizes)) == 7


@pytest.mark.parametrize("bounds", [[3, 4], [3, None]])
def test_bounds_of_chunks(bounds):
    """Of known sizes, unknown ones, and both."""
    unknowns = unknown_sizes("mask-1", bounds)
    assert uppers(unknowns) == bounds
    assert uppers((2, *unknowns)) == [2, *bounds]
    assert uppers((2, 3)) == [2, 3]


def test_total_of_mixed_sizes_is_named_by_all_of_them():
    """A joined axis has a length of its own, equal to that of the same join."""
    sizes = (*unknown_sizes("mask-1", [3, 4]), 5)
    assert total(sizes) == total(sizes)
    assert total(sizes) != total((*sizes, 5))
    assert total(sizes) != Unknown("mask-1")
    assert upper(total(sizes)) == 12


def test_total_of_known_sizes_is_their_sum():
    """Numbers add up."""
    assert total((1, 2, 3)) == 6
    assert total((7,)) == 7


def test_one_unknown_chunk_is_its_axis():
    """An axis in one chunk has the length of that chunk."""
    (size,) = unknown_sizes("mask-1", [9])
    assert size == total((size,)) == Unknown("mask-1")


def test_public_sizes_are_nan_while_unknown():
    """Users see nan."""
    assert math.isnan(known_or_nan(Unknown("x")))
    assert known_or_nan(3) == 3


def test_numbers_refuses_what_is_unknown():
    """Asking for a length that only running can tell says so."""
    assert numbers((1, 2)) == (1, 2)
    assert known_chunks(((1,), (2,)))
    with pytest.raises(UnknownShapeError, match="execute"):
        numbers((1, Unknown("x")))


def test_unknown_lengths_compare_equal():
    """Users compare chunks of unknown lengths: they are NumPy's nan itself."""
    assert (known_or_nan(Unknown("mask-1")),) == (np.nan,)
