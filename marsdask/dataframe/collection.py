"""What DataFrame, Series and Index share."""

from __future__ import annotations

from typing import Any

import pandas as pd

from marsdask.core.collection import Collection, wrap
from marsdask.core.stored import Stored
from marsdask.core.types import public, total

from .filter import Filter
from .rows import alignment, concat


class Rows(Collection):
    """A lazy pandas object in runs of rows."""

    __slots__ = ()

    @property
    def npartitions(self) -> int:
        """The number of runs of rows."""
        return len(self._node.chunks[0])

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The number of rows in each chunk; nan where only running can tell."""
        return tuple(tuple(map(public, sizes)) for sizes in self._node.chunks)

    def __len__(self) -> int:
        rows = total(self._node.chunks[0])
        if isinstance(rows, int):
            return rows
        self.execute()
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The number of rows; nan where only running can tell."""
        return (public(total(self._node.chunks[0])),)

    def __bool__(self) -> bool:
        raise ValueError(
            f"The truth value of a {type(self).__name__} is ambiguous: use any() or all()"
        )

    @classmethod
    def _assemble(cls, stored: Stored, blocks: dict[Any, Any]) -> Any:
        return concat(list(blocks.values()))

    def to_pandas(self) -> Any:
        """Compute and return the pandas object."""
        return self.compute()

    def _filtered(self, mask: Any) -> Any:
        if isinstance(mask, pd.Series):
            raise NotImplementedError("filter by a marsdask Series: md.Series(mask)")
        if alignment(mask.node) != alignment(self._node):
            raise NotImplementedError(
                "a filter must be computed from the object it filters (or one of equal index)"
            )
        return wrap(Filter(self._node, mask.node))
