"""Write CSV files; read tables of fixed columns, and those separated by tabs."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.public import public_call
from marsdask.core.sizes import is_single

from ..batches import batches
from ..elementwise.exemplars import texts_of_all
from ..elementwise.rowwise import columns_at, level_values, relabelled, rowwise, with_columns
from ..nodes.frame_node import dtypes_of
from ..rows import level_at
from ..storage.files import Storage, located, storage_of
from ..whole.fallback import function_with_fallback
from .csv import read_csv
from .pandas_readers import is_buffer, read_buffer
from .whole_files import read_whole_files
from .write import is_folder, write_files

if TYPE_CHECKING:
    from ..frame import DataFrame

#: Compressions by the ends of names; joined parts of ``zip`` would be no archive.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}


def compression_of(path: str, given: Any) -> Any:
    """Return the compression that a path's end tells, unless one is given."""
    return COMPRESSIONS.get(os.path.splitext(path)[1]) if given == "infer" else given


def to_csv_file(
    block: Any, target: Any, *, first: bool, header: Any = True, **options: Any
) -> None:
    """Write a chunk as text; only the first one of a file has a header, and a mark of its bytes."""
    if not first:
        options["encoding"] = _unmarked(options.get("encoding"))
    mode = "wb" if isinstance(target, io.BytesIO) else "w"
    block.to_csv(target, header=header if first else False, mode=mode, **options)


def _times_as_texts(obj: Any, options: Mapping[str, Any]) -> Any:
    """Return rows whose times are texts with the digits that one of all needs, as pandas writes."""
    if is_single(obj.node.chunks[0]):
        return obj
    has_times = partial(_is_of_kind, "mM" if options.get("date_format") is None else "m")
    obj = _columns_as_texts(obj, has_times)
    if not options.get("index", True):
        return obj
    labels = obj.node.meta.index
    levels = labels.dtypes if labels.nlevels > 1 else [labels.dtype]
    places = tuple(place for place, dtype in enumerate(levels) if has_times(dtype))
    if not places:
        return obj
    texts = texts_of_all([rowwise(level_values, obj, level=place) for place in places])
    return rowwise(_labelled, obj, *texts, places=places)


def _is_of_kind(kinds: str, dtype: Any) -> bool:
    """Tell whether values, or the categories that they are of, have a type of some kinds."""
    if isinstance(dtype, pd.CategoricalDtype):
        return dtype.categories is not None and dtype.categories.dtype.kind in kinds
    return dtype.kind in kinds


def _columns_as_texts(obj: Any, has_times: Callable[[Any], bool]) -> Any:
    """Return rows whose columns of times are texts."""
    dtypes = dtypes_of(obj.node.meta)
    places = [place for place, dtype in enumerate(dtypes) if has_times(dtype)]
    if not places:
        return obj
    if obj.ndim == 1:
        return texts_of_all([obj])[0]
    columns = obj.node.meta.columns
    numbered = rowwise(relabelled, obj, columns=pd.RangeIndex(len(columns)))
    texts = texts_of_all([columns_at(numbered, place) for place in places])
    written = rowwise(with_columns, numbered, *texts, names=tuple(places))
    return rowwise(relabelled, written, columns=columns)


def _labelled(block: Any, *texts: Any, places: tuple[int, ...]) -> Any:
    """Return rows of whose labels some levels are texts."""
    new = dict(zip(places, texts, strict=True))
    levels = [
        new[place].array if place in new else level_at(block.index, place)
        for place in range(block.index.nlevels)
    ]
    if len(levels) == 1:
        return block.set_axis(pd.Index(levels[0], name=block.index.name))
    return block.set_axis(pd.MultiIndex.from_arrays(levels, names=block.index.names))


def _unmarked(encoding: str | None) -> str | None:
    """Return the encoding that continues a text, whose first bytes may mark their order."""
    if encoding is None:
        return None
    name = codecs.lookup(encoding).name
    order = "le" if sys.byteorder == "little" else "be"
    continued = {"utf-8-sig": "utf-8", "utf-16": f"utf-16-{order}", "utf-32": f"utf-32-{order}"}
    return continued.get(name, encoding)


def destination(
    path: Any, storage: Storage, single_file: bool | None, name: str
) -> tuple[str, str | None]:
    """Return the pattern of the chunks' files, and the path of the only file if there is one."""
    text = located(path, storage)
    if "*" in text:
        return text, None
    if single_file is None:
        single_file = not is_folder(text, storage)
    if single_file:
        return os.path.join(os.path.dirname(text), f"*-{os.path.basename(text)}"), text
    return os.path.join(text, name), None


def to_csv(
    obj: Any,
    path: Any = None,
    sep: str = ",",
    *,
    single_file: bool | None = None,
    name_function: Callable[[int], str] | None = None,
    mode: str = "w",
    compression: Any = "infer",
    compute: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame | str | None:
    """Write CSV files: one of all rows, or one for each chunk. See pandas.DataFrame.to_csv.

    A path with ``*`` has a file for each chunk, in place of ``*`` its number. So has a folder, or a
    path without a suffix, as in Dask: ``000000.part`` and so on. Other paths are one file, of
    the chunks one after the other. No file has its name before all are complete. Returns a frame of
    the paths and their numbers of rows; without a path the text, and ``None`` for a buffer. Times
    of several chunks are computed at the call: all have the digits that one of them needs.

    Parameters
    ----------
    path : str or buffer, optional
        Where to write.
    sep : str
        What separates columns.
    single_file : bool, optional
        Whether there is one file; by default the path tells.
    name_function : callable, optional
        Returns what stands for ``*``, of the number of a chunk.
    mode : {"w", "x"}
        Whether a file may be there.
    compression : str or dict, optional
        How files are compressed; by default as their names end.
    compute : bool
        Whether to write at once; otherwise the frame that is returned writes.
    storage_options : mapping, optional
        Options of the filesystem.
    **options
        Other arguments of pandas.DataFrame.to_csv.
    """
    for unsaid in ("compute_kwargs", "scheduler", "header_first_partition_only", "chunksize"):
        options.pop(unsaid, None)
    if path is None:
        text: str = obj.compute().to_csv(sep=sep, **options)
        return text
    obj = _times_as_texts(obj, options)
    if hasattr(path, "write"):
        for number, block in enumerate(batches(obj)):
            to_csv_file(block, path, first=not number, sep=sep, **options)
        return None
    storage = storage_of(storage_options)
    pattern, single = destination(path, storage, single_file, "*.part")
    compression = compression_of(single or pattern, compression)
    if not {"a", "+"}.isdisjoint(mode) or (single and compression == "zip"):
        raise NotImplementedError(
            "to_csv(mode='a') and one zip archive are not supported; use a path with '*', or "
            "another compression"
        )
    if "x" in mode and single and os.path.exists(single):
        raise FileExistsError(17, "File exists", single)
    options |= {"sep": sep, "compression": compression}
    how: dict[str, Any] = {"name_function": name_function, "compute": compute, "storage": storage}
    return write_files(obj, to_csv_file, pattern, options, single=single, **how)


@public_call
@function_with_fallback
def read_table(path: Any, sep: str = "\t", **options: Any) -> DataFrame:
    """Return a frame over files separated by tabs. See pandas.read_table.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    sep : str
        What separates columns.
    **options
        Arguments of ``read_csv``.
    """
    frame: DataFrame = read_csv(path, sep, **options)
    return frame


@public_call
@function_with_fallback
def read_fwf(
    path: Any, *, storage_options: Mapping[str, Any] | None = None, **options: Any
) -> DataFrame:
    """Return a frame over files of columns of fixed widths, each a chunk. See pandas.read_fwf.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    storage_options : mapping, optional
        Options of the filesystem.
    **options
        Other arguments of pandas.read_fwf.
    """
    for unsaid in ("blocksize", "sample"):
        options.pop(unsaid, None)
    if is_buffer(path):
        table: DataFrame = read_buffer(pd.read_fwf, path, options)
        return table
    frame: DataFrame = read_whole_files(
        pd.read_fwf, path, storage_of(storage_options), options, {"nrows": 1000}, reader="read_fwf"
    )
    return frame
