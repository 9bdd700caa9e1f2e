"""Products of many matrices, and equations over several axes, made of those over two."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.sizes import numbers
from marsdask.tensor.creation.from_shape import eye
from marsdask.tensor.indexing.assignment import assign
from marsdask.tensor.manipulation.reshape import reshape
from marsdask.tensor.manipulation.shape import broadcast_to, moveaxis
from marsdask.tensor.operands import as_node
from marsdask.tensor.unknown_lengths import like, waits_for_lengths

from ..typing import public
from .products import matmul
from .solve import inv, solve
from .stacks import linalg_kind, square


@public
@waits_for_lengths(lambda a, n, **_: like(a, None if n >= 0 else linalg_kind(a)))
def matrix_power(a: Any, n: int) -> Any:
    """Multiply square matrices ``n`` times with themselves. See numpy.linalg.matrix_power."""
    node = square(as_node(a))
    n = operator.index(n)
    base = wrap(node) if n >= 0 else inv(wrap(node))
    n = abs(n)
    if n == 0:
        identity = eye(numbers(node.shape)[-1], dtype=node.meta.dtype)
        return broadcast_to(identity, numbers(node.shape))
    result = None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            result = base if result is None else matmul(result, base)
        base = matmul(base, base) if n else base
    return result


@public
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """Multiply matrices in the order that takes the fewest operations. See numpy.linalg.multi_dot.

    The order is found by dynamic programming over the products' shapes (Cormen, Leiserson, Rivest
    and Stein, Introduction to Algorithms, 14.2).
    """
    found = _chained(arrays)
    return found if out is None else assign(out, found.node)


@waits_for_lengths(lambda arrays: like(functools.reduce(matmul, arrays)))
def _chained(arrays: Sequence[Any]) -> Any:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    tensors = [wrap(as_node(item)) for item in arrays]
    inner = [*(item.ndim == 2 for item in tensors[1:-1])]
    if not all(inner) or not all(item.ndim in (1, 2) for item in (tensors[0], tensors[-1])):
        raise np.linalg.LinAlgError("multi_dot takes matrices; the first and last may be vectors")
    first, last = tensors[0], tensors[-1]
    lengths = [1 if first.ndim == 1 else numbers(first.node.shape)[0]]
    lengths += [numbers(item.node.shape)[0] for item in tensors[1:]]
    lengths.append(1 if last.ndim == 1 else numbers(last.node.shape)[1])
    return _product(tensors, _order(lengths), 0, len(tensors) - 1)


def _order(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return after which factor each run of factors is best cut in two."""
    count = len(lengths) - 1
    costs = {(i, i): 0 for i in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            costs[i, j], cuts[i, j] = min(
                (
                    costs[i, k] + costs[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1],
                    k,
                )
                for k in range(i, j)
            )
    return cuts


def _product(tensors: Sequence[Any], cuts: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return tensors[i]
    k = cuts[i, j]
    return matmul(_product(tensors, cuts, i, k), _product(tensors, cuts, k + 1, j))


@public
def tensorinv(a: Any, ind: int = 2) -> Any:
    """Invert a tensor seen as a matrix of its first ``ind`` axes. See numpy.linalg.tensorinv."""
    node = as_node(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = numbers(node.shape)
    rows = math.prod(shape[:ind])
    return reshape(inv(reshape(wrap(node), (rows, -1))), (*shape[ind:], *shape[:ind]))


@public
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve the equations ``tensordot(a, x, x.ndim) = b``. See numpy.linalg.tensorsolve."""
    left, right = wrap(as_node(a)), wrap(as_node(b))
    if axes is not None:
        left = moveaxis(left, tuple(axes), tuple(range(left.ndim - len(axes), left.ndim)))
    shape = numbers(left.node.shape)[right.ndim :]
    if math.prod(shape) ** 2 != math.prod(numbers(left.node.shape)):
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    matrix = reshape(left, (-1, math.prod(shape)))
    return reshape(solve(matrix, right.ravel()), shape)
