"""Systems of equations, inverses, determinants and their factors.

LAPACK solves matrices of a few MiB, stacks, and matrices of unknown size, each in one block. Larger
ones are factored in panels (:mod:`.blocked_lu`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import ExecutableTuple
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Axes, Node, Part
from marsdask.core.sizes import Chunks, Unknown, known_chunks, numbers, shape_text
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.creation.from_shape import eye
from marsdask.tensor.elementwise.ufuncs import conj
from marsdask.tensor.manipulation.shape import (
    broadcast_to,
    expand_dims,
    matrix_transpose,
    squeeze,
    whole,
)
from marsdask.tensor.named_results import SlogdetResult
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.conversion import tosparse

from ..chunkwise.rechunk import rechunk
from ..typing import public
from . import stacks
from .blocked_lu import is_large, panel_sizes
from .contraction import conjugated
from .large_systems import LargeDeterminant, LargeFactors, LargeSolution, LargeTriangle
from .stacks import matrices, square


@dataclass(frozen=True, eq=False)
class Solution(Node):
    """The solutions of systems of equations, each matrix in one block."""

    function: Callable[..., Any]
    a: Node
    b: Node
    options: stacks.Options = ()

    @property
    def label(self) -> str:
        return self.function.__name__

    @property
    def meta(self) -> Any:
        a, b = (np.ones((1,) * node.meta.ndim, node.meta.dtype) for node in (self.a, self.b))
        return np.empty((0,) * b.ndim, np.linalg.solve(a, b).dtype)

    @property
    def chunks(self) -> Chunks:
        return self._result(self.a.chunks, self.b.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        ndim = len(self.a.chunks)
        stack = loops_beside((ndim - 2, ndim - 1), ndim)
        if self.a is self.b:
            return stack, stack
        return stack, loops_beside((ndim - 2,), ndim)

    def _result(self, a: Chunks, b: Chunks) -> Chunks:
        unknowns = a[-1] if not known_chunks((a[-1],)) else (sum(numbers(a[-1])),)
        return (*a[:-2], unknowns, b[-1])

    def tile(self, a: Grid, b: Grid | None = None) -> Generator[Look, Any, Grid]:
        # Equal operands are one input.
        a, b = yield from resolved(a, a if b is None else b)
        a = whole(a, (a.ndim - 2, a.ndim - 1))
        b = recut(b, (*a.chunks[:-2], (sum(numbers(b.chunks[-2])),), b.chunks[-1]))
        stack = tuple(range(a.ndim - 2))
        return blockwise(
            call_solver,
            [(a, (*stack, None, None)), (b, (*stack, None, b.ndim - 1))],
            chunks=self._result(a.chunks, b.chunks),
            meta=self.meta,
            kwargs={"function": self.function, "options": dict(self.options)},
        )


@kernel(scratch=3.0)
def call_solver(a: Any, b: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Solve the systems of one block."""
    return function(a, b, **options)


def positive_solve(a: Any, b: Any) -> Any:
    """Solve by Cholesky, for a positive definite matrix."""
    from scipy.linalg import solve as whole

    return whole(a, b, assume_a="pos", lower=True, check_finite=False) if b.size else b


def triangular_solve(a: Any, b: Any, **options: Any) -> Any:
    """Solve with a triangle; elements beyond it are not read."""
    from scipy.linalg import solve_triangular as whole

    return whole(a, b, check_finite=False, **options) if b.size else b


def _system(a: Any, b: Any) -> tuple[Node, Node, bool]:
    """Return a square matrix, the right sides as a matrix, and whether they were a vector."""
    matrix, sides = square(as_node(a)), as_node(b)
    is_vector = sides.meta.ndim == 1
    if sides.meta.ndim == 0:
        raise np.linalg.LinAlgError(
            "0-dimensional array given. Array must be at least one-dimensional"
        )
    if is_vector:
        sides = expand_dims.node(sides, -1)
    rows, length = matrix.shape[-2], sides.shape[-2]
    if rows != length and not isinstance(rows, Unknown) and not isinstance(length, Unknown):
        raise ValueError(
            "solve: Input operand 1 has a mismatch in its core dimension 0 "
            f"(size {length} is different from {rows}): shapes {shape_text(matrix.shape)} "
            f"{shape_text(as_node(b).shape)}"
        )
    return matrix, sides, is_vector


def _stacked(left: Node, right: Node) -> tuple[Node, Node]:
    """Return matrices and right sides in stacks of one shape."""
    if left.meta.ndim == 2 == right.meta.ndim:
        return left, right
    stack = np.broadcast_shapes(numbers(left.shape[:-2]), numbers(right.shape[:-2]))
    left, right = (broadcast_to.node(x, (*stack, *numbers(x.shape[-2:]))) for x in (left, right))
    return left, right


_KINDS = {"gen": "general", "sym": "general", "her": "general", "pos": "positive"}


@public
def solve(
    a: Any, b: Any, sym_pos: bool = False, sparse: Any = None, *, assume_a: str = "gen"
) -> Node:
    """Solve square systems, or stacks of them with broadcasting. See numpy.linalg.solve.

    For SciPy's ``assume_a``, "pos" uses Cholesky's factors and "gen", "sym" and "her" use LU with
    partial pivoting. ``sym_pos`` is the name of "pos" in Mars and Dask; ``sparse`` is Mars's hint.
    """
    if sparse:
        raise NotImplementedError(
            "sparse systems are not supported; use scipy.sparse.linalg.spsolve on compute()"
        )
    if assume_a not in _KINDS:
        raise ValueError(
            f"invalid assume_a: {assume_a!r}; choose from {', '.join(map(repr, _KINDS))}"
        )
    kind = "positive" if sym_pos else _KINDS[assume_a]
    matrix, sides, is_vector = _system(a, b)
    if is_large(matrix) and sides.meta.ndim == 2:
        solution: Node = LargeSolution(matrix, sides, kind)
    else:
        function = np.linalg.solve if kind == "general" else positive_solve
        solution = Solution(function, *_stacked(matrix, sides))
    return squeeze.node(solution, -1) if is_vector else solution


@public
def solve_triangular(
    a: Any,
    b: Any,
    lower: bool = False,
    sparse: Any = None,
    *,
    trans: Any = 0,
    unit_diagonal: bool = False,
) -> Node:
    """Solve with a triangular matrix. See scipy.linalg.solve_triangular.

    A large one is solved by substitution, a panel of columns at a time. Each solution is that of a
    matrix within n eps of the given one (Higham, theorem 8.5).
    """
    if sparse:
        raise NotImplementedError(
            "sparse systems are not supported; use scipy.sparse.linalg.spsolve on compute()"
        )
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"invalid trans: {trans!r}; choose from 0, 1, 2, 'N', 'T', 'C'")
    matrix, sides, is_vector = _system(a, b)
    if trans not in (0, "N"):
        matrix, lower = matrix_transpose.node(matrix), not lower
        matrix = conjugated(matrix) if trans in (2, "C") else matrix
    if is_large(matrix) and sides.meta.ndim == 2:
        kind = "lower" if lower else "upper"
        solution: Node = LargeSolution(matrix, sides, kind, unit_diagonal)
    else:
        options = (("lower", lower), ("unit_diagonal", unit_diagonal))
        solution = Solution(triangular_solve, *_stacked(matrix, sides), options)
    return squeeze.node(solution, -1) if is_vector else solution


@public
def inv(a: Any, sparse: bool | None = None) -> Node:
    """Invert matrices. See numpy.linalg.inv.

    A large one is solved for the columns of the identity, for all panels in parallel. With
    ``sparse`` the blocks of the result are sparse.
    """
    if sparse:
        return tosparse.node(inv.node(a))
    node = square(as_node(a))
    if not is_large(node):
        return stacks.apply(np.linalg.inv, "nn", node)
    (rows, _) = numbers(node.shape)
    identity = eye.node(rows, dtype=node.meta.dtype, chunks=((rows,), panel_sizes(rows)))
    return rechunk.node(LargeSolution(node, identity, "general"), node.chunks)


@public
def det(a: Any) -> Node:
    """Return determinants. See numpy.linalg.det."""
    node = square(as_node(a))
    if is_large(node):
        return Part(LargeDeterminant(node), 0)
    return stacks.apply(np.linalg.det, "", node)


@public
def slogdet(a: Any) -> Any:
    """Return the signs and the logarithms of determinants. See numpy.linalg.slogdet."""
    node = square(as_node(a))
    if is_large(node):
        pair = LargeDeterminant(node)
        return SlogdetResult(Part(pair, 1), Part(pair, 2))
    return SlogdetResult(*stacks.several(np.linalg.slogdet, ",", node))


@public
def cholesky(a: Any, lower: bool = True, *, upper: bool | None = None) -> Node:
    """Return the triangle of positive definite matrices. See numpy.linalg.cholesky.

    With ``lower=False`` (the name in Mars and Dask) or ``upper=True`` it is the upper one. Of the
    matrix only the same triangle is read.
    """
    node = square(as_node(a))
    wants_upper = not lower if upper is None else upper
    node = conj.node(matrix_transpose.node(node)) if wants_upper else node
    large = is_large(node)
    factor = LargeTriangle(node) if large else stacks.apply(np.linalg.cholesky, "nn", node)
    return conj.node(matrix_transpose.node(factor)) if wants_upper else factor


@public
def lu(a: Any) -> Any:
    """Return P, L and U of a matrix, ``a = P @ L @ U``. See scipy.linalg.lu.

    The pivots are the largest of whole columns, as in LAPACK, for every chunking.
    """
    node = matrices(as_node(a))
    if is_large(node):
        return ExecutableTuple(LargeFactors(node).parts())
    return ExecutableTuple(stacks.several(lu_of_matrices, "mm,mk,kn", node))


def lu_of_matrices(block: Any) -> tuple[Any, Any, Any]:
    """Return P, L and U of each matrix."""
    from scipy.linalg import lu as whole

    order, lower, upper = whole(block, check_finite=False)
    return order, lower, upper
