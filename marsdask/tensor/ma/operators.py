"""Python's operators of masked tensors: functions of ``numpy.ma``, which differ from NumPy's.

``x / y`` masks all that is not finite and keeps the values under masks, ``np.divide(x, y)`` masks
what divides by zero and computes also under masks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
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


for _ufunc, _function in (_ARITHMETIC | _COMPARISONS).items():
    MaskedTensor._operators[_ufunc] = _lazy(_ufunc, _function)
    _name = _function.__name__
    setattr(MaskedTensor, f"__{_name}__", protocols.binary(MaskedTensor._operators[_ufunc]))
for _ufunc, _function in _ARITHMETIC.items():
    _name = _function.__name__
    setattr(MaskedTensor, f"__r{_name}__", protocols.reflected(MaskedTensor._operators[_ufunc]))
# The others change values as NumPy's functions do.
MaskedTensor.__ipow__ = protocols.inplace_by(MaskedTensor._operators[np.power])  # type: ignore[misc]
