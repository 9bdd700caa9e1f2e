"""NumPy's vocabulary over chunks."""

from marsdask.core.collection import ExecutableTuple

from .create import full, ones
from .elementwise import add, multiply, sin
from .linalg import (
    dot,
    einsum,
    inner,
    matmul,
    outer,
    tensordot,
    vdot,
)
from .rechunk import rechunk
from .reduce import sum
from .sort import (
    argpartition,
    argsort,
    partition,
    sort,
)
from .tensor import Tensor

__all__ = [
    "ExecutableTuple",
    "Tensor",
    "add",
    "argpartition",
    "argsort",
    "dot",
    "einsum",
    "full",
    "inner",
    "matmul",
    "multiply",
    "ones",
    "outer",
    "partition",
    "rechunk",
    "sin",
    "sort",
    "sum",
    "tensordot",
    "vdot",
]
