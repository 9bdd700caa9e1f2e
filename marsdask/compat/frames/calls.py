"""Calls of Mars's frames that differ in more than a keyword: types, files and pairs of chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import wraps
from itertools import product
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

import marsdask.dataframe as md
from marsdask.core.config import options
from marsdask.dataframe.keyed.groupby import GroupBy

#: How Mars is told what a function returns.
TELLING: Final = (
    *("output_type", "output_types", "dtypes", "dtype", "name", "index", "elementwise"),
    "skip_infer",
)


def _told(kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the ``meta`` that keywords of Mars's tell, if they do, and the other keywords."""
    words = {name: kwargs[name] for name in TELLING if name in kwargs}
    rest = {name: value for name, value in kwargs.items() if name not in words}
    dtypes, dtype = words.get("dtypes"), words.get("dtype")
    if words.get("output_type") == "series" and dtype is None:
        dtypes, dtype = None, dtypes
    if dtypes is not None:
        return list(pd.Series(dtypes).items()), rest
    return (None if dtype is None else (words.get("name"), dtype)), rest


def telling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method take what Mars is told about a function's results."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        meta, rest = _told(kwargs)
        if isinstance(meta, tuple) and meta[0] is None and self.ndim == 1:
            meta = (self.name, meta[1])
        return method(self, *args, **({} if meta is None else {"meta": meta}), **rest)

    return call


def untold(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method, which finds its types itself, take what Mars is told about them."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *args, **_told(kwargs)[1])

    return call


def numbering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``*`` in a path stand for the number of a chunk, without zeros before it."""

    @wraps(method)
    def call(self: Any, path: Any = None, *args: Any, **kwargs: Any) -> Any:
        if "*" in str(path):
            kwargs.setdefault("name_function", str)
        return method(self, path, *args, **kwargs)

    return call


def with_own_state(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that draws leave the user's ``random_state`` as it is, as Mars does."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("random_state"), np.random.RandomState):
            kwargs["random_state"] = deepcopy(kwargs["random_state"])
        return method(*args, **kwargs)

    return call


def reading_texts(read: Callable[..., Any]) -> Callable[..., Any]:
    """Let a reader take ``use_arrow_dtype=``: texts have pandas's own type of Arrow's."""

    @wraps(read)
    def call(*args: Any, use_arrow_dtype: bool | None = None, **kwargs: Any) -> Any:
        frame = read(*args, **kwargs)
        default = options.dataframe.use_arrow_dtype
        is_arrow = default if use_arrow_dtype is None else use_arrow_dtype
        return _with_arrow_texts(frame) if is_arrow else frame

    return call


def in_limits(read: Callable[..., Any]) -> Callable[..., Any]:
    """Let a reader of queries take the limits of its column by two names."""

    @wraps(read)
    def call(*args: Any, low_limit: Any = None, high_limit: Any = None, **kwargs: Any) -> Any:
        if low_limit is not None or high_limit is not None:
            kwargs["limits"] = (low_limit, high_limit)
        return read(*args, **kwargs)

    return call


def _with_arrow_texts(frame: Any) -> Any:
    texts = [
        name
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object)
    ]
    return frame.astype(dict.fromkeys(texts, TEXT))


#: The type of texts in Arrow's memory.
TEXT: Final = pd.ArrowDtype(pa.string())


class _Dtype(type(pd.ArrowDtype)):  # type: ignore[misc]
    """Makes and recognizes pandas's type of texts in Arrow's memory."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        del args, options
        return TEXT

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, pd.ArrowDtype) and value.pyarrow_dtype == pa.string()


@pd.api.extensions.register_extension_dtype
class ArrowStringDtype(pd.ArrowDtype, metaclass=_Dtype):
    """The type of texts that Mars calls ``Arrow[string]``; see :class:`pandas.ArrowDtype`."""

    @classmethod
    def construct_from_string(cls, string: Any) -> Any:
        """Return the type of that name."""
        if string not in {"Arrow[string]", "arrow_string"}:
            raise TypeError(f"Cannot construct a 'ArrowStringDtype' from '{string}'")
        return TEXT


def ArrowStringArray(  # noqa: N802 - a class of Mars's
    values: Any, dtype: Any = None, copy: bool = False
) -> Any:
    """Return texts in Arrow's memory; see :class:`pandas.arrays.ArrowExtensionArray`."""
    del dtype
    return pd.array(values, dtype=TEXT, copy=copy)


def ArrowListDtype(dtype: Any) -> pd.ArrowDtype:  # noqa: N802 - a class of Mars's
    """Return the type of lists; see :class:`pandas.ArrowDtype`."""
    if isinstance(dtype, pd.ArrowDtype):
        return pd.ArrowDtype(pa.list_(dtype.pyarrow_dtype))
    is_text = isinstance(dtype, pd.StringDtype) or dtype == "string"
    return pd.ArrowDtype(pa.list_(pa.string() if is_text else pa.from_numpy_dtype(dtype)))


def ArrowListArray(  # noqa: N802 - a class of Mars's
    values: Any, dtype: Any = None, copy: bool = False
) -> Any:
    """Return lists in Arrow's memory; see :class:`pandas.arrays.ArrowExtensionArray`."""
    if dtype is None:
        dtype = pd.ArrowDtype(pa.array(list(values)).type)
    return pd.array(values, dtype=dtype, copy=copy)


def cartesian_chunk(
    left: Any, right: Any, func: Callable[..., Any], args: Any = (), **kwargs: Any
) -> Any:
    """Return what a function gives of each pair of chunks, one after the other.

    Parameters
    ----------
    left, right : DataFrame or Series
        Whose chunks are paired.
    func : callable
        Gets a chunk of each, and returns a DataFrame or a Series.
    args : tuple
        Further arguments of it.
    **kwargs
        Keywords of it, and ``output_type``, ``dtypes``, ``dtype``, ``name`` and ``index``.
    """
    meta, rest = _told(kwargs)
    how = rest if meta is None else {**rest, "meta": meta}
    pairs = product(range(left.npartitions), range(right.npartitions))
    try:
        parts = [
            md.map_partitions(func, left.partitions[at], right.partitions[beside], *args, **how)
            for at, beside in pairs
        ]
    except ValueError as error:
        raise TypeError(f"{error}; pass output_type= and dtypes=") from error
    return md.concat(parts)


#: The methods that differ, by class.
CALLS: Final[Mapping[type, Mapping[str, Callable[..., Any]]]] = {
    md.DataFrame: {
        "apply": telling,
        "sample": with_own_state,
        "transform": untold,
        "to_csv": numbering,
        "to_parquet": numbering,
    },
    md.Series: {
        "apply": telling,
        "map": telling,
        "sample": with_own_state,
        "to_csv": numbering,
        "transform": untold,
    },
    GroupBy: {"apply": untold, "transform": untold},
}
