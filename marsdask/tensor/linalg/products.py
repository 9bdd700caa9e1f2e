"""Products of vectors, matrices and tensors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.arguments import listed
from marsdask.core.node import Node
from marsdask.core.sizes import Size, Unknown, known, numbers, shape_text
from marsdask.tensor.elementwise.ufuncs import astype, multiply, subtract
from marsdask.tensor.indexing.advanced import Take
from marsdask.tensor.indexing.assignment import into
from marsdask.tensor.indexing.getitem import take
from marsdask.tensor.indexing.output_rules import (
    DOT,
    OUTPUT,
    OutputRule,
    matmul_rule,
    ufunc_rule,
)
from marsdask.tensor.manipulation.diagonals import diagonal, trace
from marsdask.tensor.manipulation.reshape import ravel
from marsdask.tensor.manipulation.shape import expand_dims, moveaxis, squeeze, view
from marsdask.tensor.memory_order import in_order_of, ufunc_letter
from marsdask.tensor.operands import as_node
from marsdask.tensor.signatures import shows
from marsdask.tensor.sparse.blocks import is_sparse
from marsdask.tensor.sparse.conversion import todense, tosparse

from ..typing import public, view_face
from .contraction import Labels, conjugated, contract
from .einsum_subscripts import parse


def _differ(a: Size, b: Size) -> bool:
    return a != b and not isinstance(a, Unknown) and not isinstance(b, Unknown)


def _require_core(name: str, signature: str, a: Size, b: Size) -> None:
    """Raise for types that a generalized ufunc cannot sum, with its message."""
    if _differ(a, b):
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
            f"signature {signature} (size {b} is different from {a})"
        )


def _require_axes(name: str, left: Node, right: Node, mine: int, theirs: int) -> None:
    """Raise for types that dot, inner and tensordot cannot sum."""
    a, b = left.shape[mine], right.shape[theirs]
    if not _differ(a, b):
        return
    if name == "tensordot":
        raise ValueError("shape-mismatch for sum")
    shape, place = right.shape, theirs % len(right.shape)
    if name == "inner" and place:  # NumPy converts these to dot before its checks
        shape, place = (*shape[:-2], shape[-1], shape[-2]), place - 1
    raise ValueError(
        f"shapes {shape_text(left.shape)} and {shape_text(shape)} not aligned: "
        f"{a} (dim {mine % len(left.shape)}) != {b} (dim {place})"
    )


_MATMUL = "(n?,k),(k,m?)->(n?,m?)"


@public
def matmul(
    a: Any,
    b: Any,
    sparse: bool | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    casting: Any = "same_kind",
    order: str = "K",
) -> Node:
    """Multiply matrices, or stacks of them with broadcasting. See numpy.matmul."""
    letter = ufunc_letter(order, (a, b))
    left, right = as_node(a, sparse=True), as_node(b, sparse=True)
    left, right = (_cast(node, dtype, casting) for node in (left, right))
    for position, node in enumerate((left, right)):
        if not node.meta.ndim:
            raise ValueError(
                f"matmul: Input operand {position} does not have enough dimensions (has 0, gufunc "
                f"core with signature {_MATMUL} requires 1); use * instead"
            )
    # Labels: rows are 0, the summed axis 1, columns 2; stacks count from 3, the last axis first.
    la = _stack(left.meta.ndim) + (0, 1)[-left.meta.ndim :]
    lb = _stack(right.meta.ndim) + (1, 2)[: right.meta.ndim]
    _require_core("matmul", _MATMUL, left.shape[-1], right.shape[lb.index(1)])
    stack = max(_stack(left.meta.ndim), _stack(right.meta.ndim), key=len)
    labels = stack + tuple(label for label in (0, 2) if label in (*la, *lb))
    product = in_order_of(contract([left, right], [la, lb], labels, exact=(1,)), letter)
    core = len({0, 2}.intersection(labels))
    return _given(product, sparse, out, matmul_rule(_MATMUL, core))


def _stack(ndim: int) -> Labels:
    return tuple(range(ndim, 2, -1))


@public
def dot(a: Any, b: Any, out: Any = None, sparse: bool | None = None) -> Node:
    """Sum over the last axis of ``a`` and the second last of ``b``. See numpy.dot.

    Differs from NumPy, like all products that sum: durations raise ``TypeError``. NumPy drops their
    unit; ``(a * b).sum()`` keeps it.
    """
    left, right = as_node(a, sparse=True), as_node(b, sparse=True)
    if not left.meta.ndim or not right.meta.ndim:
        product = _tensordot("dot", left, right, (), ())
    else:
        product = _tensordot("dot", left, right, (-1,), (max(-2, -right.meta.ndim),))
    return _given(product, sparse, out, DOT, "equiv")


def _given(
    found: Node,
    sparse: bool | None,
    out: Any,
    rule: OutputRule = OUTPUT,
    casting: Any = "same_kind",
) -> Node:
    """Return a product in the requested kind of blocks, or store it in ``out``."""
    if sparse is not None and sparse != is_sparse(found.meta):
        found = tosparse.node(found) if sparse else todense.node(found)
    return into(out, found, casting, rule)


@public
def inner(a: Any, b: Any, sparse: bool | None = None) -> Node:
    """Sum over the last axes of both. See numpy.inner."""
    left, right = as_node(a, sparse=True), as_node(b, sparse=True)
    axes = (-1,) if left.meta.ndim and right.meta.ndim else ()
    return _given(_tensordot("inner", left, right, axes, axes), sparse, None)


@public
def outer(a: Any, b: Any, out: Any = None) -> Node:
    """Multiply each element of ``a`` with each of ``b``; both flattened. See numpy.outer."""
    product = _tensordot("outer", _flat(as_node(a)), _flat(as_node(b)), (), ())
    return _given(product, None, out, ufunc_rule("multiply", 1))


@public
def vdot(a: Any, b: Any) -> Node:
    """Sum the products of all elements, ``a`` conjugated. See numpy.vdot."""
    left, right = as_node(a, sparse=True), as_node(b, sparse=True)
    if left.shape != right.shape:
        left, right = _flat(left), _flat(right)
        if _differ(left.shape[0], right.shape[0]):
            raise ValueError(
                f"cannot reshape array of size {right.shape[0]} into shape {shape_text(left.shape)}"
            )
    labels = tuple(range(left.meta.ndim))
    return contract([conjugated(left), right], [labels, labels], (), exact=labels)


@public
def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axis: int = -1,
    keepdims: bool = False,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Node:
    """Sum products along an axis, the first operand conjugated. See numpy.vecdot."""
    operands = (moveaxis.node(as_node(x), axis, -1) for x in (x1, x2))
    left, right = (_cast(node, dtype, casting) for node in operands)
    _require_core("vecdot", "(n),(n)->()", left.shape[-1], right.shape[-1])
    # The summed axis is 0; stacks count from 1, the last axis first.
    la, lb = (tuple(range(node.meta.ndim - 1, -1, -1)) for node in (left, right))
    stack = max(la, lb, key=len)[:-1]
    product = contract([conjugated(left), right], [la, lb], stack, exact=(0,))
    return _given(expand_dims.node(product, axis) if keepdims else product, None, out)


@public
@shows("dtype", "casting")
def matvec(x1: Any, x2: Any, /, out: Any = None, **how: Any) -> Node:
    """Multiply matrices with vectors, or stacks of both with broadcasting. See numpy.matvec."""
    return _given(squeeze.node(matmul.node(x1, expand_dims.node(x2, -1), **how), -1), None, out)


@public
@shows("dtype", "casting")
def vecmat(x1: Any, x2: Any, /, out: Any = None, **how: Any) -> Node:
    """Multiply vectors, conjugated, with matrices. See numpy.vecmat."""
    row = expand_dims.node(conjugated(as_node(x1)), -2)
    return _given(squeeze.node(matmul.node(row, x2, **how), -2), None, out)


#: The next component of each, and the previous.
_TURNS = [1, 2, 0], [2, 0, 1]


@public
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Node:
    """Multiply vectors of three components by the cross product. See numpy.linalg.cross."""
    left, right = (moveaxis.node(as_node(x), axis, -1) for x in (x1, x2))
    if left.shape[-1] != 3 or right.shape[-1] != 3:
        raise ValueError(
            f"cross takes vectors of 3 components, not of {left.shape[-1]} and {right.shape[-1]}"
        )
    (a, c), (d, b) = ([take.node(x, order, -1) for order in _TURNS] for x in (left, right))
    return moveaxis.node(subtract.node(multiply.node(a, b), multiply.node(c, d)), -1, axis)


@view_face(writes="refused", through=(Take,))
def matrix_diagonal(x: Any, /, *, offset: int = 0) -> Node:
    """Return the diagonals of matrices or stacks of them. See numpy.linalg.diagonal."""
    return diagonal.node(x, offset, -2, -1)


@public
def matrix_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Node:
    """Sum the diagonals of matrices or stacks of them. See numpy.linalg.trace."""
    return trace.node(x, offset, -2, -1, dtype)


@public
def outer_of_vectors(x1: Any, x2: Any, /) -> Node:
    """Multiply each element of one vector with each of another. See numpy.linalg.outer."""
    left, right = as_node(x1), as_node(x2)
    if left.meta.ndim != 1 or right.meta.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={left.meta.ndim} and "
            f"x2.ndim={right.meta.ndim}."
        )
    return outer.node(left, right)


def _flat(node: Node) -> Node:
    return ravel.node(node)


@public
def tensordot(a: Any, b: Any, axes: Any = 2, sparse: bool | None = None) -> Node:
    """Sum over pairs of axes. See numpy.tensordot."""
    left, right = as_node(a, sparse=True), as_node(b, sparse=True)
    axes = listed(axes)
    if isinstance(axes, list | tuple) or np.ndim(axes):
        pair = map(np.atleast_1d, map(listed, axes))
        first, second = (tuple(map(operator.index, item.tolist())) for item in pair)
    else:
        count = operator.index(axes)
        first, second = tuple(range(-count, 0)), tuple(range(count))
    if len(first) != len(second):
        raise ValueError(f"shape-mismatch for sum: {len(first)} axes of a and {len(second)} of b")
    return _given(_tensordot("tensordot", left, right, first, second), sparse, None)


def _tensordot(
    name: str, left: Node, right: Node, first: Sequence[int], second: Sequence[int]
) -> Node:
    if name != "outer" and {left.meta.dtype.kind, right.meta.dtype.kind} & {"m", "M"}:
        raise TypeError(
            f"{name}() of durations is not supported: NumPy drops their unit; sum a * b"
        )
    ndim, right_ndim = left.meta.ndim, right.meta.ndim
    normalize = np.lib.array_utils.normalize_axis_tuple
    first, second = normalize(first, ndim), normalize(second, right_ndim)
    la = list(range(ndim))
    lb = list(range(ndim, ndim + right_ndim))
    for mine, theirs in zip(first, second, strict=True):
        _require_axes(name, left, right, mine, theirs)
        lb[theirs] = la[mine]
    inner = tuple(la[axis] for axis in first)
    out = tuple(label for label in (*la, *lb) if label not in inner)
    return contract([left, right], [tuple(la), tuple(lb)], out, exact=inner)


@view_face(through=(Take,))
def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: Any = "safe",
    optimize: Any = True,
    split_every: Any = None,
) -> Node:
    """Sum products as subscripts say, two operands at a time. See numpy.einsum.

    Differs from NumPy: the order of contraction is optimised unless ``optimize=False``.
    ``split_every`` is Dask's and has no effect.
    """
    del split_every
    subscripts, items = parse(operands)
    letter = ufunc_letter(order, items)
    nodes = [_cast(as_node(item), dtype, casting) for item in items]
    labels, out_labels = subscripts.expanded([node.meta.ndim for node in nodes])
    alone = len(nodes) == 1 and out is None and set(labels[0]) == set(out_labels) and letter == "K"
    for place, pair in enumerate(zip(nodes, labels, strict=True)):
        nodes[place], labels[place] = _diagonals(*pair)
    if alone and len(labels[0]) == len(out_labels):
        return view(nodes[0], [labels[0].index(label) for label in out_labels])
    result = in_order_of(_contract_path(nodes, labels, out_labels, optimize), letter)
    return into(out, result, casting)


def _diagonals(node: Node, labels: Labels) -> tuple[Node, Labels]:
    """Return diagonals along axes of one label, unless their lengths are unknown or differ."""
    for label in dict.fromkeys(labels):
        axes = [axis for axis, own in enumerate(labels) if own == label]
        lengths = {node.shape[axis] for axis in axes}
        if len(axes) == 1:
            continue
        if len(lengths) > 1 or not known(tuple(lengths)):
            continue
        other_axes = [axis for axis in range(len(labels)) if axis not in axes]
        along = range(*numbers(lengths))
        count = len(axes)
        node = Take(view(node, [*axes, *other_axes]), (along,) * count, tuple(range(count)), 0)
        labels = (label, *(labels[axis] for axis in other_axes))
    return node, labels


def _cast(node: Node, dtype: Any, casting: Any) -> Node:
    """Return an operand in the requested type."""
    if dtype is None:
        return node
    if not np.can_cast(node.meta.dtype, dtype, casting):
        raise TypeError(
            f"Iterator operand could not be cast from {node.meta.dtype!r} to {np.dtype(dtype)!r} "
            f"according to the rule {casting!r}"
        )
    return as_node(astype.node(node, dtype))


def _contract_path(nodes: list[Node], labels: list[Labels], out: Labels, optimize: Any) -> Node:
    """Return the sum of products; operands are removed when they are used."""
    for step in _path(nodes, labels, out, optimize):
        terms = [(nodes[i], labels[i]) for i in step]
        for i in sorted(step, reverse=True):
            del nodes[i], labels[i]
        outer = set(out).union(*labels)
        names = tuple(dict.fromkeys(label for _, item in terms for label in item))
        term = tuple(label for label in names if label in outer) if nodes else out
        nodes.append(contract([node for node, _ in terms], [item for _, item in terms], term))
        labels.append(term)
    return nodes[0]


def _path(
    nodes: list[Node], labels: list[Labels], out: Labels, optimize: Any
) -> list[tuple[int, ...]]:
    """Return the operands to contract in each step, as positions in the shrinking list."""
    if len(nodes) <= 2:
        return [tuple(range(len(nodes)))]
    if not optimize:
        return [(0, 1), *((0, len(nodes) - 1 - step) for step in range(1, len(nodes) - 1))]
    interleaved: list[Any] = []
    for node, names in zip(nodes, labels, strict=True):
        # The path depends on shapes alone: an array of zero strides takes no memory.
        interleaved += [np.broadcast_to(np.empty(()), numbers(node.shape)), list(names)]
    path, _ = np.einsum_path(*interleaved, list(out), optimize="greedy")
    return _pairs(path[1:], len(nodes))


def _pairs(path: Sequence[Sequence[int]], count: int) -> list[tuple[int, ...]]:
    """Split steps over more than two operands into steps over two."""
    steps: list[tuple[int, ...]] = []
    for step in path:
        operands = sorted(step)
        while len(operands) > 2:
            # The product is appended to the list of remaining operands.
            first, second, *tail = operands
            steps.append((first, second))
            operands = sorted([*(item - 2 for item in tail), count - 2])
            count -= 1
        steps.append(tuple(operands))
        count -= len(operands) - 1
    return steps
