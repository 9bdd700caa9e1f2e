"""Row groups of Parquet files: which there are, in which chunks, and how they are read."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from marsdask.core.compilation.sizing import LARGEST_BLOCK
from marsdask.core.node import Condition
from marsdask.core.sizes import Index, Sizes, numbers

from .files import Files, Storage, is_remote, open_file, reading
from .hive import Keys
from .range_labels import labels_of_runs


class RowGroup(NamedTuple):
    """One row group of one file."""

    file: int
    group: int
    first: int
    """The number of its first row among the rows of all files."""
    rows: int


class Cut(NamedTuple):
    """How row groups are put together to chunks."""

    groups: int | None = None
    """The most row groups of a chunk."""
    nbytes: float = LARGEST_BLOCK
    """The bytes of a chunk, if it has several row groups."""
    joins: bool = False
    """Whether a chunk may have row groups of several files."""


@dataclass(frozen=True)
class RowGroupsAt:
    """Gives each chunk its row groups."""

    groups: tuple[RowGroup, ...] = field(repr=False)
    sizes: Sizes

    @cached_property
    def _runs(self) -> list[tuple[RowGroup, ...]]:
        runs = []
        rest = iter(self.groups)
        for size in numbers(self.sizes):
            run: list[RowGroup] = []
            while sum(group.rows for group in run) < size:
                run.append(next(rest))
            runs.append(tuple(run))
        return runs

    def __call__(self, index: Index) -> tuple[tuple[RowGroup, ...]]:
        return (self._runs[index[0]],)


def footer(files: Files, number: int) -> Any:
    """Return the metadata of a file."""
    return _footer(files.paths[number], files.stamps[number], files.storage)


@lru_cache(maxsize=1024)
def _footer(path: str, stamp: Any, storage: Storage) -> Any:
    with reading(path, stamp, storage, "read_parquet"), _parquet_file(path, storage) as file:
        return file.metadata


def _parquet_file(
    path: str, storage: Storage, metadata: Any = None, codes: Sequence[str] = ()
) -> Any:
    import pyarrow.parquet as pq

    options = {"metadata": metadata, "read_dictionary": codes}
    if is_remote(path):
        return pq.ParquetFile(open_file(path, storage), pre_buffer=True, **options)
    return pq.ParquetFile(path, memory_map=True, **options)


#: Text with at most this many bytes per value in a file is dictionary-encoded.
CODE_BYTES = 8


def dictionary_columns(metadata: Any, groups: Sequence[int], labels: Container[str]) -> list[str]:
    """List the columns of text that a file has dictionary-encoded.

    Reading their codes and decoding these at once is faster than decoding one value at a time.
    """
    import pyarrow as pa

    kinds = {pa.string(), pa.large_string()}
    found = {field.name: field.type in kinds for field in metadata.schema.to_arrow_schema()}
    for group in map(metadata.row_group, groups):
        for column in map(group.column, range(group.num_columns)):
            spelled = column.total_uncompressed_size > CODE_BYTES * column.num_values
            if spelled or not column.has_dictionary_page:
                found[column.path_in_schema] = False
    return [name for name, is_coded in found.items() if is_coded and name in labels]


def empty_frame(files: Files, keys: Keys, backend: str | None = None) -> Any:
    """Return a frame of all columns without rows."""
    if keys.labels:
        table = footer(files, 0).schema.to_arrow_schema().empty_table()
        table = keys.added_to(table, 0, keys.labels)
        return table.to_pandas(types_mapper=types_of_backend(backend))
    return _empty_frame(files.paths[0], files.stamps[0], files.storage, backend).copy(deep=False)


@lru_cache(maxsize=1024)
def _empty_frame(path: str, stamp: Any, storage: Storage, backend: str | None) -> Any:
    """Return it as the file itself has it: each node of a source asks, and pandas takes 10 ms."""
    with reading(path, stamp, storage, "read_parquet"):
        table = _footer(path, stamp, storage).schema.to_arrow_schema().empty_table()
        return table.to_pandas(types_mapper=types_of_backend(backend))


@lru_cache
def types_of_backend(backend: str | None) -> Any:
    """Return the function from Arrow's types to those of a backend, ``None`` for NumPy's."""
    import pyarrow as pa

    if backend != "numpy_nullable":
        return pd.ArrowDtype if backend == "pyarrow" else None
    names = (*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),)
    types: dict[Any, Any] = {getattr(pa, one)(): pandas_dtype(_nullable(one)) for one in names}
    types |= {pa.float32(): pd.Float32Dtype(), pa.float64(): pd.Float64Dtype()}
    types |= {pa.bool_(): pd.BooleanDtype()}
    types |= dict.fromkeys([pa.string(), pa.large_string()], pd.StringDtype())
    return types.get


def _nullable(name: str) -> str:
    return name.replace("uint", "UInt").replace("int", "Int")


def read_groups(
    groups: tuple[RowGroup, ...],
    files: Files,
    columns: tuple[str, ...],
    filters: tuple[tuple[Condition, ...], ...],
    keys: Keys,
    like: Any,
    labels: pd.RangeIndex,
    gaps: tuple[str, ...],
    backend: str | None,
) -> Any:
    """Read row groups; columns of ``gaps`` have one type in all chunks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not groups:
        for number in range(len(files.paths)):
            with files.reading(number):
                pass
        return like
    schema = footer(files, 0).schema.to_arrow_schema()
    asked = (label for one in filters for label, _, _ in one)
    wanted = {*columns, *asked, *_label_columns(schema)}
    tables = []
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        chosen = [group.group for group in run]
        with files.reading(number):
            table = _table(files, number, chosen, wanted.difference(keys.labels), backend)
            table = of_schema(table, schema, wanted)
        tables.append(keys.added_to(table, number, wanted))
    # Text is of two types: that of a column which was read as codes is the larger one.
    table = pa.concat_tables(tables, promote_options="permissive")
    if filters:
        table = table.filter(pq.filters_to_expression([list(one) for one in filters]))
    types = types_of_backend(backend)
    frame = table.to_pandas(use_threads=False, types_mapper=types)[list(columns)]
    if isinstance(frame.index, pd.RangeIndex):
        runs = [(group.first, group.rows) for group in groups]
        frame.index = pd.RangeIndex(len(frame)) if filters else labels_of_runs(labels, runs)
    return frame.astype({one: like.dtypes[one] for one in gaps}) if gaps else frame


def _table(
    files: Files, number: int, groups: Sequence[int], wanted: Collection[str], backend: str | None
) -> Any:
    """Return columns of row groups of a file, and its columns of row labels."""
    import pyarrow as pa

    data = footer(files, number)
    codes = dictionary_columns(data, groups, wanted) if backend is None else []
    with _parquet_file(files.paths[number], files.storage, data, codes) as file:
        table = file.read_row_groups(
            groups, columns=sorted(wanted), use_threads=False, use_pandas_metadata=True
        )
    for label in codes:
        text = table.column(label).cast(pa.large_string())
        table = table.set_column(table.schema.get_field_index(label), label, text)
    return table


def check_files(files: Files, columns: Collection[str]) -> None:
    """Read columns of all files as pandas does, and raise its error where one cannot be read."""
    for number in range(len(files.paths)):
        with files.reading(number):
            for group in range(footer(files, number).num_row_groups):
                _table(files, number, [group], columns, None)


def of_schema(table: Any, schema: Any, wanted: Container[str]) -> Any:
    """Return a file's rows in the types of the first file, as pandas does.

    Columns that the file lacks are missing values. A value that the type does not hold raises.
    """
    import pyarrow as pa

    for place, (name, column) in enumerate(zip(table.schema.names, table.columns, strict=True)):
        at = schema.get_field_index(name)
        if at >= 0 and _differ(column.type, schema.field(at).type):
            table = table.set_column(place, name, column.cast(schema.field(at).type))
    for name in schema.names:
        if name in wanted and name not in table.schema.names:
            column = pa.nulls(table.num_rows, schema.field(name).type)
            table = table.append_column(name, column)
    # Arrow forgets how many rows a table without columns has.
    return table.replace_schema_metadata(schema.metadata) if table.num_columns else table


def _label_columns(schema: Any) -> list[str]:
    """Return the columns of a file that are row labels in pandas."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return [one for one in stored if isinstance(one, str)]


def _differ(kind: Any, wanted: Any) -> bool:
    """Tell whether pandas's types differ."""
    import pyarrow as pa

    texts = {pa.string(), pa.large_string()}
    codes = pa.types.is_dictionary(kind) and pa.types.is_dictionary(wanted)
    return kind != wanted and not codes and not {kind, wanted} <= texts


def with_gaps(dtype: Any) -> Any:
    """Return the type of a column of numbers or booleans with missing values."""
    return np.dtype(object) if dtype.kind == "b" else np.dtype(float)


def columns_with_gaps(
    files: Files, groups: Sequence[RowGroup], frame: Any
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the columns with missing values whose type has no missing value.

    The second list has the columns for which this is unknown: some file has no statistics.
    """
    open_ = [
        label
        for label, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and dtype.kind in "iub"
    ]
    found: dict[str, None] = {}
    unclear: dict[str, None] = {}
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        data = footer(files, number)
        names = data.schema.to_arrow_schema().names if open_ else []
        for group in run if data.num_columns == len(names) else ():
            for label in [one for one in open_ if one not in found]:
                if label not in names:
                    found[label] = None
                    continue
                statistics = data.row_group(group.group).column(names.index(label)).statistics
                if statistics is None or not statistics.has_null_count:
                    unclear[label] = None
                elif statistics.null_count:
                    found[label] = None
    return tuple(found), tuple(label for label in unclear if label not in found)


def groups_of(files: Files, cut: Cut) -> tuple[tuple[RowGroup, ...], Sizes]:
    """List the nonempty row groups, and the number of rows of each chunk."""
    groups: list[RowGroup] = []
    sizes: list[int] = []
    first = count = 0
    room = 0.0
    for number in range(len(files.paths)):
        data = footer(files, number)
        if not cut.joins:
            room = 0
        for position in range(data.num_row_groups):
            group = data.row_group(position)
            if not group.num_rows:
                continue
            groups.append(RowGroup(number, position, first, group.num_rows))
            first += group.num_rows
            if not sizes or group.total_byte_size > room or count == cut.groups:
                sizes.append(0)
                room, count = cut.nbytes, 0
            sizes[-1] += group.num_rows
            room -= group.total_byte_size
            count += 1
    return tuple(groups), tuple(sizes) or (0,)
