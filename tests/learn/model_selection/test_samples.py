"""Samples that are divided have a length, and are held."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt
from marsdask.learn.model_selection.samples import held, in_memory, of_known_length


def test_only_what_has_no_length_is_executed():
    """Arrays and ``None`` stay what they are."""
    known = mt.arange(5, chunk_size=2)
    unknown = known[known > 2]
    array = np.ones(3)
    found = of_known_length(known, unknown, array, None)
    assert len(found[1]) == 2
    assert found[2] is array
    assert not known._is_executed()
    held(known)
    assert known._is_executed()
    np.testing.assert_array_equal(in_memory(unknown), [3, 4])
