"""``marsdask.tensor.linalg`` with the defaults of Mars where NumPy has others."""

from __future__ import annotations

from typing import Any

from marsdask.tensor import ascontiguousarray, linalg
from marsdask.tensor.typing import ArrayLike

__all__ = linalg.__all__


def cholesky(a: ArrayLike, lower: bool = False) -> Any:
    """Return a factor of a positive definite matrix: the upper one unless ``lower``, as in Mars."""
    factor = linalg.cholesky(a, lower=lower)
    return factor if lower else ascontiguousarray(factor)


def __getattr__(name: str) -> Any:
    """Return what Mars and NumPy do alike."""
    return getattr(linalg, name)
