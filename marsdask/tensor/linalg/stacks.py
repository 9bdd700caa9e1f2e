"""LAPACK's functions for each matrix of a stack: a matrix in one block, stacks in parallel."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Axes, MultiOutput, Node
from marsdask.core.sizes import Chunks, Size, Unknown, total, upper
from marsdask.tensor.manipulation.shape import whole as uncut
from marsdask.tensor.operands import as_node
from marsdask.tensor.unknown_lengths import ResultSpec, whole

from ..kernels.duck_arrays import as_array

Options = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class MatrixStackMap(MultiOutput):
    """A function of each matrix of a stack.

    ``outputs`` has a text for each result, a letter for each of its axes: m and n are rows and
    columns of the matrix, k the smaller number.
    """

    function: Callable[..., Any]
    outputs: tuple[str, ...]
    a: Node
    options: Options = ()

    @property
    def label(self) -> str:
        return self.function.__name__

    @property
    def meta(self) -> Any:
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        outputs = call_linalg(sample, self.function, dict(self.options))
        return tuple(np.empty((0,) * item.ndim, item.dtype) for item in outputs)

    @property
    def chunks(self) -> Any:
        return self._results(self.a.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        ndim = len(self.a.chunks)
        return (loops_beside((ndim - 2, ndim - 1), ndim),)

    def _results(self, chunks: Chunks) -> tuple[Chunks, ...]:
        m, n = map(total, chunks[-2:])
        lengths: dict[str, Size] = {"m": m, "n": n, "k": _smaller(m, n)}
        return tuple(
            (*chunks[:-2], *((lengths[letter],) for letter in item)) for item in self.outputs
        )

    def tile(self, a: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
        (a,) = yield from resolved(a)
        a = uncut(a, (a.ndim - 2, a.ndim - 1))
        stack = tuple(range(a.ndim - 2))
        results = blockwise(
            call_linalg,
            [(a, (*stack, a.ndim - 2, a.ndim - 1))],
            chunks=a.chunks,
            kwargs={"function": self.function, "options": dict(self.options)},
            itemsize=sum(item.dtype.itemsize for item in self.meta),
        )
        return tuple(
            blockwise(
                output,
                [(results, (*stack, None, None))],
                chunks=chunks,
                meta=meta,
                kwargs={"position": position},
                cheap=True,
            )
            for position, (chunks, meta) in enumerate(
                zip(self._results(a.chunks), self.meta, strict=True)
            )
        )


def _smaller(m: Size, n: Size) -> Size:
    if m == n:
        return m
    if isinstance(m, Unknown) or isinstance(n, Unknown):
        bounds = [bound for bound in (upper(m), upper(n)) if bound is not None]
        names = (f"{s.name}@{s.index}" if isinstance(s, Unknown) else s for s in (m, n))
        return Unknown("min({},{})".format(*names), -1, min(bounds, default=None))
    return min(m, n)


def linalg_kind(a: Any) -> np.dtype[Any]:
    """Return the type in which NumPy's linalg computes; single precision is kept."""
    dtype: np.dtype[Any] = as_node(a).meta.dtype
    if dtype.char in "fF":
        return dtype
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def real_kind(a: Any) -> np.dtype[Any]:
    """Return the type of norms and singular values."""
    return np.finfo(linalg_kind(a)).dtype


def of_stack(a: Any, dtype: Any, text: str = "") -> ResultSpec:
    """Return the outcome for a stack of matrices; ``text`` has a letter for each axis, as above."""
    node = as_node(a)
    ndim = len(node.chunks)
    lengths = {"m": whole(node, ndim - 2), "n": whole(node, ndim - 1)} if text else {}
    stack = (whole(node, axis) for axis in range(ndim - 2))
    return ResultSpec(np.dtype(dtype), (*stack, *(lengths.get(letter) for letter in text)))


@kernel(scratch=4.0)
def call_linalg(block: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the results of a function for each matrix, as a tuple of arrays."""
    result = function(block, **options)
    return tuple(map(as_array, result)) if isinstance(result, tuple) else (as_array(result),)


@kernel(view=True)
def output(results: tuple[Any, ...], position: int) -> Any:
    """Return one of several results."""
    return results[position]


def apply(function: Callable[..., Any], output: str, node: Node, **options: Any) -> Node:
    """Return the result of a function of matrices."""
    return several(function, output, node, **options)[0]


def several(
    function: Callable[..., Any], outputs: str, node: Node, **options: Any
) -> tuple[Node, ...]:
    """Return the results of a function of matrices."""
    texts = tuple(outputs.split(","))
    return MatrixStackMap(function, texts, node, tuple(sorted(options.items()))).parts()


def matrices(a: Node) -> Node:
    """Return the node of at least one matrix; raise as NumPy's linalg for others."""
    if a.meta.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.meta.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.meta.dtype.kind not in "biufc" or a.meta.dtype == np.float16:
        raise TypeError(f"array type {a.meta.dtype} is unsupported in linalg")
    return a


def square(a: Node) -> Node:
    """Return the node of square matrices; raise NumPy's error for others."""
    rows, columns = matrices(a).shape[-2:]
    if rows != columns and not isinstance(rows, Unknown) and not isinstance(columns, Unknown):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a
