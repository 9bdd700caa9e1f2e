"""Polynomials of few coefficients over many values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple, wrap
from marsdask.core.node import Node

from ..indexing.getitem import getitem
from ..linalg import matmul, svd
from ..manipulation.join import length
from ..operands import as_node
from ..reduction.reductions import sum as total
from ..typing import public
from ..unknown_lengths import ResultSpec, waits_for_lengths, whole
from .ufuncs import abs as absolute
from .ufuncs import add, astype, conj, divide, multiply, power, sqrt, square, subtract, where


def _powers(x: Any, **_: Any) -> ResultSpec:
    sizes = whole(x, 0)
    return ResultSpec(np.promote_types(as_node(x).meta.dtype, int), (sizes, sizes))


@public
@waits_for_lengths(_powers)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Node:
    """Return the powers of a vector's elements as columns. See numpy.vander."""
    x = as_node(x)
    if x.meta.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    if N is not None and operator.index(N) < 0:
        raise ValueError("Negative dimensions are not allowed")
    count = length(x, 0) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    dtype = np.promote_types(x.meta.dtype, int)
    return power.node(
        getitem.node(astype.node(x, dtype), (slice(None), None)),
        powers.astype(np.promote_types(np.int64, int)),
    )


@public
def polyval(p: Any, x: Any) -> Node:
    """Return a polynomial's values, the highest power first. See numpy.polyval."""
    if isinstance(p, np.poly1d):
        p = p.coeffs
    x = as_node(x)
    coefficients: Any = p if isinstance(p, Collection) else np.asarray(p)
    if isinstance(p, Collection) and len(p.node.chunks) != 1:
        raise ValueError("a polynomial's coefficients are a vector")
    result = multiply.node(x, 0)
    for coefficient in coefficients:
        result = add.node(multiply.node(result, x), coefficient)
    return result


@public
def polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """Fit a polynomial by least squares, the highest power first. See numpy.polyfit.

    Differs from NumPy: poorly conditioned fits give no warning; ``full`` always returns the
    residuals.
    """
    lhs, rhs = _system(wrap(as_node(x)) + 0.0, wrap(as_node(y)) + 0.0, w, int(deg))
    rows = length(lhs.node, 0)
    rcond = rows * np.finfo((add.node(as_node(x), 0.0)).meta.dtype).eps if rcond is None else rcond
    # Columns are scaled to length one, so that small values remain relative to their power.
    scale = sqrt(total.node(square.node(lhs), axis=0))
    scale = where(scale == 0, 1, scale)[:, None]
    u, s, vt = svd(lhs / scale[:, 0])
    is_large = s > rcond * s[0]
    inverse = where(is_large, divide(1, where(is_large, s, 1)), 0)[:, None]
    c = matmul(conj.node(vt.T), multiply.node(matmul.node(conj.node(u.T), rhs), inverse)) / scale
    is_vector = as_node(y).meta.ndim == 1
    coefs = c[:, 0] if is_vector else c
    if not full and not cov:
        return coefs
    errors = total(square.node(absolute.node(subtract.node(rhs, matmul.node(lhs, c)))), axis=0)
    if full:
        rank = astype(total.node(is_large), np.int32)
        return coefs, errors, rank, s, rcond  # as NumPy: the last is a number
    spread = (matmul(multiply.node(vt.T, square.node(inverse[:, 0])), vt) / (scale * scale[:, 0]))[
        :, :, None
    ]
    if cov != "unscaled":
        if rows <= deg + 1:
            raise ValueError("more points than coefficients are needed to scale the covariance")
        spread = spread * (errors / (rows - deg - 1))
    return ExecutableTuple((coefs, spread[:, :, 0] if is_vector else spread))


def _system(x: Any, y: Any, w: Any, deg: int) -> tuple[Any, Any]:
    """Return the weighted matrix of powers and the weighted right sides as columns."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if length(x.node, 0) != length(y.node, 0):
        raise TypeError("expected x and y to have same length")
    lhs, rhs = vander(x, deg + 1), y if y.ndim == 2 else y[:, None]
    if w is None:
        return lhs, rhs
    weights = wrap(as_node(w)) + 0.0
    if weights.ndim != 1:
        raise TypeError("expected a 1-d array for weights")
    if length(weights.node, 0) != length(y.node, 0):
        raise TypeError("expected w and y to have the same length")
    return lhs * weights[:, None], rhs * weights[:, None]
