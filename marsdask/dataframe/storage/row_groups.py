"""Row groups of Parquet files: which there are, in which chunks, and how they are read."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.machine.sizing import LARGEST_BLOCK
from marsdask.core.node import Condition
from marsdask.core.sizes import Index, Sizes, numbers

from .files import Files
from .parquet_files.dictionaries import with_categories
from .parquet_files.drift import of_schema
from .parquet_files.footers import footer, parquet_file
from .parquet_files.layout import ParquetLayout, types_of_backend
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
        groups = iter(self.groups)
        for size in numbers(self.sizes):
            run: list[RowGroup] = []
            while sum(group.rows for group in run) < size:
                run.append(next(groups))
            runs.append(tuple(run))
        return runs

    def __call__(self, index: Index) -> tuple[tuple[RowGroup, ...]]:
        return (self._runs[index[0]],)


#: Text with at most this many bytes per value in a file is dictionary-encoded.
CODE_BYTES = 8


def dictionary_columns(metadata: Any, groups: Sequence[int], labels: Container[str]) -> list[str]:
    """List the columns of text that a file has dictionary-encoded.

    Reading their codes and decoding these at once is faster than decoding one value at a time.
    """
    import pyarrow as pa

    kinds = {pa.string(), pa.large_string()}
    flags = {field.name: field.type in kinds for field in metadata.schema.to_arrow_schema()}
    for group in map(metadata.row_group, groups):
        for column in map(group.column, range(group.num_columns)):
            spelled = column.total_uncompressed_size > CODE_BYTES * column.num_values
            if spelled or not column.has_dictionary_page:
                flags[column.path_in_schema] = False
    return [name for name, is_coded in flags.items() if is_coded and name in labels]


def read_groups(
    groups: tuple[RowGroup, ...],
    layout: ParquetLayout,
    schema: Any,
    names: tuple[str, ...],
    filters: tuple[tuple[Condition, ...], ...],
    like: Any,
    labels: pd.RangeIndex,
    gaps: tuple[Any, ...],
) -> Any:
    """Read row groups; columns of ``gaps`` have one type in all chunks.

    ``names`` are those of the columns in the files; ``like`` has the labels in their place.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files, keys = layout.files, layout.keys
    if not groups:
        for number in range(len(files.paths)):
            with files.reading(number):
                pass
        return like.copy()  # what is declared refuses writes
    filter_names = (name for item in filters for name, _, _ in item)
    columns = tuple(dict.fromkeys((*names, *filter_names, *layout.labels)))
    inside = tuple(name for name in columns if name not in keys.labels)
    tables = []
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        positions = [group.group for group in run]
        with files.reading(number):
            table = _table(files, number, positions, inside, layout.backend)
        table = of_schema(table, schema, inside, files.paths[number])
        tables.append(keys.added_to(table, number, columns))
    # Text is of two types: that of a column which was read as codes is the larger one.
    table = pa.concat_tables(tables, promote_options="permissive")
    if filters:
        table = table.filter(pq.filters_to_expression([list(item) for item in filters]))
    table = with_categories(table, schema, layout.categories)
    table = table.select(list(dict.fromkeys((*names, *layout.labels))))
    types = types_of_backend(layout.backend)
    frame = table.to_pandas(use_threads=False, types_mapper=types)
    frame.columns = like.columns
    if isinstance(frame.index, pd.RangeIndex):
        runs = [(group.first, group.rows) for group in groups]
        frame.index = pd.RangeIndex(len(frame)) if filters else labels_of_runs(labels, runs)
    return frame.astype({item: like.dtypes[item] for item in gaps}) if gaps else frame


def _table(
    files: Files, number: int, groups: Sequence[int], wanted: Collection[str], backend: str | None
) -> Any:
    """Return columns of row groups of a file, and its columns of row labels."""
    import pyarrow as pa

    data = footer(files, number)
    codes = dictionary_columns(data, groups, wanted) if backend is None else []
    with parquet_file(files.paths[number], files.storage, data, codes) as file:
        table = file.read_row_groups(groups, columns=sorted(wanted), use_threads=False)
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


def with_gaps(dtype: Any) -> Any:
    """Return the type of a column of numbers or booleans with missing values."""
    return np.dtype(object) if dtype.kind == "b" else np.dtype(float)


def columns_with_gaps(
    layout: ParquetLayout, groups: Sequence[RowGroup], frame: Any
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    """List the columns with missing values whose type has no missing value.

    The second list has the columns for which this is unknown: some file has no statistics.
    """
    labels = [
        label
        for label, dtype in frame.dtypes.items()
        if isinstance(dtype, np.dtype) and dtype.kind in "iub"
    ]
    gaps: dict[Hashable, None] = {}
    unclear: dict[Hashable, None] = {}
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        data = footer(layout.files, number)
        names = data.schema.to_arrow_schema().names if labels else []
        for group in run if data.num_columns == len(names) else ():
            for label in [key for key in labels if key not in gaps]:
                (name,) = layout.names_of([label])
                if name not in names:
                    gaps[label] = None
                    continue
                statistics = data.row_group(group.group).column(names.index(name)).statistics
                if statistics is None or not statistics.has_null_count:
                    unclear[label] = None
                elif statistics.null_count:
                    gaps[label] = None
    return tuple(gaps), tuple(label for label in unclear if label not in gaps)


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
