"""Linear algebra over chunks."""

from .decompose import qr, svd, svdvals
from .products import dot, einsum, inner, matmul, outer, tensordot, vdot

__all__ = [
    "dot",
    "einsum",
    "inner",
    "matmul",
    "outer",
    "qr",
    "svd",
    "svdvals",
    "tensordot",
    "vdot",
]
