"""Polynomials of few coefficients over many values."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap

from .base import as_node
from .elementwise import abs as absolute
from .elementwise import conj, divide, multiply, power, sqrt, square, where
from .join import length
from .linalg import matmul, svd
from .reduce import sum as total


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Return the powers of a vector's elements as columns. See numpy.vander."""
    x = wrap(as_node(x))
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = length(x.node, 0) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    dtype = np.promote_types(x.dtype, int)
    return power(x.astype(dtype)[:, None], powers.astype(np.promote_types(np.int64, int)))


def polyval(p: Any, x: Any) -> Any:
    """Return a polynomial's values, the highest power first. See numpy.polyval."""
    if isinstance(p, np.poly1d):
        p = p.coeffs
    x = wrap(as_node(x))
    coefficients = list(p if isinstance(p, Collection) else np.asarray(p))
    if isinstance(p, Collection) and len(p.node.chunks) != 1:
        raise ValueError("a polynomial's coefficients are a vector")
    result = multiply(x, 0)
    for coefficient in coefficients:
        result = result * x + coefficient
    return result


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

    Differs from NumPy: no warning if the fit is poorly conditioned, and the residuals of ``full``
    are there even then.
    """
    deg = int(deg)
    x, y = wrap(as_node(x)) + 0.0, wrap(as_node(y)) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    left, right = vander(x, deg + 1), y
    if w is not None:
        weights = wrap(as_node(w)) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * weights[:, None]
        right = right * (weights[:, None] if y.ndim == 2 else weights)
    rows = length(x.node, 0)
    rcond = rows * np.finfo(x.dtype).eps if rcond is None else rcond
    # Columns of length one, so that what is small is small beside its own power.
    scale = sqrt(total(square(left), axis=0))
    scale = where(scale == 0, 1, scale)
    u, s, vt = svd(left / scale)
    kept = s > rcond * s[0]
    inverse = where(kept, divide(1, where(kept, s, 1)), 0)
    turned = matmul(conj(u.T), right)
    found = matmul(conj(vt.T), turned * (inverse if y.ndim == 1 else inverse[:, None]))
    c = found / (scale if y.ndim == 1 else scale[:, None])
    if not full and not cov:
        return c
    errors = total(square(absolute(right - matmul(left, c))), axis=0)
    if full:
        return c, errors.reshape(-1), total(kept), s, rcond
    base = matmul(vt.T * square(inverse), vt) / (scale[:, None] * scale)
    if cov == "unscaled":
        return c, base if y.ndim == 1 else base[:, :, None]
    if rows <= deg + 1:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    share = errors / (rows - deg - 1)
    return c, base * share if y.ndim == 1 else base[:, :, None] * share
