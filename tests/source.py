"""The project's own source as syntax trees, for the tests that judge it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("marsdask", "scheduler", "tests", "benchmarks", "examples")


def files(*folders: str) -> list[Path]:
    """Return the Python files of some folders; marsdask/scheduler, a link, is not followed."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if ROOT / "marsdask/scheduler" not in path.parents]


def title(path: Path) -> str:
    """Return a file's path as people write it."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree(path: Path) -> ast.Module:
    """Parse a file, once."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def module_name(path: Path) -> str:
    """Return the name that a file is imported by."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(("marsdask", *parts) if parts[0] == "scheduler" else parts)
