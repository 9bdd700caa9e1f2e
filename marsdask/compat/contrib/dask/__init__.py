"""``mars.contrib.dask``: programs of Dask on the default session."""

from .converter import convert_dask_collection
from .scheduler import mars_dask_get, mars_scheduler

__all__ = ["convert_dask_collection", "mars_dask_get", "mars_scheduler"]
