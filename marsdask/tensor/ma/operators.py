"""Python's operators of masked tensors: functions of ``numpy.ma``, which differ from NumPy's.

``x / y`` masks all that is not finite and keeps the values under masks, ``np.divide(x, y)`` masks
what divides by zero and computes also under masks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .. import protocols
from .masked_tensor import MaskedTensor, map_masked_blocks

#: Operators' functions of blocks by the ufunc that NumPy's arrays call for them.
_ARITHMETIC: Final[dict[np.ufunc, Callable[[Any, Any], Any]]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.power: operator.pow,
}
_COMPARISONS: Final[dict[np.ufunc, Callable[[Any, Any], Any]]] = {
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}


def _lazy(ufunc: np.ufunc, function: Callable[[Any, Any], Any]) -> Callable[..., MaskedTensor]:
    """Return the function of tensors, arrays and scalars of a function of blocks."""

    def call(a: Any, b: Any) -> MaskedTensor:
        return map_masked_blocks(function, a, b)

    call.__name__ = ufunc.__name__
    return call


@dataclass(frozen=True)
class OperatorInPlace:
    """Changes a copy of a block: values under masks stay, and fewer are masked by a division."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, block: Any, other: Any) -> Any:
        return getattr(operator, f"i{self.name}")(block.copy(), other)


def add_operators(kind: type[MaskedTensor]) -> None:
    """Give a class the operators."""
    operators = kind._operators
    for ufunc, function in (_ARITHMETIC | _COMPARISONS).items():
        operators[ufunc] = _lazy(ufunc, function)
        setattr(kind, f"__{function.__name__}__", protocols.binary(operators[ufunc]))
    for ufunc, function in _ARITHMETIC.items():
        in_place = _lazy(ufunc, OperatorInPlace(function.__name__))
        setattr(kind, f"__r{function.__name__}__", protocols.reflected(operators[ufunc]))
        setattr(kind, f"__i{function.__name__}__", protocols.inplace_by(in_place))
