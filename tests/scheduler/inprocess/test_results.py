"""Results with counted references."""

from contextlib import suppress

import pytest

from marsdask.scheduler.inprocess.results import ReferenceTable


def fill(held, *keys):
    with held.exclusive():
        for key in keys:
            held.add(key, key.upper())


def test_counts():
    """A key is there until it was released as often as added."""
    held: ReferenceTable[str] = ReferenceTable()
    fill(held, "a", "a", "b")
    held.release(["a", "unknown"])
    assert held.get(["b", "a"]) == ["B", "A"]
    held.release(["a"])
    with pytest.raises(KeyError, match="a"):
        held.get(["b", "a"])


def test_held_keys_are_found_inside():
    """A holder finds its entries also while the table is taken."""
    held: ReferenceTable[str] = ReferenceTable()
    fill(held, "a")
    with held.exclusive():
        assert held.held(["a"]) == ["A"]


def test_release_inside_waits_for_the_end():
    """A release while the table is taken, as by a finalizer, is done when it is given back."""
    dropped: list[str] = []
    held = ReferenceTable(dropped.append)
    fill(held, "a", "b")
    with held.exclusive() as entries:
        held.release(["a"])
        assert "a" in entries
        assert not dropped
    assert dropped == ["A"]
    with pytest.raises(KeyError):
        held.get(["a"])


def test_release_inside_what_fails():
    """It is done then as well, even if the table is not used again."""
    dropped: list[str] = []
    held = ReferenceTable(dropped.append)
    fill(held, "a")
    with suppress(KeyError), held.exclusive() as entries:
        held.release(["a"])
        entries["b"]
    assert dropped == ["A"]


def test_drop_may_release():
    """Dropping an entry may release another."""
    held: ReferenceTable[str] = ReferenceTable(
        lambda entry: held.release(["b"]) if entry == "A" else None
    )
    fill(held, "a", "b")
    held.release(["a"])
    with pytest.raises(KeyError):
        held.get(["b"])


def test_clear():
    """Clearing drops each reference once."""
    dropped: list[str] = []
    held = ReferenceTable(dropped.append)
    fill(held, "a", "a", "b")
    held.clear()
    assert sorted(dropped) == ["A", "A", "B"]
