"""What README.md shows works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import marsdask
from tests.snippets import run_blocks
from tests.source import ROOT

LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_every_snippet_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python blocks of README.md run one after another, their assertions included."""
    monkeypatch.chdir(tmp_path)
    try:
        namespace = run_blocks(ROOT / "README.md")
    finally:
        marsdask.stop_server()
    (printed,) = re.findall(
        r"```text\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert printed in capsys.readouterr().out
    assert namespace["corner"].shape == (2, 2)
    assert namespace["reduced"].shape == (2000, 2)


@pytest.mark.parametrize("name", [path.relative_to(ROOT).as_posix() for path in DOCUMENTS])
def test_links_lead_somewhere(name: str) -> None:
    """Relative links of the documents name files that exist."""
    path = ROOT / name
    links = LINK.findall(path.read_text("utf-8"))
    assert not [link for link in links if not (path.parent / link).exists()]
