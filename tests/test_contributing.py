"""What contributors rely on: an operation is one line, and decisions are numbered."""

from __future__ import annotations

from itertools import count

from tests.snippets import run_blocks
from tests.source import ROOT


def test_adding_an_op_takes_what_the_page_shows() -> None:
    """The Python blocks of CONTRIBUTING.md run, and their results equal NumPy's."""
    namespace = run_blocks(ROOT / "CONTRIBUTING.md")
    assert {"hypot", "bits", "norm"} <= namespace.keys()


def test_each_decision_has_a_number_of_its_own() -> None:
    """The records of decisions are numbered without gaps, and their titles carry the numbers."""
    pages = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
    for number, page in zip(count(1), pages, strict=False):
        assert page.name.startswith(f"{number:04}-")
        assert page.read_text().startswith(f"# {number:04}: ")
