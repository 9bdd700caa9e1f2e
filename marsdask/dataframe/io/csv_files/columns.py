"""The columns that each of several CSV files has, and the first lines of all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ...storage.files import Files, open_file
from .lines import line_after, separators_of, whole_lines

#: The ends of names of compressed files.
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tar")
#: The bytes of a file in which its first line should end.
LINE_BYTES = 64 * 1024
#: About as many bytes of all files show the types of the columns.
TYPES_BYTES = 4 * 2**20

#: Options with which a line does not depend on others; with other options a file is one chunk.
SPLITTABLE = {
    *("sep", "delimiter", "header", "names", "usecols", "dtype", "index_col", "parse_dates"),
    *("na_values", "keep_default_na", "na_filter", "thousands", "decimal", "date_format"),
    *("true_values", "false_values", "float_precision", "low_memory"),
}


def has_header(options: Mapping[str, Any]) -> bool:
    """Tell whether the first line has the column names."""
    header = options.get("header", "infer")
    return options.get("names") is None if header == "infer" else header is not None


def separators_in(options: Mapping[str, Any]) -> bytes:
    """Return the bytes behind which a field begins."""
    return separators_of(options.get("delimiter") or options.get("sep", ",")) or b""


def head_of(files: Files, number: int, size: int = LINE_BYTES) -> bytes:
    """Return the first bytes of a file."""
    with files.reading(number), open_file(files.paths[number], files.storage) as file:
        head: bytes = file.read(size)
    return head


def with_lines_of_all(files: Files, head: bytes, options: dict[str, Any]) -> bytes:
    """Return lines of the first file, and behind them lines of the others with its first line.

    A file may have no rows, or only missing values of a column.
    """
    separators, count = separators_in(options), len(files.paths)
    size = min(LINE_BYTES, max(LINE_BYTES // 64, TYPES_BYTES // count))
    texts = [head]
    for number in range(1, count):
        text = head_of(files, number, size)
        if len(text) == size:
            text = whole_lines(text, separators)
        if has_header(options):
            first, own = (line_after(lines, 0, separators) for lines in (head, text))
            text = text[own:] if text[:own].rstrip() == head[:first].rstrip() else b""
        texts.append(text if len(text) < size else b"")  # a line may be longer
    return b"\n".join(text.rstrip(b"\r\n") for text in texts if text)


def runs_of_columns(files: Files, options: dict[str, Any]) -> list[list[str]]:
    """Return the runs of files of the same columns, none if all have the same."""
    if len(files.paths) == 1:
        return []
    headers: dict[bytes, Any] = {}
    runs: list[list[str]] = []
    last = None
    for number, path in enumerate(files.paths):
        head = head_of(files, number)
        line = head[: line_after(head, 0, separators_in(options))]
        if line not in headers:
            headers[line] = _columns_of(line, path, files, options)
        columns = headers[line]
        if columns is None:
            return []
        if not runs or columns != last:
            runs.append([])
        runs[-1].append(path)
        last = columns
    return runs if len(runs) > 1 else []


def _columns_of(line: bytes, path: str, files: Files, options: dict[str, Any]) -> Any:
    """Return the labels of a file's columns, ``None`` if they are not read from its first line."""
    plain = options.keys() <= SPLITTABLE - {"index_col", "usecols"} and options.get("names") is None
    if not plain or path.endswith(COMPRESSED) or not line.strip():
        return None
    how = {key: options[key] for key in ("sep", "delimiter", "header") if key in options}
    try:
        return frozenset(pd.read_csv(io.BytesIO(line), nrows=1, **how).columns)
    except ValueError:
        return None  # whoever reads the rows says why
