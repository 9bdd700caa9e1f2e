"""Linear systems and factors of matrices too large for one task; see :mod:`.blocked_lu`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.blockwise import Axes, Via, blockwise, map_blocks
from marsdask.core.grids.chunk_positions import SpanAt
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import concatenate_grids
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import MultiOutput, Node
from marsdask.core.sizes import Chunks, borders, numbers
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.elementwise.nodes import cast

from . import blocked_lu
from .blocked_lu import Panel, Panels, in_panels

Tiling = Generator[Look, Any, Any]


def linalg_dtype(*nodes: Node) -> np.dtype[Any]:
    """Return the type that LAPACK computes in."""
    samples = [np.ones((1, 1), node.meta.dtype) for node in nodes]
    return np.linalg.solve(samples[0], samples[-1]).dtype


@dataclass(frozen=True, eq=False)
class LargeSolution(Node):
    """The solution of a square system with any number of right sides."""

    label: ClassVar[str] = "solve"

    a: Node
    b: Node
    kind: str
    """The structure of the matrix: "general", "positive", "lower" or "upper"."""
    unit: bool = False

    @property
    def meta(self) -> Any:
        return np.empty((0, 0), linalg_dtype(self.a, self.b))

    @property
    def chunks(self) -> Chunks:
        return (self.a.chunks[1], self.b.chunks[1])

    def tile(self, a: Grid, b: Grid | None = None) -> Tiling:
        a, b = yield from resolved(a, a if b is None else b)
        target = (a.chunks[1], b.chunks[1])
        dtype = self.meta.dtype
        a = in_panels(a, dtype)
        b = _typed(recut(b, (a.chunks[0], b.chunks[1])), dtype)
        if self.kind == "general":
            solution = blocked_lu.solve_factored(
                blocked_lu.lu(a), b, checked_update, blocked_lu.upper_step
            )
        elif self.kind == "positive":
            factors = blocked_lu.cholesky(a)
            solution = blocked_lu.solve_factored(
                factors, b, blocked_lu.lower_step, blocked_lu.adjoint_step
            )
        else:
            solution = self._triangular(a, b)
        return recut(solution, target)

    def _triangular(self, a: Grid, b: Grid) -> Grid:
        panels: list[tuple[Grid, Axes]] = [
            (a, (None, Via(None, (i,)))) for i in range(a.numblocks[1])
        ]
        starts = borders(a.chunks[1])[:-1]
        if self.kind == "lower":
            return blocked_lu.sweep(panels, starts, b, blocked_lu.lower_step, unit=self.unit)
        return blocked_lu.sweep(
            panels[::-1], starts[::-1], b, blocked_lu.upper_step, unit=self.unit
        )


@dataclass(frozen=True, eq=False)
class LargeTriangle(Node):
    """The lower triangle of a positive definite matrix."""

    label: ClassVar[str] = "cholesky"

    a: Node

    @property
    def meta(self) -> Any:
        return np.empty((0, 0), linalg_dtype(self.a))

    @property
    def chunks(self) -> Chunks:
        return (self.a.chunks[0], self.a.chunks[1])

    def tile(self, a: Grid) -> Tiling:
        (a,) = yield from resolved(a)
        factors = blocked_lu.cholesky(in_panels(a, self.meta.dtype))
        panels = [
            map_blocks(packed_factors, panel, chunks=panel.chunks, meta=self.meta, cheap=True)
            for panel in factors.factored
        ]
        return recut(concatenate_grids(panels, 1), a.chunks)


@dataclass(frozen=True, eq=False)
class LargeFactors(MultiOutput):
    """P, L and U of a matrix."""

    label: ClassVar[str] = "lu"

    a: Node

    @property
    def meta(self) -> Any:
        dtype = linalg_dtype(self.a)
        square = np.empty((0, 0), dtype)
        return (np.empty((0, 0), square.real.dtype), square, square)

    @property
    def chunks(self) -> Any:
        return _factor_chunks(self.a.chunks)

    def tile(self, a: Grid) -> Tiling:
        (a,) = yield from resolved(a)
        target = _factor_chunks(a.chunks)
        factors = blocked_lu.lu(in_panels(a, self.meta[1].dtype))
        orders = _orders(factors)
        grids = (
            _permutation(orders, factors, self.meta[0]),
            _lower(orders, factors, self.meta[1]),
            _upper(factors, self.meta[2]),
        )
        return tuple(map(recut, grids, target))


@dataclass(frozen=True, eq=False)
class LargeDeterminant(MultiOutput):
    """The determinant, and its sign and the logarithm of its absolute value."""

    label: ClassVar[str] = "det"

    a: Node

    @property
    def meta(self) -> Any:
        sample = np.ones((1, 1), linalg_dtype(self.a))
        return tuple(np.asarray(item) for item in (sample[0, 0], sample[0, 0], sample.real[0, 0]))

    @property
    def chunks(self) -> Any:
        return ((), (), ())

    def tile(self, a: Grid) -> Tiling:
        (a,) = yield from resolved(a)
        factors = blocked_lu.lu(in_panels(a, self.meta[0].dtype))
        diagonals = [
            blockwise(
                pivots,
                [(panel, blocked_lu.WHOLE)],
                chunks=((1,),),
                itemsize=8.0 * blocked_lu.WIDTH,
                kwargs={"start": start},
            )
            for panel, start in zip(factors.factored, factors.starts, strict=True)
        ]
        return tuple(
            gather(finish, concatenate_grids(diagonals, 0), chunks=(), meta=meta)
            for finish, meta in zip(
                (product, sign_of_product, log_of_product), self.meta, strict=True
            )
        )


def _typed(grid: Grid, dtype: np.dtype[Any]) -> Grid:
    if grid.meta.dtype == dtype:
        return grid
    meta = np.empty((0,) * grid.ndim, dtype)
    return map_blocks(cast, grid, chunks=grid.chunks, meta=meta, kwargs={"dtype": dtype})


def _factor_chunks(chunks: Chunks) -> tuple[Chunks, Chunks, Chunks]:
    rows, columns = chunks
    wide = sum(numbers(columns)) > sum(numbers(rows))
    between = rows if wide else columns
    return (rows, rows), (rows, between), (between, columns)


def _orders(factors: Panels) -> Grid:
    """Return the order of the rows after each panel, as chunks of a line."""
    orders = [
        blockwise(order_of, [(panel, blocked_lu.WHOLE)], chunks=((factors.rows,),), itemsize=8.0)
        for panel in factors.factored
    ]
    return concatenate_grids(orders, 0)


def _permutation(orders: Grid, factors: Panels, meta: Any) -> Grid:
    sizes = blocked_lu.panel_sizes(factors.rows)
    line = gather(compose_orders, orders, chunks=((factors.rows,),), meta=np.empty(0, np.intp))
    return blockwise(
        permutation_block,
        [(line, (None,))],
        chunks=((factors.rows,), sizes),
        meta=meta,
        varying=SpanAt(sizes, axis=1),
        kwargs={"dtype": meta.dtype},
    )


def _lower(orders: Grid, factors: Panels, meta: Any) -> Grid:
    panels = []
    for number, (panel, start) in enumerate(zip(factors.factored, factors.starts, strict=True)):
        panels.append(
            gather(
                lower_part,
                panel,
                orders,
                chunks=panel.chunks,
                meta=meta,
                kwargs={"start": start, "number": number},
            )
        )
    return concatenate_grids(panels, 1)


def _upper(factors: Panels, meta: Any) -> Grid:
    count = sum(sum(numbers(panel.chunks[1])) for panel in factors.factored)
    panels = [
        blockwise(
            upper_part,
            [(panel, blocked_lu.WHOLE)],
            chunks=((count,), panel.chunks[1]),
            meta=meta,
            kwargs={"start": start, "count": count},
        )
        for panel, start in zip(factors.factored, factors.starts, strict=True)
    ]
    if factors.beyond is not None:
        beyond = factors.beyond
        panels.append(
            map_blocks(
                top_rows,
                beyond,
                chunks=((count,), beyond.chunks[1]),
                meta=meta,
                kwargs={"count": count},
                cheap=True,
            )
        )
    return concatenate_grids(panels, 1)


@kernel(scratch=1.0)
def checked_update(right: Any, panel: Panel, start: int) -> Any:
    """Subtract a factored panel from right sides; raise for a pivot of zero."""
    stop = start + panel.packed.shape[1]
    if not np.all(np.diagonal(panel.packed[start:stop])):
        raise np.linalg.LinAlgError("Singular matrix")
    return blocked_lu.lu_update(right, panel, start)


@kernel(view=True)
def packed_factors(panel: Panel) -> Any:
    """Return the factored panel."""
    return panel.packed


@kernel(view=True)
def order_of(panel: Panel) -> Any:
    """Return the order of a panel's rows."""
    return panel.order


def compose_orders(orders: list[Any]) -> Any:
    """Return the original row of each row of the factors."""
    rows = np.arange(len(orders[0]))
    for order in orders:
        start = len(rows) - len(order)
        rows[start:] = rows[start:][order]
    return rows


def permutation_block(rows: Any, start: int, stop: int, dtype: np.dtype[Any]) -> Any:
    """Return some columns of the matrix that restores the order of rows."""
    out = np.zeros((len(rows), stop - start), dtype)
    out[rows[start:stop], np.arange(stop - start)] = 1
    return out


@kernel(scratch=2.0)
def lower_part(panel: list[Panel], orders: list[Any], start: int, number: int) -> Any:
    """Return a panel of L, its rows in the order of later panels."""
    block = panel[0].packed
    out = np.zeros_like(block)
    out[start:] = np.tril(block[start:], -1)
    for order in orders[number + 1 :]:
        first = len(block) - len(order)
        out[first:] = out[first:][order]
    place = np.arange(block.shape[1])
    out[start + place, place] = 1
    return out


def upper_part(panel: Panel, start: int, count: int) -> Any:
    """Return a panel of U."""
    return np.triu(panel.packed[:count], -start)


@kernel(view=True)
def top_rows(block: Any, count: int) -> Any:
    """Return the first rows."""
    return block[:count]


def pivots(panel: Panel, start: int) -> Any:
    """Return the pivots of a panel; the first one's sign is inverted for odd permutations."""
    stop = start + panel.packed.shape[1]
    diagonal = np.diagonal(panel.packed[start:stop]).copy()
    if diagonal.size and _is_odd(panel.order):
        diagonal[0] = -diagonal[0]
    return diagonal


def _is_odd(order: Any) -> bool:
    """Tell whether a permutation is an odd number of exchanges."""
    marks = np.zeros(len(order), bool)
    cycles = 0
    places = order.tolist()
    for start in range(len(places)):
        if not marks[start]:
            cycles += 1
            place = start
            while not marks[place]:
                marks[place] = True
                place = places[place]
    return bool((len(places) - cycles) % 2)


def product(pivots: list[Any]) -> Any:
    """Return the product of all pivots."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.prod(np.concatenate(pivots)))


def sign_of_product(pivots: list[Any]) -> Any:
    """Return the sign of the product, or its direction for complex numbers."""
    return np.asarray(np.prod(np.sign(np.concatenate(pivots))))


def log_of_product(pivots: list[Any]) -> Any:
    """Return the logarithm of the absolute value of the product."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.abs(np.concatenate(pivots))).sum())
