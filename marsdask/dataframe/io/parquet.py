"""Read Parquet lazily, with row groups as chunks: only needed columns and groups. Write it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.compilation.sizing import LARGEST_BLOCK
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Condition, Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, Index, Sizes, numbers, unknown_sizes
from marsdask.core.tokens import token
from marsdask.core.traits import Traits

from ..frame_node import FrameNode, is_numbered
from ..ordered.row_numbers import reset_index
from ..relations.relation import Table
from ..relations.scans import scan
from .files import (
    LOCAL,
    Files,
    Storage,
    expand_paths,
    folder_of,
    is_remote,
    looked_at,
    make_folder,
    open_file,
)
from .hive import NO_KEYS, Keys, keys_of
from .range_labels import labels_of_runs, stored_range

if TYPE_CHECKING:
    from ..frame import DataFrame


class RowGroup(NamedTuple):
    """One row group of one file."""

    file: int
    group: int
    first: int
    """The number of its first row among the rows of all files."""
    rows: int


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


@dataclass(frozen=True, eq=False)
class ReadParquet(FrameNode):
    """The rows of some row groups of parquet files."""

    files: Files
    columns: tuple[str, ...]
    groups: tuple[RowGroup, ...] = field(repr=False)
    sizes: Sizes
    filters: tuple[tuple[Condition, ...], ...] = ()
    """Keep rows that meet all conditions of any of these tuples."""
    keys: Keys = NO_KEYS
    gaps: tuple[str, ...] = ()
    """Columns of numbers or booleans with missing values in some file."""
    unclear: tuple[str, ...] = ()
    """Such columns without statistics: their chunks keep the types that are read."""

    @property
    def meta(self) -> Any:
        frame = empty_frame(self.files, self.keys)[list(self.columns)]
        if isinstance(frame.index, pd.RangeIndex):
            frame.index = self._labels[:0]
        return frame.astype(
            {
                one: with_gaps(frame.dtypes[one])
                for one in (*self.gaps, *self.unclear)
                if one in frame
            }
        )

    @property
    def _labels(self) -> pd.RangeIndex:
        """The labels of all rows of the files, if they have no columns of labels."""
        footers = [footer(self.files, number) for number in range(len(self.files.paths))]
        return pd.RangeIndex(0) if self.filters else stored_range(footers)

    @property
    def settled(self) -> bool:
        """Whether the types are final: filters, or absent statistics, leave missing values open."""
        return not (self.gaps and self.filters) and not {*self.unclear} & {*self.columns}

    @property
    def traits(self) -> Traits:
        """The rows do not depend on the columns that are read."""
        return Traits(f"parquet:{token(self.files, self.filters)}")

    @property
    def chunks(self) -> Chunks:
        if self.filters:
            name = f"{self.alignment}:{token(self.sizes)}"
            return (unknown_sizes(name, numbers(self.sizes)),)
        return (self.sizes,)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        del inputs
        files = self.files
        plain = not self.filters and not self.keys.labels and self.groups
        index = self.meta.index
        numbered = isinstance(index, pd.RangeIndex) and index.name is None
        if not (plain and numbered) or any(map(is_remote, files.paths)):
            return None
        if not is_numbered(self._labels):
            return None
        footers = [footer(files, number) for number in range(len(files.paths))]
        return scan(files.paths, files.stamps, footers, self.meta.dtypes, self.unclear)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {
            "files": self.files,
            "columns": self.columns,
            "filters": self.filters,
            "keys": self.keys,
            "like": self.meta,
            "labels": self._labels,
            # With filters, only reading shows which columns have missing values.
            "gaps": () if self.filters else tuple(x for x in self.gaps if x in self.columns),
        }
        rule = Blockwise(read_groups, kwargs=kwargs, varying=RowGroupsAt(self.groups, self.sizes))
        return self.grid(rule, self.chunks[0])

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node | None:
        return self.replaced(sizes=new[self.sizes]) if self.sizes in new else None

    def narrowed(self, columns: frozenset[Any]) -> Node:
        # A table without columns would lose the number of its rows.
        fewer = tuple(one for one in self.columns if one in columns) or self.columns[:1]
        return self if fewer == self.columns else self.replaced(columns=fewer)

    def skipping(self, conditions: Sequence[Condition]) -> Node:
        """Return a source without the row groups in which no row meets all conditions."""
        kept = tuple(group for group in self.groups if not self._excluded(group, conditions))
        if len(kept) == len(self.groups):
            return self
        at = RowGroupsAt(self.groups, self.sizes)
        runs = [[one for one in at((i,))[0] if one in set(kept)] for i in range(len(self.sizes))]
        sizes = tuple(sum(one.rows for one in run) for run in runs)
        return self.replaced(groups=kept, sizes=tuple(filter(None, sizes)) or (0,))

    def _excluded(self, group: RowGroup, conditions: Sequence[Condition]) -> bool:
        file = footer(self.files, group.file)
        names = file.schema.to_arrow_schema().names
        for label, operator, value in conditions:
            if label in self.keys.labels:
                only = self.keys.value(label, group.file)
                bounds = None if only is None else (only, only)
            elif label in names and file.num_columns == len(names):
                found = file.row_group(group.group).column(names.index(label)).statistics
                bounds = (found.min, found.max) if found is not None and found.has_min_max else None
            else:
                continue
            if bounds is not None and _excludes(*bounds, operator, value):
                return True
        return False


def _excludes(least: Any, largest: Any, operator: str, value: Any) -> bool:
    """Tell whether no value between the least and the largest meets a condition."""
    try:
        excluded: bool = {
            "==": least > value or largest < value,
            "<": least >= value,
            "<=": least > value,
            ">": largest <= value,
            ">=": largest < value,
        }.get(operator, False)
    except TypeError:
        return False
    return excluded


def footer(files: Files, number: int) -> Any:
    """Return the metadata of a file."""
    return _footer(files.paths[number], files.stamps[number], files.storage)


@lru_cache(maxsize=1024)
def _footer(path: str, stamp: Any, storage: Storage) -> Any:
    del stamp
    with _parquet_file(path, storage) as file:
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


def empty_frame(files: Files, keys: Keys) -> Any:
    """Return a frame of all columns without rows."""
    table = footer(files, 0).schema.to_arrow_schema().empty_table()
    return keys.added_to(table, 0, keys.labels).to_pandas()


def read_groups(
    groups: tuple[RowGroup, ...],
    files: Files,
    columns: tuple[str, ...],
    filters: tuple[tuple[Condition, ...], ...],
    keys: Keys,
    like: Any,
    labels: pd.RangeIndex,
    gaps: tuple[str, ...],
) -> Any:
    """Read row groups; columns of ``gaps`` have one type in all chunks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not groups:
        return like
    wanted = {*columns, *(label for one in filters for label, _, _ in one)}
    tables = []
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        data, chosen = footer(files, number), [group.group for group in run]
        codes = dictionary_columns(data, chosen, wanted)
        with _parquet_file(files.paths[number], files.storage, data, codes) as file:
            table = file.read_row_groups(
                chosen,
                columns=sorted(wanted.difference(keys.labels)),
                use_threads=False,
                use_pandas_metadata=True,
            )
        for label in codes:
            text = table.column(label).cast(pa.large_string())
            table = table.set_column(table.schema.get_field_index(label), label, text)
        tables.append(keys.added_to(table, number, wanted))
    table = pa.concat_tables(tables, promote_options="default")
    if filters:
        table = table.filter(pq.filters_to_expression([list(one) for one in filters]))
    frame = table.to_pandas(use_threads=False)[list(columns)]
    if isinstance(frame.index, pd.RangeIndex):
        runs = [(group.first, group.rows) for group in groups]
        frame.index = pd.RangeIndex(len(frame)) if filters else labels_of_runs(labels, runs)
    return frame.astype({one: like.dtypes[one] for one in gaps}) if gaps else frame


def with_gaps(dtype: Any) -> Any:
    """Return the type of a column of numbers or booleans with missing values."""
    return np.dtype(object) if dtype.kind == "b" else np.dtype(float)


def _with_gaps(
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
            for label in [one for one in open_ if one in names and one not in found]:
                statistics = data.row_group(group.group).column(names.index(label)).statistics
                if statistics is None or not statistics.has_null_count:
                    unclear[label] = None
                elif statistics.null_count:
                    found[label] = None
    return tuple(found), tuple(label for label in unclear if label not in found)


def _groups_of(files: Files, *, each: bool) -> tuple[tuple[RowGroup, ...], Sizes]:
    """List the nonempty row groups, and the number of rows of each chunk."""
    groups: list[RowGroup] = []
    sizes: list[int] = []
    first = 0
    for number in range(len(files.paths)):
        data = footer(files, number)
        room = 0
        for position in range(data.num_row_groups):
            group = data.row_group(position)
            if not group.num_rows:
                continue
            groups.append(RowGroup(number, position, first, group.num_rows))
            first += group.num_rows
            if each or group.total_byte_size > room:
                sizes.append(0)
                room = LARGEST_BLOCK
            sizes[-1] += group.num_rows
            room -= group.total_byte_size
    return tuple(groups), tuple(sizes) or (0,)


@public_call
def read_parquet(
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    groups_as_chunks: bool = False,
    engine: str = "auto",
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return a frame over parquet files: a path, a URL, a pattern, a folder or a list of these.

    Folder names such as ``year=2024`` become columns, as in pyarrow. Only the files' footers are
    read at once. Rows are numbered over all files unless the files have row labels.
    ``filters`` are those of pyarrow: a row must meet all conditions (column, operator, value) of a
    list, or of any list in a list of lists.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    columns : sequence of str, optional
        Which columns to read; by default those that the program needs.
    filters : list, optional
        Which rows to read.
    groups_as_chunks : bool
        Whether each row group is a partition of its own.
    engine : {"auto", "pyarrow"}
        The library that reads the files.
    storage_options : mapping, optional
        Options of the filesystem.

    Returns
    -------
    DataFrame
        A frame that reads the files when it is computed.

    Raises
    ------
    NotImplementedError
        If ``engine`` is another one.
    KeyError
        If a column is not in the files.

    Examples
    --------
    >>> frame = md.read_parquet("data/*.parquet", columns=["a"])  # doctest: +SKIP
    """
    if engine not in {"auto", "pyarrow"}:
        raise NotImplementedError(f"engine={engine!r} is not supported; use engine='pyarrow'")
    storage = Storage(storage_options) if storage_options else LOCAL
    files = looked_at(expand_paths(path, storage), storage)
    keys = keys_of(files, folder_of(path, storage))
    groups, sizes = _groups_of(files, each=groups_as_chunks)
    every = tuple(empty_frame(files, keys).columns)
    chosen = every if columns is None else tuple(columns)
    if missing := [one for one in chosen if one not in every]:
        raise KeyError(f"columns {missing} are not in {files.paths[0]}, which has {list(every)}")
    gaps, unclear = _with_gaps(files, groups, empty_frame(files, keys)[list(chosen)])
    node: Node = ReadParquet(files, chosen, groups, sizes, _normal(filters), keys, gaps, unclear)
    frame: DataFrame = wrap(node)
    if filters and isinstance(node.meta.index, pd.RangeIndex):
        return reset_index(frame, drop=True)
    return frame


def _normal(filters: Any) -> tuple[tuple[Condition, ...], ...]:
    if not filters:
        return ()
    if isinstance(filters[0], tuple) and isinstance(filters[0][0], str):
        filters = [filters]
    return tuple(
        tuple((a, b, tuple(c) if isinstance(c, list | set) else c) for a, b, c in one)
        for one in filters
    )


@dataclass(frozen=True)
class PathAt:
    """Gives each chunk the path of its file."""

    pattern: str

    def __call__(self, index: Index) -> tuple[str]:
        return (self.pattern.replace("*", f"{index[0]:06d}"),)


@dataclass(frozen=True, eq=False)
class WriteParquet(FrameNode):
    """Writes one file for each chunk; has one row per file: its path and number of rows."""

    pins_grid = True

    a: Node
    pattern: str
    options: tuple[tuple[str, Any], ...]
    storage: Storage

    @property
    def meta(self) -> Any:
        return pd.DataFrame({"path": pd.Series([], dtype="str"), "rows": pd.Series([], dtype=int)})

    @property
    def chunks(self) -> Chunks:
        return ((1,) * len(self.a.chunks[0]),)

    def tile(self, a: Grid) -> Grid:
        kwargs = {"options": self.options, "storage": self.storage}
        rule = Blockwise(write_file, (a,), ((0,),), kwargs, PathAt(self.pattern))
        return self.grid(rule, (1,) * len(a))


def write_file(
    block: Any, path: str, options: tuple[tuple[str, Any], ...], storage: Storage
) -> Any:
    """Write one chunk; a file gets its name when it is complete."""
    if is_remote(path):
        block.to_parquet(path, storage_options=storage.options, **dict(options))
    else:
        partial = f"{path}.part"
        block.to_parquet(partial, **dict(options))
        os.replace(partial, path)
    return pd.DataFrame({"path": [path], "rows": [len(block)]})


def to_parquet(
    frame: Any,
    path: Any,
    *,
    compute: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame:
    """Write one Parquet file for each chunk: into a folder, or where a pattern has ``*``.

    Folders may be URLs. Returns a frame of the paths and their numbers of rows.
    """
    if options.get("partition_cols"):
        raise NotImplementedError(
            "to_parquet(partition_cols=) is not supported; use to_parquet() for each value"
        )
    storage = Storage(storage_options) if storage_options else LOCAL
    name = os.fspath(path)
    if "*" not in name:
        name = os.path.join(name, "part-*.parquet")
    make_folder(os.path.dirname(name) or ".", storage)
    result: DataFrame = wrap(
        WriteParquet(frame.node, name, tuple(sorted(options.items())), storage)
    )
    return result.execute() if compute else result
