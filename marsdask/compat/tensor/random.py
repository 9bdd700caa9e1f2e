"""``marsdask.tensor.random``, and a name by which Mars declares its operands."""

from __future__ import annotations

from typing import Any

import marsdask.tensor.random as ours

__all__ = ["RandomStateField"]
__all__ += [name for name in dir(ours) if not name.startswith("_")]


def RandomStateField(name: str, **options: Any) -> None:  # noqa: N802 - a name of Mars's
    """Return nothing: operands are not serialized by fields here, so a declaration says nothing."""
    del name, options


def __getattr__(name: str) -> Any:
    """Return all distributions from ``marsdask.tensor.random``."""
    return getattr(ours, name)
