"""Lazy DataFrames, Series and indexes in chunks of rows, with the names of pandas."""

from pandas import (
    NA,
    ArrowDtype,
    BooleanDtype,
    Categorical,
    CategoricalDtype,
    CategoricalIndex,
    DateOffset,
    DatetimeIndex,
    DatetimeTZDtype,
    Float32Dtype,
    Float64Dtype,
    Grouper,
    IndexSlice,
    Int8Dtype,
    Int16Dtype,
    Int32Dtype,
    Int64Dtype,
    Interval,
    IntervalDtype,
    IntervalIndex,
    MultiIndex,
    NamedAgg,
    NaT,
    Period,
    PeriodDtype,
    PeriodIndex,
    RangeIndex,
    SparseDtype,
    StringDtype,
    Timedelta,
    TimedeltaIndex,
    Timestamp,
    UInt8Dtype,
    UInt16Dtype,
    UInt32Dtype,
    UInt64Dtype,
    api,
    array,
    describe_option,
    errors,
    get_option,
    infer_freq,
    offsets,
    option_context,
    options,
    reset_option,
    set_option,
    testing,
)

from marsdask.core.collection import ExecutableTuple

from .accessors.extension_values import unique
from .create import from_pandas
from .elementwise.expressions import evaluate_variables as eval
from .elementwise.values import isna, notna
from .frame import DataFrame
from .index import Index
from .io.csv import read_csv
from .io.dask_frames import from_dask, from_dask_dataframe, from_delayed
from .io.json import read_json
from .io.pandas_readers import (
    json_normalize,
    read_clipboard,
    read_excel,
    read_hdf,
    read_html,
    read_pickle,
    read_sas,
    read_spss,
    read_stata,
    read_xml,
)
from .io.parquet import read_parquet
from .io.sql import read_sql, read_sql_query, read_sql_table
from .io.text import read_fwf, read_table
from .io.whole_files import read_feather, read_orc
from .keyed.join import merge
from .keyed.merge_asof import merge_asof, merge_ordered
from .partitions.from_map import from_array, from_dask_array, from_dict, from_map
from .partitions.map_partitions import map_partitions
from .partitions.random_split import map_overlap, repartition
from .reduction.custom_reduction import CustomReduction
from .reshape.categories import cut, factorize, from_dummies, get_dummies, qcut
from .reshape.concat import concat
from .reshape.conversions import to_datetime, to_numeric, to_timedelta
from .reshape.crosstab import crosstab
from .reshape.melt import melt
from .reshape.pivot import pivot, pivot_table
from .reshape.ranges import (
    bdate_range,
    date_range,
    interval_range,
    period_range,
    timedelta_range,
)
from .reshape.wide_to_long import lreshape, wide_to_long
from .series import Series

#: Aliases, as in pandas.
isnull = isna
notnull = notna

#: As in Mars.
from_records = DataFrame.from_records

__all__ = [
    "NA",
    "ArrowDtype",
    "BooleanDtype",
    "Categorical",
    "CategoricalDtype",
    "CategoricalIndex",
    "CustomReduction",
    "DataFrame",
    "DateOffset",
    "DatetimeIndex",
    "DatetimeTZDtype",
    "ExecutableTuple",
    "Float32Dtype",
    "Float64Dtype",
    "Grouper",
    "Index",
    "IndexSlice",
    "Int8Dtype",
    "Int16Dtype",
    "Int32Dtype",
    "Int64Dtype",
    "Interval",
    "IntervalDtype",
    "IntervalIndex",
    "MultiIndex",
    "NaT",
    "NamedAgg",
    "Period",
    "PeriodDtype",
    "PeriodIndex",
    "RangeIndex",
    "Series",
    "SparseDtype",
    "StringDtype",
    "Timedelta",
    "TimedeltaIndex",
    "Timestamp",
    "UInt8Dtype",
    "UInt16Dtype",
    "UInt32Dtype",
    "UInt64Dtype",
    "api",
    "array",
    "bdate_range",
    "concat",
    "crosstab",
    "cut",
    "date_range",
    "describe_option",
    "errors",
    "eval",
    "factorize",
    "from_array",
    "from_dask",
    "from_dask_array",
    "from_dask_dataframe",
    "from_delayed",
    "from_dict",
    "from_dummies",
    "from_map",
    "from_pandas",
    "from_records",
    "get_dummies",
    "get_option",
    "infer_freq",
    "interval_range",
    "isna",
    "isnull",
    "json_normalize",
    "lreshape",
    "map_overlap",
    "map_partitions",
    "melt",
    "merge",
    "merge_asof",
    "merge_ordered",
    "notna",
    "notnull",
    "offsets",
    "option_context",
    "options",
    "period_range",
    "pivot",
    "pivot_table",
    "qcut",
    "read_clipboard",
    "read_csv",
    "read_excel",
    "read_feather",
    "read_fwf",
    "read_hdf",
    "read_html",
    "read_json",
    "read_orc",
    "read_parquet",
    "read_pickle",
    "read_sas",
    "read_spss",
    "read_sql",
    "read_sql_query",
    "read_sql_table",
    "read_stata",
    "read_table",
    "read_xml",
    "repartition",
    "reset_option",
    "set_option",
    "testing",
    "timedelta_range",
    "to_datetime",
    "to_numeric",
    "to_timedelta",
    "unique",
    "wide_to_long",
]


def __dir__() -> list[str]:
    return __all__
