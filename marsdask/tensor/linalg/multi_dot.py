"""Products of many matrices, and equations over several axes, reduced to those over two."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.creation.from_shape import eye
from marsdask.tensor.indexing.assignment import into
from marsdask.tensor.indexing.output_rules import DOT
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
def matrix_power(a: Any, n: int) -> Node:
    """Multiply square matrices ``n`` times with themselves. See numpy.linalg.matrix_power."""
    node = square(as_node(a))
    n = operator.index(n)
    base = node if n >= 0 else inv.node(node)
    n = abs(n)
    if n == 0:
        identity = eye.node(numbers(node.shape)[-1], dtype=node.meta.dtype)
        return broadcast_to.node(identity, numbers(node.shape))
    result: Node | None = None
    while n:
        n, bit = divmod(n, 2)
        if bit:
            result = base if result is None else matmul.node(result, base)
        base = matmul.node(base, base) if n else base
    return base if result is None else result


@public
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Node:
    """Multiply matrices in the order that takes the fewest operations. See numpy.linalg.multi_dot.

    Dynamic programming over the products' shapes finds the order (Cormen, Leiserson, Rivest and
    Stein, Introduction to Algorithms, 14.2).
    """
    return into(out, _chained(arrays), "equiv", DOT)


@waits_for_lengths(lambda arrays: like(functools.reduce(matmul.node, arrays)))
def _chained(arrays: Sequence[Any]) -> Node:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    nodes = [as_node(item) for item in arrays]
    inner = [*(len(node.chunks) == 2 for node in nodes[1:-1])]
    if not all(inner) or not all(len(node.chunks) in (1, 2) for node in (nodes[0], nodes[-1])):
        raise np.linalg.LinAlgError("multi_dot takes matrices; the first and last may be vectors")
    first, last = numbers(nodes[0].shape), numbers(nodes[-1].shape)
    lengths = [1 if len(first) == 1 else first[0]]
    lengths += [numbers(node.shape)[0] for node in nodes[1:]]
    lengths.append(1 if len(last) == 1 else last[1])
    return _product(nodes, _order(lengths), 0, len(nodes) - 1)


def _order(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return the best split of each run of factors."""
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


def _product(nodes: Sequence[Node], cuts: dict[tuple[int, int], int], i: int, j: int) -> Node:
    if i == j:
        return nodes[i]
    k = cuts[i, j]
    return matmul.node(_product(nodes, cuts, i, k), _product(nodes, cuts, k + 1, j))


@public
def tensorinv(a: Any, ind: int = 2) -> Node:
    """Invert a tensor as a matrix of its first ``ind`` axes. See numpy.linalg.tensorinv."""
    node = as_node(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = numbers(node.shape)
    rows = math.prod(shape[:ind])
    return reshape.node(inv.node(reshape.node(node, (rows, -1))), (*shape[ind:], *shape[:ind]))


@public
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Node:
    """Solve the equations ``tensordot(a, x, x.ndim) = b``. See numpy.linalg.tensorsolve."""
    tensor, sides = wrap(as_node(a)), wrap(as_node(b))
    if axes is not None:
        tensor = moveaxis(tensor, tuple(axes), tuple(range(tensor.ndim - len(axes), tensor.ndim)))
    shape = numbers(tensor.node.shape)[sides.ndim :]
    if math.prod(shape) ** 2 != math.prod(numbers(tensor.node.shape)):
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    matrix = reshape.node(tensor, (-1, math.prod(shape)))
    return reshape.node(solve.node(matrix, sides.ravel()), shape)
