"""Window functions of signal processing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from marsdask.core.collection import collect
from marsdask.core.node import Node

from ..elementwise.ufuncs import cos, divide, i0, sqrt, subtract, where
from ..typing import TensorFunction, public
from .from_shape import arange, ones


def _window(name: str, shape: Callable[..., Any]) -> TensorFunction:
    """Return a function of the number of points; ``shape`` takes positions from -1 to 1."""

    def window(M: Any, **settings: Any) -> Any:
        if M < 1:
            return ones.node(0, dtype=np.result_type(M, 0.0))
        if M == 1:
            return ones.node(1, dtype=np.result_type(M, 0.0))
        # The formula uses a tensor, which is not executed.
        return shape(collect(divide.node(arange.node(1 - M, M, 2), M - 1)), **settings)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"Return the {name} window. See numpy.{name}."
    return public(window)


def _hamming(x: Any) -> Any:
    return 0.54 + 0.46 * cos(np.pi * x)


def _hanning(x: Any) -> Any:
    return 0.5 + 0.5 * cos(np.pi * x)


def _blackman(x: Any) -> Any:
    return 0.42 + 0.5 * cos(np.pi * x) + 0.08 * cos(2.0 * np.pi * x)


def _bartlett(x: Any) -> Any:
    return where(x <= 0, 1 + x, 1 - x)


def _kaiser(x: Any, beta: float) -> Any:
    return divide(i0(beta * sqrt(subtract(1, x * x))), np.i0(float(beta)))


hamming: Final = _window("hamming", _hamming)
hanning: Final = _window("hanning", _hanning)
blackman: Final = _window("blackman", _blackman)
bartlett: Final = _window("bartlett", _bartlett)


@public
def kaiser(M: Any, beta: float) -> Node:
    """Return the Kaiser window. See numpy.kaiser."""
    return _window("kaiser", _kaiser).node(M, beta=beta)
