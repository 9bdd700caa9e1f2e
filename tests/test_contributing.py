"""What CONTRIBUTING.md promises: an operation is one line."""

from __future__ import annotations

from tests.snippets import run_blocks
from tests.source import ROOT


def test_adding_an_op_takes_what_the_page_shows() -> None:
    """The Python blocks of CONTRIBUTING.md run, and their results equal NumPy's."""
    namespace = run_blocks(ROOT / "CONTRIBUTING.md")
    assert {"hypot", "bits", "norm"} <= namespace.keys()
