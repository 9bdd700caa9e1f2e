"""What contributors rely on: an operation is one line, and decisions are numbered."""

from __future__ import annotations

import re
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


def test_each_decision_stands_below_one_subject() -> None:
    """The index has each record once, with its title."""
    folder = ROOT / "docs/adr"
    index = re.findall(r"^\* \[(.*)\]\((.*)\)$", (folder / "index.md").read_text(), re.MULTILINE)
    titles = {page.name: page.read_text().partition("\n")[0][2:] for page in folder.glob("0*.md")}
    assert sorted((name, title) for title, name in index) == sorted(titles.items())


def test_the_architecture_names_what_exists() -> None:
    """Each module and folder that the page names is there."""
    modules = re.findall(r"`([\w/]+\.py)`", (ROOT / "docs/architecture.md").read_text())
    paths = [
        path.as_posix()
        for part in ("marsdask", "scheduler", "tests")
        for path in (ROOT / part).rglob("*.py")
    ]
    assert [name for name in modules if not any(path.endswith(f"/{name}") for path in paths)] == []
