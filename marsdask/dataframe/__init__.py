"""pandas's vocabulary over runs of rows."""

from marsdask.core.collection import ExecutableTuple

from .concatenate import concat
from .create import from_pandas
from .dask_exchange import from_dask, from_delayed
from .frame import DataFrame
from .index import Index
from .merge import merge
from .series import Series

__all__ = [
    "DataFrame",
    "ExecutableTuple",
    "Index",
    "Series",
    "concat",
    "from_dask",
    "from_delayed",
    "from_pandas",
    "merge",
]
