"""Arguments of functions of frames, of readers, and of what frames give."""

from __future__ import annotations

import pytest

from tests.conformance.arguments import walk


@pytest.mark.parametrize("title", ["accessors", "groups", "windows", "tables", "readers"])
def test_arguments_are_heeded(title: str) -> None:
    """Each value that changes the reference's result changes ours alike, or raises."""
    assert walk.faults(title) == []
