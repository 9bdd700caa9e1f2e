"""Masks of rows by their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.traits import Level, SortKey

from .index_methods import is_sorted


def has_label(block: Any, labels: Any) -> Any:
    """Tell of each row whether its label is among some."""
    return pd.Series(block.index.isin(labels), index=block.index)


def is_between(block: Any, start: Any, stop: Any) -> Any:
    """Tell of each row whether its label is between two, both included."""
    labels = block.index
    found = np.ones(len(labels), dtype=bool)
    if start is not None:
        found &= labels >= start
    if stop is not None:
        found &= labels <= stop
    return pd.Series(found, index=labels)


def slice_bounds(obj: Any, key: slice) -> tuple[Any, Any]:
    """Return the bounds of a slice of labels that rise, which is computed where it is not known."""
    if key.step not in {None, 1}:
        raise NotImplementedError("loc[::step] is not supported; use iloc[::step]")
    labels = obj.node.meta.index
    traits = obj.node.traits
    rising = any(traits.is_sorted([SortKey(Level(), na_first=first)]) for first in (None, False))
    if labels.nlevels > 1 or not (rising or is_sorted(obj)):
        raise NotImplementedError(
            f"loc[{key.start!r}:{key.stop!r}] of labels that do not rise is not supported; use "
            "sort_index() first"
        )
    return label_bounds(labels, key)


def label_bounds(labels: Any, key: slice) -> tuple[Any, Any]:
    """Return the first and the last label of a slice, of the labels' type."""
    cast = labels._maybe_cast_slice_bound
    start = None if key.start is None else cast(key.start, "left")
    return start, None if key.stop is None else cast(key.stop, "right")


def check_labels(obj: Any, labels: Any) -> None:
    """Raise for labels that rows cannot be chosen by."""
    own = obj.node.meta.index
    if own.nlevels > 1:
        raise NotImplementedError(
            "loc by labels of several levels is not supported; use reset_index() and a mask"
        )
    if own.dtype.kind in "mM" and any(isinstance(label, str) for label in labels):
        raise NotImplementedError(
            "loc by the text of a time is not supported; use pd.Timestamp, or a slice"
        )
