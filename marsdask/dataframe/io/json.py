"""Read and write JSON: lines, of which each is a row, and whole files."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from pandas.tseries.api import guess_datetime_format

from marsdask.core.machine.sizing import TEXT_BLOCK
from marsdask.core.public import public_call

from ..rows import empty_rows
from ..storage.files import Files, expand_paths, open_file, storage_of
from ..whole.fallback import function_with_fallback
from .pandas_readers import is_buffer, read_buffer
from .text import compression_of, destination
from .whole_files import read_whole_files
from .write import write_buffer, write_files

if TYPE_CHECKING:
    from ..frame import DataFrame

#: The bytes at the start of the first file that show columns and types.
HEAD_BYTES = 256 * 1024
#: About as many bytes of all files show columns and types.
ALL_BYTES = 4 * 2**20
#: Numbers up to this one are no dates for pandas: the seconds of a year.
YEAR = 365 * 24 * 60 * 60
#: How many of a unit are a second.
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class DateConversion(NamedTuple):
    """How the values of a column become dates: by a format, or as numbers of a unit."""

    format: str | None = None
    unit: str | None = None
    least: int = YEAR
    """Numbers have to be larger."""

    def __call__(self, column: Any) -> Any:
        """Return the values as dates, or as they are if they are none of this kind."""
        column = _whole_numbers(column)
        numeric = column.dtype.kind in "iuf"
        if numeric != (self.unit is not None) and not column.isna().all():
            return column
        if numeric and not (column.isna() | (column > self.least)).all():
            return column
        try:
            how: dict[str, Any] = {"unit": self.unit} if numeric else {"format": self.format}
            dates: Any = pd.to_datetime(column, **how)
            if numeric:
                dates.dt.as_unit("ns")  # what nanoseconds cannot tell is of another unit
            return dates
        except (ValueError, OverflowError, TypeError):
            return column


def read_lines(
    file: Any,
    part: tuple[int, int],
    like: Any = None,
    dates: Mapping[Hashable, DateConversion] | None = None,
    **options: Any,
) -> Any:
    """Read the rows whose lines begin in a byte range.

    ``like`` has the types of the first rows, ``dates`` tells how these became dates.
    """
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
    if like is None:
        frame: Any = pd.read_json(io.BytesIO(lines), lines=True, **options)
        frame.attrs["dates"] = _conversions(frame, lines, options)
        return frame
    frame = _read_like(like, dates or {}, lines, options)
    for name, column in frame.items():
        if name in like and column.dtype.kind + like[name].dtype.kind in ("bi", "bu", "iu"):
            frame[name] = column.astype(like[name].dtype)
    more = [label for label in frame.columns if label not in like.columns]
    return frame.reindex(columns=[*like.columns, *more])


def _read_like(
    like: Any,
    dates: Mapping[Hashable, DateConversion],
    lines: bytes,
    options: Mapping[str, Any],
) -> Any:
    """Read rows: the first rows tell which columns are text, numbers or dates.

    What the values of a chunk spell, and how its columns are named, does not count.
    """
    dtype = options.get("dtype")
    given: Mapping[Any, Any] = dtype if isinstance(dtype, Mapping) else {}
    infers = dtype is None or dtype is True or bool(given)
    kinds = {name: getattr(column, "kind", "O") for name, column in like.dtypes.items()}
    if infers:
        types = {name: {"O": object, "f": float}.get(kind) for name, kind in kinds.items()}
        dtype = {name: of for name, of in types.items() if of} | dict(given) or True
    how = {**options, "dtype": dtype}
    frame: Any = pd.read_json(io.BytesIO(lines), lines=True, **how)
    named = [name for name in frame if name in like and _may_be_dates(name, options)]
    if dtype is not False and named:
        raw = _unconverted(lines, options)
        for name in named:
            convert = dates.get(name)
            values = _like_numbers(raw[name], kinds[name]) if convert is None else raw[name]
            frame[name] = values if convert is None else convert(values)
            if convert is not None and _zone(frame[name]) != _zone(like[name]):
                raise ValueError(
                    f"later rows do not match the types of the first rows (column {name!r} has "
                    "other dates); use dtype=False and to_datetime()"
                )
    for name in frame:
        if infers and kinds.get(name) == "O" and name not in given:
            frame[name] = frame[name].infer_objects()
    return frame


def _may_be_dates(name: Any, options: Mapping[str, Any]) -> bool:
    """Tell whether pandas looks for dates in a column of this name."""
    names = options.get("convert_dates", True)
    if not isinstance(names, bool) and name in names:
        return True
    if not isinstance(name, str) or names is False or not options.get("keep_default_dates", True):
        return False
    text = name.lower()
    known = text in {"modified", "date", "datetime"} or text.startswith("timestamp")
    return known or text.endswith(("_at", "_time"))


def _zone(column: Any) -> str:
    """Return the zone of dates, or what tells that the values are none."""
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return str(column.dtype.tz)
    return "no zone" if column.dtype.kind == "M" else "no dates"


def _unconverted(lines: bytes, options: Mapping[str, Any]) -> Any:
    """Read values as they are written, whatever their columns are named."""
    changing = ("dtype", "convert_dates", "keep_default_dates")
    how: dict[str, Any] = {name: options[name] for name in options if name not in changing}
    return pd.read_json(io.BytesIO(lines), lines=True, dtype=False, **how)


def _conversions(
    first: Any, lines: bytes, options: Mapping[str, Any]
) -> dict[Hashable, DateConversion]:
    """Return how pandas has converted the dates of the first rows."""
    names = [name for name in first if _zone(first[name]) != "no dates"]
    if not names:
        return {}
    raw = _unconverted(lines, options)
    return {name: _conversion(raw[name], first[name], options.get("date_unit")) for name in names}


def _conversion(raw: Any, dates: Any, unit: str | None) -> DateConversion:
    ways = [DateConversion(unit=name) for name in UNITS]
    if unit is not None:
        ways = [DateConversion(unit=unit, least=YEAR * UNITS[unit])]
    if _whole_numbers(raw).dtype.kind not in "iuf":
        texts = [value for value in raw.dropna().head(1) if isinstance(value, str)]
        guesses = [guess_datetime_format(text) for text in texts]
        ways = [DateConversion(name) for name in ("ISO8601", *filter(None, guesses), "mixed")]
    return next((way for way in ways if way(raw).equals(dates)), ways[-1])


def _whole_numbers(column: Any) -> Any:
    """Return texts of digits as numbers, as pandas does before it looks for dates."""
    if column.dtype.kind != "O":
        return column
    try:
        return column.astype("int64")
    except (ValueError, OverflowError, TypeError):
        return column


def _like_numbers(column: Any, kind: str) -> Any:
    """Return texts as numbers where the first rows show numbers, which may be whole."""
    if kind not in "iuf":
        return column
    try:
        numbers = pd.to_numeric(column)
        if kind == "f":
            return numbers.astype("float64")
        whole = numbers.astype("int64")
        return whole if (whole == numbers).all() else numbers
    except (ValueError, OverflowError, TypeError):
        return column


def _types_shown(first: Any) -> dict[str, Any]:
    dates = first.attrs.pop("dates", {})
    return {"like": empty_rows(first), "dates": dates}


@public_call
@function_with_fallback
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
    compression; other files are a chunk each. Columns and types are those of the first lines of all
    files, unless later ones show other types.

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
        how: dict[str, Any] = {"parts": ranges_of(step), "shown": _types_shown}
        how["first_rows"] = partial(_first_rows, options=options)
        frame = read_whole_files(
            read_lines, list(names), storage, options, reader="read_json", **how
        )
        return frame
    options |= {"orient": orient, "lines": bool(lines)}
    options["compression"] = compression_of(names[0], options.get("compression", "infer"))
    how = {"reader": "read_json", "names": partial(_names, options=options)}
    frame = read_whole_files(pd.read_json, list(names), storage, options, **how)
    return frame


def _first_rows(files: Files, options: Mapping[str, Any]) -> Any:
    """Return rows of the first lines of all files: columns that some lack are missing there."""
    size = min(HEAD_BYTES, max(HEAD_BYTES // 64, ALL_BYTES // len(files.paths)))
    texts = []
    for number, path in enumerate(files.paths):
        with files.reading(number), open_file(path, files.storage) as file:
            text = file.read(size if number else HEAD_BYTES)
            texts.append(text if text.endswith(b"\n") else text + file.readline())
    lines = b"\n".join(text.rstrip(b"\n") for text in texts if text.strip())
    return read_lines(io.BytesIO(lines), (0, len(lines)), **options)


def _names(file: Any, size: int, options: Mapping[str, Any]) -> list[Hashable] | None:
    """Return the columns of a small file, which has to be read for that."""
    if size > HEAD_BYTES or options.get("typ", "frame") != "frame":
        return None
    return list(pd.read_json(file, **options).columns)


def ranges_of(step: int) -> Callable[[Any, int], list[tuple[int, int]]]:
    """Return the function that tells the byte ranges of a file."""

    def ranges(file: Any, size: int) -> list[tuple[int, int]]:
        del file
        return list(itertools.pairwise([*range(0, max(1, size), step), size]))

    return ranges


def to_json_file(
    block: Any, target: Any, *, first: bool, shared: bool = False, **options: Any
) -> None:
    """Write a chunk as JSON; of no rows there is no line in a file that chunks share."""
    del first
    if len(block) or not shared:
        block.to_json(target, **options)
    elif not hasattr(target, "write"):
        Path(target).touch()


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
    path : str or buffer, optional
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
    if hasattr(path, "write"):
        options |= {"orient": orient, "lines": bool(lines)}
        write_buffer(obj, to_json_file, path, compute, **options)
        return None
    if options.pop("mode", "w") != "w":
        raise NotImplementedError(
            "to_json(mode='a') is not supported; use a folder, and name_function= to write beside "
            "other files"
        )
    storage = storage_of(storage_options)
    pattern, single = destination(path, storage, single_file, "*.part")
    if single is None:
        orient = orient or "records"
    lines = (orient == "records" and single is None) if lines is None else lines
    if single and not lines:
        obj = obj.repartition(npartitions=1)
    options |= {"orient": orient, "lines": lines}
    options["shared"] = single is not None and len(obj.node.chunks[0]) > 1
    options["compression"] = compression_of(single or pattern, compression)
    how: dict[str, Any] = {"name_function": name_function, "compute": compute, "storage": storage}
    return write_files(obj, to_json_file, pattern, options, single=single, **how)
