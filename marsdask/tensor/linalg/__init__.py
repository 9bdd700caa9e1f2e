"""Linear algebra over chunks."""

from .products import dot, einsum, inner, matmul, outer, tensordot, vdot

__all__ = ["dot", "einsum", "inner", "matmul", "outer", "tensordot", "vdot"]
