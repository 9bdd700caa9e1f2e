"""Functions that find missing elements."""

from __future__ import annotations

from typing import Any

from marsdask.core.node import Node

from ..typing import public
from .ufuncs import isnan, logical_not


@public
def isnull(values: Any) -> Node:
    """Tell which elements are missing. See dask.array.isnull.

    Parameters
    ----------
    values : array_like
        The elements.

    Returns
    -------
    Tensor
        True where one is missing.
    """
    return isnan.node(values)


@public
def notnull(values: Any) -> Node:
    """Tell which elements are not missing. See dask.array.notnull.

    Parameters
    ----------
    values : array_like
        The elements.

    Returns
    -------
    Tensor
        True where none is missing.
    """
    return logical_not.node(isnan.node(values))
