"""Traits: which orders meet which, what is unique, and what is left of keys that are carried."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from marsdask.core.traits import VALUES, Level, Ordering, Partitioning, SortKey, Traits

BY_A_AND_B: Ordering = (SortKey("a", True, False), SortKey("b", False, False))


@pytest.mark.parametrize(
    ("wanted", "met"),
    [
        (BY_A_AND_B, True),
        (BY_A_AND_B[:1], True),
        (BY_A_AND_B[1:], False),
        ((*BY_A_AND_B, SortKey("c", True, False)), False),
        ((SortKey("a", True, True),), False),
        ((SortKey("a", False, False),), False),
    ],
)
def test_rows_in_order_are_in_that_of_the_first_keys(wanted: Ordering, met: bool) -> None:
    """An order meets its beginnings, no other keys, directions or places of what is missing."""
    assert Traits("rows", (BY_A_AND_B,)).is_sorted(wanted) is met


def test_where_nothing_is_missing_it_stands_anywhere() -> None:
    """An order of keys none of which is missing meets both places of missing values."""
    traits = Traits("rows", ((SortKey("a"),),))
    assert traits.is_sorted([SortKey("a", True, True)])
    assert traits.is_sorted([SortKey("a", True, False)])


def test_further_keys_decide_nothing_among_distinct_rows() -> None:
    """Rows that differ in the first keys are in order whatever keys come after."""
    traits = Traits("rows", ((SortKey("a"),),)).and_unique(["a"])
    assert traits.is_sorted([SortKey("a", True, True), SortKey("z", False, True)])
    assert not traits.is_sorted([SortKey("z", False, True), SortKey("a", True, True)])


def test_more_keys_than_unique_ones_are_unique() -> None:
    """Rows that differ in some keys differ in more, and perhaps not in fewer."""
    traits = Traits("rows").and_unique(["a", "b"])
    assert traits.is_unique(["b", "c", "a"])
    assert not traits.is_unique(["a"])


def test_a_stable_sort_keeps_the_order_of_equal_rows() -> None:
    """After a sort the former order holds among equal rows, without the keys sorted by."""
    traits = Traits("rows", (BY_A_AND_B,)).sorted_by((SortKey("b"),))
    assert traits.orderings == ((SortKey("b"), SortKey("a", True, False)),)
    assert traits.sorted_by((SortKey("b"),)) == traits


def test_keys_that_are_gone_take_facts_along() -> None:
    """An order is left up to the first key that is gone; a unique set needs all of its keys."""
    traits = Traits("rows", (BY_A_AND_B,), (frozenset("a"), frozenset("ab")))
    new: dict[Hashable, Hashable] = {"a": "x"}
    left = traits.carried(new.get)
    assert left == Traits("rows", ((SortKey("x", True, False),),), (frozenset("x"),))


def test_markers_are_no_labels() -> None:
    """A column of any name is another key than a level of the labels or a series's values."""
    assert Level(0) not in {0, (0,), "Level(number=0)", VALUES}
    labels: set[Hashable] = {(), None, "SeriesValues()"}
    assert VALUES not in labels


def test_whole_groups_lie_in_chunks_by_some_of_their_keys() -> None:
    """Rows of equal keys lie in one chunk if chunks go by some of the keys, and only then."""
    by = Partitioning("hash", ("a", "b"))
    assert by.holds_whole(["b", "c", "a"])
    assert not by.holds_whole(["a"])
    new: dict[Hashable, Hashable] = {"a": "x", "b": "y"}
    assert by.carried(new.get) == Partitioning("hash", ("x", "y"))
    assert by.carried({"a": "x"}.get) is None  # type: ignore[arg-type]
