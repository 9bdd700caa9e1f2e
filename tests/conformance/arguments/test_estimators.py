"""Arguments of estimators, of their methods, and of functions of learners."""

from __future__ import annotations

from tests.conformance.arguments import walk


def test_arguments_are_heeded() -> None:
    """Each value that changes the reference's result changes ours alike, or raises."""
    assert walk.faults("estimators") == []
