"""Arguments of functions of tensors, and of their methods."""

from __future__ import annotations

import pytest

from tests.conformance.arguments import walk


@pytest.mark.parametrize("title", ["tensors", "arrays", "random", "algebra", "strings"])
def test_arguments_are_heeded(title: str) -> None:
    """Each value that changes the reference's result changes ours alike, or raises."""
    assert walk.faults(title) == []
