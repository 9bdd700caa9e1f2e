"""What LAPACK does with each matrix of a stack: a matrix in one block, stacks in parallel."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marsdask.core.chunk import Grid, Look
from marsdask.core.collection import wrap
from marsdask.core.node import Node, Part
from marsdask.core.shapes import blockwise, kernel
from marsdask.core.types import Chunks, Size, Unknown, numbers
from marsdask.tensor.rechunk import resolved
from marsdask.tensor.shape import whole

Options = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class OfMatrices(Node):
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

    @cached_property
    def meta(self) -> Any:
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        made = call_linalg(sample, self.function, dict(self.options))
        return tuple(np.empty((0,) * item.ndim, item.dtype) for item in made)

    @cached_property
    def chunks(self) -> Any:
        return self._results(self.a.chunks)

    def _results(self, chunks: Chunks) -> tuple[Chunks, ...]:
        m, n = (_length(sizes) for sizes in chunks[-2:])
        lengths: dict[str, Size] = {"m": m, "n": n, "k": _smaller(m, n)}
        return tuple(
            (*chunks[:-2], *((lengths[letter],) for letter in item)) for item in self.outputs
        )

    def tile(self, a: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
        (a,) = yield from resolved(a)
        a = whole(a, (a.ndim - 2, a.ndim - 1))
        stack = tuple(range(a.ndim - 2))
        made = blockwise(
            call_linalg,
            [(a, (*stack, a.ndim - 2, a.ndim - 1))],
            chunks=a.chunks,
            kwargs={"function": self.function, "options": dict(self.options)},
            itemsize=sum(item.dtype.itemsize for item in self.meta),
        )
        return tuple(
            blockwise(
                output,
                [(made, (*stack, None, None))],
                chunks=chunks,
                meta=meta,
                kwargs={"position": position},
                cheap=True,
            )
            for position, (chunks, meta) in enumerate(
                zip(self._results(a.chunks), self.meta, strict=True)
            )
        )


def _length(sizes: tuple[Size, ...]) -> Size:
    if any(isinstance(size, Unknown) for size in sizes):
        return sizes[0] if len(sizes) == 1 else Unknown(f"whole({sizes[0]})", 0, None)
    return sum(numbers(sizes))


def _smaller(m: Size, n: Size) -> Size:
    if isinstance(m, Unknown):
        return m
    return n if isinstance(n, Unknown) else min(m, n)


@kernel(scratch=4.0)
def call_linalg(block: Any, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return what a function makes of each matrix, as a tuple of arrays."""
    made = function(block, **options)
    return tuple(map(np.asarray, made)) if isinstance(made, tuple) else (np.asarray(made),)


@kernel(view=True)
def output(results: tuple[Any, ...], position: int) -> Any:
    """Return one of several results."""
    return results[position]


def apply(function: Callable[..., Any], outputs: str, node: Node, **options: Any) -> Any:
    """Return the lazy results of a function of matrices; one is returned by itself."""
    texts = tuple(outputs.split(","))
    made = OfMatrices(function, texts, node, tuple(sorted(options.items())))
    results = tuple(wrap(Part(made, position)) for position in range(len(texts)))
    return results if len(results) > 1 else results[0]


def matrices(a: Node) -> Node:
    """Return the node of at least one matrix; refuses what NumPy's linalg refuses."""
    if a.meta.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.meta.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.meta.dtype.kind not in "biufc" or a.meta.dtype == np.float16:
        raise TypeError(f"array type {a.meta.dtype} is unsupported in linalg")
    return a


def square(a: Node) -> Node:
    """Return the node of square matrices; raises what NumPy raises for others."""
    rows, columns = matrices(a).shape[-2:]
    if rows != columns and not isinstance(rows, Unknown) and not isinstance(columns, Unknown):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a
