"""Linear algebra over chunks."""

from marsdask.tensor.manipulation.shape import matrix_transpose

from .eigenvalues import cond, eig, eigh, eigvals, eigvalsh, lstsq, matrix_rank, pinv
from .multi_dot import matrix_power, multi_dot, tensorinv, tensorsolve
from .norms import matrix_norm, norm, randomized_svd, svd_compressed, vector_norm
from .products import cross, dot, einsum, inner, matmul, tensordot, vdot, vecdot
from .products import matrix_diagonal as diagonal
from .products import matrix_trace as trace
from .products import outer_of_vectors as outer
from .solve import cholesky, det, inv, lu, slogdet, solve, solve_triangular
from .tall_skinny import qr, sfqr, svd, svdvals, tsqr

#: Mars's name of the same function.
innerproduct = inner

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "dot",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "einsum",
    "inner",
    "innerproduct",
    "inv",
    "lstsq",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "randomized_svd",
    "sfqr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svd_compressed",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "tsqr",
    "vdot",
    "vecdot",
    "vector_norm",
]
