"""pandas's vocabulary over runs of rows."""

from marsdask.core.collection import ExecutableTuple

from . import pushdown  # noqa: F401  (registers its passes)
from .concatenate import concat
from .create import from_pandas
from .csv import read_csv
from .dask_exchange import from_dask, from_delayed
from .frame import DataFrame
from .index import Index
from .merge import merge
from .parquet import read_parquet
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
    "read_csv",
    "read_parquet",
]
