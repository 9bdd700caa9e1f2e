"""What LAPACK does with matrices that fit in one block; stacks of them run in parallel."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid, Look
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import Axes, blockwise, kernel
from marsdask.core.types import Chunks, Unknown, numbers
from marsdask.tensor.base import as_node
from marsdask.tensor.elementwise import conj
from marsdask.tensor.rechunk import recut, resolved
from marsdask.tensor.shape import matrix_transpose

from .contract import conjugated
from .decompose import qr, transposed
from .products import matmul


@dataclass(frozen=True, eq=False)
class OfMatrices(Node):
    """A function of each matrix of a stack: a matrix again, or a number."""

    function: str
    a: Node

    @property
    def label(self) -> str:
        return self.function

    @cached_property
    def meta(self) -> Any:
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        result = np.asarray(call_linalg(sample, function=self.function))
        return np.empty((0,) * result.ndim, result.dtype)

    @cached_property
    def chunks(self) -> Chunks:
        return self._result(self.a.chunks)

    def _result(self, chunks: Chunks) -> Chunks:
        stack = chunks[:-2]
        if self.meta.ndim == len(stack):
            return stack
        return (*stack, *((sum(numbers(sizes)),) for sizes in chunks[-2:]))

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        whole = tuple((sum(numbers(sizes)),) for sizes in a.chunks[-2:])
        a = recut(a, (*a.chunks[:-2], *whole))
        kept = self.meta.ndim == a.ndim
        axes: Axes = (*range(a.ndim - 2), *((a.ndim - 2, a.ndim - 1) if kept else (None, None)))
        return blockwise(
            call_linalg,
            [(a, axes)],
            chunks=self._result(a.chunks),
            meta=self.meta,
            kwargs={"function": self.function},
        )


@dataclass(frozen=True, eq=False)
class Solution(Node):
    """The solution of a system of equations, exact or in the sense of least squares."""

    function: str
    a: Node
    b: Node

    @property
    def label(self) -> str:
        return self.function

    @cached_property
    def meta(self) -> Any:
        matrix = np.ones((1, 1), self.a.meta.dtype)
        right = np.ones((1,) * self.b.meta.ndim, self.b.meta.dtype)
        return np.empty((0,) * right.ndim, np.linalg.solve(matrix, right).dtype)

    @cached_property
    def chunks(self) -> Chunks:
        return ((sum(numbers(self.a.chunks[1])),), *self.b.chunks[1:])

    def tile(self, a: Grid, b: Grid) -> Generator[Look, Any, Grid]:
        a, b = yield from resolved(a, b)
        a = recut(a, tuple((sum(numbers(sizes)),) for sizes in a.chunks))
        b = recut(b, ((sum(numbers(b.chunks[0])),), *b.chunks[1:]))
        return blockwise(
            call_solver,
            [(a, (None, None)), (b, (None, *range(1, b.ndim)))],
            chunks=((sum(numbers(a.chunks[1])),), *b.chunks[1:]),
            meta=self.meta,
            kwargs={"function": self.function},
        )


@kernel(scratch=3.0)
def call_linalg(block: Any, function: str) -> Any:
    """Call NumPy's function of that name."""
    return np.asarray(getattr(np.linalg, function)(block))


@kernel(scratch=3.0)
def call_solver(a: Any, b: Any, function: str) -> Any:
    """Solve the equations, by least squares where there are more of them than unknowns."""
    return np.linalg.solve(a, b) if function == "solve" else np.linalg.lstsq(a, b, rcond=None)[0]


def _square(node: Node) -> Node:
    if node.meta.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{node.meta.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    rows, columns = node.shape[-2:]
    if rows != columns and not isinstance(rows, Unknown) and not isinstance(columns, Unknown):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return node


def of_matrices(function: str) -> Callable[[Any], Any]:
    """Return the lazy form of NumPy's function of square matrices."""

    def lazy(a: Any) -> Any:
        return wrap(OfMatrices(function, _square(as_node(a))))

    lazy.__name__ = lazy.__qualname__ = function
    lazy.__doc__ = (
        f"Apply ``{function}`` to each matrix, in one block. See numpy.linalg.{function}."
    )
    return lazy


inv = of_matrices("inv")
det = of_matrices("det")


def cholesky(a: Any, lower: bool = True) -> Any:
    """Return the triangle of a positive definite matrix, in one block. See numpy.linalg.cholesky.

    With ``lower=False`` the upper one, as in Mars and Dask.
    """
    found = wrap(OfMatrices("cholesky", _square(as_node(a))))
    return found if lower else conj(matrix_transpose(found))


def solve(a: Any, b: Any) -> Any:
    """Solve a square system, the matrix in one block. See numpy.linalg.solve."""
    left, right = _square(as_node(a)), as_node(b)
    if left.meta.ndim != 2 or right.meta.ndim not in (1, 2):
        raise NotImplementedError("stacks of systems: solve them one by one")
    if left.shape[0] != right.shape[0]:
        raise ValueError(f"solve: {left.shape[0]} equations but {right.shape[0]} right sides")
    return wrap(Solution("solve", left, right))


def lstsq(a: Any, b: Any) -> Any:
    """Return the least squares solution and nothing else. See numpy.linalg.lstsq.

    Differs from NumPy: no residuals, rank and singular values (``svd`` has those). A tall matrix
    may have any size: its triangle is what is solved.
    """
    left, right = as_node(a), as_node(b)
    if left.meta.ndim != 2 or right.meta.ndim not in (1, 2):
        raise np.linalg.LinAlgError("lstsq takes a matrix and one or several right sides")
    if left.shape[0] != right.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    rows, columns = numbers(left.shape)
    if rows > 4 * columns:
        q, r = qr(wrap(left))
        left, right = r.node, matmul(wrap(conjugated(transposed(q.node))), wrap(right)).node
    return wrap(Solution("lstsq", left, right))
