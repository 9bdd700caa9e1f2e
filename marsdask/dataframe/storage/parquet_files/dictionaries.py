"""The categories of Parquet files: each row group has a dictionary of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..files import Files, is_remote
from .footers import footer, parquet_file

#: The categories of columns, by their names in the files.
Categories = tuple[tuple[str, tuple[Any, ...]], ...]

#: A dictionary of more bytes may be that of the first rows only: writers end it at 1 MiB.
WHOLE_DICTIONARY = 2**17
#: The files that are read at once.
READERS = 16


def dictionary_names(schema: Any) -> list[str]:
    """List the columns of a schema that have categories."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_dictionary(field.type)]


def categories_of(
    files: Files, groups: Mapping[int, Sequence[int]], schema: Any, names: Sequence[str]
) -> Categories:
    """Read the categories that the row groups of each file have, in the order of all rows.

    As pandas has them: those of the dictionaries, whether a row has them or not.
    """
    import pyarrow as pa

    if not names or not groups:
        return tuple((name, ()) for name in names)

    def read(number: int) -> list[list[Any]]:
        return _dictionaries(files, number, groups[number], names)

    with ThreadPoolExecutor(READERS if is_remote(files.paths[0]) else 1) as pool:
        parts = list(pool.map(read, groups))
    categories = []
    for place, name in enumerate(names):
        kind = schema.field(name).type.value_type
        arrays = [array.cast(kind) for part in parts for array in part[place]]
        values = pa.chunked_array(arrays, kind).unique().drop_null()
        categories.append((name, tuple(values.to_pylist())))
    return tuple(categories)


def _dictionaries(
    files: Files, number: int, groups: Sequence[int], names: Sequence[str]
) -> list[list[Any]]:
    """Read the dictionaries of some columns of a file, of each row group: lists have none."""
    import pyarrow as pa

    data = footer(files, number)
    fields = data.schema.to_arrow_schema()
    own = [field.name for field in fields if not pa.types.is_nested(field.type)]
    codes = [name for name in names if name in own]
    with (
        files.reading(number) as path,
        parquet_file(path, files.storage, data, codes, ahead=False) as file,
    ):
        return [
            [array for group in groups for array in _dictionary(file, data, group, name)]
            if name in codes
            else []
            for name in names
        ]


def _dictionary(file: Any, data: Any, group: int, name: str) -> Iterable[Any]:
    """Read the dictionary of a column; its first row shows it if all rows have the same one."""
    place = data.schema.to_arrow_schema().names.index(name)
    flat = data.num_columns == len(data.schema.to_arrow_schema().names)
    if flat and data.row_group(group).column(place).has_dictionary_page:
        batches = file.iter_batches(batch_size=1, row_groups=[group], columns=[name])
        first = _values(next(iter(batches)).column(name))
        if first is not None and first.nbytes < WHOLE_DICTIONARY:
            return [first]
    column = file.read_row_group(group, columns=[name]).column(name)
    return [_values(chunk) if _is_coded(chunk) else chunk.unique() for chunk in column.chunks]


def _is_coded(array: Any) -> bool:
    import pyarrow as pa

    return isinstance(array, pa.DictionaryArray)


def _values(array: Any) -> Any:
    """Return the dictionary of an array, ``None`` if it has none."""
    return array.dictionary if _is_coded(array) else None


def with_categories(table: Any, schema: Any, categories: Categories) -> Any:
    """Return a table whose columns have the categories of all rows."""
    for name, values in categories:
        place = table.schema.get_field_index(name)
        if place >= 0:
            column = _coded(table.column(place), schema.field(name).type, values, name)
            table = table.set_column(place, name, column)
    return table


def _coded(column: Any, kind: Any, values: Sequence[Any], name: str) -> Any:
    """Return a column as codes of given categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    categories = pa.array(values, kind.value_type)
    codes = kind.index_type if len(values) < 2 ** (kind.index_type.bit_width - 1) else pa.int32()
    chunks = []
    for chunk in column.chunks:
        if _is_coded(chunk):
            places = pc.index_in(chunk.dictionary.cast(kind.value_type), value_set=categories)
            indices = places.take(chunk.indices)
        else:
            indices = pc.index_in(chunk, value_set=categories, skip_nulls=True)
        if indices.null_count != chunk.null_count:
            raise ValueError(
                f"column {name!r} has categories that the dictionaries of its row groups do not "
                "have; read it by pandas.read_parquet() and use md.DataFrame()"
            )
        chunks.append(
            pa.DictionaryArray.from_arrays(indices.cast(codes), categories, ordered=kind.ordered)
        )
    return pa.chunked_array(chunks, pa.dictionary(codes, kind.value_type, kind.ordered))
