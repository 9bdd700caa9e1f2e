"""Read Parquet lazily, with row groups as chunks: only needed columns and groups. Write it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.sizing import LARGEST_BLOCK
from marsdask.core.node import Condition, Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, Index, Sizes, numbers, unknown_sizes
from marsdask.core.snapshots.tokens import token
from marsdask.core.traits import Traits
from marsdask.tensor.chunks import bytes_of

from ..nodes.frame_node import FrameNode, is_numbered
from ..ordered.row_numbers import reset_index
from ..relations.relation import Table
from ..relations.scans import scan
from ..storage.files import (
    Files,
    Storage,
    expand_paths,
    folder_of,
    is_remote,
    located,
    looked_at,
    storage_of,
)
from ..storage.hive import Keys, keys_of
from ..storage.parquet_files.dictionaries import Categories, categories_of, dictionary_names
from ..storage.parquet_files.footers import footer
from ..storage.parquet_files.layout import ParquetLayout
from ..storage.parquet_files.statistics import excluded
from ..storage.range_labels import labels_as_columns, stored_range
from ..storage.row_groups import (
    Cut,
    RowGroup,
    RowGroupsAt,
    columns_with_gaps,
    groups_of,
    read_groups,
    with_gaps,
)
from ..whole.fallback import function_with_fallback
from .pandas_readers import is_buffer, read_buffer
from .partitions import check_appended, next_number, write_partitioned
from .write import in_folder, write_buffer, write_files

if TYPE_CHECKING:
    from ..frame import DataFrame


@dataclass(frozen=True, eq=False)
class ReadParquet(FrameNode):
    """The rows of some row groups of parquet files."""

    layout: ParquetLayout
    columns: tuple[Hashable, ...]
    groups: tuple[RowGroup, ...] = field(repr=False)
    sizes: Sizes
    filters: tuple[tuple[Condition, ...], ...] = ()
    """Keep rows that meet all conditions of any of these tuples."""
    gaps: tuple[Hashable, ...] = ()
    """Columns of numbers or booleans with missing values in some file."""
    unclear: tuple[Hashable, ...] = ()
    """Such columns without statistics: their chunks keep the types that are read."""

    @property
    def files(self) -> Files:
        """The files that are read."""
        return self.layout.files

    @property
    def keys(self) -> Keys:
        """The columns of the names of folders."""
        return self.layout.keys

    @property
    def meta(self) -> Any:
        frame = self.layout.like(self.columns)
        if isinstance(frame.index, pd.RangeIndex):
            frame.index = self._labels[:0]
        return frame.astype(
            {
                label: with_gaps(frame.dtypes[label])
                for label in (*self.gaps, *self.unclear)
                if label in frame
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
        has_names = self.keys.labels or self.layout.backend
        plain = not self.filters and self.groups and not has_names
        index = self.meta.index
        has_range = isinstance(index, pd.RangeIndex) and index.name is None
        if not (plain and has_range) or any(map(is_remote, files.paths)):
            return None
        if not is_numbered(self._labels):
            return None
        footers = [footer(files, number) for number in range(len(files.paths))]
        return scan(files.paths, files.stamps, footers, self.meta.dtypes, self.unclear)

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {
            "layout": self.layout,
            "schema": self.layout.schema,
            "names": tuple(self.layout.names_of(self.columns)),
            "filters": self.filters,
            "like": self.meta,
            "labels": self._labels,
            # With filters, only reading shows which columns have missing values.
            "gaps": () if self.filters else tuple(x for x in self.gaps if x in self.columns),
        }
        rule = Blockwise(read_groups, kwargs=kwargs, varying=RowGroupsAt(self.groups, self.sizes))
        return self.grid(rule, self.chunks[0])

    def chunk_origin(self, index: Index) -> str:
        (groups,) = RowGroupsAt(self.groups, self.sizes)(index)
        paths = list(dict.fromkeys(self.files.paths[group.file] for group in groups))
        return " to ".join(paths if len(paths) < 3 else (paths[0], paths[-1]))

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node | None:
        return self.replaced(sizes=new[self.sizes]) if self.sizes in new else None

    def narrowed(self, columns: frozenset[Any]) -> Node:
        # A table without columns would lose the number of its rows.
        fewer = tuple(label for label in self.columns if label in columns) or self.columns[:1]
        return self if fewer == self.columns else self.replaced(columns=fewer)

    def skipping(self, conditions: Sequence[Condition]) -> Node:
        """Return a source without the row groups in which no row meets all conditions."""
        groups = tuple(
            group for group in self.groups if not excluded(self.layout, group, conditions)
        )
        if len(groups) == len(self.groups):
            return self
        at = RowGroupsAt(self.groups, self.sizes)
        runs = [
            [item for item in at((i,))[0] if item in set(groups)] for i in range(len(self.sizes))
        ]
        sizes = tuple(sum(item.rows for item in run) for run in runs)
        return self.replaced(groups=groups, sizes=tuple(filter(None, sizes)) or (0,))


#: Arguments of Dask and Mars that change no result here.
IGNORED = {
    *("ignore_metadata_file", "metadata_task_size", "calculate_divisions"),
    *("incremental_index", "memory_scale", "merge_small_files"),
}


@public_call
@function_with_fallback
def read_parquet(
    path: Any,
    *,
    columns: Any = None,
    filters: Any = None,
    index: Any = None,
    categories: Any = None,
    dtype_backend: Any = None,
    groups_as_chunks: bool = False,
    split_row_groups: bool | int | str = "infer",
    blocksize: int | str | None = "default",
    aggregate_files: bool | None = None,
    engine: str | None = "auto",
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    parquet_file_extension: str | tuple[str, ...] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a frame over parquet files: a path, a URL, a pattern, a folder or a list of these.

    Folder names such as ``year=2024`` become columns, as in pyarrow. Only the files' footers are
    read at once. Rows are numbered over all files unless the files have row labels.
    ``filters`` are those of pyarrow: a row must meet all conditions (column, operator, value) of a
    list, or of any list in a list of lists. Arguments of Dask and Mars that change no result, such
    as ``calculate_divisions``, are taken and ignored.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    columns : sequence of str or str, optional
        Which columns to read; by default those that the program needs. One name gives a Series.
    filters : list, optional
        Which rows to read.
    index : str, list of str or False, optional
        Columns to use as row labels; with ``False`` stored labels become columns.
    categories : None
        Not supported.
    dtype_backend : {"numpy_nullable", "pyarrow"}, optional
        The types of columns, as in pandas.
    groups_as_chunks : bool
        Whether each row group is a partition of its own.
    split_row_groups : bool, int or {"infer", "adaptive"}
        Dask's name: the most row groups of a partition, ``True`` for one, ``False`` for all of a
        file. By default as many as fit ``blocksize``.
    blocksize : int or str, optional
        The bytes of a partition with several row groups; ``None`` for no limit.
    aggregate_files : bool, optional
        Whether a partition may have rows of several files.
    engine : {"auto", "pyarrow"}
        The library that reads the files.
    filesystem : filesystem of fsspec or pyarrow, optional
        Where the paths lie.
    storage_options : mapping, optional
        Options of the filesystem.
    parquet_file_extension : str or tuple of str, optional
        How the names of the files of a folder end.
    **options
        Arguments that change no result.

    Returns
    -------
    DataFrame
        A frame that reads the files when it is computed; a Series for one column.

    Raises
    ------
    NotImplementedError
        If ``engine`` is another one, or for ``categories``.
    KeyError
        If a column is not in the files.

    Examples
    --------
    >>> frame = md.read_parquet("data/*.parquet", columns=["a"])  # doctest: +SKIP
    """
    check_keywords(options, IGNORED)
    _check_arguments(engine, categories, aggregate_files)
    if is_buffer(path):
        table: DataFrame = _of_buffer(path, columns, filters, index, dtype_backend)
        return table
    storage = storage_of(storage_options, filesystem)
    paths = expand_paths(path, storage)
    folder = folder_of(path, storage)
    if folder is not None and parquet_file_extension is not None:
        paths = tuple(item for item in paths if item.endswith(parquet_file_extension))
    files = looked_at(paths, storage, "read_parquet")
    rule = _cut(1 if groups_as_chunks else split_row_groups, blocksize, bool(aggregate_files))
    names = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
    labels = [] if index in (None, False) else [index] if isinstance(index, str) else list(index)
    fields = names and [*names, *(item for item in labels if item not in names)]
    frame = _reader(files, keys_of(files, folder), rule, fields, filters, _backend(dtype_backend))
    if labels:
        frame = frame.set_index(labels if len(labels) > 1 else labels[0])
    elif index is False and not isinstance(frame.node.meta.index, pd.RangeIndex):
        frame = frame.reset_index()
    rows: DataFrame = frame[columns] if isinstance(columns, str) else frame
    return rows


def _of_buffer(buffer: Any, columns: Any, filters: Any, index: Any, dtype_backend: Any) -> Any:
    """Return the frame, or the column, of an open file."""
    names = [columns] if isinstance(columns, str) else columns
    options = {} if dtype_backend is None else {"dtype_backend": dtype_backend}
    frame = read_buffer(pd.read_parquet, buffer, {"columns": names, "filters": filters, **options})
    if index is False and not isinstance(frame.node.meta.index, pd.RangeIndex):
        frame = frame.reset_index()
    elif index not in (None, False):
        frame = frame.set_index(index)
    return frame[columns] if isinstance(columns, str) else frame


def _reader(
    files: Files,
    keys: Keys,
    cut: Cut,
    columns: Sequence[str] | None,
    filters: Any,
    backend: str | None,
) -> Any:
    """Return the frame of some columns of files."""
    groups, sizes = groups_of(files, cut)
    layout = ParquetLayout(files, keys, backend)
    labels = {name: label for label, name in layout.names.items()}
    every = tuple(layout.empty.columns)
    names = every if columns is None else tuple(labels.get(column, column) for column in columns)
    if missing := [column for column in names if column not in every]:
        raise KeyError(f"columns {missing} are not in {files.paths[0]}, which has {list(every)}")
    conditions = _normal(filters, layout)
    layout = layout.with_categories(_categories(layout, groups, names, conditions))
    gaps, unclear = columns_with_gaps(layout, groups, layout.like(names))
    node: Node = ReadParquet(layout, names, groups, sizes, conditions, gaps, unclear)
    frame = wrap(node)
    has_range = filters and isinstance(node.meta.index, pd.RangeIndex)
    return reset_index(frame, drop=True) if has_range else frame


def _categories(
    layout: ParquetLayout,
    groups: Sequence[RowGroup],
    chosen: Sequence[Hashable],
    filters: tuple[tuple[Condition, ...], ...],
) -> Categories:
    """Read the categories of the columns that are chosen, and of the row labels."""
    names = [*layout.names_of(chosen), *layout.labels]
    coded = dictionary_names(layout.schema)
    labels = [name for name in coded if name in names]
    # As in pandas, conditions on categories leave out no row group.
    plain = [[condition for condition in clause if condition[0] not in coded] for clause in filters]
    row_groups: dict[int, list[int]] = {}
    for group in groups if labels else ():
        if not (plain and all(excluded(layout, group, clause) for clause in plain)):
            row_groups.setdefault(group.file, []).append(group.group)
    return categories_of(layout.files, row_groups, layout.schema, labels)


def _check_arguments(engine: str | None, categories: Any, aggregate_files: Any) -> None:
    if engine not in {None, "auto", "pyarrow"}:
        raise NotImplementedError(f"engine={engine!r} is not supported; use engine='pyarrow'")
    if categories:
        raise NotImplementedError(
            "read_parquet(categories=) is not supported; use "
            "astype({column: pandas.CategoricalDtype(categories)})"
        )
    if isinstance(aggregate_files, str):
        raise NotImplementedError(
            "aggregate_files by a column of the folders is not supported; use True or False"
        )


def _backend(dtype_backend: Any) -> str | None:
    if dtype_backend is None or dtype_backend is pd.api.extensions.no_default:
        return None
    if dtype_backend not in ("numpy_nullable", "pyarrow"):
        # pandas's words
        raise ValueError(
            f"dtype_backend {dtype_backend} is invalid, only 'numpy_nullable' and 'pyarrow' are "
            "allowed."
        )
    return str(dtype_backend)


def _cut(split: bool | int | str, blocksize: int | str | None, joins: bool) -> Cut:
    """Return how row groups become chunks, from Dask's arguments."""
    if split is False or blocksize is None:
        return Cut(None, float("inf"), joins)
    if isinstance(split, str) and split not in ("infer", "adaptive"):
        raise ValueError(
            f"split_row_groups must be a bool, an int, 'infer' or 'adaptive': {split!r}"
        )
    if not isinstance(split, str):
        return Cut(int(split), float("inf"), joins)
    if isinstance(blocksize, str):
        blocksize = LARGEST_BLOCK if blocksize == "default" else bytes_of(blocksize)
    return Cut(None, blocksize, joins)


def _normal(filters: Any, layout: ParquetLayout) -> tuple[tuple[Condition, ...], ...]:
    """Return conditions of the columns' names in the files."""
    if not filters:
        return ()
    if isinstance(filters[0], tuple) and isinstance(filters[0][1], str):
        filters = [filters]
    return tuple(
        tuple(
            (layout.names.get(a, a), b, tuple(c) if isinstance(c, list | set) else c)
            for a, b, c in clause
        )
        for clause in filters
    )


def to_parquet_file(block: Any, target: Any, *, first: bool, **options: Any) -> None:
    """Write a chunk as a Parquet file."""
    del first
    block.to_parquet(target, **options)


def _partition_columns(options: dict[str, Any]) -> Any:
    """Return the columns whose values are folders, which are taken from the options."""
    if options.pop("write_metadata_file", False):
        raise NotImplementedError(
            "to_parquet(write_metadata_file=True) is not supported; readers need no such file"
        )
    for unsaid in ("compute_kwargs", "ignore_divisions"):
        options.pop(unsaid, None)
    named = [options.pop(name, None) for name in ("partition_cols", "partition_on")]
    return named[0] or named[1]


def appending(
    frame: Any, folder: str, storage: Storage, name_function: Callable[[int], str] | None
) -> Callable[[int], str]:
    """Return what names files beside those of an earlier writing, whose columns are checked."""
    check_appended(frame, folder, storage, ())
    first = next_number(folder, storage)
    return name_function or (lambda number: f"part-{first + number:06d}.parquet")


def to_parquet(
    frame: Any,
    path: Any,
    *,
    compute: bool = True,
    overwrite: bool = False,
    append: bool = False,
    write_index: bool | None = None,
    name_function: Callable[[int], str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
    **options: Any,
) -> DataFrame | Any:
    """Write one Parquet file for each chunk: into a folder, or where a pattern has ``*``.

    Folders may be URLs. No file has its name before all are complete. A later write replaces the
    files of an earlier one, also those of more chunks, and a single file of the folder's name.
    Returns a frame of the paths and their numbers of rows.

    Parameters
    ----------
    path : str or buffer
        A folder, or a pattern with ``*`` for the number of the chunk; a buffer takes all rows.
    compute : bool
        Whether to write at once; by default. Otherwise the frame that is returned writes.
    overwrite : bool
        Whether to remove the files that lie in the folder, once the new ones are complete.
    append : bool
        Whether the files of an earlier writing stay, if they have the same columns.
    write_index : bool, optional
        Dask's name of ``index``: whether to write the row labels.
    name_function : callable, optional
        Returns what stands for ``*``, of the number of a chunk. Without ``*`` in the path, it is
        the name of the file.
    storage_options : mapping, optional
        Options of the filesystem.
    filesystem : filesystem of fsspec or pyarrow, optional
        Where the path lies.
    **options
        Other arguments of pandas.DataFrame.to_parquet: ``partition_cols`` (Dask's
        ``partition_on``) are columns whose values are the names of folders.

    Raises
    ------
    FileExistsError
        If the folder has files of other names, which would be read with the new ones.
    ValueError
        If ``append`` meets files of other columns.
    """
    columns = _partition_columns(options)
    index = options.pop("index", write_index)
    if hasattr(path, "write"):
        write_buffer(frame, to_parquet_file, path, compute, index=index, **options)
        return None
    options["index"] = labels_as_columns(frame.node) if index is None else index
    storage = storage_of(storage_options, filesystem)
    folder = located(path, storage)
    how: Any = {"storage": storage, "compute": compute, "overwrite": overwrite}
    if columns:
        return write_partitioned(frame, folder, columns, options, appends=append, **how)
    if append:
        name_function = appending(frame, folder, storage, name_function)
    pattern = in_folder(folder, "*" if name_function else "part-*.parquet")
    return write_files(
        frame,
        to_parquet_file,
        pattern,
        options,
        name_function=name_function,
        read=pd.read_parquet,
        alone=name_function is None and "*" not in folder,
        **how,
    )
