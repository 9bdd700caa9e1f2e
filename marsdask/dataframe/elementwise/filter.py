"""Select rows by a mask; their number is unknown until it is computed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Condition, Node, Predicate, SameMeta
from marsdask.core.sizes import Chunks, Sizes, unknown_sizes, uppers
from marsdask.core.snapshots.tokens import token
from marsdask.core.traits import Traits

from ..nodes.frame_node import FrameNode
from ..relations.expression import kind_of
from ..relations.relation import Table, together
from ..rows import aligned_rows
from .rowwise import Rowwise, column_of

#: Comparisons that the statistics of a file can decide.
COMPARISONS: dict[Callable[..., Any], str] = {
    operator.eq: "==",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


@dataclass(frozen=True, eq=False)
class Filter(SameMeta, FrameNode):
    """The rows of ``a`` where ``mask`` is true."""

    keeps_types: ClassVar[bool] = True

    mask: Node

    def runs_inline(self) -> bool:
        return True

    @property
    def traits(self) -> Traits:
        """Aligned objects stay aligned if one mask filters them."""
        below = self.a.traits
        return below.of(f"{below.rows}[{self.mask.name}]")

    @property
    def chunks(self) -> Chunks:
        return (self._sizes(self.a.chunks[0]),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return wanted, None

    @property
    def predicate(self) -> Predicate | None:
        conditions = tuple(conditions_in(self.mask, self.a))
        return Predicate(self.a, self.mask, conditions) if conditions else None

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (condition,) = inputs[1].columns
        tables = together(inputs)
        has_condition = condition is not None and kind_of(condition.dtype) == "b"
        return tables[0].filtered(condition) if tables and has_condition else None

    def _sizes(self, sizes: Sizes) -> Sizes:
        # The name includes the input's chunks: over other chunks the same mask leaves other sizes.
        return unknown_sizes(f"{self.mask.name}:{token(sizes)}", uppers(sizes))

    def tile(self, a: Grid, mask: Grid) -> Any:
        (a, mask), sizes = yield from aligned_rows([a, mask])
        chunks = (self._sizes(sizes),)
        return self.mapped(keep_true, a, mask, chunks=chunks, partitioning=a.partitioning)


@kernel(scratch=0.3)
def keep_true(block: Any, mask: Any) -> Any:
    """Keep the rows where the mask is true."""
    return block[mask.to_numpy(dtype=bool, na_value=False)] if mask.dtype != bool else block[mask]


def conditions_in(mask: Node, source: Node) -> Iterator[Condition]:
    """Yield the comparisons of a source's columns with constants that a mask implies."""
    stack = [mask]
    while stack:
        node = stack.pop()
        if not isinstance(node, Rowwise):
            continue
        if node.func is operator.and_:
            stack.extend(reversed(node.inputs))
        elif node.func in COMPARISONS:
            # Python evaluates `3 > column` as `column < 3`.
            left, right = node.args
            label = _column(left, source)
            if label is not None and not isinstance(right, Node):
                yield label, COMPARISONS[node.func], right


def _column(node: Any, source: Node) -> str | None:
    """Return the label of a column of the source, ``None`` for other nodes."""
    if isinstance(node, Rowwise) and node.func is column_of and node.args[0] is source:
        key = dict(node.kwargs)["key"]
        return key if isinstance(key, str) else None
    return None
