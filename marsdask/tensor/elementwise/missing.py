"""Which elements are missing."""

from __future__ import annotations

from typing import Any

from ..typing import public
from .ufuncs import isnan, logical_not


@public
def isnull(values: Any) -> Any:
    """Tell which elements are missing. See dask.array.isnull."""
    return isnan(values)


@public
def notnull(values: Any) -> Any:
    """Tell which elements are not missing. See dask.array.notnull."""
    return logical_not(isnan(values))
