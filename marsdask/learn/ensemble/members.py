"""The estimators of an ensemble, each fitted by scikit-learn to the samples drawn for it."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from marsdask.core.collection import collect, compute
from marsdask.core.config import options
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, SameMeta
from marsdask.core.sizes import Chunks, Sizes, numbers, shape_of
from marsdask.learn.rows import Value
from marsdask.learn.sparse import narrow
from marsdask.tensor.kernels.assembly import assemble
from marsdask.tensor.sparse.blocks import is_sparse

#: Bytes that a fitted estimator is taken to need.
MEMBER_BYTES = 2**16


@dataclass(frozen=True, eq=False)
class FittedMember(Node):
    """An estimator that one task fits to all rows of its operands."""

    operands: tuple[Node, ...]
    kwargs: Mapping[str, Any] = field(repr=False)

    @property
    def meta(self) -> Any:
        return None

    @property
    def chunks(self) -> Chunks:
        return ((1,),)

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        grids = yield from resolved(*grids)
        whole = [
            recut(grid, tuple((length,) for length in shape_of(grid.chunks)), assemble)
            for grid in grids
        ]
        return blockwise(
            fit_member,
            [(grid, (0, *(None for _ in grid.chunks[1:]))) for grid in whole],
            chunks=self.chunks,
            meta=self.meta,
            kwargs=self.kwargs,
            itemsize=float(MEMBER_BYTES),
        )


@dataclass(frozen=True)
class Drawn:
    """The rows drawn for an estimator: which, how often, and the features."""

    rows: Any
    order: Any
    counts: Any
    features: Any

    @classmethod
    def of(cls, features: Any, indices: Any) -> Drawn:
        """Return the rows without repetition."""
        rows, order, counts = np.unique(indices, return_inverse=True, return_counts=True)
        return cls(rows, order, counts, features)


def fit_members(
    members: Sequence[Any],
    draws: Sequence[Drawn],
    rows: Node,
    target: Node | None,
    **how: Any,
) -> list[Any]:
    """Fit estimators to the rows drawn for each, at the same time; return them.

    Few rows are read once for all. ``how`` are options of :func:`fit_member`.
    """
    operands = (rows,) if target is None else (rows, target)
    count = sum(len(draw.rows) for draw in draws)
    nodes: list[Node]
    if count * _row_bytes(rows) <= int(options.chunk_store_limit):
        every = np.unique(np.concatenate([draw.rows for draw in draws]))
        inputs = tuple(taken(node, every) for node in operands)
        places = [np.searchsorted(every, draw.rows) for draw in draws]
        nodes = [
            FittedMember(inputs, {"model": model, "drawn": draw, "places": place, **how})
            for model, draw, place in zip(members, draws, places, strict=True)
        ]
    else:
        nodes = [
            FittedMember(
                tuple(taken(node, draw.rows) for node in operands),
                {"model": model, "drawn": draw, "places": None, **how},
            )
            for model, draw in zip(members, draws, strict=True)
        ]
    return list(compute(*map(Value, nodes)))


def _row_bytes(rows: Node) -> int:
    return math.prod(numbers(rows.shape[1:])) * int(rows.meta.dtype.itemsize)


def taken(node: Node, rows: Any) -> Node:
    """Return some rows, in order; sparse ones stay sparse."""
    if is_sparse(node.meta):
        return SparseRows(node, rows)
    result: Node = collect(node)[rows].node
    return result


@dataclass(frozen=True, eq=False)
class SparseRows(SameMeta):
    """Some rows of a sparse matrix, whose numbers are in order."""

    rows: Any = field(repr=False)

    @property
    def chunks(self) -> Chunks:
        return (_counts(self.rows, self.a.chunks[0]), (sum(numbers(self.a.chunks[1])),))

    def tile(self, a: Grid) -> Grid:
        whole = recut(a, (a.chunks[0], (sum(numbers(a.chunks[1])),)), assemble)
        return blockwise(
            picked_rows,
            [(whole, (0, None))],
            chunks=(_counts(self.rows, a.chunks[0]), whole.chunks[1]),
            meta=self.meta,
            varying=StartAt(a.chunks[0], 0),
            kwargs={"rows": self.rows},
        )


def _counts(rows: Any, sizes: Sizes) -> tuple[int, ...]:
    """Return how many of some rows are in each chunk."""
    stops = np.searchsorted(rows, np.cumsum([0, *numbers(sizes)]))
    return tuple(map(int, np.diff(stops)))


@kernel(scratch=1.0)
def picked_rows(block: Any, start: int, *, rows: Any) -> Any:
    """Return those of some rows that are in a block, which begins at a row."""
    first, stop = np.searchsorted(rows, [start, start + block.shape[0]])
    return block[rows[first:stop] - start]


def fit_member(
    rows: Any,
    target: Any = None,
    *,
    model: Any,
    drawn: Drawn,
    places: Any,
    counted: bool,
    dtype: Any = None,
    fit_options: Mapping[str, Any] | None = None,
) -> Any:
    """Return an estimator fitted to the rows drawn for it.

    Rows that are drawn several times weigh as often if it is ``counted``, else they are repeated.
    Without a target the rows are told apart by their number.
    """
    target = np.linspace(0.0, 1.0, rows.shape[0]) if target is None else target
    rows = narrow(rows) if is_sparse(rows) else rows
    key = slice(None) if places is None else places
    rows, target = rows[key], target[key]
    rows = rows if dtype is None else rows.astype(dtype)
    how = dict(fit_options or {})
    model = clone(model)  # other members may have an equal one, and a task may run again
    if counted:
        return model.fit(rows[:, drawn.features], target, sample_weight=drawn.counts, **how)
    return model.fit(rows[drawn.order][:, drawn.features], target[drawn.order], **how)
