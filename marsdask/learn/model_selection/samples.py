"""Samples that are divided: of known length, and held, since each part reads them."""

from __future__ import annotations

from typing import Any

from marsdask.core.collection import execute
from marsdask.learn.fitted_values import plain
from marsdask.learn.lazy import adopted, is_lazy


def of_known_length(*items: Any) -> list[Any]:
    """Return samples whose length is known: lazy ones are executed where only that tells it."""
    samples = [adopted(item) for item in items]
    tensors = [item for item in samples if is_lazy(item) and not _has_length(item)]
    if tensors:
        execute(*tensors)
    return samples


def held(*items: Any) -> list[Any]:
    """Return samples of which lazy ones are executed, so that each part only reads them."""
    samples = [adopted(item) for item in items]
    lazy = [item for item in samples if is_lazy(item)]
    if lazy:
        execute(*lazy)
    return samples


def _has_length(item: Any) -> bool:
    return isinstance(item.node.shape[0], int)


def in_memory(item: Any) -> Any:
    """Return labels or groups as values in memory."""
    return plain(adopted(item))
