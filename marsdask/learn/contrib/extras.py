"""Placeholders for names of libraries that are not installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refusal(name: str, library: str, extra: str) -> Callable[..., Any]:
    """Return a function that says which extra has the library."""

    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise ImportError(
            f"{name} needs {library}, which is not installed: pip install 'marsdask[{extra}]'"
        )

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def refused_class(name: str, library: str, extra: str, *methods: str) -> Any:
    """Return a class of which no object can be made, with the methods of the real one."""
    refuse = refusal(name, library, extra)
    return type(name, (), {"__init__": refuse, **dict.fromkeys(methods, refuse)})
