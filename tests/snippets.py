"""Run the Python blocks of a document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_blocks(path: Path) -> dict[str, Any]:
    """Run every block in one namespace and return it; errors show the document's own line."""
    text = path.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": path.stem}
    for block in BLOCK.finditer(text):
        above = "\n" * text.count("\n", 0, block.start(1))
        exec(compile(above + block[1], str(path), "exec"), namespace)  # noqa: S102 - our own text
    return namespace
