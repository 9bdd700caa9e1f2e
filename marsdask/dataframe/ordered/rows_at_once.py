"""Functions of all rows, which meet in one task."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from marsdask.core.collection import wrap
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.sizes import total

from ..nodes.frame_node import S, SameRows
from ..rows import as_one_chunk, recut_rows


@dataclass(frozen=True, eq=False)
class RowsAtOnce(SameRows):
    """A function of all rows in one chunk; the result is cut as they were."""

    func: Callable[..., Any]
    kwargs: tuple[tuple[str, Any], ...] = field(default=())

    @property
    def meta(self) -> Any:
        return self.func(self.a.meta, **dict(self.kwargs))

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        if len(a) == 1:
            return self.mapped(self.func, a, kwargs=dict(self.kwargs))
        (a,) = yield from resolved(a)
        chunks = ((total(a.chunks[0]),),)
        whole = self.mapped(self.func, as_one_chunk(a), chunks=chunks, kwargs=dict(self.kwargs))
        return recut_rows(whole, a.chunks[0])


def at_once(obj: S, name: str, func: Callable[..., Any], **kwargs: Any) -> S:
    """Return a function of all rows, which has the same rows."""
    values: S = wrap(RowsAtOnce(obj.node, name, func, tuple(sorted(kwargs.items()))))
    return values
