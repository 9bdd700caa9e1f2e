"""The keys and sizes of a computed node's chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..sizes import Chunks, Index
from ..traits import Partitioning


@dataclass(frozen=True)
class Layout:
    """The position of the chunks of a computed root."""

    chunks: Chunks
    keys: Mapping[Index, Any]
    nbytes: Mapping[Index, int]
    meta: Any
    """The meta with the types that the chunks were found to have."""
    partitioning: Partitioning | None = None
