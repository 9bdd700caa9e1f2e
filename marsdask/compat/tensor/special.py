"""``marsdask.tensor.special``, where functions of several operands give sparse tensors as Mars's.

A function of one operand is sparse if it maps zero to zero, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from marsdask.tensor import Tensor, special


@cache
def _sparse_for_sparse(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are sparse if one of several operands is."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        sparse = any(isinstance(item, Tensor) and item.issparse() for item in args)
        if len(args) > 1 and sparse and isinstance(result, Tensor) and not result.issparse():
            return result.tosparse()
        return result

    return call


def __getattr__(name: str) -> Any:
    """Return a function of ``marsdask.tensor.special``."""
    member = getattr(special, name)
    return _sparse_for_sparse(member) if callable(member) else member


def __dir__() -> list[str]:
    """List what the installed SciPy has."""
    return dir(special)
