"""NumPy's types and settings, which are the same objects here, and predicates of types."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from numpy import (
    ScalarType,
    bool,
    broadcast_shapes,
    busdaycalendar,
    byte,
    bytes_,
    cdouble,
    character,
    clongdouble,
    complexfloating,
    csingle,
    datetime64,
    datetime_data,
    errstate,
    flexible,
    floating,
    generic,
    get_printoptions,
    geterr,
    half,
    index_exp,
    inexact,
    int_,
    intc,
    integer,
    isscalar,
    issubdtype,
    iterable,
    long,
    longdouble,
    longlong,
    mintypecode,
    ndindex,
    number,
    printoptions,
    s_,
    sctypeDict,
    set_printoptions,
    seterr,
    short,
    signedinteger,
    single,
    str_,
    timedelta64,
    typecodes,
    typename,
    ubyte,
    uint,
    uintc,
    uintp,
    ulong,
    ulonglong,
    unsignedinteger,
    ushort,
    void,
)
from numpy.exceptions import AxisError

from marsdask.core.collection import Collection

from .operands import as_node, empty, with_complete_type
from .typing import ArrayLike

__all__ = [
    "AxisError",
    "ScalarType",
    "bool",
    "broadcast_shapes",
    "busdaycalendar",
    "byte",
    "bytes_",
    "cdouble",
    "character",
    "clongdouble",
    "common_type",
    "complexfloating",
    "csingle",
    "datetime64",
    "datetime_data",
    "errstate",
    "flexible",
    "floating",
    "generic",
    "get_printoptions",
    "geterr",
    "half",
    "index_exp",
    "inexact",
    "int_",
    "intc",
    "integer",
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "long",
    "longdouble",
    "longlong",
    "min_scalar_type",
    "mintypecode",
    "ndindex",
    "number",
    "printoptions",
    "s_",
    "sctypeDict",
    "set_printoptions",
    "seterr",
    "short",
    "signedinteger",
    "single",
    "str_",
    "timedelta64",
    "typecodes",
    "typename",
    "ubyte",
    "uint",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
    "void",
]


def _like(a: Any) -> Any:
    """Return an empty array of the type of ``a``."""
    return empty(as_node(a).meta.dtype, 1)


def common_type(*arrays: ArrayLike) -> type[np.inexact[Any]]:
    """Return the floating type that holds the values of all arrays. See numpy.common_type."""
    kind: type[np.inexact[Any]] = np.common_type(*map(_like, arrays))
    return kind


def iscomplexobj(x: ArrayLike) -> builtins.bool:
    """Tell immediately whether the type is complex. See numpy.iscomplexobj."""
    return np.iscomplexobj(_like(x))


def isrealobj(x: ArrayLike) -> builtins.bool:
    """Tell immediately whether the type is not complex. See numpy.isrealobj."""
    return np.isrealobj(_like(x))


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """Return the smallest type for a scalar, an array's own type. See numpy.min_scalar_type.

    A tensor without axes is computed immediately.
    """
    if not isinstance(a, Collection):
        return np.min_scalar_type(a)
    return np.min_scalar_type(_like(with_complete_type(a)) if a.node.chunks else a.compute())
