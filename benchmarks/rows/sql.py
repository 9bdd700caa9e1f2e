"""Rows as SQL text, for the systems that take it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).with_name("tpch.sql")


@cache
def texts() -> dict[str, str]:
    """Return the text of each row by its name."""
    parts = re.split(r"^-- ([QD]\d\w*)\n", TEXTS.read_text(), flags=re.MULTILINE)[1:]
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def program(row: str) -> Callable[..., tuple[Any, ...]]:
    """Return what runs the text of a row on a system, over the folders of its tables."""
    text = texts()[row]

    def run(system: Any, *folders: str) -> tuple[Any, ...]:
        return (system.query(text, {Path(one).name: one for one in folders}),)

    return run
