"""Hive partitioning: columns whose values are in the names of folders."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .files import Files, filesystem, is_remote


@dataclass(frozen=True)
class Keys:
    """Columns whose values are in the names of folders, as ``key=value``."""

    labels: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    """The distinct values of each column."""
    codes: tuple[tuple[int | None, ...], ...] = field(repr=False)
    """For each file and column the position of its value, ``None`` for a missing one."""

    def added_to(self, table: Any, file: int, wanted: Container[str]) -> Any:
        """Add the wanted columns to a table of a file's rows."""
        import pyarrow as pa

        for place, (label, values) in enumerate(zip(self.labels, self.values, strict=True)):
            if label in wanted:
                code = self.codes[file][place]
                codes = pa.array(np.full(table.num_rows, code or 0), pa.int32())
                if code is None:
                    codes = pa.nulls(table.num_rows, pa.int32())
                column = pa.DictionaryArray.from_arrays(codes, _key_array(values))
                table = table.append_column(label, column)
        return table

    def value(self, label: str, file: int) -> Any:
        """Return the value of a column in all rows of a file."""
        position = self.labels.index(label)
        code = self.codes[file][position]
        return None if code is None else self.values[position][code]


def _key_array(values: Sequence[Any]) -> Any:
    """Return values in the type that Arrow infers from names of folders."""
    import pyarrow as pa

    whole = all(isinstance(value, int) for value in values)
    return pa.array(values, pa.int32() if whole else pa.string())


NO_KEYS = Keys((), (), ())


def keys_of(files: Files, folder: str | None) -> Keys:
    """Read the keys from the names of the files' folders, below ``folder`` if it is given."""
    has_keys = any("=" in os.path.dirname(path[len(folder or "") :]) for path in files.paths)
    if not has_keys or (folder is None and len(files.paths) == 1):
        return NO_KEYS  # as in pyarrow, the path of a single file gives no columns
    import pyarrow.dataset as ds

    fs, paths = None, list(files.paths)
    if is_remote(paths[0]):
        fs = filesystem(paths[0], files.storage)[0]
        paths = [filesystem(path, files.storage)[1] for path in paths]
        folder = None if folder is None else filesystem(folder, files.storage)[1]
    data = ds.dataset(
        paths,
        filesystem=fs,
        partitioning=ds.HivePartitioning.discover(infer_dictionary=True),
        partition_base_dir=folder,
    )
    pairs = {
        fragment.path: ds.get_partition_keys(fragment.partition_expression)
        for fragment in data.get_fragments()
    }
    rows = [pairs[path] for path in paths]
    labels = tuple(data.partitioning.schema.names)
    values = [
        [value for value in dictionary.to_pylist() if value is not None]
        for dictionary in data.partitioning.dictionaries
    ]
    codes = tuple(
        tuple(
            None if row.get(label) is None else categories.index(row[label])
            for label, categories in zip(labels, values, strict=True)
        )
        for row in rows
    )
    return Keys(labels, tuple(map(tuple, values)), codes)
