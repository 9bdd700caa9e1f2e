"""What generators share: seeds, sizes of groups, and chunks of whole rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.learn import datasets
from marsdask.learn.datasets.draws import Draws, row_sizes
from tests.learn.samples import value

MAKERS: dict[str, dict[str, Any]] = {
    "make_blobs": {"n_features": 3},
    "make_classification": {"n_features": 6},
    "make_counts": {"n_features": 5},
    "make_low_rank_matrix": {"n_features": 5, "effective_rank": 2},
    "make_regression": {"n_features": 5, "n_targets": 2, "noise": 0.1},
}


def _made(name, **how):
    found = getattr(datasets, name)(40, **MAKERS[name], **how)
    return [value(item) for item in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", MAKERS)
def test_values_depend_on_the_seed_alone(name):
    """Not on the chunks, of which some may be empty; another seed gives others."""
    first = _made(name, random_state=3, chunk_size=7)
    for how in ({"chunks": (40, 99)}, {"chunks": ((1, 0, 39), -1)}, {"chunk_size": None}):
        for found, expected in zip(_made(name, random_state=3, **how), first, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert not np.allclose(_made(name, random_state=4, chunk_size=7)[0], first[0])


@pytest.mark.parametrize("name", MAKERS)
def test_they_are_lazy_and_of_the_chunks_asked_for(name):
    """Rows are whole; without a seed two calls differ."""
    found = getattr(datasets, name)(40, **MAKERS[name], chunk_size=16)
    for item in found if isinstance(found, tuple) else (found,):
        assert item.chunks[0] == (16, 16, 8)
        assert len(item.chunks[-1]) == (1 if item.ndim == 2 else 3)
    assert not np.allclose(_made(name)[0], _made(name)[0])


def test_our_random_state_is_a_seed():
    """A state of tensors gives what another of the same seed gives."""
    one, two = (_made("make_blobs", random_state=mt.random.RandomState(5))[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_samples_are_dealt_to_groups_of_given_sizes():
    """In order, or mixed; empty groups get none."""
    for shuffle in (False, True):
        dealing = Draws(0).dealing([30, 0, 50], shuffle=shuffle)
        found = dealing(np.arange(80))
        assert np.bincount(found).tolist() == [30, 0, 50]
        assert (np.diff(found) >= 0).all() == (not shuffle)


def test_chunks_are_of_rows():
    """A number is of samples, not of features."""
    assert row_sizes(10, 7, 4, None) == row_sizes(10, 7, None, (4, 7)) == (4, 4, 2)
