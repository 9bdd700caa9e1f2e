"""Eigenvalues, and functions of singular values: rank, condition, pseudo-inverse, least squares.

Eigenvalues are LAPACK's: a matrix is gathered in one block, so it has to fit in one task's memory
(three times, for its vectors too). Stacks run in parallel. For a few of the largest eigenvalues of
a large symmetric matrix, ``svd_compressed`` needs only some passes over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import ExecutableTuple, collect
from marsdask.core.node import Node
from marsdask.core.sizes import known, numbers
from marsdask.tensor.elementwise import ufuncs
from marsdask.tensor.manipulation.shape import expand_dims, squeeze
from marsdask.tensor.named_results import EighResult, EigResult
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction import reductions
from marsdask.tensor.unknown_lengths import ResultSpec, waits_for_lengths, whole

from ..typing import public
from . import stacks
from .blocked_lu import is_large
from .contraction import conjugated
from .norms import norm
from .products import matmul
from .solve import inv
from .stacks import linalg_kind, matrices, of_stack, real_kind, square
from .tall_skinny import svd, svdvals, transposed


@public
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues and vectors of symmetric matrices. See numpy.linalg.eigh.

    Gathers each matrix into one block.
    """
    node = square(as_node(a))
    return EighResult(*stacks.several(np.linalg.eigh, "n,nn", node, UPLO=_side(UPLO)))


@public
def eigvalsh(a: Any, UPLO: str = "L") -> Node:
    """Return eigenvalues of symmetric matrices. See numpy.linalg.eigvalsh.

    Gathers each matrix into one block.
    """
    return stacks.apply(np.linalg.eigvalsh, "n", square(as_node(a)), UPLO=_side(UPLO))


def _side(UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper()


@public
def eig(a: Any) -> Any:
    """Return eigenvalues and vectors. See numpy.linalg.eig.

    Gathers each matrix into one block. Differs from NumPy: always complex, because only the values
    determine whether they are real.
    """
    return EigResult(*stacks.several(complex_eig, "n,nn", square(as_node(a))))


@public
def eigvals(a: Any) -> Node:
    """Return eigenvalues. See numpy.linalg.eigvals, and :func:`eig` for what differs."""
    return stacks.apply(complex_eigvals, "n", square(as_node(a)))


def complex_eig(block: Any) -> tuple[Any, Any]:
    """Return eigenvalues and vectors as complex numbers."""
    values, vectors = np.linalg.eig(block)
    dtype = np.result_type(values, np.complex64)
    return values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


def complex_eigvals(block: Any) -> Any:
    """Return eigenvalues as complex numbers."""
    values = np.linalg.eigvals(block)
    return values.astype(np.result_type(values, np.complex64), copy=False)


def _cutoff(node: Node, rtol: Any) -> Any:
    """Return the share of the largest singular value below which others count as zero."""
    if rtol is not None:
        return rtol
    dtype = np.linalg.svd(np.ones((1, 1), node.meta.dtype), compute_uv=False).dtype
    return max(numbers(node.shape[-2:])) * np.finfo(dtype).eps


@public
@waits_for_lengths(lambda A, **_: of_stack(A, np.intp))
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Node:
    """Count the singular values that are not almost zero. See numpy.linalg.matrix_rank."""
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    node = as_node(A)
    if node.meta.ndim < 2:
        return ufuncs.astype.node(reductions.any.node(ufuncs.not_equal.node(node, 0)), np.intp)
    matrices(node)
    if hermitian or 0 in node.shape[-2:]:
        options = {"tol": tol, "hermitian": hermitian} if rtol is None else {"rtol": rtol}
        return stacks.apply(np.linalg.matrix_rank, "", node, **options)
    values = svdvals.node(node)
    limit = tol
    if tol is None:
        limit = _along_last(_cutoff(node, rtol)) * reductions.max(values, axis=-1, keepdims=True)
    else:
        limit = _along_last(tol)
    return reductions.count_nonzero.node(ufuncs.greater.node(values, limit), axis=-1)


def _along_last(limit: Any) -> Any:
    """Broadcast a limit for each matrix against its singular values."""
    tensor = as_node(limit)
    return expand_dims(tensor, -1) if tensor.meta.ndim else limit


@public
@waits_for_lengths(lambda x, **_: of_stack(x, real_kind(x)))
def cond(x: Any, p: Any = None) -> Node:
    """Return the condition number. See numpy.linalg.cond.

    Differs from NumPy: norms other than 2 and -2 raise LinAlgError for large singular matrices.
    """
    node = matrices(as_node(x))
    if 0 in node.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p in (None, 2, -2):
        values = collect(svdvals.node(node))
        first, last = values[..., 0], values[..., -1]
        return ufuncs.apply(ratio, *((last, first) if p == -2 else (first, last)))
    if is_large(square(node)):
        return ufuncs.multiply.node(
            norm.node(node, p, axis=(-2, -1)), norm.node(inv.node(node), p, axis=(-2, -1))
        )
    return stacks.apply(np.linalg.cond, "", node, p=p)


def ratio(a: Any, b: Any) -> Any:
    """Return a quotient, which is infinite for zero by zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(a, 0) & np.equal(b, 0), np.inf, np.divide(a, b)).astype(a.dtype)


@public
@waits_for_lengths(lambda a, **_: of_stack(a, linalg_kind(a), "nm"))
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Node:
    """Return pseudo-inverses. See numpy.linalg.pinv."""
    node = matrices(as_node(a))
    has_rtol = rtol is not np._NoValue
    if has_rtol and rcond is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if has_rtol:
        rcond = _cutoff(node, rtol)
    elif rcond is None:
        rcond = 1e-15
    stacked, own = node.meta.ndim > 2, bool(np.ndim(rcond))
    if 0 in node.shape or ((stacked or hermitian) and not own):
        limit = 0.0 if own else rcond  # one limit per matrix, for an empty stack
        return stacks.apply(np.linalg.pinv, "nm", node, rcond=limit, hermitian=hermitian)
    u, s, v = map(collect, svd.node(node))
    v, u = (item.mT.node if stacked else transposed(item.node) for item in (v, u))
    scale = expand_dims.node(_pseudo_inverses(s, _along_last(rcond)), -2)
    return matmul.node(ufuncs.multiply.node(conjugated(v), scale), conjugated(u))


def _pseudo_inverses(values: Any, rcond: Any) -> Any:
    """Return the inverses of singular values, zero for those almost zero."""
    large = values > rcond * reductions.max(values, axis=-1, keepdims=True)
    return ufuncs.where(large, 1 / ufuncs.where(large, values, 1), 0)


def _least_squares(a: Any, b: Any, **_: Any) -> tuple[ResultSpec, ...]:
    right = as_node(b)
    kind = np.result_type(linalg_kind(a), right.meta.dtype)
    sides = [whole(b, 1)] if len(right.chunks) == 2 else []
    return ExecutableTuple(
        (
            ResultSpec(kind, (whole(a, 1), *sides)),
            ResultSpec(np.finfo(kind).dtype, (None,)),
            ResultSpec(np.dtype(np.int32), ()),
            ResultSpec(real_kind(a), (None,)),
        )
    )


@public
@waits_for_lengths(_least_squares)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return solutions of least squares, residuals, rank and singular values.

    See numpy.linalg.lstsq. Uses the singular value decomposition, which supports tall matrices of
    any size. Differs from NumPy: overdetermined systems have residuals for every rank.
    """
    matrix, right = as_node(a), collect(as_node(b))
    if matrix.meta.ndim != 2 or right.ndim not in (1, 2):
        raise np.linalg.LinAlgError("lstsq takes a matrix and one or several right sides")
    lengths = matrix.shape[0], right.node.shape[0]
    if known(lengths) and lengths[0] != lengths[1]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    rows, columns = numbers(matrix.shape)
    sides = right if right.ndim == 2 else expand_dims.node(right, 1)
    u, s, v = map(collect, svd.node(matrix))
    cutoff = _cutoff(matrix, rcond)
    if rcond is not None and rcond < 0:
        cutoff = np.finfo(s.dtype).eps
    projected = matmul.node(conjugated(transposed(u.node)), sides)
    adjoint = conjugated(transposed(v.node))
    x = matmul(ufuncs.multiply.node(adjoint, _pseudo_inverses(s, cutoff)), projected)
    if rows > columns:
        size = ufuncs.absolute.node(ufuncs.subtract.node(sides, matmul.node(matrix, x)))
        residuals = reductions.sum(ufuncs.multiply.node(size, size), axis=0)
    else:
        residuals = collect(as_node(np.empty(0, np.finfo(x.dtype).dtype)))
    rank = ufuncs.astype(
        reductions.count_nonzero.node(
            ufuncs.greater.node(s, ufuncs.multiply.node(cutoff, reductions.max.node(s)))
        ),
        np.int32,
    )
    return ExecutableTuple((x if right.ndim == 2 else squeeze.node(x, 1), residuals, rank, s))
