"""Collections of Dask as Objects."""

from __future__ import annotations

from typing import Any

from dask.base import is_dask_collection

from marsdask.remote import Object, spawn


def convert_dask_collection(dc: Any) -> Object:
    """Return an Object that stands for the value of a collection of Dask.

    ``marsdask.tensor.from_dask`` and ``marsdask.dataframe.from_dask`` keep the chunks; here they
    are put together, as Mars does.

    Parameters
    ----------
    dc : dask collection
        An array, a frame, a bag or a delayed value.

    Returns
    -------
    Object
        Its value is what ``dc.compute()`` returns.

    Raises
    ------
    TypeError
        If ``dc`` is no collection of Dask.
    """
    if not is_dask_collection(dc):
        raise TypeError(f"dc must be a dask collection, not {type(dc).__name__}")
    value: Object = spawn(_same, args=(dc,))
    return value


def _same(value: Any) -> Any:
    return value
