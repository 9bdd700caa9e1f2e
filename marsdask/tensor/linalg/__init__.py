"""Linear algebra over chunks."""

from .decompose import qr, svd, svdvals
from .norms import norm, randomized_svd, svd_compressed
from .products import dot, einsum, inner, matmul, outer, tensordot, vdot
from .solve import cholesky, det, inv, lstsq, solve

__all__ = [
    "cholesky",
    "det",
    "dot",
    "einsum",
    "inner",
    "inv",
    "lstsq",
    "matmul",
    "norm",
    "outer",
    "qr",
    "randomized_svd",
    "solve",
    "svd",
    "svd_compressed",
    "svdvals",
    "tensordot",
    "vdot",
]
