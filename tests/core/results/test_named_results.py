"""Tuples with the names of a namedtuple."""

from __future__ import annotations

import pickle
from collections import namedtuple

import pytest

from marsdask.core.results.named_results import NamedItems, named_kind

Both = namedtuple("Both", "a b")  # noqa: PYI024 - what programs have


def test_classes_have_the_names_of_namedtuples():
    """One class for each, whose objects pickle as what they were made of."""
    kind = named_kind(Both, tuple)
    assert kind is named_kind(Both, tuple)
    both = kind((1, 2))
    assert (both.a, both.b, repr(both)) == (1, 2, "Both(a=1, b=2)")
    assert pickle.loads(pickle.dumps(both)) == (1, 2)


@pytest.mark.parametrize(("item", "named"), [(Both(1, 2), True), ((1, 2), False), ([], False)])
def test_namedtuples_are_told_from_tuples(item, named):
    """By the names of their items."""
    assert isinstance(item, NamedItems) is named
