"""``marsdask.tensor`` with the names that Mars took over from NumPy 1 and that NumPy 2 removed."""

from __future__ import annotations

import warnings
from typing import Any, Final
from typing import cast as typed

import numpy as np

import marsdask.tensor as mt
from marsdask.core.collection import Collection

from . import linalg, random, special  # noqa: F401 - what ``mars.tensor`` has of these names


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Tell of each element of a vector whether it is in another."""
    return mt.isin(mt.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _msort(a: Any) -> Any:
    """Sort along the first axis."""
    return mt.sort(a, axis=0)


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round numbers; those of a frame stay a frame. See numpy.round."""
    is_frame = out is None and isinstance(a, Collection) and a.handles_ufuncs
    return typed("Any", a).round(decimals) if is_frame else mt.around(a, decimals, out)


round = around

#: What NumPy calls them since, and what they are.
REMOVED: Final[dict[str, tuple[str, Any]]] = {
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), ("inf", np.inf)),
    "NINF": ("-inf", -np.inf),
    **dict.fromkeys(("NaN", "NAN"), ("nan", np.nan)),
    "NZERO": ("-0.0", -0.0),
    "PZERO": ("0.0", 0.0),
    "AxisError": ("numpy.exceptions.AxisError", np.exceptions.AxisError),
    "bool8": ("bool_", np.bool_),
    "float_": ("float64", np.float64),
    "singlecomplex": ("complex64", np.complex64),
    **dict.fromkeys(("complex_", "cfloat"), ("complex128", np.complex128)),
    "longfloat": ("longdouble", np.longdouble),
    **dict.fromkeys(("clongfloat", "longcomplex"), ("clongdouble", np.clongdouble)),
    "unicode_": ("str_", np.str_),
    "string_": ("bytes_", np.bytes_),
    "int0": ("intp", np.intp),
    "uint0": ("uintp", np.uintp),
    # NumPy 1.20 and older, which Mars ran on, had Python's own types too.
    "int": ("Python's int", int),
    "float": ("Python's float", float),
    "complex": ("Python's complex", complex),
    "object": ("Python's object", object),
    "str": ("Python's str", str),
    "product": ("prod", mt.prod),
    "cumproduct": ("cumprod", mt.cumprod),
    "sometrue": ("any", mt.any),
    "alltrue": ("all", mt.all),
    "round_": ("round", around),
    "trapz": ("trapezoid", mt.trapezoid),
    "row_stack": ("vstack", mt.vstack),
    "in1d": ("isin", _in1d),
    "msort": ("sort(axis=0)", _msort),
    # Names of Mars's own.
    "innerproduct": ("inner", mt.inner),
    "bitand": ("bitwise_and", mt.bitwise_and),
    "bitor": ("bitwise_or", mt.bitwise_or),
    "bitxor": ("bitwise_xor", mt.bitwise_xor),
    "floordiv": ("floor_divide", mt.floor_divide),
    "lshift": ("left_shift", mt.left_shift),
    "rshift": ("right_shift", mt.right_shift),
    "truediv": ("true_divide", mt.true_divide),
}


#: What ``from mars.tensor import *`` imports: without a warning.
__all__ = [name for name in mt.__all__ if name not in REMOVED]


def __getattr__(name: str) -> Any:
    """Return a removed name, with a warning, or what NumPy 2 still has, from the tensors."""
    if name not in REMOVED:
        return getattr(mt, name)
    word, value = REMOVED[name]
    warnings.warn(f"mars.tensor.{name} is gone: use {word}", DeprecationWarning, stacklevel=2)
    return value
