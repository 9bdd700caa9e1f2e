"""Factors of large matrices, a panel of columns at a time.

The matrix is split into panels of whole columns. Once a panel is factored, all panels to its right
are updated in parallel, while the next one is factored. This is the right-looking variant of Golub
and Van Loan, Matrix Computations, 3.2.11 (LU) and 4.2.9 (Cholesky). A task holds two panels, never
the matrix. Partial pivoting uses the whole column, as LAPACK's getrf. The error bound is that of
Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.3: the factors are those of a
matrix that differs from the given one by n eps times the growth factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from marsdask.core.grids.blockwise import Axes, Via, blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import SMALL_MATRIX
from marsdask.core.node import Node
from marsdask.core.sizes import Index, Sizes, borders, known_chunks, numbers, shape_of
from marsdask.tensor.chunks import regular
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.elementwise.nodes import cast

#: Minimum columns of a panel: products with fewer columns are limited by memory bandwidth.
WIDTH = 256

#: Maximum number of panels: the tasks are half its square.
MOST = 48

WHOLE: Axes = (None, None)


def is_large(node: Node) -> bool:
    """Tell whether a matrix is factored in panels."""
    if node.meta.ndim != 2 or not known_chunks(node.chunks):
        return False
    return math.prod(numbers(node.shape)) * int(node.meta.dtype.itemsize) > SMALL_MATRIX


class Panel(NamedTuple):
    """A factored panel: all its rows, and the order of the rows by its pivots."""

    packed: Any
    order: Any


class Panels(NamedTuple):
    """The factored panels of a matrix, and the first one's update of the columns beyond."""

    factored: tuple[Grid, ...]
    beyond: Grid | None
    rows: int

    @property
    def starts(self) -> list[int]:
        """The first column of each panel, and finally the end of the last one."""
        return borders(sum(numbers(grid.chunks[1])) for grid in self.factored)[:-1]


def panel_sizes(length: int) -> Sizes:
    """Cut an axis into panels."""
    return regular(length, max(WIDTH, -(-length // MOST)))


def in_panels(a: Grid, dtype: np.dtype[Any]) -> Grid:
    """Return the matrix in panels of columns; those that can be factored end at a border."""
    rows, columns = shape_of(a.chunks)
    sizes = panel_sizes(min(rows, columns))
    if columns > rows:
        sizes += panel_sizes(columns - rows)
    a = recut(a, ((rows,), sizes))
    if a.meta.dtype == dtype:
        return a
    meta = np.empty((0, 0), dtype)
    return map_blocks(cast, a, chunks=a.chunks, meta=meta, kwargs={"dtype": dtype})


@dataclass(frozen=True)
class DiagonalAt:
    """Gives each panel the begin of its diagonal."""

    starts: tuple[int, ...]

    def __call__(self, index: Index) -> tuple[int]:
        return (self.starts[index[1]],)


def eliminate(
    a: Grid, factor: Callable[..., Any], update: Callable[..., Any], *, placed: bool = False
) -> Panels:
    """Factor panel after panel, and update the panels to its right by each.

    With ``placed`` an update receives the begin of its panel's diagonal.
    """
    (rows,) = numbers(a.chunks[0])
    factored: list[Grid] = []
    start = 0
    while start < rows and a.numblocks[1] and a.chunks[1] != (0,):
        first, *tail = a.chunks[1]
        head: Axes = (None, Via(None, (0,)))
        panel = blockwise(
            factor,
            [(a, head)],
            chunks=(a.chunks[0], (first,)),
            itemsize=a.width,
            kwargs={"start": start},
        )
        factored.append(panel)
        if not tail:
            return Panels(tuple(factored), None, rows)
        stop = start + sum(numbers((first,)))
        places = tuple(stop + begin for begin in borders(tail))
        a = blockwise(
            update,
            [(a, (None, Via(1, range(1, len(tail) + 1)))), (panel, WHOLE)],
            chunks=(a.chunks[0], tuple(tail)),
            meta=a.meta,
            varying=DiagonalAt(places) if placed else None,
            kwargs={"start": start},
        )
        start = stop
    return Panels(tuple(factored), a, rows)


def lu(a: Grid) -> Panels:
    """Factor a matrix: LU with partial pivoting."""
    return eliminate(a, lu_factor, lu_update)


def cholesky(a: Grid) -> Panels:
    """Factor a positive definite matrix, whose upper triangle is not read."""
    return eliminate(a, cholesky_factor, cholesky_update, placed=True)


@kernel(scratch=2.0)
def lu_factor(block: Any, start: int) -> Panel:
    """Factor a panel from row ``start``; the pivots are the largest of all its rows."""
    from scipy.linalg import get_lapack_funcs

    (getrf,) = get_lapack_funcs(("getrf",), (block,))
    factors, pivots, _ = getrf(block[start:])
    order = np.arange(len(block) - start)
    for row, pivot in enumerate(pivots.tolist()):
        order[[row, pivot]] = order[[pivot, row]]
    return Panel(np.concatenate([block[:start], factors]), order)


@kernel(scratch=1.0)
def lu_update(block: Any, panel: Panel, start: int) -> Any:
    """Subtract a factored panel's part from a panel to its right, or from right sides."""
    out = np.concatenate([block[:start], block[start:][panel.order]])
    stop = start + panel.packed.shape[1]
    out[start:stop] = solve_triangle(
        panel.packed[start:stop], out[start:stop], lower=True, unit=True
    )
    out[stop:] -= panel.packed[stop:] @ out[start:stop]
    return out


@kernel(scratch=2.0)
def cholesky_factor(block: Any, start: int) -> Panel:
    """Factor a panel of a positive definite matrix; elements above its diagonal become zero."""
    stop = start + block.shape[1]
    out = np.zeros_like(block)
    out[start:stop] = np.linalg.cholesky(block[start:stop])
    below = solve_triangle(out[start:stop], block[stop:].conj().T, lower=True)
    out[stop:] = below.conj().T
    return Panel(out, None)


@kernel(scratch=1.0)
def cholesky_update(block: Any, panel: Panel, at: int, start: int) -> Any:
    """Subtract a factored panel's part from the panel whose diagonal begins at row ``at``."""
    del start
    out = block.copy()
    mirrored = panel.packed[at : at + block.shape[1]]
    out[at:] -= panel.packed[at:] @ mirrored.conj().T
    return out


def solve_triangle(
    triangle: Any, right: Any, *, lower: bool, unit: bool = False, trans: str = "N"
) -> Any:
    """Solve a triangular system in one block."""
    from scipy.linalg import solve_triangular

    if not right.size:
        return right
    return solve_triangular(
        triangle, right, lower=lower, unit_diagonal=unit, trans=trans, check_finite=False
    )


def sweep(
    panels: Sequence[tuple[Grid, Axes]],
    starts: Sequence[int],
    right: Grid,
    step: Callable[..., Any],
    **options: Any,
) -> Grid:
    """Subtract one panel after the other from the right sides, whose columns are independent."""
    for (panel, axes), start in zip(panels, starts, strict=True):
        right = blockwise(
            step,
            [(right, (None, 1)), (panel, axes)],
            chunks=right.chunks,
            meta=right.meta,
            kwargs={"start": start, **options},
        )
    return right


def solve_factored(
    factors: Panels, right: Grid, forward: Callable[..., Any], back: Callable[..., Any]
) -> Grid:
    """Solve a system whose matrix is factored: down the panels, and up again."""
    panels, starts = [(panel, WHOLE) for panel in factors.factored], factors.starts
    return sweep(panels[::-1], starts[::-1], sweep(panels, starts, right, forward), back)


@kernel(scratch=1.0)
def upper_step(right: Any, panel: Any, start: int, *, unit: bool = False) -> Any:
    """Solve for the unknowns of one panel of an upper triangle, and subtract them above."""
    factors = panel.packed if isinstance(panel, Panel) else panel
    stop = start + factors.shape[1]
    out = right.copy()
    out[start:stop] = solve_triangle(factors[start:stop], out[start:stop], lower=False, unit=unit)
    out[:start] -= factors[:start] @ out[start:stop]
    return out


@kernel(scratch=1.0)
def lower_step(right: Any, panel: Any, start: int, *, unit: bool = False) -> Any:
    """Solve for the unknowns of one panel of a lower triangle, and subtract them below."""
    factors = panel.packed if isinstance(panel, Panel) else panel
    stop = start + factors.shape[1]
    out = right.copy()
    out[start:stop] = solve_triangle(factors[start:stop], out[start:stop], lower=True, unit=unit)
    out[stop:] -= factors[stop:] @ out[start:stop]
    return out


@kernel(scratch=1.0)
def adjoint_step(right: Any, panel: Panel, start: int) -> Any:
    """Solve for the unknowns of one panel of a lower triangle's adjoint."""
    stop = start + panel.packed.shape[1]
    out = right.copy()
    product = panel.packed[stop:].conj().T @ out[stop:]
    triangle = panel.packed[start:stop]
    out[start:stop] = solve_triangle(triangle, out[start:stop] - product, lower=True, trans="C")
    return out
