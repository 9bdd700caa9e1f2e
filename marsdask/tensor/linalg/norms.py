"""Norms of vectors and matrices, and approximate singular vectors."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, collect
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.tensor.elementwise import ufuncs
from marsdask.tensor.elementwise.ufuncs import astype, where
from marsdask.tensor.manipulation.shape import expand_dims, moveaxis, squeeze
from marsdask.tensor.operands import as_node
from marsdask.tensor.random import RandomState
from marsdask.tensor.reduction import reductions
from marsdask.tensor.reduction.reductions import max as greatest
from marsdask.tensor.reduction.reductions import min as least

from ..typing import public
from .contraction import conjugated
from .products import matmul
from .stacks import matrices
from .tall_skinny import qr, svd, svdvals, transposed


def _vector_norm(x: Node, order: Any, axis: Any, keepdims: bool) -> Node:
    size = ufuncs.absolute.node(x)
    options = {"axis": axis, "keepdims": keepdims}
    if order == math.inf:
        return reductions.max.node(size, initial=0, **options)
    if order == -math.inf:
        return reductions.min.node(size, **options)
    if order == 0:
        return reductions.sum.node(
            ufuncs.astype.node(ufuncs.not_equal.node(x, 0), size.meta.dtype), **options
        )
    if order == 1:
        return reductions.sum.node(size, **options)
    if order is None or order == 2:
        return ufuncs.sqrt.node(reductions.sum.node(ufuncs.multiply.node(size, size), **options))
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order {order!r} for vectors")
    return ufuncs.power.node(
        reductions.sum.node(ufuncs.power.node(size, order), **options), 1 / order
    )


def _matrix_norm(x: Node, order: Any, axes: tuple[int, int], keepdims: bool) -> Node:
    if order in (None, "fro", "f"):
        return _vector_norm(x, None, axes, keepdims)
    if order in ("nuc", 2, -2):
        values = svdvals.node(moveaxis.node(x, axes, (-2, -1)))
        pick = {"nuc": reductions.sum, 2: reductions.max, -2: reductions.min}[order]
        norms = pick.node(values, axis=-1, **({"initial": 0} if order == 2 else {}))
        return expand_dims.node(norms, tuple(axes)) if keepdims else norms
    if order not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    along, across = axes if abs(order) == 1 else axes[::-1]
    sums = reductions.sum.node(ufuncs.absolute.node(x), axis=along, keepdims=True)
    result = (
        reductions.max.node(sums, axis=across, keepdims=True, initial=0)
        if order > 0
        else reductions.min.node(sums, axis=across, keepdims=True)
    )
    return result if keepdims else squeeze.node(result, axes)


@public
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Node:
    """Return a norm of a vector, of a matrix, or along axes. See numpy.linalg.norm."""
    node = as_node(x)
    ord = _number(ord)
    kind = node.meta.dtype.kind
    values = node if kind in "fc" else ufuncs.astype.node(node, np.float64)
    ndim = node.meta.ndim
    if axis is None and ord is None:
        return _vector_norm(values, None, None, keepdims)
    axes = _norm_axes(axis, ndim)
    if len(axes) == 1:
        return _vector_norm(values, ord, axes[0], keepdims)
    if len(axes) == 2:
        if axes[0] == axes[1]:
            raise ValueError("Duplicate axes given.")
        return _matrix_norm(values, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _number(order: Any) -> Any:
    """Return the order of a norm that an array or tensor without axes holds."""
    if not isinstance(order, Collection | np.ndarray):
        return order
    number = np.asarray(order)
    return order if number.ndim else number[()]


def _norm_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a norm, which may be repeated."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    try:
        axes = tuple(map(operator.index, axes))
    except TypeError as error:
        message = "'axis' must be None, an integer or a tuple of integers"
        raise TypeError(message) from error
    return np.lib.array_utils.normalize_axis_tuple(axes, ndim, allow_duplicate=True)


@public
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Node:
    """Return norms of vectors, which may span several axes. See numpy.linalg.vector_norm.

    Returns
    -------
    Tensor
        The norm of each vector.
    """
    node = as_node(x)
    real = node if node.meta.dtype.kind in "fc" else ufuncs.astype.node(node, np.float64)
    return _vector_norm(real, _number(ord), axis, keepdims)


@public
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Node:
    """Return norms of matrices or stacks of them. See numpy.linalg.matrix_norm.

    Returns
    -------
    Tensor
        The norm of each matrix.
    """
    node, ord = as_node(x), _number(ord)
    if node.meta.ndim < 2 or ord in ("nuc", 2, -2):
        node = matrices(node)
    return norm.node(node, ord, (-2, -1), keepdims)


@public
def randomized_svd(
    M: Any,
    n_components: int,
    n_oversamples: int = 10,
    n_iter: int | str = "auto",
    power_iteration_normalizer: str = "auto",
    transpose: bool | str = "auto",
    flip_sign: bool = True,
    random_state: Any = None,
) -> Any:
    """Return the ``n_components`` largest singular values and their vectors, approximately.

    The algorithm is that of Halko, Martinsson and Tropp, SIAM Review 53, 2011. For ``k`` components
    and ``p >= 2`` oversamples, without iterations, the expected squared Frobenius norm of the error
    is bounded. It is at most ``1 + k / (p - 1)`` times that of the best ``k`` (theorem 10.5). The
    algorithm takes two passes over the matrix, and two more for each of ``n_iter`` power
    iterations. "auto" means 7 iterations for a tenth of the rank or less, else 4. QR always
    normalizes the iterations; ``power_iteration_normalizer`` and ``transpose`` have no effect. With
    ``flip_sign`` the largest element of each vector in U is positive, as in scikit-learn.

    Parameters
    ----------
    M : array_like
        A matrix.
    n_components : int
        How many singular values.
    n_oversamples : int
        How many random vectors more than that.
    n_iter : int or "auto"
        How many power iterations.
    power_iteration_normalizer, transpose : optional
        Have no effect.
    flip_sign : bool
        Whether to choose the signs of the vectors as scikit-learn does.
    random_state : int or RandomState, optional
        Where the random vectors come from.

    Returns
    -------
    tuple of Tensor
        U, the singular values and V.

    Raises
    ------
    ValueError
        If ``n_components`` is not from 1 to the rank.

    Examples
    --------
    >>> u, s, v = mt.linalg.randomized_svd(mt.eye(6), 2, random_state=0)
    >>> s.compute().round(6)
    array([1., 1.])
    """
    del power_iteration_normalizer, transpose
    tensor = as_node(M)
    count = operator.index(n_components)
    rank = min(numbers(tensor.shape))
    if not 0 < count <= rank:
        raise ValueError(f"n_components must be in the range [1, {rank}], got {count}")
    if n_iter == "auto":
        n_iter = 7 if count < 0.1 * rank else 4
    width = min(count + n_oversamples, rank)
    state = random_state if isinstance(random_state, RandomState) else RandomState(random_state)
    adjoint = conjugated(transposed(tensor))
    directions = as_node(state.normal(size=(tensor.shape[1], width)))
    if tensor.meta.dtype.kind == "f":
        directions = as_node(astype.node(directions, tensor.meta.dtype))
    span, _ = qr.node(matmul.node(tensor, directions))
    for _ in range(operator.index(n_iter)):  # type: ignore[arg-type]
        across, _ = qr.node(matmul.node(adjoint, span))
        span, _ = qr.node(matmul.node(tensor, across))
    basis = conjugated(transposed(span))
    u, s, v = map(collect, svd.node(matmul.node(basis, tensor)))
    u, v = matmul(span, u)[:, :count], v[:count]
    if flip_sign:
        signs = where(greatest(u.real, axis=0) < -least(u.real, axis=0), -1, 1).astype(s.dtype)
        u, v = u * signs, v * signs[:, None]
    return ExecutableTuple((u, s[:count], v))


@public
def svd_compressed(
    a: Any,
    k: int,
    n_power_iter: int = 0,
    n_oversamples: int = 10,
    seed: Any = None,
    *,
    iterator: str = "power",
    compute: bool = False,
) -> Any:
    """Return the ``k`` largest singular values and their vectors, with Dask's name and order.

    Parameters
    ----------
    a : array_like
        A matrix.
    k : int
        How many singular values.
    n_power_iter : int
        How many power iterations.
    n_oversamples : int
        How many random vectors more than ``k``.
    seed : int or RandomState, optional
        Where the random vectors come from.
    iterator : {"power", "QR"}
        Has no effect: power iterations are always normalised.
    compute : bool
        Has no effect: what several steps need is computed once.

    Returns
    -------
    tuple of Tensor
        U, the singular values and V.

    Raises
    ------
    ValueError
        If the iterator is unknown.

    Examples
    --------
    >>> u, s, v = mt.linalg.svd_compressed(mt.eye(6), 2, seed=0)
    >>> s.compute().round(6)
    array([1., 1.])
    """
    del compute
    if iterator not in ("power", "QR", "none"):
        raise ValueError(f"Invalid iterator={iterator!r}; should be 'power', 'QR' or 'none'")
    return randomized_svd.node(
        a, k, n_oversamples, n_power_iter, flip_sign=False, random_state=seed
    )
