"""Files that pandas reads in this process, all rows at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from marsdask.core.public import public_call

from ..create import from_pandas
from ..whole.results import lazy_result


def _lazily(found: Any, chunk_size: Any) -> Any:
    """Return lazy objects in place of pandas's."""
    if isinstance(found, pd.DataFrame | pd.Series | pd.Index):
        return from_pandas(found, chunk_size, copy=False)
    if isinstance(found, Iterator):
        return lazy_result(found, "read")
    if isinstance(found, dict):
        return {name: _lazily(item, chunk_size) for name, item in found.items()}
    return [_lazily(item, chunk_size) for item in found] if isinstance(found, list) else found


def is_buffer(path: Any) -> bool:
    """Tell whether a reader is given an open file or its content in place of a path."""
    return not isinstance(path, str | os.PathLike) and hasattr(path, "read")


def read_buffer(read: Callable[..., Any], buffer: Any, options: Mapping[str, Any]) -> Any:
    """Return a lazy frame of an open file, which pandas reads at once."""
    return _lazily(read(buffer, **options), None)


def _reader(name: str) -> Callable[..., object]:
    def read(*args: Any, chunk_size: Any = None, **options: Any) -> object:
        return _lazily(getattr(pd, name)(*args, **options), chunk_size)

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"""Return lazy objects of what pandas reads at once. See pandas.{name}.

    Parameters
    ----------
    *args, **options : object
        The arguments of pandas.
    chunk_size : int, optional
        The rows of a chunk.

    Returns
    -------
    DataFrame, Series, list or dict
        A lazy object in place of each one of pandas.
    """
    return public_call(read)


json_normalize: Callable[..., object] = _reader("json_normalize")
read_clipboard: Callable[..., object] = _reader("read_clipboard")
read_excel: Callable[..., object] = _reader("read_excel")
read_hdf: Callable[..., object] = _reader("read_hdf")
read_html: Callable[..., object] = _reader("read_html")
read_pickle: Callable[..., object] = _reader("read_pickle")
read_sas: Callable[..., object] = _reader("read_sas")
read_spss: Callable[..., object] = _reader("read_spss")
read_stata: Callable[..., object] = _reader("read_stata")
read_xml: Callable[..., object] = _reader("read_xml")
