"""``marsdask.tensor`` with the names that Mars took over from NumPy 1 and that NumPy 2 removed."""

from __future__ import annotations

import builtins
from typing import Any, Final

import numpy as np

import marsdask.tensor as mt

Inf = Infinity = PINF = infty = np.inf
NINF = -np.inf
NaN = NAN = np.nan
NZERO, PZERO = -0.0, 0.0

bool8 = np.bool_
float_ = np.float64
singlecomplex = np.complex64
complex_ = cfloat = np.complex128
longfloat = np.longdouble
clongfloat = longcomplex = np.clongdouble
unicode_ = np.str_
string_ = np.bytes_
int0, uint0 = np.intp, np.uintp
# NumPy 1.20 and older, which Mars ran on, had Python's own types too.
int = builtins.int
float = builtins.float
complex = builtins.complex
object = builtins.object
str = builtins.str

product: Final = mt.prod
cumproduct: Final = mt.cumprod
sometrue: Final = mt.any
alltrue: Final = mt.all
round_: Final = mt.around
trapz: Final = mt.trapezoid
row_stack: Final = mt.vstack
innerproduct: Final = mt.inner

bitand: Final = mt.bitwise_and
bitor: Final = mt.bitwise_or
bitxor: Final = mt.bitwise_xor
floordiv: Final = mt.floor_divide
lshift: Final = mt.left_shift
rshift: Final = mt.right_shift
truediv: Final = mt.true_divide


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Tell of each element of a vector whether it is in another. NumPy 2 has ``isin`` for it."""
    return mt.isin(mt.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def msort(a: Any) -> Any:
    """Sort along the first axis. NumPy 2 has ``sort(a, axis=0)`` for it."""
    return mt.sort(a, axis=0)


def __getattr__(name: builtins.str) -> Any:
    """Return what NumPy 2 still has, from ``marsdask.tensor``."""
    return getattr(mt, name)
