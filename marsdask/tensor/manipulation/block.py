"""Arrays assembled from many: nested blocks, sums of several, Kronecker products."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from marsdask.core.node import Node
from marsdask.core.sizes import known, numbers
from marsdask.tensor.manipulation.shape import view

from ..chunkwise.rechunk import rechunk
from ..elementwise.ufuncs import add, multiply
from ..operands import as_node
from ..typing import TensorFunction, public
from ..unknown_lengths import ResultSpec, waits_for_lengths
from .join import concatenate
from .reshape import reshape


def _depth(arrays: Any) -> int:
    """Return the depth of nested lists, which must be equal."""
    if isinstance(arrays, tuple):
        raise TypeError("block() takes nested lists; a tuple may be a list or an array")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block() takes no empty lists")
    depths = {_depth(item) for item in arrays}
    if len(depths) > 1:
        raise ValueError(f"List depths are mismatched: {sorted(depths)}")
    return 1 + depths.pop()


def _widest(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max(map(_widest, arrays))
    return len(as_node(arrays).chunks)


def _joined(arrays: Any, level: int, ndim: int) -> Node:
    if level:
        return concatenate.node([_joined(item, level - 1, ndim) for item in arrays], -level)
    return _with_axes(as_node(arrays), ndim)


def _with_axes(node: Node, ndim: int) -> Node:
    """Return the node with axes of length one in front."""
    own = len(node.chunks)
    return view(node, [*(None,) * (ndim - own), *range(own)])


@public
def block(arrays: Any) -> Node:
    """Join nested lists of blocks, the innermost along the last axis. See numpy.block."""
    depth = _depth(arrays)
    return _joined(arrays, depth, max(depth, _widest(arrays)))


_PAIRWISE = """Apply ``{func}`` to many tensors, two by two. As in Mars.

Parameters
----------
*args : array_like
    Tensors, or one list of them.
combine_size : int, optional
    Has no effect.
**kwargs
    Arguments of :func:`{func}`.

Returns
-------
Tensor
    The result for all of them.

Raises
------
ValueError
    If there is no argument.

Examples
--------
>>> mt.{name}(mt.ones(2), mt.ones(2), mt.ones(2)).shape
(2,)
"""


def _pairwise(func: TensorFunction, name: str) -> TensorFunction:
    """Return a function of many arguments, composed of calls with two."""

    def lazy(*args: Any, combine_size: int | None = None, **kwargs: Any) -> Any:
        del combine_size  # Mars's: fusion does not use a width
        items = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else [*args]
        if not items:
            raise ValueError(f"{name}() takes at least one argument")
        while len(items) > 1:
            tail = items[len(items) // 2 * 2 :]
            pairs = zip(items[::2], items[1::2], strict=False)
            items = [func.node(a, b, **kwargs) for a, b in pairs] + tail
        return as_node(items[0], sparse=True)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = _PAIRWISE.format(func=func.__name__, name=name)
    return public(lazy)


tree_add: Final = _pairwise(add, "tree_add")
tree_multiply: Final = _pairwise(multiply, "tree_multiply")


def _multiplied(a: Any, b: Any) -> ResultSpec:
    nodes = [as_node(a), as_node(b)]
    ndim = max(len(node.chunks) for node in nodes)
    shapes = [(1,) * (ndim - len(node.chunks)) + node.shape for node in nodes]
    pairs = list(zip(*shapes, strict=True))
    dtypes = (node.meta.dtype for node in nodes)
    kind = np.multiply.resolve_dtypes((*dtypes, None))[-1]
    return ResultSpec(kind, tuple((math.prod(numbers(p)),) if known(p) else None for p in pairs))


@public
@waits_for_lengths(_multiplied)
def kron(a: Any, b: Any) -> Node:
    """Multiply all elements of one tensor with all of another, as blocks. See numpy.kron.

    Every task reads the whole second tensor.
    """
    left, right = as_node(a), as_node(b)
    ndim = max(len(left.chunks), len(right.chunks))
    left, right = _with_axes(left, ndim), rechunk.node(_with_axes(right, ndim), -1)
    wide = multiply.node(
        view(left, [axis for own in range(ndim) for axis in (own, None)]),
        view(right, [axis for own in range(ndim) for axis in (None, own)]),
    )
    lengths = zip(numbers(left.shape), numbers(right.shape), strict=True)
    return reshape.node(wide, tuple(m * n for m, n in lengths))
