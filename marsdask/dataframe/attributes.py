"""Flags of frames and series."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .nodes.frame_node import S


class LazyFlags(pd.Flags):  # type: ignore[name-defined]  # its stubs lack it
    """The flags of a lazy object, whose labels may always be duplicated."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "allows_duplicate_labels":
            _check(value)
        super().__setattr__(name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "allows_duplicate_labels":
            _check(value)
        super().__setitem__(name, value)


def _check(allowed: Any) -> None:
    if not allowed:
        raise NotImplementedError(
            "allows_duplicate_labels=False is not supported; use index.is_unique, and "
            "set_flags() of the result of to_pandas()"
        )


def flags(obj: Any) -> LazyFlags:
    """Return the flags of an object."""
    return LazyFlags(obj.node.meta, allows_duplicate_labels=True)


def set_flags(obj: S, *, copy: Any = None, allows_duplicate_labels: bool | None = None) -> S:
    """Return another object of the same rows and flags. See pandas.DataFrame.set_flags.

    Labels may always be duplicated: ``allows_duplicate_labels=False`` is not supported.
    """
    del copy
    if allows_duplicate_labels is not None:
        _check(allowed=allows_duplicate_labels)
    result: S = type(obj)(obj.node)
    return result
