"""Read files of which each is a chunk, by a function of pandas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.public import public_call

from ..nodes.frame_node import is_numbered
from ..ordered.row_numbers import reset_index
from ..partitions.from_map import FromMap
from ..reduction.reductions import collection_of
from ..reshape.concat import concat
from ..rows import empty_rows
from ..storage.files import (
    LOCAL,
    Files,
    Storage,
    expand_paths,
    located,
    looked_at,
    open_file,
    reading,
    storage_of,
)
from ..storage.range_labels import are_numbers, labels_as_columns
from ..whole.fallback import function_with_fallback
from .pandas_readers import is_buffer, read_buffer
from .write import in_folder, write_buffer, write_files

if TYPE_CHECKING:
    from ..frame import DataFrame


def read_one(
    place: tuple[str, Any, Any],
    read: Callable[..., Any],
    storage: Storage,
    options: Any,
    reader: str,
) -> Any:
    """Read a file, or the part of it that an argument tells."""
    path, stamp, part = place
    with reading(path, stamp, storage, reader), open_file(path, storage) as file:
        return read(file, **dict(options), **({} if part is None else {"part": part}))


def read_whole_files(
    read: Callable[..., Any],
    path: Any,
    storage: Storage,
    options: Mapping[str, Any],
    head: Mapping[str, Any] | None = None,
    *,
    reader: str,
    parts: Callable[[Any, int], Sequence[Any]] | None = None,
    first_rows: Callable[[Files], Any] | None = None,
    shown: Callable[[Any], Mapping[str, Any]] | None = None,
    names: Callable[[Any, int], Sequence[Any] | None] | None = None,
) -> Any:
    """Return a frame over files; ``head`` are options with which the first shows the types.

    ``reader`` is the function that the user called. ``parts`` tells of an open file, and of its
    bytes, which parts are chunks; ``names`` tells which columns it has, ``None`` if that is
    unknown. ``first_rows`` returns rows that show the types, if the first part of the first file
    does not. ``shown`` tells of the first rows with which further options all parts are read.
    """
    files = looked_at(expand_paths(path, storage), storage, reader)
    if names is not None and len(runs := _runs_of_columns(files, names)) > 1:
        each: dict[str, Any] = {"reader": reader, "parts": parts, "shown": shown}
        frames = [read_whole_files(read, run, storage, options, head, **each) for run in runs]
        counts = all(is_numbered(frame.node.meta.index) for frame in frames)
        return concat(frames, ignore_index=counts)
    places: list[tuple[tuple[str, Any, Any]]] = []
    for name, stamp in zip(files.paths, files.stamps, strict=True):
        pieces: Sequence[Any] = [None]
        if parts is not None:
            with reading(name, stamp, storage, reader), open_file(name, storage) as file:
                pieces = parts(file, stamp.size)
        places.extend(((name, stamp, part),) for part in pieces)
    arguments = tuple(options.items())
    if first_rows is not None:
        first = first_rows(files)
    else:
        how = (*arguments, *(head or {}).items())
        first = read_one(places[0][0], read, storage, how, reader)
    arguments = (*arguments, *(shown(first) if shown else {}).items())
    call = (("read", read), ("storage", storage), ("options", arguments), ("reader", reader))
    node = FromMap(read_one, tuple(places), (), call, empty_rows(first), checks=True)
    rows = collection_of(node)
    counted = is_numbered(first.index) and first.index.name is None
    return reset_index(rows, drop=True) if counted else rows


def _runs_of_columns(
    files: Files, names: Callable[[Any, int], Sequence[Any] | None]
) -> list[list[str]]:
    """Return the runs of files of the same columns; one if columns of some are unknown."""
    if len(files.paths) == 1:
        return [list(files.paths)]
    runs: list[list[str]] = []
    last = None
    for number, (path, stamp) in enumerate(zip(files.paths, files.stamps, strict=True)):
        with files.reading(number), open_file(path, files.storage) as file:
            columns = names(file, stamp.size)
        if columns is None:
            return [list(files.paths)]
        if not runs or frozenset(columns) != last:
            runs.append([])
        runs[-1].append(path)
        last = frozenset(columns)
    return runs


def read_stripes(file: Any, part: tuple[int, int], columns: Any = None) -> Any:
    """Read some stripes of an ORC file."""
    import pyarrow as pa
    from pyarrow import orc

    reader = orc.ORCFile(file)
    if columns is not None and not columns:  # without columns Arrow counts no rows
        return read_stripes(file, part, reader.schema.names[:1])[[]]
    batches = [reader.read_stripe(number, columns) for number in range(*part)]
    schema = (
        reader.schema if columns is None else pa.schema([reader.schema.field(c) for c in columns])
    )
    return pa.Table.from_batches(batches, batches[0].schema if batches else schema).to_pandas()


def stripes_of(each: int) -> Callable[[Any, int], list[tuple[int, int]]]:
    """Return the function that tells the runs of stripes of a file."""

    def runs(file: Any, size: int) -> list[tuple[int, int]]:
        from pyarrow import orc

        del size
        count = orc.ORCFile(file).nstripes
        starts = [*range(0, count, each), count] if count else [0, 0]
        return list(itertools.pairwise(starts))

    return runs


def _stripe_names(file: Any, size: int) -> list[str]:
    """Return the columns of an ORC file."""
    from pyarrow import orc

    del size
    names: list[str] = orc.ORCFile(file).schema.names
    return names


def _feather_names(file: Any, size: int) -> list[str] | None:
    """Return the columns of a Feather file, ``None`` of one of the first version."""
    import pyarrow as pa

    del size
    try:
        names: list[str] = pa.ipc.open_file(file).schema.names
    except pa.ArrowInvalid:
        return None
    return names


@public_call
@function_with_fallback
def read_orc(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    split_stripes: int | bool = 1,
    engine: str = "pyarrow",
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return a frame over ORC files. See pandas.read_orc.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    columns : sequence of str, optional
        Which columns to read.
    split_stripes : int or bool
        How many stripes are a chunk; ``False`` for all of a file.
    engine : {"pyarrow"}
        The library that reads the files.
    storage_options : mapping, optional
        Options of the filesystem.
    """
    if engine != "pyarrow":
        raise NotImplementedError(f"engine={engine!r} is not supported; use engine='pyarrow'")
    options = {} if columns is None else {"columns": list(columns)}
    if is_buffer(path):
        table: DataFrame = read_buffer(pd.read_orc, path, options)
        return table
    count = int(split_stripes) or 2**31
    frame: DataFrame = read_whole_files(
        read_stripes,
        path,
        storage_of(storage_options),
        options,
        parts=stripes_of(count),
        reader="read_orc",
        names=_stripe_names if columns is None else None,
    )
    return frame


@public_call
@function_with_fallback
def read_feather(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return a frame over Feather files, each a chunk. See pandas.read_feather.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    columns : sequence of str, optional
        Which columns to read.
    storage_options : mapping, optional
        Options of the filesystem.
    """
    options = {} if columns is None else {"columns": list(columns)}
    if is_buffer(path):
        table: DataFrame = read_buffer(pd.read_feather, path, options)
        return table
    storage = storage_of(storage_options)
    names = _feather_names if columns is None else None
    frame: DataFrame = read_whole_files(
        pd.read_feather, path, storage, options, reader="read_feather", names=names
    )
    return frame


def to_orc_file(block: Any, target: Any, *, first: bool, **options: Any) -> None:
    """Write a chunk as an ORC file."""
    del first
    # Arrow's writer ends the process where a file cannot be written, as on a full disk.
    data = block.reset_index(drop=True).to_orc(**options)
    if hasattr(target, "write"):
        target.write(data)
        return
    with open_file(target, LOCAL, "wb") as file:
        file.write(data)


def to_feather_file(
    block: Any, target: Any, *, first: bool, index: bool | None = False, **options: Any
) -> None:
    """Write a chunk as a Feather file; ``index``: whether a range of labels is stored as labels."""
    del first
    if index is False:
        block = block.reset_index(drop=True)
    elif index and isinstance(block.index, pd.RangeIndex):
        block = block.set_axis(pd.Index(block.index.to_numpy(), name=block.index.name))
    block.to_feather(target, **options)


def to_orc(
    frame: Any,
    path: Any,
    *,
    compute: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame | Any:
    """Write one ORC file for each chunk: into a folder, or where a pattern has ``*``.

    See pandas.DataFrame.to_orc. Row labels have to be numbers from 0, and are not written. Returns
    a frame of the paths and their numbers of rows.
    """
    for unsaid in ("compute_kwargs", "write_index", "index"):
        options.pop(unsaid, None)
    index = frame.node.meta.index
    plain = isinstance(index, pd.RangeIndex) and index.name is None
    if not plain or not (are_numbers(frame.node) or _numbered(frame.index.compute())):
        # pandas's words
        raise ValueError(
            "orc does not support serializing a non-default index for the index; you can "
            ".reset_index() to make the index into column(s)"
        )
    return _to_folder(frame, path, to_orc_file, "orc", compute, storage_options, options)


def _numbered(labels: pd.Index) -> bool:
    return labels.equals(pd.RangeIndex(len(labels)))


def to_feather(
    frame: Any,
    path: Any,
    *,
    compute: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame | Any:
    """Write one Feather file for each chunk: into a folder, or where a pattern has ``*``.

    See pandas.DataFrame.to_feather. Row labels are written, except for the numbers of the rows.

    Returns
    -------
    DataFrame
        The paths and their numbers of rows.
    """
    if "index" in options:
        raise TypeError("to_feather() got an unexpected keyword argument 'index'")
    numbered = are_numbers(frame.node)
    options["index"] = False if numbered else labels_as_columns(frame.node)
    return _to_folder(frame, path, to_feather_file, "feather", compute, storage_options, options)


def _to_folder(
    frame: Any,
    path: Any,
    write: Callable[..., None],
    suffix: str,
    compute: bool,
    storage_options: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> DataFrame | Any:
    if hasattr(path, "write"):
        write_buffer(frame, write, path, compute, **options)
        return None
    storage = storage_of(storage_options)
    pattern = in_folder(located(path, storage), f"part-*.{suffix}")
    return write_files(frame, write, pattern, options, storage=storage, compute=compute)
