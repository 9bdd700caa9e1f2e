"""Read and write JSON: lines, of which each is a row, and whole files."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.compilation.sizing import TEXT_BLOCK
from marsdask.core.public import public_call

from ..rows import empty_rows
from .files import expand_paths, open_file, storage_of
from .pandas_readers import is_buffer, read_buffer
from .text import compression_of, destination
from .whole_files import read_whole_files
from .write import write_files

if TYPE_CHECKING:
    from ..frame import DataFrame

#: The bytes at the start of the first file that show columns and types.
HEAD_BYTES = 256 * 1024


def read_lines(file: Any, part: tuple[int, int], like: Any = None, **options: Any) -> Any:
    """Read the rows whose lines begin in a byte range; ``like`` has the types of the first rows."""
    start, stop = part
    if start:
        file.seek(start - 1)
        file.readline()  # the line that begins before
        start = file.tell()
    if start >= stop:
        return pd.DataFrame()
    lines = file.read(stop - start)
    if not lines.endswith(b"\n"):
        lines += file.readline()
    reader = partial(pd.read_json, lines=True, **options)
    if like is None:
        return reader(io.BytesIO(lines))
    has_types = options.get("dtype") not in (None, True) or "convert_dates" in options
    frame: Any = reader(io.BytesIO(lines)) if has_types else _read_like(like, lines, reader)
    for name, column in frame.items():
        if name in like and column.dtype.kind + like[name].dtype.kind in ("bi", "bu", "iu"):
            frame[name] = column.astype(like[name].dtype)
    more = [label for label in frame.columns if label not in like.columns]
    return frame.reindex(columns=[*like.columns, *more])


def _read_like(like: Any, lines: bytes, read: Callable[..., Any]) -> Any:
    """Read rows: text stays text where the first rows show some, whatever it spells."""
    texts, floats = ([name for name, dtype in like.dtypes.items() if dtype.kind == x] for x in "Of")
    dtypes = {**dict.fromkeys(texts, object), **dict.fromkeys(floats, float)}
    frame = read(io.BytesIO(lines), dtype=dtypes or True)
    dates = [name for name in texts if name in frame and frame[name].dtype.kind == "M"]
    if dates:  # by their names
        frame[dates] = read(io.BytesIO(lines), dtype=False)[dates]
    for name in texts:
        if name in frame:
            frame[name] = frame[name].infer_objects()
    return frame


def _types_shown(first: Any) -> dict[str, Any]:
    return {"like": empty_rows(first)}


@public_call
def read_json(
    path: Any,
    *,
    orient: Any = None,
    lines: bool | None = None,
    blocksize: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a frame over JSON files. See pandas.read_json.

    With ``lines`` each line is a row, and chunks are byte ranges of local files without
    compression; other files are a chunk each. Types are those of the first rows unless later ones
    show others.

    Parameters
    ----------
    path : str or list of str
        A path, a URL, a pattern, a folder, or a list of them.
    orient : str, optional
        How a file is made up.
    lines : bool, optional
        Whether each line is a row; by default if ``orient`` is "records" and the first file begins
        with a row.
    blocksize : int, optional
        The bytes of a chunk.
    storage_options : mapping, optional
        Options of the filesystem.
    **options
        Other arguments of pandas.read_json.
    """
    for unsaid in ("sample", "errors", "engine"):
        options.pop(unsaid, None)
    if is_buffer(path):
        arguments = options | {"orient": orient, "lines": bool(lines)}
        table: DataFrame = read_buffer(pd.read_json, path, arguments)
        return table
    storage = storage_of(storage_options)
    names = expand_paths(path, storage)
    is_compressed = compression_of(names[0], options.get("compression", "infer")) is not None
    if lines is None and orient == "records" and not is_compressed:
        with open_file(names[0], storage) as file:
            lines = file.read(64).lstrip().startswith(b"{")
    frame: DataFrame
    if "nrows" in options and len(names) > 1:
        raise NotImplementedError("read_json(nrows=) of several files is not supported; use head()")
    if lines and not is_compressed and "nrows" not in options:
        step = blocksize or TEXT_BLOCK
        options = options if orient is None else {**options, "orient": orient}
        how: dict[str, Any] = {"parts": ranges_of(step), "head_part": (0, HEAD_BYTES)}
        how["shown"] = _types_shown
        frame = read_whole_files(
            read_lines, list(names), storage, options, reader="read_json", **how
        )
        return frame
    options |= {"orient": orient, "lines": bool(lines)}
    options["compression"] = compression_of(names[0], options.get("compression", "infer"))
    frame = read_whole_files(pd.read_json, list(names), storage, options, reader="read_json")
    return frame


def ranges_of(step: int) -> Callable[[Any, int], list[tuple[int, int]]]:
    """Return the function that tells the byte ranges of a file."""

    def ranges(file: Any, size: int) -> list[tuple[int, int]]:
        del file
        return list(itertools.pairwise([*range(0, max(1, size), step), size]))

    return ranges


def to_json_file(block: Any, target: Any, *, first: bool, **options: Any) -> None:
    """Write a chunk as JSON."""
    del first
    block.to_json(target, **options)


def to_json(
    obj: Any,
    path: Any = None,
    *,
    orient: Any = None,
    lines: bool | None = None,
    single_file: bool | None = None,
    name_function: Callable[[int], str] | None = None,
    compression: Any = "infer",
    compute: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame | str | None:
    """Write JSON files: one of all rows, or one for each chunk. See pandas.DataFrame.to_json.

    A path tells which as in ``to_csv``. One file that is not of lines is written by one task, which
    holds all rows. Without a path returns the text, else a frame of the paths and their numbers of
    rows.

    Parameters
    ----------
    path : str, optional
        Where to write.
    orient : str, optional
        How a file is made up; "records" for files of chunks.
    lines : bool, optional
        Whether each line is a row; by default for files of chunks.
    single_file : bool, optional
        Whether there is one file; by default the path tells.
    name_function : callable, optional
        Returns what stands for ``*``, of the number of a chunk.
    compression : str or dict, optional
        How files are compressed; by default as their names end.
    compute : bool
        Whether to write at once; otherwise the frame that is returned writes.
    storage_options : mapping, optional
        Options of the filesystem.
    **options
        Other arguments of pandas.DataFrame.to_json.
    """
    options.pop("compute_kwargs", None)
    if path is None:
        text: str = obj.compute().to_json(orient=orient, lines=bool(lines), **options)
        return text
    storage = storage_of(storage_options)
    pattern, single = destination(path, storage, single_file, "*.part")
    if single is None:
        orient = orient or "records"
    lines = (orient == "records" and single is None) if lines is None else lines
    if single and not lines:
        obj = obj.repartition(npartitions=1)
    options |= {"orient": orient, "lines": lines}
    options["compression"] = compression_of(single or pattern, compression)
    how: dict[str, Any] = {"name_function": name_function, "compute": compute, "storage": storage}
    return write_files(obj, to_json_file, pattern, options, single=single, **how)
