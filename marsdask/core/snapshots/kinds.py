"""Types by what a snapshot does with their values."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import logging
import pathlib
import re
import types
import uuid
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache, partial
from io import IOBase
from typing import Any

import numpy as np

from .functions import import_path

#: Types of which no value ever changes.
IMMUTABLE: frozenset[type] = frozenset(
    (int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range)
)
_IMMUTABLE_BASES = (
    *(type, types.ModuleType, Enum, np.dtype, np.ufunc, np.generic, decimal.Decimal, uuid.UUID),
    *(dt.date, dt.time, dt.timedelta, dt.tzinfo, fractions.Fraction),
    *(pathlib.PurePath, re.Pattern, logging.Logger, types.CodeType),
)
_IMMUTABLE_MODULES = ("pandas._libs.", "pandas.core.dtypes.")
_IMMUTABLE_OF_PANDAS = ("NAType", "NaTType", "Interval", "Period")

#: Packages whose objects are data, whatever their methods do.
DATA = ("numpy", "pandas", "scipy", "pyarrow", "polars", "marsdask", "dask", "distributed")

#: What is run, or stays where it is: its copies would be others.
_PROXIES = ("dask", "distributed")

#: Types whose values are looked into.
CONTAINERS = (list, dict, set, tuple, np.ndarray, bytearray)

#: Types that are known to have no form: a look here is cheaper than :func:`form_of`.
_KEPT: set[type] = set(IMMUTABLE)

_FORMS: dict[type, str] = {
    **dict.fromkeys((tuple, frozenset), "sequence"),
    **dict.fromkeys((list, set), "container"),
    dict: "mapping",
    types.MappingProxyType: "proxy",
    **dict.fromkeys((type({}.keys()), type({}.values()), type({}.items())), "dict_view"),
    slice: "slice",
    memoryview: "view",
    np.ndarray: "array",
    np.vectorize: "vectorized",
    types.FunctionType: "function",
    types.MethodType: "method",
    types.BuiltinFunctionType: "native_method",
    partial: "partial",
}


class ByReference:
    """A base class of what has a name of its own: snapshots keep it, whoever defines its class.

    It refers to what cannot be copied, or has taken its own snapshot, as nodes have.
    """

    __slots__ = ()


def form_of(kind: Any) -> str | None:
    """Return the method of :class:`.Snapshot` for values of a type, ``None`` if it keeps them."""
    form = _form_of(kind)
    if form is None and not is_local(kind):
        _KEPT.add(kind)
    return form


def is_kept(value: Any) -> bool:
    """Tell whether a snapshot surely keeps a value, or a tuple of values; a quick look."""
    kind = type(value)
    return kind in _KEPT or (kind is tuple and _KEPT.issuperset(map(type, value)))


@lru_cache(4096)
def _form_of(kind: Any) -> str | None:
    if kind in IMMUTABLE or kind in _FORMS:
        return _FORMS.get(kind)
    module = f"{kind.__module__}."
    ours = module.startswith("marsdask.")
    if issubclass(kind, np.void):
        return "scalar"
    if issubclass(kind, IOBase):
        return "shared"
    if issubclass(kind, _IMMUTABLE_BASES) or module.startswith(_IMMUTABLE_MODULES):
        return None
    if module.startswith("pandas.") and kind.__name__.endswith((*_IMMUTABLE_OF_PANDAS, "Dtype")):
        return None
    if issubclass(kind, tuple) and (ours or hasattr(kind, "_make")):
        return "sequence"
    if issubclass(kind, ByReference) or module.partition(".")[0] in _PROXIES:
        return None
    if not ours:
        return "pickled"
    if hasattr(kind, "get_params"):
        return "shallow"
    return "record" if is_dataclass(kind) else None


@lru_cache(4096)
def is_local(kind: Any) -> bool:
    """Tell whether a class cannot be imported."""
    return import_path(kind) is None


def is_fixed(value: Any) -> bool:
    """Tell whether a variable of a module is one that nobody sets again."""
    if isinstance(value, type | types.ModuleType | logging.Logger):
        return True
    return callable(value) and import_path(value) is not None
