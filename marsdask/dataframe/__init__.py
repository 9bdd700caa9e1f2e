"""Lazy DataFrames, Series and indexes in chunks of rows, with the names of pandas."""

from marsdask.core.collection import ExecutableTuple

from .create import from_pandas
from .frame import DataFrame
from .index import Index
from .io.csv import read_csv
from .io.dask_frames import from_dask, from_dask_dataframe, from_delayed
from .io.parquet import read_parquet
from .keyed.join import merge
from .keyed.unique import unique
from .partitions.from_map import from_array, from_dask_array, from_dict, from_map
from .partitions.map_partitions import map_partitions
from .reshape.concat import concat
from .reshape.conversions import cut, get_dummies, to_datetime, to_numeric
from .series import Series

__all__ = [
    "DataFrame",
    "ExecutableTuple",
    "Index",
    "Series",
    "concat",
    "cut",
    "from_array",
    "from_dask",
    "from_dask_array",
    "from_dask_dataframe",
    "from_delayed",
    "from_dict",
    "from_map",
    "from_pandas",
    "get_dummies",
    "map_partitions",
    "merge",
    "read_csv",
    "read_parquet",
    "to_datetime",
    "to_numeric",
    "unique",
]


def __dir__() -> list[str]:
    return __all__
