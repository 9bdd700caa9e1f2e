"""Arguments of the methods of frames, series and labels."""

from __future__ import annotations

import pytest

from tests.conformance.arguments import walk


@pytest.mark.parametrize("title", ["frames", "series", "labels"])
def test_arguments_are_heeded(title: str) -> None:
    """Each value that changes the reference's result changes ours alike, or raises."""
    assert walk.faults(title) == []
