"""Parquet: row groups as chunks, read lazily, only the columns and groups that are needed."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.chunk import Grid
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import Blockwise
from marsdask.core.tokens import token
from marsdask.core.types import Chunks, Index, Sizes, numbers, unknown_sizes

from .base import FrameNode
from .numbering import reset_index

#: Row groups of a file are read together up to this many bytes.
CHUNK_BYTES = 64 * 2**20

#: A condition on a column: label, operator, value.
Condition = tuple[str, str, Any]


class Group(NamedTuple):
    """One row group of one file."""

    file: int
    group: int
    first: int
    """The number of its first row among all files' rows."""
    rows: int


@dataclass(frozen=True)
class Files:
    """Files of one schema, as they were when they were first looked at."""

    paths: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]
    """Time of change and bytes of each: a file that changed is another source."""


@dataclass(frozen=True)
class PiecesAt:
    """Gives each chunk the row groups it is made of."""

    groups: tuple[Group, ...] = field(repr=False)
    sizes: Sizes

    @cached_property
    def _runs(self) -> list[tuple[Group, ...]]:
        runs = []
        rest = iter(self.groups)
        for size in numbers(self.sizes):
            run: list[Group] = []
            while sum(group.rows for group in run) < size:
                run.append(next(rest))
            runs.append(tuple(run))
        return runs

    def __call__(self, index: Index) -> tuple[tuple[Group, ...]]:
        return (self._runs[index[0]],)


@dataclass(frozen=True, eq=False)
class ReadParquet(FrameNode):
    """The rows of some row groups of parquet files."""

    files: Files
    columns: tuple[str, ...]
    groups: tuple[Group, ...] = field(repr=False)
    sizes: Sizes
    filters: tuple[tuple[Condition, ...], ...] = ()
    """Rows to keep: any of these, each all of its conditions."""

    @cached_property
    def meta(self) -> Any:
        schema = footer(self.files.paths[0], self.files.stamps[0]).schema.to_arrow_schema()
        empty = schema.empty_table().to_pandas()
        return empty[list(self.columns)]

    @property
    def alignment(self) -> str:
        """The rows are the same whichever columns are read."""
        return f"parquet:{token(self.files, self.filters)}"

    @property
    def chunks(self) -> Chunks:
        if self.filters:
            name = f"{self.alignment}:{token(self.sizes)}"
            return (unknown_sizes(name, numbers(self.sizes)),)
        return (self.sizes,)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {
            "files": self.files,
            "columns": self.columns,
            "filters": self.filters,
            "like": self.meta,
        }
        rule = Blockwise(read_groups, kwargs=kwargs, varying=PiecesAt(self.groups, self.sizes))
        return self.grid(rule, self.chunks[0])

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node | None:
        return self.replaced(sizes=new[self.sizes]) if self.sizes in new else None

    def narrowed(self, wanted: frozenset[Any]) -> Node:
        """Return a source of those columns only."""
        # Without any column a table would not know how many rows it has.
        columns = tuple(one for one in self.columns if one in wanted) or self.columns[:1]
        return self if columns == self.columns else self.replaced(columns=columns)

    def skipping(self, conditions: Sequence[Condition]) -> Node:
        """Return a source without the row groups in which no row meets all conditions."""
        kept = tuple(group for group in self.groups if not self._excluded(group, conditions))
        if len(kept) == len(self.groups):
            return self
        at = PiecesAt(self.groups, self.sizes)
        runs = [[one for one in at((i,))[0] if one in set(kept)] for i in range(len(self.sizes))]
        sizes = tuple(sum(one.rows for one in run) for run in runs)
        return self.replaced(groups=kept, sizes=tuple(filter(None, sizes)) or (0,))

    def _excluded(self, group: Group, conditions: Sequence[Condition]) -> bool:
        file = footer(self.files.paths[group.file], self.files.stamps[group.file])
        names = file.schema.to_arrow_schema().names
        for label, operator, value in conditions:
            if label in names and file.num_columns == len(names):
                column = file.row_group(group.group).column(names.index(label))
                if _excludes(column.statistics, operator, value):
                    return True
        return False


def _excludes(statistics: Any, operator: str, value: Any) -> Any:
    """Tell whether a column's least and largest value say that no row meets a condition."""
    if statistics is None or not statistics.has_min_max:
        return False
    try:
        return {
            "==": statistics.min > value or statistics.max < value,
            "<": statistics.min >= value,
            "<=": statistics.min > value,
            ">": statistics.max <= value,
            ">=": statistics.max < value,
        }.get(operator, False)
    except TypeError:
        return False


@lru_cache(maxsize=1024)
def footer(path: str, stamp: tuple[int, int]) -> Any:
    """Return the metadata of a file."""
    import pyarrow.parquet as pq

    del stamp
    with pq.ParquetFile(path, memory_map=True) as file:
        return file.metadata


def read_groups(
    groups: tuple[Group, ...],
    files: Files,
    columns: tuple[str, ...],
    filters: tuple[tuple[Condition, ...], ...],
    like: Any,
) -> Any:
    """Read row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not groups:
        return like
    wanted = {*columns, *(label for one in filters for label, _, _ in one)}
    tables = []
    for number, run in itertools.groupby(groups, key=lambda group: group.file):
        with pq.ParquetFile(files.paths[number], memory_map=True) as file:
            chosen = [group.group for group in run]
            tables.append(
                file.read_row_groups(
                    chosen, columns=sorted(wanted), use_threads=False, use_pandas_metadata=True
                )
            )
    table = pa.concat_tables(tables, promote_options="default")
    if filters:
        table = table.filter(pq.filters_to_expression([list(one) for one in filters]))
    frame = table.to_pandas(use_threads=False)[list(columns)]
    if isinstance(frame.index, pd.RangeIndex):
        frame.index = _row_numbers(groups) if not filters else pd.RangeIndex(len(frame))
    return frame


def _row_numbers(groups: Sequence[Group]) -> Any:
    first, last = groups[0], groups[-1]
    stop = last.first + last.rows
    if stop - first.first == sum(group.rows for group in groups):
        return pd.RangeIndex(first.first, stop)
    return pd.Index(np.concatenate([np.arange(g.first, g.first + g.rows) for g in groups]))


def expanded(path: Any) -> tuple[str, ...]:
    """Return the files that a path, a pattern, a folder or a list of them names."""
    if isinstance(path, list | tuple):
        return tuple(itertools.chain.from_iterable(map(expanded, path)))
    name = os.fspath(path)
    if "://" in name:
        raise NotImplementedError("only files of this machine are read; mount or copy the others")
    if os.path.isdir(name):
        inside = (os.path.join(name, one) for one in sorted(os.listdir(name)))
        found = tuple(one for one in inside if not os.path.basename(one).startswith(("_", ".")))
        if any(map(os.path.isdir, found)):
            raise NotImplementedError("folders of partitions: read each with its own path")
    else:
        found = tuple(sorted(glob.glob(name))) if glob.has_magic(name) else (name,)
    if not found:
        raise FileNotFoundError(f"no file matches {name!r}")
    return found


def looked_at(paths: tuple[str, ...]) -> Files:
    """Return the files with the marks by which a change is noticed."""
    status = [os.stat(path) for path in paths]
    return Files(paths, tuple((one.st_mtime_ns, one.st_size) for one in status))


def _groups_of(files: Files, *, each: bool) -> tuple[tuple[Group, ...], Sizes]:
    """List the row groups that have rows, and how many rows go into each chunk."""
    groups: list[Group] = []
    sizes: list[int] = []
    first = 0
    for number, (path, stamp) in enumerate(zip(files.paths, files.stamps, strict=True)):
        data = footer(path, stamp)
        room = 0
        for position in range(data.num_row_groups):
            group = data.row_group(position)
            if not group.num_rows:
                continue
            groups.append(Group(number, position, first, group.num_rows))
            first += group.num_rows
            if each or group.total_byte_size > room:
                sizes.append(0)
                room = CHUNK_BYTES
            sizes[-1] += group.num_rows
            room -= group.total_byte_size
    return tuple(groups), tuple(sizes) or (0,)


def read_parquet(
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    groups_as_chunks: bool = False,
    engine: str = "auto",
) -> Any:
    """Return a frame over parquet files: a path, a pattern, a folder or a list of paths.

    Only the files' footers are read now. Rows are numbered through all files unless the files
    have labels of their own. ``filters`` are pyarrow's: (column, operator, value), all of a list,
    any of a list of lists.
    """
    if engine not in {"auto", "pyarrow"}:
        raise NotImplementedError(f"engine={engine!r}: parquet is read by pyarrow")
    files = looked_at(expanded(path))
    groups, sizes = _groups_of(files, each=groups_as_chunks)
    schema = footer(files.paths[0], files.stamps[0]).schema.to_arrow_schema()
    every = tuple(schema.empty_table().to_pandas().columns)
    chosen = every if columns is None else tuple(columns)
    if missing := [one for one in chosen if one not in every]:
        raise KeyError(f"no columns {missing} in {files.paths[0]}: there are {list(every)}")
    node: Node = ReadParquet(files, chosen, groups, sizes, _normal(filters))
    if filters and isinstance(node.meta.index, pd.RangeIndex):
        return reset_index(wrap(node), drop=True)
    return wrap(node)


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
    """Gives each chunk the file it is written to."""

    pattern: str

    def __call__(self, index: Index) -> tuple[str]:
        return (self.pattern.replace("*", f"{index[0]:06d}"),)


@dataclass(frozen=True, eq=False)
class WriteParquet(FrameNode):
    """One file for each chunk; its rows are one row a file: path and rows."""

    pins_grid = True

    a: Node
    pattern: str
    options: tuple[tuple[str, Any], ...]

    @cached_property
    def meta(self) -> Any:
        return pd.DataFrame({"path": pd.Series([], dtype="str"), "rows": pd.Series([], dtype=int)})

    @property
    def chunks(self) -> Chunks:
        return ((1,) * len(self.a.chunks[0]),)

    def tile(self, a: Grid) -> Grid:
        kwargs = {"options": self.options}
        rule = Blockwise(write_file, (a,), ((0,),), kwargs, PathAt(self.pattern))
        return self.grid(rule, (1,) * len(a))


def write_file(block: Any, path: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """Write one chunk; a file appears under its name only once it is whole."""
    partial = f"{path}.part"
    block.to_parquet(partial, **dict(options))
    os.replace(partial, path)
    return pd.DataFrame({"path": [path], "rows": [len(block)]})


def to_parquet(frame: Any, path: Any, *, compute: bool = True, **options: Any) -> Any:
    """Write one parquet file for each chunk: into a folder, or where the ``*`` of a pattern is.

    Returns a frame of the paths and their rows.
    """
    name = os.fspath(path)
    if "*" not in name:
        name = os.path.join(name, "part-*.parquet")
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    result = wrap(WriteParquet(frame.node, name, tuple(sorted(options.items()))))
    return result.execute() if compute else result
