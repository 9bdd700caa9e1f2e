"""Notes and flags of frames."""

from __future__ import annotations

from typing import Any

import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode

_coalesce = one_mode.coalesce


def test_notes():
    """They are on what is computed, and on no other object."""
    lazy: Any = md.DataFrame({"a": [1, 2]})
    assert lazy.attrs == {}
    lazy.attrs["unit"] = "m"
    assert lazy.to_pandas().attrs == {"unit": "m"}
    assert lazy.a.to_pandas().attrs == lazy.copy().attrs == {}
    lazy.attrs = {"unit": "km"}
    assert lazy.to_pandas().attrs == {"unit": "km"}


def test_flags():
    """Labels may be duplicated; who forbids it is told what to use."""
    lazy: Any = md.Series([1, 2])
    assert lazy.flags.allows_duplicate_labels
    assert lazy.set_flags(allows_duplicate_labels=True).flags["allows_duplicate_labels"]
    lazy.flags.allows_duplicate_labels = True

    def set_item() -> None:
        lazy.flags["allows_duplicate_labels"] = False

    def set_attribute() -> None:
        lazy.flags.allows_duplicate_labels = False

    for call in (set_item, set_attribute, lambda: lazy.set_flags(allows_duplicate_labels=False)):
        with pytest.raises(NotImplementedError, match="is_unique"):
            call()
